// The heat map: similarity, or assignments at this level, with the nodes in tree order.

function makeHeatmap(choose) {
  const host = byId("heatmap");
  const surface = new CanvasSurface(host, "Heat map in tree order, with the blocks of the clusters");
  const small = document.createElement("canvas");
  const order = DATA.tree.order;
  const inFeatures = DATA.assignment && DATA.assignment.inFeatures;
  const kinds = { assignment: inFeatures ? "Centroids" : "Assignments \u03c0", similarity: "Similarity K" };
  const offered = Object.keys(kinds).filter((kind) => DATA[kind]);
  const edge = 9;
  let size = 0;
  state.matrix = offered[0];

  const buttons = offered.map((kind) => {
    const button = element("button", { type: "button", textContent: kinds[kind] });
    button.addEventListener("click", () => {
      state.matrix = kind;
      refresh();
    });
    return button;
  });
  if (offered.length > 1) byId("heatmap-choice").append(...buttons);
  else byId("heatmap-title").textContent = kinds[offered[0]];

  // Colours as 32-bit pixels; bytes from the lowest: red, green, blue, alpha.
  const pixelShades = () =>
    Uint32Array.from(heatShades(), ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);

  function paintSimilarity(pixels, colors) {
    const { cells, shades: values } = DATA.similarity;
    for (let r = 0, at = 0; r < cells; r++) {
      for (let c = r; c < cells; c++, at++) pixels[r * cells + c] = pixels[c * cells + r] = colors[values[at]];
    }
  }

  // Column c of pi is the centroid of node c, stored once per cluster or per cell.
  function paintAssignment(pixels, colors) {
    const { cells, shades: values } = DATA.assignment;
    const { start, level } = assignmentNow();
    const labels = partition(level).labels;
    for (let c = 0; c < cells; c++) {
      const from = start + cells * (cells === NODES ? labels[order[c]] : c);
      for (let r = 0; r < cells; r++) pixels[r * cells + c] = colors[values[from + r]];
    }
  }

  // Start, in the data, of the last level with assignments up to the slider.
  function assignmentNow() {
    const { cells, levels } = DATA.assignment;
    let [index, start] = [0, 0];
    while (index + 1 < levels.length && levels[index + 1] <= state.level) {
      start += cells * (cells === NODES ? partition(levels[index]).clusters.length : cells);
      index++;
    }
    return { start, level: levels[index] };
  }

  let painted = "";

  function paint() {
    const { cells } = DATA[state.matrix];
    const wanted = [state.matrix, state.theme, state.matrix === "assignment" ? assignmentNow().level : ""].join();
    if (wanted !== painted) {
      painted = wanted;
      small.width = cells;
      small.height = cells;
      const pen = small.getContext("2d");
      const image = pen.createImageData(cells, cells);
      const pixels = new Uint32Array(image.data.buffer);
      (state.matrix === "similarity" ? paintSimilarity : paintAssignment)(pixels, pixelShades());
      pen.putImageData(image, 0, 0);
    }
    surface.pen.globalAlpha = 1;
    surface.pen.imageSmoothingEnabled = false;
    surface.pen.drawImage(small, edge, edge, size - edge, size - edge);
  }

  // Runs of equal labels in tree order; a cluster has several runs only if it splits at a larger lam.
  function runs() {
    const { labels, clusters } = currentPartition();
    const found = [];
    for (let start = 0, stop = 1; start < NODES; start = stop++) {
      while (stop < NODES && labels[order[stop]] === labels[order[start]]) stop++;
      found.push({ start, stop, cluster: clusters[labels[order[start]]] });
    }
    return found;
  }

  function draw() {
    size = widths.heatmap;
    surface.begin(size, size);
    paint();
    const position = (at) => edge + (at / NODES) * (size - edge);
    const blocks = runs();
    const groups = blocks.filter(({ start, stop }) => stop - start > 1);
    if (groups.length <= 40) {
      const borders = new Set(groups.flatMap(({ start, stop }) => [start, stop]));
      const lines = [...borders].flatMap((at) => [edge, position(at), size, position(at), position(at), edge, position(at), size]);
      surface.segments(lines, { stroke: themeColor("--trunk"), width: 0.7, alpha: 0.55 });
    }
    for (const { start, stop, cluster } of blocks) {
      const [from, length] = [position(start), position(stop) - position(start)];
      const style = { fill: colorOf(cluster), alpha: emphasis(cluster) };
      surface.rect(0, from, edge - 3, length, style);
      surface.rect(from, 0, length, edge - 3, style);
      if (stop - start > 1 && length > 5) {
        surface.rect(from, from, length, length, { stroke: colorOf(cluster), width: 1.6, alpha: emphasis(cluster) });
      }
    }
    if (state.node >= 0) {
      const at = position(order.indexOf(state.node) + 0.5);
      surface.segments([edge, at, size, at, at, edge, at, size], { stroke: themeColor("--accent"), width: 1.5 });
    }
    surface.end();
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(offered[at] === state.matrix)));
    const { cells } = DATA[state.matrix];
    const averaged = cells < NODES ? `, averaged over ${Number((NODES / cells).toPrecision(2))} nodes per row` : "";
    byId("heatmap-caption").textContent =
      (state.matrix === "similarity"
        ? "Similarity of each pair of nodes"
        : inFeatures
          ? "Inner products of the centroids at this level"
          : "Column i is the centroid of node i at this level: the share of each node in it") +
      `. Nodes in tree order${averaged}.`;
  }

  const find = (event) => {
    const [px, py] = pointerOn(event, surface.node, size, size);
    const position = (at) => Math.floor(((at - edge) / (size - edge)) * NODES);
    const [column, row] = [position(px), position(py)];
    if (row < 0 || column < 0 || row >= NODES || column >= NODES) return null;
    const [first, second] = [order[row], order[column]];
    const { labels } = currentPartition();
    const together = labels[first] === labels[second] ? "in the same cluster" : "in different clusters";
    return { node: second, text: first === second ? nodeText(first) : `${DATA.names[first]} and ${DATA.names[second]}\n${together} at this level` };
  };
  listenOn(host, find, choose);
  return draw;
}
