// The tree on the lam axis, leaves on the left, cut at the lam of the slider.

function readTree() {
  const { parent, height, order, artificial } = DATA.tree;
  const count = parent.length;
  const start = new Float64Array(count).fill(Infinity);
  const size = new Uint32Array(count);
  const leaf = new Uint32Array(count);
  const children = Array.from({ length: count - NODES }, () => []);
  order.forEach((node, position) => {
    start[node] = position;
    size[node] = 1;
    leaf[node] = node;
  });
  for (let node = 0; node < count - 1; node++) {
    const above = parent[node];
    if (start[node] < start[above]) [start[above], leaf[above]] = [start[node], leaf[node]];
    size[above] += size[node];
    children[above - NODES].push(node);
  }
  const middle = Float64Array.from(start, (position) => position + 0.5);
  children.forEach((below, at) => {
    below.sort((a, b) => start[a] - start[b]);
    middle[NODES + at] = (middle[below[0]] + middle[below[below.length - 1]]) / 2;
  });
  const lam = (node) => (node < NODES ? -1 : height[node - NODES]);
  const closing = [...new Set(height.slice(height.length - artificial))];
  const isClosing = (node) => node >= count - artificial && node >= NODES;
  return { parent, start, size, leaf, children, middle, lam, closing, isClosing, count };
}

