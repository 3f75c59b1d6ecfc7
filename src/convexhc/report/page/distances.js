// The partition map: variation of information between the partitions at any two lam.

function makeDistances(goTo) {
  const host = byId("distances");
  const { levels, shades } = DATA.distances;
  const surface = new CanvasSurface(host, "Variation of information between the partitions at any two lambda");
  const cut = element("div", { className: "cut" });
  host.append(cut);
  const count = levels.length;
  const [margin, end] = [34, 8];
  let size = 0;

  // The strict upper triangle is stored row by row.
  function shadeOf(a, b) {
    if (a === b) return 0;
    const [low, high] = a < b ? [a, b] : [b, a];
    return shades[low * count - (low * (low + 1)) / 2 + high - low - 1];
  }

  // Partition a extends from one border to the next, the last to the end of the axis.
  const borders = [...levels.map((level) => shareOf(DATA.lam[level])), 1];
  const room = () => size - margin - end;
  const x = (share) => margin + share * room();
  const y = (share) => size - margin + end - share * room();

  function draw() {
    size = widths.distances;
    surface.begin(size, size);
    const colors = heatShades().map((parts) => `rgb(${parts.join(" ")})`);
    for (let a = 0; a < count; a++) {
      for (let b = 0; b < count; b++) {
        // Cells overlap slightly, so that no background shows between them.
        surface.rect(x(borders[a]), y(borders[b + 1]), x(borders[a + 1]) - x(borders[a]) + 0.4, y(borders[b]) - y(borders[b + 1]) + 0.4, {
          fill: colors[SHADES - 1 - shadeOf(a, b)],
        });
      }
    }
    const ticks = { fill: themeColor("--soft") };
    for (const lam of roundNumbers(lowLam, highLam, 5)) {
      surface.text(formatNumber(lam), margin - 6, y(shareOf(lam)) + 4, { ...ticks, anchor: "end" });
      surface.text(formatNumber(lam), x(shareOf(lam)), y(0) + 15, { ...ticks, anchor: "middle" });
    }
    const now = shareOf(DATA.lam[state.level]);
    surface.segments([margin, y(now), size - end, y(now)], { stroke: themeColor("--accent"), width: 1.2, dash: [4, 3] });
    surface.end();
    cut.style.left = `${(100 * x(now)) / size}%`;
    cut.style.top = `${(100 * y(1)) / size}%`;
    cut.style.height = `${(100 * room()) / size}%`;
    const steps = [SHADES - 1, (SHADES - 1) / 2, 0].map((shade) => colors[Math.round(shade)]);
    byId("distances-key").style.background = `linear-gradient(to right, ${steps.join(", ")})`;
  }

  const cellAt = (share) => {
    let found = 0;
    while (found + 1 < count && borders[found + 1] <= share) found++;
    return found;
  };
  const find = (event) => {
    const [px, py] = pointerOn(event, surface.node, size, size);
    const [across, up] = [(px - margin) / room(), (y(0) - py) / room()];
    if (Math.min(across, up) < 0 || Math.max(across, up) > 1) return null;
    const [a, b] = [cellAt(across), cellAt(up)];
    const levelText = (at) => `\u03bb = ${formatNumber(DATA.lam[levels[at]])} (${counted(partition(levels[at]).clusters.length, "cluster")})`;
    const distance = Math.round((100 * shadeOf(a, b)) / (SHADES - 1));
    return { level: levels[a], text: a === b ? levelText(a) : `${levelText(a)} and\n${levelText(b)}:\n${distance} % of the largest possible distance` };
  };
  listenOn(host, find, (hit) => goTo(hit.level));
  return draw;
}
