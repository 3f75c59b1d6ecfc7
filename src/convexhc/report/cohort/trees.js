// The consensus trees side by side: leaves on the left, the root on the right.

const FIRST_TREES = 4;

function readTree(data) {
  const count = data.parent.length;
  const leaves = data.names.length;
  const children = Array.from({ length: count - leaves }, () => []);
  for (let node = 0; node < count - 1; node++) children[data.parent[node] - leaves].push(node);
  for (const below of children) below.sort((a, b) => data.place[a] - data.place[b]);
  const middle = Float64Array.from(data.place, (place) => place + 0.5);
  children.forEach((below, at) => {
    middle[leaves + at] = (middle[below[0]] + middle[below[below.length - 1]]) / 2;
  });
  return { count, leaves, children, middle };
}

function treeHeading(data) {
  const group = data.name.startsWith("group ") ? DATA.groups.indexOf(data.name.slice(6)) : -1;
  const subjects = counted(data.subjects ?? SOLVED.length, "subject");
  const title = data.kind === "mean" ? "Mean graph" : group < 0 ? "All subjects" : DATA.groups[group];
  const shared = data.parent.length - data.names.length - 1;
  const branches = `${shared} shared ${shared === 1 ? "branch" : "branches"}`;
  const note = data.kind === "mean" ? `convex path, ${subjects}` : `${subjects}, ${branches}`;
  const heading = element("h3", {});
  if (group >= 0) heading.append(groupDot(group));
  heading.append(element("span", { textContent: title }), element("span", { className: "note", textContent: note }));
  if (data.link) heading.append(element("a", { className: "note", href: data.link, textContent: data.kind === "mean" ? "report" : "mean graph" }));
  return heading;
}

function makeTreeCard(data) {
  const card = element("div", { className: "card tree-card" }, treeHeading(data));
  const host = element("div", { className: "figure" });
  card.append(host);
  const tree = readTree(data);
  const surface = surfaceOn(host, `Tree, ${data.kind} of ${data.name}`, tree.leaves > 400);
  const row = tree.leaves <= 100 ? 11 : Math.max(1.2, Math.min(11, 900 / tree.leaves));
  const named = row >= 9;
  const tall = tree.leaves * row + 6;
  let [width, left] = [0, 0];
  const y = (node) => 3 + tree.middle[node] * row;
  const x = (node) => left + (data.height[node] / data.steps) * (width - left - 8);
  const support = (node) => (data.share && node >= tree.leaves ? data.share[node - tree.leaves] : 1);

  function draw() {
    width = widthOf(host);
    const longest = Math.max(...data.names.map((name) => name.length));
    left = named ? Math.min(14 + 5.8 * longest, width * 0.42) : 10;
    surface.begin(width, tall);
    // A branch fades with the share of subjects that have the clade below it.
    const byShare = new Map();
    const add = (share, ...ends) => {
      const key = Math.round(10 * share);
      if (!byShare.has(key)) byShare.set(key, []);
      byShare.get(key).push(...ends);
    };
    for (let node = 0; node < tree.count; node++) {
      if (node !== tree.count - 1) add(support(node), x(node), y(node), x(data.parent[node]), y(node));
      if (node < tree.leaves) continue;
      const below = tree.children[node - tree.leaves];
      add(support(node), x(node), y(below[0]), x(node), y(below[below.length - 1]));
    }
    for (const [key, ends] of [...byShare].sort((a, b) => a[0] - b[0])) {
      const strength = Math.min(Math.max((key / 10 - 0.5) / 0.5, 0), 1);
      surface.segments(ends, { stroke: themeColor("--ink"), width: (named ? 0.9 : 0.6) + 0.7 * strength, alpha: 0.32 + 0.68 * strength, name: "branch" });
    }
    data.names.forEach((name, place) => {
      surface.rect(left - 7, 3 + place * row + (row > 4 ? 0.5 : 0), 5, row > 4 ? row - 1 : row, { fill: colorOf(data.colors[place]) });
      if (named) surface.text(shortened(name, Math.floor((left - 12) / 5.8)), left - 11, 3 + (place + 0.5) * row + 4, { fill: themeColor("--ink"), anchor: "end" });
    });
    surface.end();
  }

  function find(event) {
    const [px, py] = pointerOn(event, surface.node, width, tall);
    let [best, nearest] = [-1, 12];
    for (let node = 0; node < tree.count - 1; node++) {
      const [from, to] = [x(node), x(data.parent[node])];
      const apart = Math.hypot(Math.max(from - px, 0, px - to), y(node) - py);
      if (apart < nearest) [best, nearest] = [node, apart];
    }
    if (px < left) best = leafAt(Math.floor((py - 3) / row));
    if (best < 0) return null;
    if (best < tree.leaves) return { text: data.names[data.place[best]] };
    const below = data.names.slice(data.place[best], data.place[best] + data.size[best]);
    const listed = below.length > 8 ? `${below.slice(0, 8).join(", ")} and ${below.length - 8} more` : below.join(", ");
    const share = data.share ? `in ${(100 * support(best)).toFixed(0)} % of the subjects\n` : "";
    return { text: `${counted(below.length, "node")}\n${share}${listed}` };
  }
  const leafAt = (place) => data.place.slice(0, tree.leaves).indexOf(place);
  listenOn(host, find);
  return { card, draw };
}

function makeTrees() {
  const host = byId("trees");
  if (!DATA.trees.length) {
    byId("trees-panel").remove();
    return () => {};
  }
  const made = [];
  function show(count) {
    for (const data of DATA.trees.slice(made.length, count)) {
      const one = makeTreeCard(data);
      host.append(one.card);
      made.push(one);
    }
    const rest = DATA.trees.length - made.length;
    more.hidden = rest <= 0;
    more.textContent = `Show ${counted(rest, "more group")}`;
  }
  const more = byId("more-trees");
  more.addEventListener("click", () => {
    show(DATA.trees.length);
    refresh();
  });
  show(FIRST_TREES);
  byId("trees-caption").textContent =
    "Trees of subjects are majority-rule trees, with the clades of more than half of them; their branch lengths have no meaning. " +
    "Colours, here and below, are the clusters suggested for the mean graph of all subjects.";
  return () => {
    for (const one of made) one.draw();
  };
}
