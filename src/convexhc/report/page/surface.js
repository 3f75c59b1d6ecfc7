// Two drawing surfaces with the same methods: SVG elements and a canvas.
// Each drawing, between begin and end, replaces the previous one.

const SVG = "http://www.w3.org/2000/svg";

class SvgSurface {
  constructor(host, label) {
    this.node = document.createElementNS(SVG, "svg");
    this.node.setAttribute("role", "img");
    this.node.setAttribute("aria-label", label);
    host.append(this.node);
  }
  begin(width, height) {
    this.node.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.made = [];
  }
  end() {
    this.node.replaceChildren(...this.made);
  }
  add(tag, values, style) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(values)) made.setAttribute(name, value);
    made.setAttribute("fill", style.fill || "none");
    if (style.stroke) {
      made.setAttribute("stroke", style.stroke);
      made.setAttribute("stroke-width", style.width || 1);
    }
    if (style.dash) made.setAttribute("stroke-dasharray", style.dash.join(" "));
    if (style.alpha !== undefined && style.alpha < 1) made.setAttribute("opacity", style.alpha);
    if (style.node !== undefined) made.dataset.node = style.node;
    if (style.name) made.setAttribute("class", style.name);
    this.made.push(made);
    return made;
  }
  // Line segments x1, y1, x2, y2 in a flat array, as one path.
  segments(ends, style) {
    if (!ends.length) return;
    const steps = [];
    for (let at = 0; at < ends.length; at += 4) {
      const [x1, y1, x2, y2] = [ends[at], ends[at + 1], ends[at + 2], ends[at + 3]];
      steps.push(`M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`);
    }
    this.add("path", { d: steps.join("") }, style);
  }
  polyline(points, style) {
    const text = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    this.add(style.fill ? "polygon" : "polyline", { points: text }, style);
  }
  disc(x, y, r, style) {
    this.add("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1) }, style);
  }
  rect(x, y, width, height, style) {
    this.add("rect", { x: x.toFixed(2), y: y.toFixed(2), width: width.toFixed(2), height: height.toFixed(2) }, style);
  }
  text(text, x, y, style) {
    const made = this.add("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": style.anchor || "start" }, style);
    if (style.halo) {
      made.setAttribute("stroke", style.halo);
      made.setAttribute("stroke-width", 3);
      made.setAttribute("paint-order", "stroke");
      made.setAttribute("stroke-linejoin", "round");
    }
    made.textContent = text;
  }
}

class CanvasSurface {
  constructor(host, label) {
    this.node = document.createElement("canvas");
    this.node.setAttribute("role", "img");
    this.node.setAttribute("aria-label", label);
    host.append(this.node);
    this.pen = this.node.getContext("2d");
  }
  begin(width, height) {
    const onPaper = document.documentElement.classList.contains("paper");
    const fine = onPaper ? 3 : Math.min(window.devicePixelRatio || 1, 2);
    if (this.node.width !== Math.round(width * fine) || this.node.height !== Math.round(height * fine)) {
      this.node.width = Math.round(width * fine);
      this.node.height = Math.round(height * fine);
    }
    this.pen.setTransform(fine, 0, 0, fine, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    this.pen.font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
  }
  end() {
    this.pen.globalAlpha = 1;
  }
  trace(style, draw) {
    const pen = this.pen;
    pen.globalAlpha = style.alpha === undefined ? 1 : style.alpha;
    pen.setLineDash(style.dash || []);
    pen.beginPath();
    draw(pen);
    if (style.fill) {
      pen.fillStyle = style.fill;
      pen.fill();
    }
    if (style.stroke) {
      pen.strokeStyle = style.stroke;
      pen.lineWidth = style.width || 1;
      pen.stroke();
    }
  }
  segments(ends, style) {
    this.trace(style, (pen) => {
      for (let at = 0; at < ends.length; at += 4) {
        pen.moveTo(ends[at], ends[at + 1]);
        pen.lineTo(ends[at + 2], ends[at + 3]);
      }
    });
  }
  polyline(points, style) {
    this.trace(style, (pen) => {
      points.forEach(([x, y], at) => (at ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      if (style.fill) pen.closePath();
    });
  }
  disc(x, y, r, style) {
    this.trace(style, (pen) => pen.arc(x, y, r, 0, 2 * Math.PI));
  }
  rect(x, y, width, height, style) {
    this.trace(style, (pen) => pen.rect(x, y, width, height));
  }
  text(text, x, y, style) {
    this.pen.globalAlpha = style.alpha === undefined ? 1 : style.alpha;
    this.pen.fillStyle = style.fill;
    this.pen.textAlign = { start: "left", middle: "center", end: "right" }[style.anchor || "start"];
    this.pen.fillText(text, x, y);
  }
}

const surfaceOn = (host, label, manyMarks) =>
  manyMarks ? new CanvasSurface(host, label) : new SvgSurface(host, label);

// Position of the pointer in the coordinates of a drawing.
function pointerOn(event, node, width, height) {
  const box = node.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
}

function showTip(event, text) {
  const tip = byId("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  const right = event.clientX + 14 + box.width < window.innerWidth;
  const left = right ? event.clientX + 14 : Math.max(4, event.clientX - 14 - box.width);
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - box.height - 4)}px`;
}

// Tooltip on hover, selection on click: `find` returns { text, node, level } or null.
function listenOn(host, find, choose) {
  host.addEventListener("pointermove", (event) => {
    const hit = find(event);
    host.style.cursor = hit && choose ? "pointer" : "";
    showTip(event, hit ? hit.text : "");
  });
  host.addEventListener("pointerleave", (event) => showTip(event, ""));
  if (choose) {
    host.addEventListener("click", (event) => {
      const hit = find(event);
      if (hit) choose(hit);
    });
  }
}

function nodeText(node) {
  const { labels, clusters } = currentPartition();
  const cluster = clusters[labels[node]];
  const size = cluster.members.length;
  const attribute = state.attribute < 0 ? "" : `\n${attributeText(node)}`;
  return `${DATA.names[node]}\n${size === 1 ? "single node" : `cluster ${cluster.label}, ${size} nodes`}${attribute}`;
}

// Opacity of a cluster, reduced while another one is selected.
function emphasis(cluster) {
  const chosen = selectedCluster();
  return chosen === null || chosen.label === cluster.label ? 1 : 0.3;
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}\u2026` : text;
}

// Steps of a colour scale, as many as the data distinguishes.
const SHADES = 64;


// Red, green and blue of each step of the colour scale, in the current theme.
function heatShades() {
  const stops = [themeColor("--heat-low"), themeColor("--heat-middle"), themeColor("--heat-high")].map((hex) =>
    [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return Array.from({ length: SHADES }, (_, shade) => {
    const position = (2 * shade) / (SHADES - 1);
    const [low, high] = position < 1 ? [stops[0], stops[1]] : [stops[1], stops[2]];
    const share = position < 1 ? position : position - 1;
    return low.map((value, at) => Math.round(value + share * (high[at] - value)));
  });
}
