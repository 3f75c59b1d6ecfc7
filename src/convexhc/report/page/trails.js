// Coalescence: the centroids in the plane, with the way they came.

function makeTrails(choose) {
  const host = byId("trails");
  const { levels, places, explained } = DATA.trails;
  const surface = surfaceOn(host, "Centroids of the clusters in two dimensions", NODES > CANVAS_NODES);
  const starts = [];
  let at = 0;
  for (const level of levels) {
    starts.push(at);
    at += partition(level).clusters.length;
  }
  const margin = 16;
  let size = 0;
  const x = (row) => margin + (places[2 * row] / 65535) * (size - 2 * margin);
  const y = (row) => size - margin - (places[2 * row + 1] / 65535) * (size - 2 * margin);
  const largest = Math.max(4, Math.min(18, 90 / Math.sqrt(12)));

  function shownLevel() {
    let found = 0;
    levels.forEach((level, index) => {
      if (level <= state.level) found = index;
    });
    return found;
  }

  // A cluster of one level leads to the cluster of its first member at the next.
  function drawTrails(shown, now) {
    const ways = new Map();
    for (let index = 0; index < shown; index++) {
      const [here, next] = [partition(levels[index]), partition(levels[index + 1])];
      for (const cluster of here.clusters) {
        const member = cluster.members[0];
        const [from, to] = [starts[index] + cluster.label, starts[index + 1] + next.labels[member]];
        const label = now.labels[member];
        if (!ways.has(label)) ways.set(label, []);
        ways.get(label).push(x(from), y(from), x(to), y(to));
      }
    }
    for (const [label, ends] of ways) {
      const cluster = now.clusters[label];
      surface.segments(ends, { stroke: colorOf(cluster), width: 1, alpha: 0.4 * emphasis(cluster) });
    }
  }

  function draw() {
    size = widths.trails;
    const shown = shownLevel();
    const now = partition(levels[shown]);
    surface.begin(size, size);
    drawTrails(shown, now);
    // Small dots lie on large ones, and what is looked at on everything.
    const rank = (cluster) => (emphasis(cluster) < 1 ? NODES : 0) + cluster.members.length;
    const inOrder = [...now.clusters].sort((a, b) => rank(b) - rank(a));
    for (const cluster of inOrder) {
      const row = starts[shown] + cluster.label;
      const share = Math.sqrt(cluster.members.length / NODES);
      surface.disc(x(row), y(row), 3 + (largest - 3) * share, {
        fill: colorOf(cluster), stroke: ink("--panel"), width: 1, alpha: emphasis(cluster),
      });
    }
    if (state.node >= 0) {
      const row = starts[shown] + now.labels[state.node];
      surface.disc(x(row), y(row), 9, { stroke: ink("--ink"), width: 2.5, name: "found" });
    }
    surface.end();
  }

  const find = (event) => {
    const [px, py] = pointerOn(event, surface.node, size, size);
    const shown = shownLevel();
    let best = null;
    let nearest = 14 ** 2;
    let crowd = -1;
    for (const cluster of partition(levels[shown]).clusters) {
      const row = starts[shown] + cluster.label;
      const distance = (x(row) - px) ** 2 + (y(row) - py) ** 2;
      if (distance < 14 ** 2) crowd++;
      if (distance < nearest) [best, nearest] = [cluster, distance];
    }
    if (!best) return null;
    const listed = best.members.slice(0, 12).map((node) => DATA.names[node]).join(", ");
    const more = best.members.length > 12 ? ", \u2026" : "";
    const title = best.members.length === 1 ? "" : `cluster ${best.label}, ${best.members.length} nodes\n`;
    return { anchor: best.members[0], words: `${title}${listed}${more}${crowd ? `\nand ${counted(crowd, "other cluster")} here` : ""}` };
  };
  listenOn(host, find, choose);
  const share = Math.round(100 * (explained[0] + explained[1]));
  byId("trails-caption").textContent =
    "One dot a cluster: its centroid, seen along the two main directions of all centroids " +
    `(${share} % of their spread), with the way it came from \u03bb = ${shownNumber(DATA.lam[levels[0]])}.`;
  return draw;
}
