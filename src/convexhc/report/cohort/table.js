// The tests, one row per metric, and the subjects, one row each, sorted by any column.

const COLUMNS = [
  { key: "subject", title: "Subject" },
  { key: "group", title: "Group", only: () => GROUPED },
  { key: "nodes", title: "Nodes", number: true },
  { key: "missing", title: "Missing", number: true },
  { key: "suggested", title: "Clusters", number: true },
  { key: "scales", title: "Lasting scales" },
  { key: "confident", title: "Confident" },
  { key: "levels", title: "\u03bb solved", number: true },
  { key: "largest_gap", title: "Largest gap", number: true, show: formatNumber },
  { key: "seconds", title: "Seconds", number: true, show: formatNumber },
  { key: "status", title: "Status" },
];

function cellOf(subject, { key, number, show }) {
  const value = subject[key];
  if (key === "subject") {
    const shown = subject.link && subject.place >= 0 ? element("a", { href: subject.link, textContent: value }) : value;
    return element("td", {}, shown);
  }
  if (key === "group") return element("td", {}, groupDot(value), value < 0 ? "" : DATA.groups[value]);
  if (key === "confident") return element("td", { textContent: value === null ? "" : value ? "yes" : "no" });
  if (key === "status") {
    const open = subject.unsolved ? `, ${subject.unsolved} \u03bb above the tolerance` : "";
    return element("td", { className: subject.place < 0 || open ? "bad" : "", textContent: `${value}${open}` });
  }
  const text = value === null || value === undefined ? "" : show ? show(value) : String(value);
  const made = element("td", { className: number ? "number" : "", textContent: text });
  if (key === "missing" && value) {
    const more = value - subject.missingNames.length;
    made.title = subject.missingNames.join(", ") + (more > 0 ? ` and ${more} more` : "");
  }
  // A scale lasts over a range of \u03bb.
  if (key === "scales" && value) {
    const ranges = subject.scale_ranges.split(" ");
    made.title = value.split(" ").map((count, at) => `${count}: \u03bb ${ranges[at].replace(":", " to ")}`).join("\n");
  }
  return made;
}

// Numbers by size and texts by name, with the digits in a name as numbers; empty cells last.
function compareBy(key) {
  return (a, b) => {
    const [x, y] = key === "group" ? [a.group, b.group] : [a[key], b[key]];
    const [noX, noY] = [x === null || x === undefined, y === null || y === undefined];
    if (noX || noY) return noX - noY;
    if (typeof x === "string") return x.localeCompare(y, undefined, { numeric: true });
    return x - y;
  };
}

function makeTable(choose) {
  const columns = COLUMNS.filter(({ only }) => !only || only());
  const body = byId("subjects");
  const sorted = { key: "", down: false };
  let wanted = "";

  function fill() {
    const rows = DATA.subjects.filter(({ subject }) => subject.toLowerCase().includes(wanted));
    if (sorted.key) {
      const compare = compareBy(sorted.key);
      const empty = (row) => row[sorted.key] === null || row[sorted.key] === undefined;
      rows.sort((a, b) => (sorted.down && !empty(a) && !empty(b) ? -compare(a, b) : compare(a, b)));
    }
    body.replaceChildren(...rows.map((subject) => {
      const row = element("tr", {}, ...columns.map((column) => cellOf(subject, column)));
      row.dataset.place = subject.place;
      row.addEventListener("click", (event) => {
        if (subject.place >= 0 && event.target.tagName !== "A") choose(subject.place === state.chosen ? -1 : subject.place);
      });
      return row;
    }));
    byId("table-caption").textContent = rows.length < DATA.subjects.length ? `${rows.length} of ${counted(DATA.subjects.length, "subject")}` : "";
    mark();
  }

  function mark() {
    for (const row of body.rows) row.classList.toggle("chosen-row", Number(row.dataset.place) === state.chosen && state.chosen >= 0);
  }

  const heads = columns.map(({ key, title, number }) => {
    const button = element("button", { type: "button", textContent: title });
    const head = element("th", { scope: "col", className: number ? "number" : "" }, button);
    button.addEventListener("click", () => {
      sorted.down = sorted.key === key && !sorted.down;
      sorted.key = key;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      fill();
    });
    return head;
  });
  byId("subjects-head").append(...heads);
  byId("search").addEventListener("input", (event) => {
    wanted = event.target.value.trim().toLowerCase();
    fill();
  });
  fill();
  return mark;
}

const TEST_NAMES = { cophenetic: "Cophenetic", centroid: "Centroids", neighbors: "Neighbours", information: "Information" };

function metricName(label) {
  const [metric, lam] = label.split("_lam");
  return TEST_NAMES[metric] + (lam === undefined ? "" : `, \u03bb = ${lam}`);
}

function interval(test, name) {
  const [value, low, high] = ["", "_low", "_high"].map((end) => test[name + end]);
  const cell = element("td", { className: "number", textContent: fixed(value) });
  if (low !== null && low !== undefined) cell.append(element("span", { className: "interval", textContent: `  ${fixed(low)} to ${fixed(high)}` }));
  return cell;
}

function makeTests(goTo) {
  if (!DATA.distances.length) {
    byId("tests-panel").remove();
    return () => {};
  }
  const tested = DATA.tests.length > 0;
  const titles = tested ? ["Distance", "Within groups", "Between groups", "Discriminability", "p", "Meaning"] : ["Distance", "Mean", "Meaning"];
  titles.forEach((title, at) => {
    byId("tests-head").append(element("th", { scope: "col", className: at && at < titles.length - 1 ? "number" : "", textContent: title }));
  });
  const rows = DATA.distances.map((one, at) => {
    const button = element("button", { type: "button", textContent: metricName(one.label) });
    const test = DATA.tests[at];
    const numbers = tested
      ? [interval(test, "within"), interval(test, "between"), interval(test, "discriminability"), element("td", { className: "number", textContent: numberText(test.p_value) })]
      : [element("td", { className: "number", textContent: fixed(meanDistance(one)) })];
    const row = element("tr", {}, element("td", {}, button), ...numbers, element("td", { textContent: one.meaning }));
    row.addEventListener("click", () => goTo(at));
    return row;
  });
  byId("tests").append(...rows);
  byId("tests-caption").textContent = tested
    ? `Discriminability: share of the comparisons in which the distance within the group is the smaller (chance: 0.5). Intervals of 95 % resample subjects within groups (${DATA.tests[0].resamples} times); p by ${DATA.tests[0].permutations} permutations of the groups. Choose a row to show it below.`
    : "Choose a row to show it below.";
  return () => rows.forEach((row, at) => {
    row.classList.toggle("chosen-row", at === state.metric);
    row.querySelector("button").setAttribute("aria-pressed", String(at === state.metric));
  });
}

function meanDistance({ matrix, steps, high }) {
  let [sum, count] = [0, 0];
  for (let a = 0; a < SOLVED.length; a++) {
    for (let b = 0; b < a; b++) {
      const step = matrix[a * SOLVED.length + b];
      if (step <= steps) [sum, count] = [sum + (step / steps) * high, count + 1];
    }
  }
  return count ? sum / count : null;
}
