"use strict";
// What the file holds, and what follows from it: partitions, clusters, colours.

const DATA = JSON.parse(document.getElementById("data").textContent);
const NODES = DATA.names.length;
const LEVELS = DATA.lam.length;

const byId = (id) => document.getElementById(id);

// Above either size a picture of single marks is slow as elements, and becomes a canvas.
const CANVAS_NODES = 600;
const CANVAS_EDGES = 5000;

async function inflated(text) {
  const bytes = Uint8Array.from(atob(text.data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const kinds = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
  return new kinds[text.bytes](buffer);
}

// Packed arrays lie anywhere in the data; each is replaced by its numbers.
async function inflateAll(value) {
  for (const [key, inner] of Object.entries(value)) {
    if (inner === null || typeof inner !== "object") continue;
    if (typeof inner.data === "string" && inner.bytes) value[key] = await inflated(inner);
    else if (!Array.isArray(inner)) await inflateAll(inner);
  }
}

// One row a level: the smallest member of the cluster of each node.
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

// Labels count clusters in the order of their smallest members, as everywhere in convexhc.
function partition(level) {
  if (partitionCache.has(level)) return partitionCache.get(level);
  const first = firsts[level];
  const labels = new Uint32Array(NODES);
  const clusters = [];
  for (let node = 0; node < NODES; node++) {
    if (first[node] === node) {
      labels[node] = clusters.length;
      clusters.push({ label: clusters.length, members: [], place: DATA.ranks[node] });
    } else {
      labels[node] = labels[first[node]];
    }
    const cluster = clusters[labels[node]];
    cluster.members.push(node);
    cluster.place = Math.min(cluster.place, DATA.ranks[node]);
  }
  for (const cluster of clusters) if (cluster.members.length === 1) cluster.place = -1;
  const made = { labels, clusters };
  partitionCache.set(level, made);
  return made;
}

const state = { level: 0, theme: "light", node: -1, anchor: -1, matrix: "", names: false };

const nowPartition = () => partition(state.level);

function colorAt(place) {
  const worn = DATA.palette[state.theme];
  return place < 0 ? DATA.neutral[state.theme] : worn[place % worn.length];
}

const colorOf = (cluster) => colorAt(cluster.place);

// The cluster that is looked at, if any: that of the node found, or the one clicked.
function chosenCluster() {
  const node = state.node >= 0 ? state.node : state.anchor;
  return node < 0 ? null : nowPartition().clusters[nowPartition().labels[node]];
}

function shownNumber(value) {
  if (value === null || value === undefined) return "not known";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace(".0e", "e");
  return String(Number(value.toPrecision(3)));
}

const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

// Colours of the style sheet, read once a theme: asking the browser for each mark is slow.
const inks = new Map();

function ink(name) {
  if (!inks.has(name)) inks.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return inks.get(name);
}

// Widths of the figures, read all at once before anything is drawn: reading one after each change
// would make the browser lay out the page anew every time.
const widths = {};

function measure() {
  for (const id of ["main", "ticks", "scan", "information", "graph", "trails", "heat", "tree"]) {
    const host = byId(id);
    if (host) widths[id] = host.clientWidth;
  }
}
