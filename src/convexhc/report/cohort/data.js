// What is derived from the embedded data: subjects, groups, colours, distances.

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

// A number, or nothing if there is none.
const numberText = (value) => (value === null || value === undefined ? "" : formatNumber(value));

// Distances and shares are between 0 and 1, or little more: three decimals, aligned in columns.
const fixed = (value) => (value === null || value === undefined ? "" : value.toFixed(3));

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
