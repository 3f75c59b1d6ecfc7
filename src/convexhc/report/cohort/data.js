"use strict";
// The embedded data, the state of the page, and the small tools that all figures share.

const DATA = JSON.parse(document.getElementById("data").textContent);

const byId = (id) => document.getElementById(id);

// Subjects with a path, in the order of the matrices.
const SOLVED = DATA.subjects.filter((subject) => subject.place >= 0).sort((a, b) => a.place - b.place);
// Names without what they all begin with, where there is little room.
const PREFIX = SOLVED.length < 2 ? 0 : commonPrefix(SOLVED.map(({ subject }) => subject));
const shortName = (subject) => subject.subject.slice(PREFIX);

// Length of the common prefix, up to a sign that parts words.
function commonPrefix(names) {
  let length = 0;
  while (length < names[0].length - 1 && names.every((name) => name[length] === names[0][length])) length++;
  while (length && !/[-_. ]/.test(names[0][length - 1])) length--;
  return length;
}

const GROUPED = DATA.groups.length > 1;

const state = { theme: "light", metric: 0, order: GROUPED ? "group" : "tree", chosen: -1 };

async function decodeArray(encoded) {
  const bytes = Uint8Array.from(atob(encoded.data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const types = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
  return new types[encoded.bytes](buffer);
}

// Replace every encoded array in the data by its numbers.
async function decodeAll(value) {
  for (const [key, inner] of Object.entries(value)) {
    if (inner === null || typeof inner !== "object") continue;
    if (typeof inner.data === "string" && inner.bytes) value[key] = await decodeArray(inner);
    else await decodeAll(inner);
  }
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function formatNumber(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace(".0e", "e");
  return String(Number(value.toPrecision(3)));
}

// Distances and shares are between 0 and 1, or little more: three decimals, aligned in columns.
const fixed = (value) => (value === null || value === undefined ? "" : value.toFixed(3));

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "role" || name === "scope") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

// Colours of the style sheet, cached until the theme changes: computed styles are slow.
const themeColors = new Map();

function themeColor(name) {
  if (!themeColors.has(name)) themeColors.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return themeColors.get(name);
}

const colorOf = (index) => (index < 0 ? DATA.neutral[state.theme] : DATA.palette[state.theme][index % DATA.palette[state.theme].length]);

// Groups have other colours than clusters.
const GROUP_COLORS = 6;
const groupColor = (group) => colorOf(group < 0 ? -1 : GROUP_COLORS + group);

// A coloured dot before the name of a group; recoloured with the theme.
function groupDot(group) {
  const dot = element("span", { className: "dot" });
  dot.dataset.group = group;
  dot.style.background = groupColor(group);
  return dot;
}

function recolorDots() {
  for (const dot of document.querySelectorAll(".dot")) dot.style.background = groupColor(Number(dot.dataset.group));
}

// Distance between two solved subjects in the chosen metric; null if it is undefined.
function distance(a, b) {
  const { matrix, steps, high } = DATA.distances[state.metric];
  const step = matrix[a * SOLVED.length + b];
  return step > steps ? null : (step / steps) * high;
}

const sameGroup = (a, b) => SOLVED[a].group === SOLVED[b].group;

// Width of a figure's host, read once for every drawing.
const widthOf = (host) => Math.max(host.clientWidth, 120);
