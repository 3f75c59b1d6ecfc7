// Save a figure: as SVG where it is one, and as PNG.

const PNG_SCALE = 2;

function saveFile(content, type, name) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  // The browser reads the address after the click handler returns.
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// A drawing as a file of its own: with its size, its font and its background.
function svgText(drawn) {
  const [, , width, height] = drawn.getAttribute("viewBox").split(" ").map(Number);
  const copy = drawn.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("font-family", "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif");
  copy.setAttribute("font-size", 11);
  const ground = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: themeColor("--panel") })) ground.setAttribute(name, value);
  copy.prepend(ground);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

// A canvas with the panel colour behind it, on which `paint` draws.
function paintedCanvas(width, height, paint) {
  const canvas = element("canvas", { width, height });
  const pen = canvas.getContext("2d");
  pen.fillStyle = themeColor("--panel");
  pen.fillRect(0, 0, width, height);
  paint(pen);
  return canvas;
}

async function asCanvas(host) {
  const canvas = host.querySelector("canvas");
  if (canvas) return paintedCanvas(canvas.width, canvas.height, (pen) => pen.drawImage(canvas, 0, 0));
  const { text, width, height } = svgText(host.querySelector("svg"));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  return paintedCanvas(PNG_SCALE * width, PNG_SCALE * height, (pen) => pen.drawImage(image, 0, 0, PNG_SCALE * width, PNG_SCALE * height));
}

function makeSaving() {
  for (const panel of document.querySelectorAll(".panel")) {
    const host = panel.querySelector(".figure");
    const controls = panel.querySelector(".controls");
    if (!host || !controls) continue;
    const name = panel.id.replace("-panel", "");
    const title = panel.querySelector("h2").textContent;
    const add = (kind, save) => {
      const button = element("button", { type: "button", className: "save", textContent: kind, title: `Save this figure as ${kind}`, "aria-label": `Save as ${kind}: ${title}` });
      button.addEventListener("click", save);
      controls.append(button);
    };
    if (host.querySelector("svg")) add("SVG", () => saveFile(svgText(host.querySelector("svg")).text, "image/svg+xml", `${name}.svg`));
    add("PNG", async () => (await asCanvas(host)).toBlob((blob) => saveFile(blob, "image/png", `${name}.png`)));
  }
}
