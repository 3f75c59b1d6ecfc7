// The figures of a page: drawn together from one state, on screen and on paper.

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

// Print in light colours, with all details open.
function makePrinting() {
  const details = [...document.querySelectorAll("details")];
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { theme: state.theme, open: details.map((one) => one.open) };
    setTheme("light");
    document.documentElement.classList.add("paper");
    for (const one of details) one.open = true;
    drawAll();
  });
  window.addEventListener("afterprint", () => {
    if (before === null) return;
    setTheme(before.theme);
    document.documentElement.classList.remove("paper");
    details.forEach((one, at) => { one.open = before.open[at]; });
    before = null;
    drawAll();
  });
}

// Start a page that is called by this name in a message of failure.
function launch(start, name) {
  start().catch((error) => {
    const box = byId("failed");
    box.textContent = typeof DecompressionStream === "undefined"
      ? `This browser is too old to show the ${name}: it cannot decompress the data. Use a browser released in 2023 or later.`
      : `The ${name} could not be shown: ${error.message}`;
    box.hidden = false;
    throw error;
  });
}
