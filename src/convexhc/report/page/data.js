// What is derived from the embedded data: partitions, clusters, colours.

const NODES = DATA.names.length;
const LEVELS = DATA.lam.length;

// Above either size, SVG is slow and figures are drawn on a canvas.
const CANVAS_NODES = 600;
const CANVAS_EDGES = 5000;

// One row per level: the smallest member of the cluster of each node.
let firsts = [];

function readPartitions() {
  const { counts, nodes, firsts: values } = DATA.changes;
  let row = Uint32Array.from({ length: NODES }, (_, node) => node);
  let at = 0;
  firsts = counts.map((count) => {
    if (count > 0) row = row.slice();
    for (const stop = at + count; at < stop; at++) row[nodes[at]] = values[at];
    return row;
  });
}

const partitionCache = new Map();

// The partition of a level of the path.
function partition(level) {
  if (!partitionCache.has(level)) partitionCache.set(level, partitionOf(firsts[level]));
  return partitionCache.get(level);
}

// Labels number the clusters in the order of their smallest members, as everywhere in convexhc.
function partitionOf(first) {
  const labels = new Uint32Array(NODES);
  const clusters = [];
  for (let node = 0; node < NODES; node++) {
    if (first[node] === node) {
      labels[node] = clusters.length;
      clusters.push({ label: clusters.length, members: [], rank: DATA.ranks[node] });
    } else {
      labels[node] = labels[first[node]];
    }
    const cluster = clusters[labels[node]];
    cluster.members.push(node);
    cluster.rank = Math.min(cluster.rank, DATA.ranks[node]);
  }
  for (const cluster of clusters) if (cluster.members.length === 1) cluster.rank = -1;
  return { labels, clusters };
}

// A suggested scale is a pruning of the tree: its partition may be that of no single level.
function scalePartition(scale) {
  const key = `scale ${scale}`;
  if (!partitionCache.has(key)) {
    const smallest = new Map();
    // Not `labels.map`: its result would have the narrow integers of the labels.
    const first = Array.from(DATA.scales[scale].labels, (label, node) => {
      if (!smallest.has(label)) smallest.set(label, node);
      return smallest.get(label);
    });
    partitionCache.set(key, partitionOf(first));
  }
  return partitionCache.get(key);
}

// `scale` is the suggested scale shown, or -1 for the level; `attribute` colours nodes, -1 for none.
const state = { level: 0, scale: -1, theme: "light", node: -1, anchor: -1, matrix: "", names: false, attribute: -1, leastSupport: 0 };

const currentPartition = () => (state.scale < 0 ? partition(state.level) : scalePartition(state.scale));

// Whether a suggested scale is shown whose partition is not that of the level nearest to it.
function isPruned() {
  if (state.scale < 0) return false;
  const { labels } = partition(state.level);
  return scalePartition(state.scale).labels.some((label, node) => label !== labels[node]);
}

// The cluster, among those shown, of a node.
const clusterOf = (node) => currentPartition().clusters[currentPartition().labels[node]];

function colorOf(cluster) {
  const colors = DATA.palette[state.theme];
  return cluster.rank < 0 ? DATA.neutral[state.theme] : colors[cluster.rank % colors.length];
}

// The selected cluster, if any: that of the node searched for, or the one clicked.
function selectedCluster() {
  const node = state.node >= 0 ? state.node : state.anchor;
  return node < 0 ? null : clusterOf(node);
}

// Widths of the figures, read together before drawing: alternating reads and writes would force
// the browser to repeat the layout each time.
const widths = {};
const heights = {};

function measure() {
  for (const id of ["main", "ticks", "scan", "distances", "graph", "trajectories", "heatmap", "tree"]) {
    const host = byId(id);
    if (!host) continue;
    widths[id] = host.clientWidth;
    heights[id] = host.clientHeight;
  }
}