function makeTree(choose) {
  const tree = readTree();
  const host = byId("tree");
  const sheet = element("div", { className: "figure" });
  host.append(sheet);
  const surface = surfaceOn(sheet, "Tree of the merges, cut at this level", NODES > CANVAS_NODES);
  const cut = element("div", { className: "cut" });
  sheet.append(cut);
  const order = DATA.tree.order;
  const axisRoom = 22;
  const top = 6;
  let [width, tall, row] = [0, 0, 0];
  // The node that was scrolled to last.
  let centred = -1;
  const y = (node) => top + tree.middle[node] * row;

  function x(node) {
    if (node < NODES) return gutters.left - 9;
    if (!tree.isClosing(node)) return lamToX(tree.lam(node), width);
    const step = gutters.right / (tree.closing.length + 1);
    return width - gutters.right + step * (1 + tree.closing.indexOf(tree.lam(node)));
  }

  // Subtrees thinner than a few pixels are drawn as one wedge.
  function folded() {
    const inside = new Uint8Array(tree.count);
    const wedge = new Uint8Array(tree.count);
    for (let node = tree.count - 1; node >= 0; node--) {
      const above = tree.parent[node];
      if (node !== tree.count - 1) inside[node] = inside[above] || wedge[above];
      wedge[node] = !inside[node] && node >= NODES && tree.size[node] * row < 4;
    }
    return { inside, wedge };
  }

  // Whether the branch below a node was found again too seldom.
  const isWeak = (node) => DATA.support !== null && node >= NODES && 100 * DATA.support.share[node - NODES] < state.leastSupport;

  function drawBranches(lamNow, cutAt, { labels, clusters }) {
    const { inside, wedge } = folded();
    const weak = [];
    const common = state.scale < 0 ? null : commonLabels(labels);
    const below = (node) => node < NODES || (common ? common[node] >= 0 : tree.lam(node) <= lamNow && !tree.isClosing(node));
    const colored = new Map();
    const above = [];
    const closing = [];
    const strokeOf = (label) => {
      if (!colored.has(label)) colored.set(label, []);
      return colored.get(label);
    };
    for (let node = 0; node < tree.count; node++) {
      if (inside[node]) continue;
      const label = labels[tree.leaf[node]];
      if (node !== tree.count - 1) {
        const up = tree.parent[node];
        const rest = tree.isClosing(up) ? closing : above;
        const from = x(node);
        if (isWeak(node)) weak.push(from, y(node), x(up), y(node));
        else if (below(up)) strokeOf(label).push(from, y(node), x(up), y(node));
        else if (below(node)) {
          const end = common ? x(up) : cutAt;
          strokeOf(label).push(from, y(node), end, y(node));
          rest.push(end, y(node), x(up), y(node));
        } else rest.push(from, y(node), x(up), y(node));
      }
      if (node < NODES) continue;
      if (wedge[node]) {
        const fill = below(node) ? colorOf(clusters[label]) : themeColor("--trunk");
        const [high, low] = [top + tree.start[node] * row, top + (tree.start[node] + tree.size[node]) * row];
        const corners = [[x(node), y(node)], [gutters.left - 9, high], [gutters.left - 9, low]];
        surface.polyline(corners, { fill, alpha: (below(node) ? 0.75 : 0.35) * emphasis(clusters[label]) });
        continue;
      }
      const ends = tree.children[node - NODES];
      const bar = [x(node), y(ends[0]), x(node), y(ends[ends.length - 1])];
      (isWeak(node) ? weak : tree.isClosing(node) ? closing : below(node) ? strokeOf(label) : above).push(...bar);
    }
    const thick = row > 6 ? 1.6 : row > 2 ? 1.2 : 0.8;
    surface.segments(weak, { stroke: themeColor("--trunk"), width: 0.7 * thick, alpha: 0.4, name: "weak" });
    surface.segments(above, { stroke: themeColor("--trunk"), width: thick });
    surface.segments(closing, { stroke: themeColor("--trunk"), width: thick, dash: [3, 3] });
    for (const [label, ends] of colored) {
      const cluster = clusters[label];
      surface.segments(ends, { stroke: colorOf(cluster), width: thick, alpha: emphasis(cluster), name: "branch" });
    }
  }

  // Of each node of the tree: the label of its leaves, or -1 if they have several.
  function commonLabels(labels) {
    const common = new Int32Array(tree.count).fill(-2);
    for (let node = 0; node < tree.count; node++) {
      if (node < NODES) common[node] = labels[node];
      const above = tree.parent[node];
      if (above !== node) common[above] = common[above] === -2 || common[above] === common[node] ? common[node] : -1;
    }
    return common;
  }

  // Left margin: a bar in the colour of each cluster, and the names of the nodes or the sizes.
  function drawMargin({ labels, clusters }) {
    const named = row >= 9;
    for (let start = 0, stop = 1; start < NODES; start = stop++) {
      while (stop < NODES && labels[order[stop]] === labels[order[start]]) stop++;
      const cluster = clusters[labels[order[start]]];
      const [from, length] = [top + start * row, (stop - start) * row];
      const gap = length > 4 ? 0.5 : 0;
      surface.rect(gutters.left - 16, from + gap, 5, length - 2 * gap, { fill: colorOf(cluster), alpha: emphasis(cluster) });
      if (state.attribute >= 0) {
        for (let at = start; at < stop; at++) surface.rect(gutters.left - 10, top + at * row, 4, Math.max(row, 0.5), { fill: colorOfNode(order[at]) });
      }
      if (!named && length >= 12 && stop - start > 1) {
        surface.text(`${cluster.label} (${stop - start})`, gutters.left - 21, from + length / 2 + 4, { fill: themeColor("--soft"), anchor: "end", alpha: emphasis(cluster) });
      }
    }
    if (!named) return;
    const most = Math.floor((gutters.left - 22) / 6.2);
    order.forEach((node, position) => {
      const text = shortened(DATA.names[node], most);
      const style = { fill: themeColor(node === state.node ? "--accent" : "--ink"), anchor: "end", alpha: emphasis(clusters[labels[node]]) };
      surface.text(text, gutters.left - 21, top + (position + 0.5) * row + 4, style);
    });
  }

  function drawPathToRoot(node) {
    const segments = [];
    for (let at = node; at !== tree.count - 1; at = tree.parent[at]) {
      const up = tree.parent[at];
      segments.push(x(at), y(at), x(up), y(at), x(up), y(at), x(up), y(up));
    }
    surface.segments(segments, { stroke: themeColor("--accent"), width: 2.2, name: "found" });
  }

  // What the caption says of the tree itself.
  const always =
    (DATA.rootJoins ? " Dashed merges at the right only complete the tree and occur at no \u03bb." : "") +
    (DATA.support ? ` Support: how often a branch was found again in ${counted(DATA.support.resamples, "resample")}, ${DATA.support.made}.` : "") +
    (NODES > CANVAS_NODES ? " Wedges represent subtrees too thin to draw." : "");

  function draw() {
    width = widths.tree;
    // Beside the graph the tree is as tall.
    const beside = byId("graph") && widths.tree < 0.7 * widths.main ? widths.graph - axisRoom : 0;
    const fitting = NODES <= 40 ? 14 * NODES : Math.min(Math.max(440, 3 * NODES), 600);
    const whole = state.names ? Math.max(13 * NODES, beside) : Math.max(fitting, Math.min(beside, 40 * NODES));
    tall = whole + top + axisRoom;
    row = whole / NODES;
    const now = currentPartition();
    const lamNow = DATA.lam[state.level];
    const cutAt = lamToX(lamNow, width);
    surface.begin(width, tall);
    for (const lam of lamTicks(width)) {
      surface.segments([lamToX(lam, width), top, lamToX(lam, width), top + whole], { stroke: themeColor("--grid") });
      surface.text(formatNumber(lam), lamToX(lam, width), tall - 5, { fill: themeColor("--soft"), anchor: "middle" });
    }
    drawBranches(lamNow, cutAt, now);
    drawMargin(now);
    if (state.node >= 0) drawPathToRoot(state.node);
    surface.end();
    cut.style.left = `${(100 * cutAt) / width}%`;
    cut.style.height = `${(100 * (tall - axisRoom)) / tall}%`;
    // A pruning is no cut at one lam.
    cut.hidden = isPruned();
    byId("tree-caption").textContent =
      "Branches merge at the \u03bb from which on their nodes stay together; " +
      (cut.hidden ? "those inside a cluster have its colour." : "left of the line they have the colour of their cluster.") + always;
    if (state.node >= 0 && state.node !== centred) {
      host.scrollTop = ((y(state.node) * sheet.clientHeight) / tall) - host.clientHeight / 2;
    }
    centred = state.node;
    byId("show-names").setAttribute("aria-pressed", String(state.names));
  }

  // The merge whose bar is within a few pixels of a point, or -1.
  function mergeNear(px, py) {
    let [best, nearest] = [-1, 6];
    for (let node = NODES; node < tree.count; node++) {
      if (Math.abs(x(node) - px) >= nearest) continue;
      const ends = tree.children[node - NODES];
      if (py < y(ends[0]) - 3 || py > y(ends[ends.length - 1]) + 3) continue;
      [best, nearest] = [node, Math.abs(x(node) - px)];
    }
    return best;
  }

  function mergeText(node) {
    const merges = tree.isClosing(node) ? "merges at no \u03bb" : `merges at \u03bb = ${formatNumber(tree.lam(node))}`;
    const text = `branch of ${counted(tree.size[node], "node")}\n${merges}`;
    if (!DATA.support) return text;
    const [share, transfer] = [DATA.support.share, DATA.support.transfer].map((values) => percent(values[node - NODES]));
    return `${text}\nin ${share} of the resamples; transfer support ${transfer}`;
  }

  const find = (event) => {
    const [px, py] = pointerOn(event, surface.node, width, tall);
    const merge = event.type === "click" ? -1 : mergeNear(px, py);
    if (merge >= 0) return { text: mergeText(merge) };
    const position = Math.floor((py - top) / row);
    if (position < 0 || position >= NODES) return null;
    return { node: order[position], text: nodeText(order[position]) };
  };
  listenOn(sheet, find, choose);
  const button = byId("show-names");
  button.hidden = NODES <= 40 || NODES > 600;
  button.addEventListener("click", () => {
    state.names = !state.names;
    refresh();
  });
  if (DATA.support) {
    byId("support-choice").hidden = false;
    const range = byId("least-support");
    const show = () => {
      state.leastSupport = Number(range.value);
      byId("least-support-now").textContent = `${range.value} %`;
      refresh();
    };
    range.addEventListener("input", show);
    show();
  }
  return draw;
}
