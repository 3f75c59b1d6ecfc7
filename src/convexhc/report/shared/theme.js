// Light and dark colours: those of the system, until the button is used.

// Called after a change of the theme.
const themeListeners = [];

function setTheme(theme) {
  state.theme = theme;
  themeColors.clear();
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
  for (const listen of themeListeners) listen();
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
