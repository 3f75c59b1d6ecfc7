// The graph: nodes have the same position at every level, and the colour of their cluster.

// Larger graphs are drawn without names.
const MAX_NAMED_NODES = 150;

function makeGraph(choose) {
  const host = byId("graph");
  const graph = DATA.graph;
  const manyMarks = NODES > CANVAS_NODES || graph.tail.length > CANVAS_EDGES;
  const surface = surfaceOn(host, "Drawing of the graph, nodes coloured by cluster", manyMarks);
  let zoom = null;
  const isLarge = makeEnlarge(byId("graph-panel"), byId("enlarge"), () => zoom.fit());
  zoom = makeZoom(host, isLarge);
  const smallest = Math.min(8, Math.max(2.4, 62 / Math.sqrt(NODES)));
  // Zooming in separates nodes; it enlarges them, too, but less.
  const radiusNow = () => Math.min(9, smallest * zoom.factor ** 0.4);
  const margin = smallest + (NODES <= MAX_NAMED_NODES ? 18 : 6);
  let [width, height, size, radius] = [0, 0, 0, smallest];
  // Stretch an elongated drawing to use the square; directions have no meaning.
  const extent = (values) => 2 * values.reduce((most, value) => Math.max(most, Math.abs(value / 65535 - 0.5)), 1e-6);
  const stretchX = Math.min(1.5, 1 / extent(graph.x));
  const stretchY = Math.min(1.5, 1 / extent(graph.y));
  const wholeX = (node) => width / 2 + stretchX * (graph.x[node] / 65535 - 0.5) * (size - 2 * margin);
  const wholeY = (node) => height / 2 - stretchY * (graph.y[node] / 65535 - 0.5) * (size - 2 * margin);
  const x = (node) => zoom.factor * wholeX(node) + zoom.left;
  const y = (node) => zoom.factor * wholeY(node) + zoom.top;
  const isVisible = (node) => x(node) > -radius && x(node) < width + radius && y(node) > -radius && y(node) < height + radius;

  // Edges inside a cluster have its colour; edges between clusters are grey.
  function drawEdges({ labels, clusters }) {
    const inside = new Map();
    const between = [];
    for (let edge = 0; edge < graph.tail.length; edge++) {
      const [tail, head] = [graph.tail[edge], graph.head[edge]];
      let ends = between;
      if (labels[tail] === labels[head]) {
        if (!inside.has(labels[tail])) inside.set(labels[tail], []);
        ends = inside.get(labels[tail]);
      }
      ends.push(x(tail), y(tail), x(head), y(head));
    }
    const crowd = Math.min(1, 1500 / graph.tail.length);
    const isSelected = selectedCluster() !== null;
    surface.segments(between, { stroke: themeColor("--trunk"), width: 0.8, alpha: (isSelected ? 0.2 : 0.25 + 0.25 * crowd) });
    for (const [label, ends] of inside) {
      const cluster = clusters[label];
      surface.segments(ends, { stroke: colorOf(cluster), width: 0.6 + 0.8 * crowd, alpha: (0.3 + 0.3 * crowd) * emphasis(cluster) });
    }
  }

  const degree = new Uint32Array(NODES);
  for (const ends of [graph.tail, graph.head]) for (const node of ends) degree[node]++;
  const byDegree = Array.from(degree, (_, node) => node).sort((a, b) => degree[b] - degree[a]);
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
  let placed = { key: "", names: [] };

  // Names that overlap neither a node nor another name: the selected node first, then by degree.
  function names() {
    const key = [width, height, zoom.factor, zoom.left, zoom.top, state.node].join();
    if (placed.key === key) return placed.names;
    const visible = byDegree.filter(isVisible);
    if (visible.length > MAX_NAMED_NODES) return [];
    const taken = visible.map((node) => [x(node) - radius, y(node) - radius, x(node) + radius, y(node) + radius]);
    const free = ([left, high, right, low]) =>
      left >= 0 && right <= width && high >= 0 && low <= height &&
      taken.every((box) => box[0] >= right || box[2] <= left || box[1] >= low || box[3] <= high);
    const found = [];
    for (const node of [state.node, ...visible]) {
      if (node < 0 || (node === state.node && found.length)) continue;
      const text = shortened(DATA.names[node], 16);
      const wide = ruler.measureText(text).width;
      const reach = radius + 4;
      const options = [
        [x(node), y(node) - reach, "middle", -wide / 2],
        [x(node), y(node) + reach + 8, "middle", -wide / 2],
        [x(node) + reach, y(node) + 4, "start", 0],
        [x(node) - reach, y(node) + 4, "end", -wide],
      ].map(([at, down, anchor, from]) => ({ node, text, across: at, down, anchor, box: [at + from, down - 9, at + from + wide, down + 2] }));
      const chosen = options.find((option) => free(option.box)) || (node === state.node ? options[0] : null);
      if (!chosen) continue;
      taken.push(chosen.box);
      found.push(chosen);
    }
    placed = { key, names: found };
    return found;
  }

  // The node that was moved into view last.
  let centred = -1;

  function draw() {
    width = widths.graph;
    height = isLarge() ? heights.graph : width;
    size = Math.min(width, height);
    zoom.resize(width, height);
    radius = radiusNow();
    surface.begin(width, height);
    const now = currentPartition();
    if (state.node >= 0 && state.node !== centred) zoom.show(wholeX(state.node), wholeY(state.node));
    centred = state.node;
    drawEdges(now);
    const panel = themeColor("--panel");
    for (let node = 0; node < NODES; node++) {
      const cluster = now.clusters[now.labels[node]];
      const single = cluster.rank < 0;
      surface.disc(x(node), y(node), radius * (single ? 0.8 : 1), {
        fill: colorOfNode(node), stroke: panel, width: NODES > CANVAS_NODES ? 0.5 : 1, alpha: emphasis(cluster), node,
      });
    }
    if (state.node >= 0) {
      surface.disc(x(state.node), y(state.node), radius + 5, { stroke: themeColor("--ink"), width: 2.5, name: "found" });
    }
    for (const { node, text, across: at, down, anchor } of names()) {
      surface.text(text, at, down, { fill: themeColor("--ink"), anchor, halo: panel, alpha: emphasis(now.clusters[now.labels[node]]) });
    }
    surface.end();
  }

  const find = (event) => {
    if (event.type === "click" && zoom.dragged) return null;
    const [px, py] = pointerOn(event, surface.node, width, height);
    let best = -1;
    let nearest = (radius + 6) ** 2;
    for (let node = 0; node < NODES; node++) {
      const distance = (x(node) - px) ** 2 + (y(node) - py) ** 2;
      if (distance < nearest) [best, nearest] = [node, distance];
    }
    return best < 0 ? null : { node: best, text: nodeText(best) };
  };
  listenOn(host, find, choose);
  const drawn = graph.tail.length;
  byId("graph-caption").textContent =
    `${counted(graph.total, "edge")}` +
    (drawn < graph.total ? `, of which ${drawn} are drawn: a maximum spanning forest and the strongest others, ties drawn evenly. ` : ". ") +
    "Edges inside a cluster have its colour; single nodes are grey. Zoom with the buttons or with Ctrl and the wheel; drag to move.";
  return draw;
}
