// The matrix of distances, ordered by group or by dendrogram.

function makeMatrix(choose) {
  const host = byId("matrix");
  const surface = new CanvasSurface(host, "Matrix of the distances between subjects");
  const count = SOLVED.length;
  const small = document.createElement("canvas");
  small.width = small.height = count;
  let [left, side, cell] = [0, 0, 0];
  const order = () => DATA.distances[state.metric].orders[state.order];

  const choices = { group: "By group", tree: "By dendrogram" };
  const buttons = Object.entries(choices).map(([kind, text]) => {
    const button = element("button", { type: "button", textContent: text });
    button.addEventListener("click", () => {
      state.order = kind;
      refresh();
    });
    button.dataset.order = kind;
    return button;
  });
  if (GROUPED) byId("order-choice").append(...buttons);

  // Small distances are dark: what belongs together stands out.
  function paint(places) {
    const { low, high } = DATA.distances[state.metric];
    const shades = heatShades();
    const pen = small.getContext("2d");
    const image = pen.createImageData(count, count);
    const blank = [1, 3, 5].map((at) => parseInt(themeColor("--grid").slice(at, at + 2), 16));
    for (let row = 0; row < count; row++) {
      for (let column = 0; column < count; column++) {
        const value = distance(places[row], places[column]);
        const at = 4 * (row * count + column);
        let shade = blank;
        if (row === column) shade = shades[SHADES - 1];
        else if (value !== null) {
          const share = high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0;
          shade = shades[Math.round((1 - share) * (SHADES - 1))];
        }
        image.data.set([...shade, 255], at);
      }
    }
    pen.putImageData(image, 0, 0);
  }

  // Runs of neighbouring subjects of one group: [first, after the last, group].
  function runs(places) {
    const found = [];
    places.forEach((place, at) => {
      const group = SOLVED[place].group;
      const last = found[found.length - 1];
      if (last && last[2] === group) last[1] = at + 1;
      else found.push([at, at + 1, group]);
    });
    return found;
  }

  function draw() {
    const width = widthOf(host);
    const places = order();
    const names = count <= 60 && (width - 130) / count >= 9;
    const texts = SOLVED.map((subject) => shortened(subject.subject, 18));
    const longest = Math.max(...(names ? texts : DATA.groups.map((group) => shortened(group, 12))).map((text) => text.length), 0);
    const bar = GROUPED ? 9 : 0;
    left = (names || (GROUPED && state.order === "group") ? Math.min(12 + 6.4 * longest, 130) : 0) + bar + 3;
    side = width - left;
    cell = side / count;
    surface.begin(width, side + bar + 3);
    const top = bar + 3;
    paint(places);
    surface.pen.imageSmoothingEnabled = false;
    surface.pen.drawImage(small, left, top, side, side);
    const groups = GROUPED ? runs(places) : [];
    for (const [from, to, group] of groups) {
      const fill = groupColor(group);
      surface.rect(left - bar - 1, top + from * cell, bar - 2, Math.max((to - from) * cell - 0.7, 0.7), { fill });
      surface.rect(left + from * cell, 0, Math.max((to - from) * cell - 0.7, 0.7), bar - 2, { fill });
      if (state.order === "group") {
        const line = { stroke: themeColor("--panel"), width: count > 120 ? 0.6 : 1.2 };
        surface.segments([left, top + to * cell, left + side, top + to * cell, left + to * cell, top, left + to * cell, top + side], line);
        if (!names && (to - from) * cell >= 11) {
          surface.text(shortened(DATA.groups[group], 12), left - bar - 6, top + ((from + to) / 2) * cell + 4, { fill: themeColor("--soft"), anchor: "end" });
        }
      }
    }
    if (names) {
      places.forEach((place, at) => {
        const fill = themeColor(place === state.chosen ? "--accent" : "--ink");
        surface.text(texts[place], left - bar - 6, top + (at + 0.5) * cell + 4, { fill, anchor: "end" });
      });
    }
    if (state.chosen >= 0) {
      const at = places.indexOf(state.chosen);
      const style = { stroke: themeColor("--accent"), width: 1.6 };
      surface.rect(left, top + at * cell, side, cell, style);
      surface.rect(left + at * cell, top, cell, side, style);
    }
    surface.end();
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.order === state.order));
    const { meaning, low, high } = DATA.distances[state.metric];
    byId("matrix-caption").textContent = `${meaning}. The stronger the colour, the nearer.`;
    byId("scale-low").textContent = fixed(low);
    byId("scale-high").textContent = fixed(high);
  }

  function find(event) {
    const width = widthOf(host);
    const top = GROUPED ? 12 : 3;
    const [x, y] = pointerOn(event, surface.node, width, side + top);
    const [row, column] = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
    if (row < 0 || row >= count || column >= count) return null;
    const places = order();
    const a = places[row];
    if (column < 0) return { text: SOLVED[a].subject, subject: a };
    const b = places[column];
    const value = distance(a, b);
    const groups = GROUPED ? [DATA.groups[SOLVED[a].group], DATA.groups[SOLVED[b].group]] : [];
    const lines = [SOLVED[a].subject, SOLVED[b].subject];
    if (a === b) lines.pop();
    else lines.push(value === null ? "undefined" : `distance ${fixed(value)}`);
    if (GROUPED) lines.push(groups[0] === groups[1] ? `group ${groups[0]}` : `groups ${groups[0]} and ${groups[1]}`);
    return { text: lines.join("\n"), subject: a };
  }
  listenOn(host, find, ({ subject }) => choose(subject === state.chosen ? -1 : subject));
  return draw;
}
