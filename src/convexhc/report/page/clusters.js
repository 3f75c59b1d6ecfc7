// The table of clusters, the description of the selected node or cluster, and the download of labels.

const INITIAL_ROWS = 30;

// Names listed per cluster; with few clusters there is room for more.
function initialNames() {
  const groups = currentPartition().clusters.filter((cluster) => cluster.members.length > 1).length;
  return groups <= 8 ? 60 : 14;
}

function memberList(members) {
  const most = initialNames();
  const cell = element("td");
  const names = members.map((node) => DATA.names[node]);
  const list = element("span", { textContent: names.slice(0, most).join(", ") });
  cell.append(list);
  if (names.length > most) {
    const button = element("button", { type: "button", textContent: `all ${names.length}` });
    button.addEventListener("click", () => {
      list.textContent = names.join(", ");
      button.remove();
    });
    list.textContent += ", \u2026 ";
    cell.append(button);
  }
  return cell;
}

function swatch(cluster) {
  const dot = element("span", { className: "swatch" });
  if (cluster) dot.style.background = colorOf(cluster);
  else dot.classList.add("hollow");
  return dot;
}

function clusterRow(cluster, choose) {
  const chosen = selectedCluster();
  const isChosen = chosen !== null && chosen.label === cluster.label;
  const button = element("button", { type: "button", textContent: String(cluster.label), "aria-pressed": String(isChosen), "aria-label": `Highlight cluster ${cluster.label}` });
  button.addEventListener("click", () => choose({ anchor: isChosen && state.node < 0 ? -1 : cluster.members[0] }));
  const row = element("tr", { className: isChosen ? "chosen-row" : "" });
  row.append(
    element("td", {}, swatch(cluster), button),
    element("td", { className: "number", textContent: String(cluster.members.length) }),
    memberList(cluster.members),
  );
  return row;
}

function makeClusters(choose) {
  let shown = { level: "", all: false };
  byId("more").addEventListener("click", () => {
    shown.all = true;
    refresh();
  });
  return () => {
    const shownNow = `${state.level} ${state.scale}`;
    if (shown.level !== shownNow) shown = { level: shownNow, all: false };
    const { clusters } = currentPartition();
    const groups = clusters.filter((cluster) => cluster.members.length > 1);
    const single = clusters.filter((cluster) => cluster.members.length === 1).map((cluster) => cluster.members[0]);
    groups.sort((a, b) => b.members.length - a.members.length || a.label - b.label);
    const listed = shown.all ? groups : groups.slice(0, INITIAL_ROWS);
    const rows = listed.map((cluster) => clusterRow(cluster, choose));
    if (single.length) {
      const title = element("td", {}, swatch(null), "single");
      rows.push(element("tr", {}, title, element("td", { className: "number", textContent: String(single.length) }), memberList(single)));
    }
    byId("clusters").replaceChildren(...rows);
    const hidden = groups.length - listed.length;
    byId("more").hidden = hidden === 0;
    byId("more").textContent = `Show ${counted(hidden, "more cluster")}`;
    describeSelection();
  };
}

function selectionText(cluster) {
  const others = cluster.members.length - 1;
  if (state.node < 0) {
    return others ? `Cluster ${cluster.label}: ${counted(others + 1, "node")}.` : `${DATA.names[cluster.members[0]]} is a single node at this level.`;
  }
  const joins = DATA.tree.height[DATA.tree.parent[state.node] - NODES];
  const until = joins === undefined ? "" : ` In the tree it first merges at \u03bb = ${formatNumber(joins)}.`;
  const here = others ? `is in cluster ${cluster.label} with ${counted(others, "other node")}` : "is a single node";
  return `${DATA.names[state.node]} ${here} at this level.${until}`;
}

// The same text stands beside the search box, which is always on the first screen.
function describeSelection() {
  const cluster = selectedCluster();
  const text = cluster === null ? "" : selectionText(cluster);
  byId("chosen").textContent = text;
  byId("search-note").textContent = state.node < 0 ? "" : text;
  byId("chosen").hidden = byId("clear").hidden = cluster === null;
  byId("search-note").hidden = state.node < 0;
}

function quotedForCsv(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function labelsAsCsv() {
  const { labels } = currentPartition();
  const lines = DATA.names.map((name, node) => `${quotedForCsv(name)},${labels[node]}`);
  return `node,cluster\n${lines.join("\n")}\n`;
}

function downloadLabels() {
  saveFile(labelsAsCsv(), "text/csv", `labels_${currentPartition().clusters.length}_clusters.csv`);
}
