// Start of the page: one state, from which all figures are drawn.

function goTo(level) {
  state.level = Math.min(Math.max(level, 0), LEVELS - 1);
  state.scale = -1;
  refresh();
}

// A suggested scale, and the slider at the level nearest to it.
function goToScale(scale) {
  state.level = plateaus[DATA.scales[scale].plateau].level;
  state.scale = scale;
  refresh();
}

function makeScales() {
  const buttons = DATA.scales.map(({ count, reason }, scale) => {
    const button = element("button", { type: "button", textContent: scale === 0 ? `Suggested: ${count}` : String(count), title: reason, "aria-label": `Suggested scale: ${counted(count, "cluster")}` });
    button.addEventListener("click", () => goToScale(scale));
    return button;
  });
  byId("scales").append(...buttons);
  return () => buttons.forEach((button, scale) => button.setAttribute("aria-pressed", String(scale === state.scale)));
}

function choose({ node = -1, anchor = -1 }) {
  state.node = node;
  state.anchor = anchor;
  refresh();
}

const goToPlateau = (at) => goTo(plateaus[Math.min(Math.max(at, 0), plateaus.length - 1)].level);

// Go to the start of the current plateau, or from there to the next finer one.
function goFiner() {
  const at = plateauAt(state.level);
  goToPlateau(plateaus[at].level < state.level ? at : at - 1);
}

function makeSlider() {
  const slider = byId("slider");
  slider.addEventListener("input", () => goTo(nearestLevel(Number(slider.value) / 10000)));
  slider.addEventListener("keydown", (event) => {
    const moves = {
      ArrowRight: () => goTo(state.level + 1),
      ArrowUp: () => goTo(state.level + 1),
      ArrowLeft: () => goTo(state.level - 1),
      ArrowDown: () => goTo(state.level - 1),
      PageUp: () => goToPlateau(plateauAt(state.level) + 1),
      PageDown: goFiner,
      Home: () => goTo(0),
      End: () => goTo(LEVELS - 1),
    };
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[event.key]();
  });
  const surface = new SvgSurface(byId("ticks"), "");
  return () => {
    slider.value = Math.round(10000 * shareOf(DATA.lam[state.level]));
    const text = `lambda ${formatNumber(DATA.lam[state.level])}, ${counted(currentPartition().clusters.length, "cluster")}`;
    slider.setAttribute("aria-valuetext", text);
    const width = widths.ticks;
    surface.begin(width, 24);
    surface.segments(DATA.lam.flatMap((lam) => [shareOf(lam) * width, 1, shareOf(lam) * width, 6]), { stroke: themeColor("--soft") });
    for (const lam of lamTicks(widths.main)) {
      surface.text(formatNumber(lam), shareOf(lam) * width, 19, { fill: themeColor("--soft"), anchor: "middle" });
    }
    surface.end();
  };
}

function makeViews() {
  const figures = [
    ["graph", DATA.graph, makeGraph],
    ["distances", DATA.distances, () => makeDistances(goTo)],
    ["trajectories", DATA.trajectories, makeTrajectories],
    ["heatmap", DATA.assignment || DATA.similarity, makeHeatmap],
  ];
  const shown = figures.filter(([, data]) => data);
  for (const [name, data] of figures) if (!data) byId(`${name}-panel`).remove();
  const small = document.querySelectorAll(".views > .panel").length;
  document.querySelector(".views").classList.add(["none", "one", "two", "three"][small]);
  views.push(fitGutters, measure, makeSlider(), makeScales(), makeScan(goTo), makePlateaus(goTo));
  if (DATA.attributes.length) views.push(makeAttributes());
  views.push(...shown.map(([, , make]) => make(choose)), makeTree(choose), makeClusters(choose), showLevel);
}

async function start() {
  await decodeAll(DATA);
  readPartitions();
  makeTheme();
  byId("main").hidden = false;
  fitGutters();
  makeViews();
  makeSaving();
  makeSearch(choose);
  makePrinting();
  listLevels(goTo);
  showSplits();
  showRun();
  byId("finer").addEventListener("click", goFiner);
  byId("coarser").addEventListener("click", () => goToPlateau(plateauAt(state.level) + 1));
  byId("download").addEventListener("click", downloadLabels);
  byId("clear").addEventListener("click", () => {
    byId("search").value = "";
    choose({});
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.id !== "search") choose({});
  });
  new ResizeObserver(refresh).observe(byId("main"));
  goToScale(0);
  drawAll();
  document.documentElement.dataset.ready = "true";
}

launch(start, "report");
