// One state, and every picture drawn from it.

const views = [];
let waiting = false;

function drawAll() {
  waiting = false;
  fitGutters();
  measure();
  for (const draw of views) draw();
}

function refresh() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(drawAll);
}

function goTo(level) {
  state.level = Math.min(Math.max(level, 0), LEVELS - 1);
  refresh();
}

function choose({ node = -1, anchor = -1 }) {
  state.node = node;
  state.anchor = anchor;
  refresh();
}

const goToPlateau = (at) => goTo(plateaus[Math.min(Math.max(at, 0), plateaus.length - 1)].level);

// One step to the finer plateau, or first to the start of the one the slider stands on.
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
  const surface = new ElementSurface(byId("ticks"), "");
  return () => {
    slider.value = Math.round(10000 * shareOf(DATA.lam[state.level]));
    const words = `lambda ${shownNumber(DATA.lam[state.level])}, ${counted(nowPartition().clusters.length, "cluster")}`;
    slider.setAttribute("aria-valuetext", words);
    const width = widths.ticks;
    surface.begin(width, 24);
    surface.segments(DATA.lam.flatMap((lam) => [shareOf(lam) * width, 1, shareOf(lam) * width, 6]), { stroke: ink("--soft") });
    for (const lam of lamTicks()) {
      surface.text(shownNumber(lam), shareOf(lam) * width, 19, { fill: ink("--soft"), anchor: "middle" });
    }
    surface.end();
  };
}

function setTheme(theme) {
  state.theme = theme;
  inks.clear();
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
}

function makeTheme() {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let followsSystem = true;
  setTheme(system.matches ? "dark" : "light");
  system.addEventListener("change", () => {
    if (!followsSystem) return;
    setTheme(system.matches ? "dark" : "light");
    refresh();
  });
  byId("theme").addEventListener("click", () => {
    followsSystem = false;
    setTheme(state.theme === "dark" ? "light" : "dark");
    refresh();
  });
}

// Paper is white, and has no slider: what is on it is the level looked at, and all certificates.
function makePrinting() {
  const details = byId("all-levels");
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { theme: state.theme, open: details.open };
    setTheme("light");
    document.documentElement.classList.add("paper");
    details.open = true;
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    if (before === null) return;
    setTheme(before.theme);
    document.documentElement.classList.remove("paper");
    details.open = before.open;
    before = null;
    drawAll();
  });
}

function makeViews() {
  const pictures = [
    ["graph", DATA.graph, makeGraph],
    ["trails", DATA.trails, makeTrails],
    ["heat", DATA.assignment || DATA.similarity, makeHeat],
  ];
  const there = pictures.filter(([, data]) => data);
  for (const [name, data] of pictures) if (!data) byId(`${name}-panel`).remove();
  document.querySelector(".views").classList.add(["none", "one", "two", "three"][there.length]);
  views.push(makeSlider(), makeScan(goTo), makePlateaus(goTo));
  if (DATA.information) views.push(makeInformation(goTo));
  else byId("distances").remove();
  views.push(...there.map(([, , make]) => make(choose)), makeTree(choose), makeClusters(choose), sayLevel);
}

async function start() {
  await inflateAll(DATA);
  readPartitions();
  makeTheme();
  byId("main").hidden = false;
  fitGutters();
  makeViews();
  makeSearch(choose);
  makePrinting();
  listLevels(goTo);
  saySplits();
  sayRun();
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
  state.level = plateaus[DATA.suggested].level;
  drawAll();
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  const box = byId("failed");
  box.textContent = typeof DecompressionStream === "undefined"
    ? "This browser is too old to show the report: it cannot unpack compressed data. Any browser of 2023 or later can."
    : `The report could not be shown: ${error.message}`;
  box.hidden = false;
  throw error;
});
