// Distances within groups and between them: two histograms, and the mean of every group.

const BINS = 36;

function splitDistances() {
  const [within, between] = [[], []];
  for (let a = 0; a < SOLVED.length; a++) {
    for (let b = 0; b < a; b++) {
      const value = distance(a, b);
      if (value !== null) (GROUPED && sameGroup(a, b) ? within : between).push(value);
    }
  }
  return { within, between };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

function makeSpread() {
  const host = byId("spread");
  const surface = new SvgSurface(host, "Distribution of the distances within and between groups");
  const legend = byId("spread-legend");

  function drawHistogram(values, color, scale, share, [left, width, base, tall], dash) {
    if (!values.length) return;
    const steps = [[left, base]];
    share.forEach((part, bin) => {
      const y = base - (part / scale.peak) * tall;
      steps.push([left + (bin / BINS) * width, y], [left + ((bin + 1) / BINS) * width, y]);
    });
    steps.push([left + width, base]);
    surface.polyline(steps, { fill: color, alpha: 0.22 });
    surface.polyline(steps, { stroke: color, width: 1.6 });
    const x = left + ((mean(values) - scale.low) / (scale.high - scale.low)) * width;
    surface.segments([x, base - tall - 6, x, base], { stroke: color, width: 1.6, dash });
  }

  return function draw() {
    const width = widthOf(host);
    const tall = 190;
    const [left, right, top, bottom] = [8, 10, 14, 26];
    const { within, between } = splitDistances();
    const every = [...within, ...between];
    surface.begin(width, tall);
    const low = Math.min(...[every.reduce((a, b) => Math.min(a, b), Infinity)]);
    const high = every.reduce((a, b) => Math.max(a, b), -Infinity);
    const scale = { low: low - 0.02 * (high - low), high: high + 0.02 * (high - low) || 1, peak: 0 };
    if (!(scale.high > scale.low)) scale.high = scale.low + 1;
    const shares = [within, between].map((values) => {
      const parts = new Array(BINS).fill(0);
      for (const value of values) parts[Math.min(BINS - 1, Math.floor((BINS * (value - scale.low)) / (scale.high - scale.low)))] += 1 / values.length;
      return parts;
    });
    scale.peak = Math.max(...shares.flat(), 1e-9);
    const box = [left, width - left - right, tall - bottom, tall - top - bottom];
    const ticks = roundTicks(scale.low, scale.high, Math.max(3, width / 90));
    for (const tick of ticks) {
      const x = left + ((tick - scale.low) / (scale.high - scale.low)) * box[1];
      surface.segments([x, top, x, box[2]], { stroke: themeColor("--grid") });
      surface.text(numberText(tick), x, tall - 8, { fill: themeColor("--soft"), anchor: "middle" });
    }
    drawHistogram(between, betweenColor(), scale, shares[1], box, [5, 3]);
    drawHistogram(within, withinColor(), scale, shares[0], box);
    surface.segments([left, box[2], left + box[1], box[2]], { stroke: themeColor("--line") });
    surface.end();
    legend.replaceChildren();
    const listed = GROUPED ? [["within groups", withinColor(), within], ["between groups", betweenColor(), between]] : [["all pairs", betweenColor(), between]];
    for (const [text, color, values] of listed) {
      const key = element("span", { className: "key" });
      key.style.borderTopColor = color;
      legend.append(element("span", { className: "entry" }, key, `${text} (${values.length})`), " ");
    }
    const test = DATA.tests[state.metric];
    byId("spread-caption").textContent = test
      ? `Shares of the pairs; vertical lines are means. A pair of one group is nearer than a pair of two in ${(100 * test.discriminability).toFixed(1)} % of the comparisons; 50 % is chance.`
      : "Shares of the pairs; the vertical line is the mean.";
  };
}

const withinColor = () => colorOf(0);
const betweenColor = () => colorOf(3);

function roundTicks(low, high, room) {
  const raw = (high - low) / room;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((candidate) => candidate >= raw);
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return ticks;
}

// One row per group: its mean distance within, and to all others, joined by a line.
function makeGroupMeans() {
  const host = byId("groups");
  const sizes = DATA.groups.map((_, group) => SOLVED.filter((subject) => subject.group === group).length);
  const shown = GROUPED && sizes.some((size) => size > 1);
  if (!shown) {
    host.remove();
    byId("groups-caption").remove();
    return () => {};
  }
  const surface = new SvgSurface(host, "Mean distance within every group and to the others");
  let rows = [];
  const row = Math.max(10, Math.min(24, 420 / DATA.groups.length));

  function draw() {
    const width = widthOf(host);
    rows = DATA.groups.map((name, group) => {
      const [own, other] = [[], []];
      SOLVED.forEach((subject, a) => {
        if (subject.group !== group) return;
        SOLVED.forEach((_, b) => {
          const value = a === b ? null : distance(a, b);
          if (value !== null) (sameGroup(a, b) ? own : other).push(value);
        });
      });
      return { name, group, within: own.length ? mean(own) : null, between: other.length ? mean(other) : null };
    });
    const longest = Math.min(Math.max(...DATA.groups.map((name) => name.length)), 16);
    const [left, right, bottom] = [14 + 6.4 * longest, 12, 22];
    const tall = row * rows.length + bottom + 4;
    surface.begin(width, tall);
    const values = rows.flatMap(({ within, between }) => [within, between]).filter((value) => value !== null);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = 0.06 * (high - low) || 0.05;
    [low, high] = [Math.max(low - margin, 0), high + margin];
    const x = (value) => left + ((value - low) / (high - low)) * (width - left - right);
    for (const tick of roundTicks(low, high, Math.max(3, (width - left) / 90))) {
      surface.segments([x(tick), 2, x(tick), tall - bottom], { stroke: themeColor("--grid") });
      surface.text(numberText(tick), x(tick), tall - 6, { fill: themeColor("--soft"), anchor: "middle" });
    }
    rows.forEach(({ name, group, within, between }, at) => {
      const y = 4 + (at + 0.5) * row;
      if (within !== null && between !== null) surface.segments([x(within), y, x(between), y], { stroke: themeColor("--line"), width: 2 });
      if (between !== null) surface.disc(x(between), y, 4, { fill: themeColor("--panel"), stroke: betweenColor(), width: 1.6 });
      if (within !== null) surface.disc(x(within), y, 4.4, { fill: withinColor() });
      surface.disc(6, y, 4, { fill: groupColor(group) });
      surface.text(shortened(name, 16), 14, y + 4, { fill: themeColor("--ink") });
    });
    surface.end();
    byId("groups-caption").textContent = "Mean distance within each group (filled) and to the subjects of others (open).";
  }
  listenOn(host, (event) => {
    const [, y] = pointerOn(event, surface.node, 100, Number(surface.node.getAttribute("viewBox").split(" ")[3]));
    const found = rows[Math.floor((y - 4) / row)];
    return found ? { text: `${found.name}\nwithin ${fixed(found.within)}\nto others ${fixed(found.between)}` } : null;
  });
  return draw;
}
