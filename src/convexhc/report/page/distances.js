// Variation of information between the partitions at any two lam: persistent scales are dark squares.

const DISTANCES_HEIGHT = 132;

function makeDistances(goTo) {
  const host = byId("distances");
  const { levels, shades } = DATA.distances;
  const surface = new CanvasSurface(host, "Variation of information between the partitions at any two lambda");
  const cut = element("div", { className: "cut" });
  host.append(cut);
  const count = levels.length;
  const [top, bottom] = [2, DISTANCES_HEIGHT - 2];
  let width = 0;

  // The strict upper triangle is stored row by row.
  function shadeOf(a, b) {
    if (a === b) return 0;
    const [low, high] = a < b ? [a, b] : [b, a];
    return shades[low * count - (low * (low + 1)) / 2 + high - low - 1];
  }

  // Partition a extends from one border to the next, the last to the end of the axis.
  const borders = [...levels.map((level) => shareOf(DATA.lam[level])), 1];
  const x = (share) => gutters.left + share * (width - gutters.left - gutters.right);
  const y = (share) => bottom - share * (bottom - top);

  function draw() {
    width = widths.distances;
    surface.begin(width, DISTANCES_HEIGHT);
    const colors = heatShades().map((parts) => `rgb(${parts.join(" ")})`);
    for (let a = 0; a < count; a++) {
      for (let b = 0; b < count; b++) {
        // Cells overlap slightly, so that no background shows between them.
        surface.rect(x(borders[a]), y(borders[b + 1]), x(borders[a + 1]) - x(borders[a]) + 0.4, y(borders[b]) - y(borders[b + 1]) + 0.4, {
          fill: colors[SHADES - 1 - shadeOf(a, b)],
        });
      }
    }
    for (const lam of roundNumbers(lowLam, highLam, 3)) {
      surface.text(formatNumber(lam), gutters.left - 8, Math.min(y(shareOf(lam)) + 4, bottom), { fill: themeColor("--soft"), anchor: "end" });
    }
    const now = shareOf(DATA.lam[state.level]);
    surface.segments([gutters.left, y(now), width - gutters.right, y(now)], { stroke: themeColor("--accent"), width: 1.2, dash: [4, 3] });
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
    const [px, py] = pointerOn(event, surface.node, width, DISTANCES_HEIGHT);
    const share = (px - gutters.left) / (width - gutters.left - gutters.right);
    if (share < 0 || share > 1) return null;
    const [a, b] = [cellAt(share), cellAt((bottom - py) / (bottom - top))];
    const levelText = (at) => `\u03bb = ${formatNumber(DATA.lam[levels[at]])} (${counted(partition(levels[at]).clusters.length, "cluster")})`;
    const distance = Math.round((100 * shadeOf(a, b)) / (SHADES - 1));
    return { level: levels[a], text: a === b ? levelText(a) : `${levelText(a)} and\n${levelText(b)}:\n${distance} % of the largest possible distance` };
  };
  listenOn(host, find, (hit) => goTo(hit.level));
  return draw;
}
