// The scan: number of clusters and effective rank over lam, and the plateaus as buttons.

const SCAN_HEIGHT = 176;

function makeScan(goTo) {
  const host = byId("scan");
  const surface = new SvgSurface(host, "Number of clusters and effective rank over lambda");
  const cut = element("div", { className: "cut" });
  host.append(cut);
  const top = 8;
  const bottom = SCAN_HEIGHT - 22;
  const up = (value) => bottom - (Math.log(Math.max(value, 1)) / Math.log(Math.max(NODES, 2))) * (bottom - top);
  let width = 0;

  function draw() {
    width = widths.scan;
    const x = (level) => lamToX(DATA.lam[level], width);
    const right = width - gutters.right;
    surface.begin(width, SCAN_HEIGHT);
    for (const value of roundNumbers(1, NODES, 5)) {
      surface.segments([gutters.left, up(value), right, up(value)], { stroke: themeColor("--grid") });
      surface.text(String(value), gutters.left - 8, up(value) + 4, { fill: themeColor("--soft"), anchor: "end" });
    }
    for (const lam of lamTicks(width)) {
      surface.text(formatNumber(lam), lamToX(lam, width), SCAN_HEIGHT - 5, { fill: themeColor("--soft"), anchor: "middle" });
    }
    surface.text("\u03bb", right + 12, SCAN_HEIGHT - 5, { fill: themeColor("--soft") });
    const steps = [];
    const ranks = [];
    for (let level = 0; level < LEVELS; level++) {
      const y = up(partition(level).clusters.length);
      if (level) steps.push([x(level), steps[steps.length - 1][1]]);
      steps.push([x(level), y]);
      const rank = DATA.effectiveRank[level];
      if (rank !== null) ranks.push([x(level), up(rank)]);
    }
    if (ranks.length > 1) surface.polyline(ranks, { stroke: themeColor("--soft"), width: 1.8, dash: [5, 4] });
    surface.polyline(steps, { stroke: themeColor("--ink"), width: 2.2, name: "count-line" });
    const now = state.level;
    surface.disc(x(now), up(partition(now).clusters.length), 5, { fill: themeColor("--accent"), stroke: themeColor("--panel"), width: 2 });
    surface.end();
    cut.style.left = `${(100 * x(now)) / width}%`;
    cut.style.height = `${(100 * bottom) / SCAN_HEIGHT}%`;
  }

  const find = (event) => {
    const [x] = pointerOn(event, surface.node, width, SCAN_HEIGHT);
    const level = nearestLevel((x - gutters.left) / (width - gutters.left - gutters.right));
    const rank = DATA.effectiveRank[level];
    const more = rank === null ? "" : `\neffective rank ${formatNumber(rank)}`;
    return { level, text: `\u03bb = ${formatNumber(DATA.lam[level])}\n${counted(partition(level).clusters.length, "cluster")}${more}` };
  };
  listenOn(host, find, (hit) => goTo(hit.level));
  return draw;
}

const plateaus = DATA.plateaus.map(([count, from, to, width]) => ({ count, from, to, width, level: levelAt(from) }));

function plateauAt(level) {
  let found = 0;
  plateaus.forEach((plateau, at) => {
    if (plateau.level <= level) found = at;
  });
  return found;
}

function plateauText(plateau) {
  const factor = Math.exp(plateau.width);
  return (
    `${counted(plateau.count, "cluster")} from \u03bb = ${formatNumber(plateau.from)} to ${formatNumber(plateau.to)}` +
    (plateau.width > 0 ? `: persists while \u03bb grows by a factor of ${formatNumber(factor)}` : "")
  );
}

function makePlateaus(goTo) {
  const host = byId("plateaus");
  const buttons = plateaus.map((plateau, at) => {
    const button = element("button", { type: "button", "aria-label": plateauText(plateau) });
    button.classList.toggle("suggested", at === DATA.suggested);
    button.addEventListener("click", () => goTo(plateau.level));
    button.addEventListener("pointermove", (event) => showTip(event, plateauText(plateau)));
    button.addEventListener("pointerleave", (event) => showTip(event, ""));
    return button;
  });
  host.append(...buttons);
  return () => {
    const room = widths.ticks;
    const current = plateauAt(state.level);
    buttons.forEach((button, at) => {
      const plateau = plateaus[at];
      const [start, stop] = [shareOf(plateau.from), shareOf(plateau.to)];
      const pixels = (stop - start) * room;
      button.style.left = `${100 * start}%`;
      button.style.width = `max(${100 * (stop - start)}%, 2px)`;
      button.classList.toggle("slim", pixels < 7);
      button.textContent = pixels > 8 * String(plateau.count).length + 6 ? plateau.count : "";
      button.setAttribute("aria-pressed", String(at === current));
    });
  };
}
