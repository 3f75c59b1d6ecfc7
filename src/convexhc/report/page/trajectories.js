// Coalescence: the centroids in the plane, with their trajectories.

function makeTrajectories(choose) {
  const host = byId("trajectories");
  const { levels, positions, explained } = DATA.trajectories;
  const surface = surfaceOn(host, "Centroids of the clusters in two dimensions", NODES > CANVAS_NODES);
  const starts = [];
  let at = 0;
  for (const level of levels) {
    starts.push(at);
    at += partition(level).clusters.length;
  }
  const margin = 16;
  let size = 0;
  const x = (row) => margin + (positions[2 * row] / 65535) * (size - 2 * margin);
  const y = (row) => size - margin - (positions[2 * row + 1] / 65535) * (size - 2 * margin);
  const largest = 18;

  function shownLevel() {
    let found = 0;
    levels.forEach((level, index) => {
      if (level <= state.level) found = index;
    });
    return found;
  }

  // Each cluster is connected to the cluster of its first member at the next level.
  function drawTrajectories(shown) {
    const segments = new Map();
    for (let index = 0; index < shown; index++) {
      const [here, next] = [partition(levels[index]), partition(levels[index + 1])];
      for (const cluster of here.clusters) {
        const member = cluster.members[0];
        const [from, to] = [starts[index] + cluster.label, starts[index + 1] + next.labels[member]];
        const label = currentPartition().labels[member];
        if (!segments.has(label)) segments.set(label, []);
        segments.get(label).push(x(from), y(from), x(to), y(to));
      }
    }
    for (const [label, ends] of segments) {
      const cluster = currentPartition().clusters[label];
      surface.segments(ends, { stroke: colorOf(cluster), width: 1, alpha: 0.4 * emphasis(cluster) });
    }
  }

  function draw() {
    size = widths.trajectories;
    const shown = shownLevel();
    const now = partition(levels[shown]);
    surface.begin(size, size);
    drawTrajectories(shown);
    // Small dots are drawn over large ones, and the selected cluster over all others.
    const shownCluster = (cluster) => clusterOf(cluster.members[0]);
    const rank = (cluster) => (emphasis(shownCluster(cluster)) < 1 ? NODES : 0) + cluster.members.length;
    const inOrder = [...now.clusters].sort((a, b) => rank(b) - rank(a));
    for (const cluster of inOrder) {
      const row = starts[shown] + cluster.label;
      const share = Math.sqrt(cluster.members.length / NODES);
      surface.disc(x(row), y(row), 3 + (largest - 3) * share, {
        fill: colorOf(shownCluster(cluster)), stroke: themeColor("--panel"), width: 1, alpha: emphasis(shownCluster(cluster)),
      });
    }
    if (state.node >= 0) {
      const row = starts[shown] + now.labels[state.node];
      surface.disc(x(row), y(row), 9, { stroke: themeColor("--ink"), width: 2.5, name: "found" });
    }
    surface.end();
  }

  const find = (event) => {
    const [px, py] = pointerOn(event, surface.node, size, size);
    const shown = shownLevel();
    let best = null;
    let nearest = 14 ** 2;
    let nearby = -1;
    for (const cluster of partition(levels[shown]).clusters) {
      const row = starts[shown] + cluster.label;
      const distance = (x(row) - px) ** 2 + (y(row) - py) ** 2;
      if (distance < 14 ** 2) nearby++;
      if (distance < nearest) [best, nearest] = [cluster, distance];
    }
    if (!best) return null;
    const listed = best.members.slice(0, 12).map((node) => DATA.names[node]).join(", ");
    const more = best.members.length > 12 ? ", \u2026" : "";
    const title = best.members.length === 1 ? "" : `cluster ${best.label}, ${best.members.length} nodes\n`;
    return { anchor: best.members[0], text: `${title}${listed}${more}${nearby > 0 ? `\nand ${counted(nearby, "other cluster")} here` : ""}` };
  };
  listenOn(host, find, choose);
  const share = Math.round(100 * (explained[0] + explained[1]));
  byId("trajectories-caption").textContent =
    "One dot per cluster: its centroid, projected on the first two principal components of the fused centroids " +
    `(${share} % of their variance), with its trajectory from \u03bb = ${formatNumber(DATA.lam[levels[0]])}.`;
  return draw;
}
