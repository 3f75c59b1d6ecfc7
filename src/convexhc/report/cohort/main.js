// Start of the page: one state, from which all figures are drawn.

const views = [];
let waiting = false;

function drawAll() {
  waiting = false;
  for (const draw of views) draw();
}

function refresh() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(drawAll);
}

function choose(subject) {
  state.chosen = subject;
  refresh();
}

function showLead() {
  const parts = [counted(DATA.subjects.length, "subject")];
  if (GROUPED) parts[0] += ` in ${counted(DATA.groups.length, "group")}`;
  const missing = DATA.union - DATA.common;
  parts.push(`${counted(DATA.common, "node")}${missing ? ` in common, ${missing} more in some` : " each"}`);
  byId("lead").textContent = parts.join("; ");
  const failed = DATA.subjects.filter((subject) => subject.place < 0);
  if (!failed.length) return;
  const box = byId("failures");
  box.append(element("p", {}, element("strong", { textContent: `${counted(failed.length, "subject")} failed. ` }), "The others are compared; see the table for the errors."));
  box.hidden = false;
}

function makePrinting() {
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = state.theme;
    setTheme("light");
    document.documentElement.classList.add("paper");
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    if (before === null) return;
    setTheme(before);
    document.documentElement.classList.remove("paper");
    before = null;
    drawAll();
  });
}

async function start() {
  await decodeAll(DATA);
  themeListeners.push(recolorDots);
  makeTheme();
  byId("main").hidden = false;
  showLead();
  views.push(makeTests((metric) => {
    state.metric = metric;
    refresh();
  }));
  if (DATA.distances.length) views.push(makeMatrix(choose), makeSpread(), makeGroupMeans());
  else byId("comparison").remove();
  views.push(makeTrees(), makeIcicles(), makeTable(choose));
  makePrinting();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.id !== "search") choose(-1);
  });
  new ResizeObserver(refresh).observe(byId("main"));
  drawAll();
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  const box = byId("failed");
  box.textContent = typeof DecompressionStream === "undefined"
    ? "This browser is too old to show the page: it cannot decompress the data. Use a browser released in 2023 or later."
    : `The page could not be shown: ${error.message}`;
  box.hidden = false;
  throw error;
});
