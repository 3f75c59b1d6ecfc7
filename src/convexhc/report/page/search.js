// Search for a node by name: exact matches first, then prefixes, then other matches.

const LISTED_HITS = 8;

function makeSearch(choose) {
  const box = byId("search");
  const list = byId("found");
  const lower = DATA.names.map((name) => name.toLowerCase());
  let hits = [];
  let active = 0;

  function matches(query) {
    const graded = [];
    lower.forEach((name, node) => {
      const at = name.indexOf(query);
      if (at >= 0) graded.push({ node, grade: name === query ? 0 : at === 0 ? 1 : 2 });
    });
    graded.sort((a, b) => a.grade - b.grade || a.node - b.node);
    return graded.map(({ node }) => node);
  }

  function close() {
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  // The drawings centre on the node; scroll to them if neither is on the screen.
  function take(node) {
    box.value = DATA.names[node];
    close();
    choose({ node });
    const seen = ["graph", "tree"].map(byId).filter((host) => host && isOnScreen(host));
    if (!seen.length) byId("tree-panel").scrollIntoView({ block: "center" });
  }

  function isOnScreen(host) {
    const { top, bottom } = host.getBoundingClientRect();
    return Math.min(bottom, window.innerHeight) - Math.max(top, 0) > 120;
  }

  function show() {
    const query = box.value.trim().toLowerCase();
    if (!query) {
      close();
      return;
    }
    const rows = hits.slice(0, LISTED_HITS).map((node, at) => {
      const row = element("li", { id: `found-${at}`, role: "option", textContent: DATA.names[node], "aria-selected": String(at === active) });
      row.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        take(node);
      });
      return row;
    });
    const more = hits.length - rows.length;
    if (more > 0) rows.push(element("li", { className: "none", role: "option", textContent: `and ${counted(more, "more node")}`, "aria-disabled": "true" }));
    if (!rows.length) rows.push(element("li", { className: "none", role: "option", textContent: "No node has this name", "aria-disabled": "true" }));
    list.replaceChildren(...rows);
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    if (hits.length) box.setAttribute("aria-activedescendant", `found-${active}`);
    else box.removeAttribute("aria-activedescendant");
  }

  box.addEventListener("input", () => {
    hits = matches(box.value.trim().toLowerCase());
    active = 0;
    show();
    if (!box.value) choose({});
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const listed = Math.min(hits.length, LISTED_HITS);
      if (!listed) return;
      active = (active + (event.key === "ArrowDown" ? 1 : listed - 1)) % listed;
      show();
    } else if (event.key === "Enter" && hits.length && !list.hidden) {
      event.preventDefault();
      take(hits[active]);
    } else if (event.key === "Escape") {
      close();
    }
  });
  box.addEventListener("blur", close);
}
