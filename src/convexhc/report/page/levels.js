// In words and numbers: the level looked at, its certificate, all levels, splits, joins, the run.

const isSolved = (level) => DATA.status[level] === "SOLVED";

function percent(gap) {
  const value = 100 * gap;
  return `${value < 1e-3 ? value.toExponential(1) : Number(value.toPrecision(2))} %`;
}

function sayLevel() {
  const { level } = state;
  const count = nowPartition().clusters.length;
  const plateau = plateaus[plateauAt(level)];
  byId("count").textContent = counted(count, "cluster");
  byId("at").textContent =
    `at \u03bb = ${shownNumber(DATA.lam[level])}` +
    (plateau.count === count ? `, plateau ${shownNumber(plateau.from)} to ${shownNumber(plateau.to)}` : "");
  byId("proof").textContent = isSolved(level)
    ? `\u2713 certified: gap ${shownNumber(DATA.gap[level])}`
    : `! not solved to tolerance: gap ${shownNumber(DATA.gap[level])}`;
  byId("proof").classList.toggle("open", !isSolved(level));
  const current = plateauAt(level);
  byId("finer").disabled = level === 0;
  byId("coarser").disabled = current === plateaus.length - 1;
  document.querySelectorAll("#levels tr").forEach((row, at) => row.setAttribute("aria-current", String(at === level)));
  sayCertificate(level);
}

function factsIn(list, facts) {
  list.replaceChildren(...facts.flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]));
}

function sayCertificate(level) {
  factsIn(byId("certificate"), [
    ["Status", `${DATA.status[level]}. ${DATA.advice[DATA.status[level]] || ""}`],
    ["Relative gap", shownNumber(DATA.gap[level])],
    ["Iterations", String(DATA.iterations[level])],
    ["Objective", DATA.objective[level] === null ? "not known" : String(Number(DATA.objective[level].toPrecision(6)))],
    ["Constraint residual", shownNumber(DATA.residual[level])],
    ["Effective rank", shownNumber(DATA.effectiveRank[level])],
  ]);
  byId("explained").textContent =
    DATA.gap[level] === null
      ? "No certificate is known for this level, so nothing is proved about its objective."
      : `The gap is a proof, not an estimate: of all possible answers at this \u03bb, none has an objective better than this one's by more than ${percent(DATA.gap[level])}.`;
}

function listLevels(goTo) {
  const rows = DATA.lam.map((lam, level) => {
    const button = element("button", { type: "button", textContent: shownNumber(lam) });
    button.addEventListener("click", () => goTo(level));
    const numbers = [partition(level).clusters.length, shownNumber(DATA.effectiveRank[level]), shownNumber(DATA.gap[level]), DATA.iterations[level]];
    return element(
      "tr",
      {},
      element("td", { className: "number" }, button),
      ...numbers.map((value) => element("td", { className: "number", textContent: String(value) })),
      element("td", { textContent: DATA.status[level].toLowerCase().replace("_", " ") }),
    );
  });
  byId("levels").replaceChildren(...rows);
}

function splitWords(split) {
  const left = split.parted.map((node) => DATA.names[node]).join(", ");
  const more = split.partedCount > split.parted.length ? ` and ${split.partedCount - split.parted.length} more` : "";
  return (
    `Between \u03bb = ${shownNumber(split.from)} and ${shownNumber(split.to)}, the cluster of ${DATA.names[split.first]} ` +
    `(${split.size} nodes) came apart in ${split.pieces} pieces; outside the largest: ${left}${more}.`
  );
}

function saySplits() {
  const { count, listed } = DATA.splits;
  const parts = [];
  const say = (words) => parts.push(element("p", { textContent: words }));
  if (count === 0) say("No cluster ever comes apart as \u03bb grows: the path is a tree by itself.");
  else {
    say(
      `${counted(count, "cluster")} came apart again as \u03bb grew. The tree joins nodes only at the \u03bb from which on they stay together, ` +
        "so near these places its cut is finer than the clusters shown.",
    );
    parts.push(element("ul", {}, ...listed.map((split) => element("li", { textContent: splitWords(split) }))));
    if (listed.length < count) say(`${count - listed.length} more are not listed here.`);
  }
  if (DATA.components > 1) say(`The graph has ${DATA.components} connected components, which never fuse at any \u03bb.`);
  if (DATA.rootJoins) say(`${counted(DATA.rootJoins, "join")} at the top of the tree only ${DATA.rootJoins === 1 ? "closes" : "close"} it (dashed): no \u03bb shows ${DATA.rootJoins === 1 ? "it" : "them"}.`);
  if (!DATA.complete) say("The path ends before every component is one cluster: the run was stopped, or its values of \u03bb were given.");
  byId("shape").replaceChildren(...parts);
}

function sayRun() {
  const worst = Math.max(...DATA.gap.filter((gap) => gap !== null), 0);
  const open = DATA.status.filter((status) => status !== "SOLVED").length;
  byId("lead").textContent =
    `${counted(NODES, "node")}, ${counted(LEVELS, "solved value")} of \u03bb from ${shownNumber(DATA.lam[0])} to ${shownNumber(DATA.lam[LEVELS - 1])}, ` +
    (open ? `${open} of them not solved to tolerance` : `all certified to a gap of ${shownNumber(worst)} or less`) +
    `. Suggested scale: ${DATA.suggestion}.`;
  byId("notes").replaceChildren(...DATA.notes.map((note) => element("p", { textContent: note })));
  const options = Object.entries(DATA.options).filter(([, value]) => value !== "None");
  factsIn(byId("options"), [["convexhc", DATA.version], ...options]);
}
