// Texts and tables: the current level and its certificate, all levels, splits, merges, the run.

const isSolved = (level) => DATA.status[level] === "SOLVED";
const isCertified = (level) => isSolved(level) && DATA.gap[level] !== null;

const percent = (share) => `${formatNumber(Number((100 * share).toPrecision(2)))} %`;

// Where a suggested scale is on the path: the plateau that has its clusters, or the nearest one.
function scaleText(level, plateau) {
  const kind = state.scale === 0 ? "suggested" : "lasting";
  const range = `\u03bb = ${formatNumber(plateau.from)} to ${formatNumber(plateau.to)}`;
  if (!isPruned()) return `${kind}: ${range}`;
  return `${kind}: a pruning nearest to ${range} (${counted(partition(level).clusters.length, "cluster")})`;
}

function showLevel() {
  const { level } = state;
  const count = currentPartition().clusters.length;
  const plateau = plateaus[plateauAt(level)];
  byId("count").textContent = counted(count, "cluster");
  byId("at").textContent =
    state.scale >= 0
      ? scaleText(level, plateau)
      : `at \u03bb = ${formatNumber(DATA.lam[level])}` +
        (plateau.count === count ? `, plateau ${formatNumber(plateau.from)} to ${formatNumber(plateau.to)}` : "");
  byId("tree-title").textContent = isPruned() ? "The tree, pruned to these clusters" : "The tree, cut at this level";
  byId("proof").textContent = isCertified(level)
    ? `\u2713 certified: gap ${formatNumber(DATA.gap[level])}`
    : `! not ${DATA.gap[level] === null ? "certified" : "solved to tolerance"}: gap ${formatNumber(DATA.gap[level])}`;
  byId("proof").classList.toggle("open", !isCertified(level));
  // What is proven concerns the partition of a level, not a pruning.
  const proven = DATA.proof && !isPruned() ? DATA.proof[level] : null;
  if (proven) byId("proof").textContent += proven.count ? `; not proven for ${counted(proven.count, "node")}` : ", partition proven";
  const current = plateauAt(level);
  byId("finer").disabled = level === 0;
  byId("coarser").disabled = current === plateaus.length - 1;
  document.querySelectorAll("#levels tr").forEach((row, at) => row.setAttribute("aria-current", String(at === level)));
  showCertificate(level);
}

function proofText({ count, named }) {
  if (!count) return "proven: it is that of the exact optimum";
  const more = count > named.length ? ` and ${count - named.length} more` : "";
  return `proven but for ${counted(count, "node")}: ${named.map((node) => DATA.names[node]).join(", ")}${more}`;
}

function factsIn(list, facts) {
  list.replaceChildren(...facts.flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]));
}

function showCertificate(level) {
  factsIn(byId("certificate"), [
    ["Status", `${DATA.status[level]}. ${DATA.advice[DATA.status[level]] || ""}`],
    ["Relative gap", formatNumber(DATA.gap[level])],
    ["Iterations", String(DATA.iterations[level])],
    ["Objective", DATA.objective[level] === null ? "unknown" : String(Number(DATA.objective[level].toPrecision(6)))],
    ["Constraint residual", formatNumber(DATA.residual[level])],
    ["Effective rank", formatNumber(DATA.effectiveRank[level])],
    ...(DATA.proof && DATA.proof[level] ? [["Partition", proofText(DATA.proof[level])]] : []),
    ...(DATA.support ? [["Agreement with resamples", `AMI ${agreementRange(level)}`]] : []),
  ]);
  byId("explained").textContent =
    DATA.gap[level] === null
      ? "This level has no certificate: its distance to the optimum is unknown."
      : `The gap is a proven bound: no feasible point at this \u03bb has an objective better than this one's by more than ${percent(DATA.gap[level])}.`;
}

// Columns of the table of levels after lam: title, class, text at a level.
function levelColumns() {
  const columns = [
    ["clusters", "number", (level) => String(partition(level).clusters.length)],
    ["eff. rank", "number", (level) => formatNumber(DATA.effectiveRank[level])],
    ["gap", "number", (level) => formatNumber(DATA.gap[level])],
    ["iterations", "number", (level) => String(DATA.iterations[level])],
    ["status", "", (level) => DATA.status[level].toLowerCase().replace("_", " ")],
  ];
  if (DATA.proof) columns.push(["proven", "", (level) => (DATA.proof[level] === null ? "" : DATA.proof[level].count ? `not for ${DATA.proof[level].count}` : "yes")]);
  if (DATA.support) columns.push(["AMI with resamples", "", (level) => agreementRange(level)]);
  return columns;
}

