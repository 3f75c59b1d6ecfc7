// The table of clusters, what is said of the node or cluster looked at, and the labels as a file.

const ROWS_AT_FIRST = 30;

// Few clusters leave room for many names each.
function namesAtFirst() {
  const groups = nowPartition().clusters.filter((cluster) => cluster.members.length > 1).length;
  return groups <= 8 ? 60 : 14;
}

function memberList(members) {
  const most = namesAtFirst();
  const cell = element("td");
  const names = members.map((node) => DATA.names[node]);
  const words = element("span", { textContent: names.slice(0, most).join(", ") });
  cell.append(words);
  if (names.length > most) {
    const button = element("button", { type: "button", textContent: `all ${names.length}` });
    button.addEventListener("click", () => {
      words.textContent = names.join(", ");
      button.remove();
    });
    words.textContent += ", \u2026 ";
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
  const chosen = chosenCluster();
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
  let shown = { level: -1, all: false };
  byId("more").addEventListener("click", () => {
    shown.all = true;
    refresh();
  });
  return () => {
    if (shown.level !== state.level) shown = { level: state.level, all: false };
    const { clusters } = nowPartition();
    const groups = clusters.filter((cluster) => cluster.members.length > 1);
    const single = clusters.filter((cluster) => cluster.members.length === 1).map((cluster) => cluster.members[0]);
    groups.sort((a, b) => b.members.length - a.members.length || a.label - b.label);
    const listed = shown.all ? groups : groups.slice(0, ROWS_AT_FIRST);
    const rows = listed.map((cluster) => clusterRow(cluster, choose));
    if (single.length) {
      const title = element("td", {}, swatch(null), "alone");
      rows.push(element("tr", {}, title, element("td", { className: "number", textContent: String(single.length) }), memberList(single)));
    }
    byId("clusters").replaceChildren(...rows);
    const hidden = groups.length - listed.length;
    byId("more").hidden = hidden === 0;
    byId("more").textContent = `Show ${counted(hidden, "more cluster")}`;
    sayChosen();
  };
}

function sayChosen() {
  const box = byId("chosen");
  const cluster = chosenCluster();
  box.hidden = cluster === null;
  byId("clear").hidden = cluster === null;
  if (cluster === null) return;
  const others = cluster.members.length - 1;
  if (state.node < 0) {
    box.textContent = others ? `Cluster ${cluster.label}: ${counted(others + 1, "node")}.` : `${DATA.names[cluster.members[0]]} is alone at this level.`;
    return;
  }
  const joins = DATA.tree.height[DATA.tree.parent[state.node] - NODES];
  const until = joins === undefined ? "" : ` In the tree it joins others at \u03bb = ${shownNumber(joins)}.`;
  const here = others ? `is in cluster ${cluster.label} with ${counted(others, "other")}` : "is alone";
  box.textContent = `${DATA.names[state.node]} ${here} at this level.${until}`;
}

function quotedForCsv(words) {
  return /[",\r\n]/.test(words) ? `"${words.replaceAll('"', '""')}"` : words;
}

function labelsAsCsv(level) {
  const { labels } = partition(level);
  const lines = DATA.names.map((name, node) => `${quotedForCsv(name)},${labels[node]}`);
  return `node,cluster\n${lines.join("\n")}\n`;
}

function downloadLabels() {
  const address = URL.createObjectURL(new Blob([labelsAsCsv(state.level)], { type: "text/csv" }));
  const link = element("a", { href: address, download: `labels_${nowPartition().clusters.length}_clusters.csv` });
  link.click();
  // The browser reads the address after the click has ended.
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
