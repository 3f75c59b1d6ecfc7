// The tree of every subject as a small icicle: the root above, single nodes below.

const FIRST_ICICLES = 60;

function makeIcicle(subject) {
  const { rows, count } = DATA.icicles[subject.place];
  const column = (at) => rows.subarray(at * count, (at + 1) * count);
  const [place, size, from, to, cluster, purity] = [0, 1, 2, 3, 4, 5].map(column);
  const steps = 4000;
  const canvas = element("canvas", { role: "img", "aria-label": `Tree of ${subject.subject}` });
  const tag = subject.link ? "a" : "div";
  const name = element("span", { className: "name" }, element("span", { textContent: shortName(subject) }));
  if (GROUPED) name.prepend(groupDot(subject.group));
  const card = element(tag, { className: "card", title: subject.subject }, canvas, name);
  if (subject.link) card.href = subject.link;
  card.dataset.subject = subject.place;

  function draw() {
    const [width, tall] = [Math.max(canvas.clientWidth, 40), Math.max(canvas.clientHeight, 40)];
    const fine = Math.min(window.devicePixelRatio || 1, 2);
    canvas.width = Math.round(width * fine);
    canvas.height = Math.round(tall * fine);
    const pen = canvas.getContext("2d");
    pen.setTransform(fine, 0, 0, fine, 0, 0);
    const gap = width / count > 1 ? 0.5 : 0;
    for (let at = 0; at < count; at++) {
      const [x, wide] = [(place[at] / steps) * width, (size[at] / steps) * width];
      const [low, high] = [tall - (from[at] / steps) * tall, tall - (to[at] / steps) * tall];
      // Clusters of several reference clusters are paler, and grey where none prevails.
      const pure = purity[at] / 100;
      pen.fillStyle = pure > 0.5 ? colorOf(cluster[at]) : colorOf(-1);
      pen.globalAlpha = pure >= 0.999 ? 1 : 0.18 + 0.6 * Math.max(pure - 0.5, 0);
      pen.fillRect(x, high, Math.max(wide - gap, 0.4), Math.max(low - high - (low - high > 2 ? 0.5 : 0), 0.3));
    }
    card.classList.toggle("chosen", subject.place === state.chosen);
  }
  return { card, draw };
}

function makeIcicles() {
  const host = byId("icicles");
  if (!DATA.icicles.length) {
    byId("icicles-panel").remove();
    return () => {};
  }
  const order = [...SOLVED].sort((a, b) => a.group - b.group || a.place - b.place);
  const made = [];
  const more = byId("more-icicles");
  const labelled = GROUPED && order.length / DATA.groups.length >= 7;
  let group = -2;
  function show(count) {
    for (const subject of order.slice(made.length, count)) {
      if (labelled && subject.group !== group) {
        group = subject.group;
        const size = order.filter((other) => other.group === group).length;
        host.append(element("div", { className: "label" }, groupDot(group), element("span", { textContent: `${DATA.groups[group]} (${size})` })));
      }
      const one = makeIcicle(subject);
      host.append(one.card);
      made.push(one);
    }
    const rest = order.length - made.length;
    more.hidden = rest <= 0;
    more.textContent = `Show ${counted(rest, "more subject")}`;
  }
  more.addEventListener("click", () => {
    show(order.length);
    refresh();
  });
  show(FIRST_ICICLES);
  const linked = order.some((subject) => subject.link) ? " Click for the report of a subject." : "";
  byId("icicles-caption").textContent =
    "One column per node, in the order of the mean graph as far as the clades allow; single nodes at the bottom, the last merge on top, \u03bb on a logarithmic scale. " +
    `A cluster has the colour of the cluster of the mean graph that it consists of, pale if it mixes them.${linked}`;
  return () => {
    for (const one of made) one.draw();
  };
}