// Median and range of the agreement of a level with the resamples.
function agreementRange(level) {
  const [low, middle, high] = DATA.support.ami[level].map((value) => value.toFixed(2));
  return `${middle} (${low} to ${high})`;
}

function listLevels(goTo) {
  const columns = levelColumns();
  const title = (text, className) => element("th", { scope: "col", className, textContent: text });
  byId("level-titles").replaceChildren(title("\u03bb", "number"), ...columns.map(([name, className]) => title(name, className)));
  const rows = DATA.lam.map((lam, level) => {
    const button = element("button", { type: "button", textContent: formatNumber(lam) });
    button.addEventListener("click", () => goTo(level));
    const cells = columns.map(([, className, text]) => element("td", { className, textContent: text(level) }));
    return element("tr", {}, element("td", { className: "number" }, button), ...cells);
  });
  byId("levels").replaceChildren(...rows);
}

function splitText(split) {
  const names = split.parted.map((node) => DATA.names[node]).join(", ");
  const more = split.partedCount > split.parted.length ? ` and ${split.partedCount - split.parted.length} more` : "";
  return (
    `Between \u03bb = ${formatNumber(split.from)} and ${formatNumber(split.to)}, the cluster of ${DATA.names[split.first]} ` +
    `(${counted(split.size, "node")}) splits into ${counted(split.pieces, "piece")}; outside the largest: ${names}${more}.`
  );
}

function showSplits() {
  const { count, listed } = DATA.splits;
  const parts = [];
  const add = (text) => parts.push(element("p", { textContent: text }));
  if (count === 0) add("No cluster splits as \u03bb grows: the path is a tree.");
  else {
    add(
      `${counted(count, "split")} ${count === 1 ? "occurs" : "occur"} as \u03bb grows. The tree merges nodes only at the \u03bb from which on they stay together, ` +
        "so near a split its cut is finer than the clusters shown.",
    );
    parts.push(element("ul", {}, ...listed.map((split) => element("li", { textContent: splitText(split) }))));
    const hidden = count - listed.length;
    if (hidden) add(`${counted(hidden, "more split")} ${hidden === 1 ? "is" : "are"} not listed.`);
  }
  if (DATA.components > 1) add(`The graph has ${DATA.components} connected components, which do not fuse at any \u03bb.`);
  if (DATA.rootJoins) add(`${counted(DATA.rootJoins, "merge")} at the top of the tree (dashed) only ${DATA.rootJoins === 1 ? "completes it and occurs" : "complete it and occur"} at no \u03bb.`);
  if (!DATA.complete) add("The path ends before every component is one cluster: the run was stopped, or the values of \u03bb were given.");
  byId("shape").replaceChildren(...parts);
}

function certificateSummary() {
  const open = DATA.status.filter((status) => status !== "SOLVED").length;
  if (open) return LEVELS === 1 ? "not solved to tolerance" : `${open} of them not solved to tolerance`;
  const missing = DATA.gap.filter((gap) => gap === null).length;
  if (missing) return LEVELS === 1 ? "without a certificate" : `${missing} of them without a certificate`;
  const bound = `certified to a gap of ${formatNumber(Math.max(...DATA.gap))}`;
  return LEVELS === 1 ? bound : `all ${bound} or less`;
}

function showRun() {
  const [first, last] = [formatNumber(DATA.lam[0]), formatNumber(DATA.lam[LEVELS - 1])];
  byId("lead").textContent =
    `${counted(NODES, "node")}, ` +
    (LEVELS === 1 ? `1 level at \u03bb = ${first}` : `${LEVELS} levels from \u03bb = ${first} to ${last}`) +
    `, ${certificateSummary()}. Suggested scale: ${DATA.suggestion}.`;
  byId("notes").replaceChildren(...DATA.notes.map((note) => element("p", { textContent: note })));
  const options = Object.entries(DATA.options);
  factsIn(byId("options"), [["convexhc", DATA.version], ...options]);
}
