// Start of the page: one state, from which all figures are drawn.

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

launch(start, "page");
