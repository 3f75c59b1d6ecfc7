// The lam axis of the slider, the scan, the partition map and the tree.

const positiveLams = DATA.lam.filter((lam) => lam > 0);
// Levels of single nodes have no room of their own: the axis starts just below the first fusion.
const LEAD = 0.03;
const firstFused = DATA.lam.findIndex((lam, level) => lam > 0 && DATA.changes.counts.slice(0, level + 1).some((count) => count > 0));
const lowLam = lowestShown();

function lowestShown() {
  if (!positiveLams.length) return 1;
  if (firstFused < 1 || !(DATA.lam[firstFused - 1] > 0)) return positiveLams[0];
  const last = positiveLams[positiveLams.length - 1];
  const near = DATA.lam[firstFused] * Math.max(last / DATA.lam[firstFused], 1.1) ** -LEAD;
  return Math.max(DATA.lam[firstFused - 1], near);
}

const highLam = positiveLams.length ? positiveLams[positiveLams.length - 1] : 1;
const hasZero = DATA.lam[0] === 0;
// Zero has no logarithm: it is at the left end, and the positive values start after a gap.
const zeroGap = hasZero && positiveLams.length ? 0.08 : 0;

function shareOf(lam) {
  if (lam <= 0) return 0;
  if (highLam === lowLam) return hasZero ? 1 : 0.5;
  const share = Math.log(lam / lowLam) / Math.log(highLam / lowLam);
  return zeroGap + (1 - zeroGap) * Math.min(Math.max(share, 0), 1);
}

function nearestLevel(share) {
  let best = 0;
  for (let level = 1; level < LEVELS; level++) {
    const distance = Math.abs(shareOf(DATA.lam[level]) - share);
    const least = Math.abs(shareOf(DATA.lam[best]) - share);
    // Levels of single nodes share one place: the last of them stands for all.
    if (distance < least || (distance === least && level < firstFused)) best = level;
  }
  return best;
}

function levelAt(lam) {
  let level = 0;
  while (level + 1 < LEVELS && DATA.lam[level + 1] <= lam) level++;
  return level;
}

// Margins of an axis: names and scales on the left, merges that complete the tree on the right.
const gutters = { left: 92, right: 40 };

function fitGutters() {
  const narrow = document.documentElement.clientWidth < 620;
  gutters.left = narrow ? 64 : 92;
  gutters.right = narrow ? 22 : 40;
  document.documentElement.style.setProperty("--left", `${gutters.left}px`);
  document.documentElement.style.setProperty("--right", `${gutters.right}px`);
  document.documentElement.style.setProperty("--readout", `${document.querySelector(".readout").clientHeight + 10}px`);
}

const lamToX = (lam, width) => gutters.left + shareOf(lam) * (width - gutters.left - gutters.right);

// Round numbers inside a range: the densest series of multiples per decade that fits.
function roundNumbers(low, high, room) {
  const decades = Math.log10(high / low);
  for (const digits of [[1, 2, 3, 5], [1, 2, 5], [1, 3], [1]]) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.log10(high) + 1; power++) {
      for (const digit of digits) {
        const value = Number(`${digit}e${power}`);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
      }
    }
    if (found.length <= room || (digits.length === 1 && decades > 1)) {
      const every = Math.max(1, Math.ceil(found.length / Math.max(room, 2)));
      return found.filter((_, at) => at % every === 0);
    }
  }
  return [];
}

// Round values of lam for an axis of this width, its margins included.
function lamTicks(width) {
  const room = width - gutters.left - gutters.right;
  const ticks = highLam > lowLam ? roundNumbers(lowLam, highLam, room / 64) : [lowLam];
  const shown = ticks.length > 1 ? ticks : [lowLam, highLam];
  return hasZero ? [0, ...shown] : shown;
}
