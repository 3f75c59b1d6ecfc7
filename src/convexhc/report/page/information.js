// How far apart the partitions at any two lam are: a scale that lasts is a square of full colour.

const INFORMATION_HEIGHT = 132;

function makeInformation(goTo) {
  const host = byId("information");
  const { levels, shades } = DATA.information;
  const surface = new CanvasSurface(host, "Variation of information between the partitions at any two lambda");
  const cut = element("div", { className: "cut" });
  host.append(cut);
  const count = levels.length;
  const [top, bottom] = [2, INFORMATION_HEIGHT - 2];
  let width = 0;

  // The upper half is stored row by row.
  function shadeOf(a, b) {
    if (a === b) return 0;
    const [low, high] = a < b ? [a, b] : [b, a];
    return shades[low * count - (low * (low + 1)) / 2 + high - low - 1];
  }

  // Level a holds from one border to the next, the last to the end of the axis.
  const borders = [...levels.map((level) => shareOf(DATA.lam[level])), 1];
  const x = (share) => gutters.left + share * (width - gutters.left - gutters.right);
  const y = (share) => bottom - share * (bottom - top);

  function draw() {
    width = widths.information;
    surface.begin(width, INFORMATION_HEIGHT);
    const colors = heatShades().map((parts) => `rgb(${parts.join(" ")})`);
    for (let a = 0; a < count; a++) {
      for (let b = 0; b < count; b++) {
        // Cells overlap by a trace, or the ground would shine through between them.
        surface.rect(x(borders[a]), y(borders[b + 1]), x(borders[a + 1]) - x(borders[a]) + 0.4, y(borders[b]) - y(borders[b + 1]) + 0.4, {
          fill: colors[SHADES - 1 - shadeOf(a, b)],
        });
      }
    }
    for (const lam of roundNumbers(lowLam, highLam, 3)) {
      surface.text(shownNumber(lam), gutters.left - 8, Math.min(y(shareOf(lam)) + 4, bottom), { fill: ink("--soft"), anchor: "end" });
    }
    const now = shareOf(DATA.lam[state.level]);
    surface.segments([gutters.left, y(now), width - gutters.right, y(now)], { stroke: ink("--accent"), width: 1.2, dash: [4, 3] });
    surface.end();
    cut.style.left = `${(100 * x(now)) / width}%`;
    cut.style.height = "100%";
  }

  const cellAt = (share) => {
    let found = 0;
    while (found + 1 < count && borders[found + 1] <= share) found++;
    return found;
  };
  const find = (event) => {
    const [px, py] = pointerOn(event, surface.node, width, INFORMATION_HEIGHT);
    const share = (px - gutters.left) / (width - gutters.left - gutters.right);
    if (share < 0 || share > 1) return null;
    const [a, b] = [cellAt(share), cellAt((bottom - py) / (bottom - top))];
    const told = (at) => `\u03bb = ${shownNumber(DATA.lam[levels[at]])} (${counted(partition(levels[at]).clusters.length, "cluster")})`;
    const distance = Math.round((100 * shadeOf(a, b)) / (SHADES - 1));
    return { level: levels[a], words: a === b ? told(a) : `${told(a)} and\n${told(b)}:\n${distance} % of the largest distance` };
  };
  listenOn(host, find, (hit) => goTo(hit.level));
  return draw;
}
