// Zoom and pan of a drawing: buttons, dragging, and the wheel with Ctrl or in an enlarged panel.

const MAX_ZOOM = 40;
// A pointer that moves less than this, in pixels, clicks.
const CLICK_SLACK = 4;

// The point (x, y) of the whole drawing is shown at (factor x + left, factor y + top).
function makeZoom(host, isLarge) {
  const zoom = { factor: 1, left: 0, top: 0, dragged: false };
  const size = { width: 1, height: 1 };

  function clamp() {
    const { width, height } = size;
    zoom.left = Math.min(0, Math.max(zoom.left, width * (1 - zoom.factor)));
    zoom.top = Math.min(0, Math.max(zoom.top, height * (1 - zoom.factor)));
    host.classList.toggle("movable", zoom.factor > 1);
    byId("zoom-out").disabled = byId("zoom-fit").disabled = zoom.factor === 1;
    byId("zoom-in").disabled = zoom.factor === MAX_ZOOM;
  }

  // Zoom by a ratio and keep the point at (x, y) where it is.
  function zoomAt(ratio, x, y) {
    const factor = Math.min(Math.max(zoom.factor * ratio, 1), MAX_ZOOM);
    zoom.left = x - ((x - zoom.left) * factor) / zoom.factor;
    zoom.top = y - ((y - zoom.top) * factor) / zoom.factor;
    zoom.factor = factor;
    clamp();
    refresh();
  }

  zoom.fit = () => zoomAt(0, 0, 0);
  zoom.resize = (width, height) => {
    if (width === size.width && height === size.height) return;
    zoom.left *= width / size.width;
    zoom.top *= height / size.height;
    [size.width, size.height] = [width, height];
    clamp();
  };
  // Move a point of the whole drawing into view, to the middle if it is outside.
  zoom.show = (x, y) => {
    const [across, down] = [zoom.factor * x + zoom.left, zoom.factor * y + zoom.top];
    if (across > 0 && across < size.width && down > 0 && down < size.height) return;
    zoom.left = size.width / 2 - zoom.factor * x;
    zoom.top = size.height / 2 - zoom.factor * y;
    clamp();
  };

  byId("zoom-in").addEventListener("click", () => zoomAt(1.5, size.width / 2, size.height / 2));
  byId("zoom-out").addEventListener("click", () => zoomAt(1 / 1.5, size.width / 2, size.height / 2));
  byId("zoom-fit").addEventListener("click", zoom.fit);
  const place = (event) => {
    const box = host.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  host.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !isLarge()) return;
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY / 300), ...place(event));
  }, { passive: false });

  // One pointer drags, two pointers pinch.
  const pointers = new Map();
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return [Math.hypot(a[0] - b[0], a[1] - b[1]), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  };
  host.addEventListener("pointerdown", (event) => {
    if (pointers.size === 0) zoom.dragged = false;
    pointers.set(event.pointerId, place(event));
  });
  host.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const [x, y] = place(event);
    const before = pointers.get(event.pointerId);
    const far = Math.hypot(x - before[0], y - before[1]);
    if (!zoom.dragged && far < CLICK_SLACK) return;
    zoom.dragged = true;
    if (pointers.size === 2) {
      const [wide, across, down] = spread();
      pointers.set(event.pointerId, [x, y]);
      zoomAt(spread()[0] / wide, across, down);
    } else if (zoom.factor > 1) {
      host.setPointerCapture(event.pointerId);
      zoom.left += x - before[0];
      zoom.top += y - before[1];
      pointers.set(event.pointerId, [x, y]);
      clamp();
      refresh();
    }
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
    host.addEventListener(name, (event) => pointers.delete(event.pointerId));
  }
  clamp();
  return zoom;
}

// A panel that can fill the window.
function makeEnlarge(panel, button, changed) {
  const isLarge = () => panel.classList.contains("large");
  function set(large) {
    panel.classList.toggle("large", large);
    document.body.classList.toggle("covered", large);
    button.setAttribute("aria-pressed", String(large));
    button.textContent = large ? "Close" : "Enlarge";
    changed();
    refresh();
  }
  button.addEventListener("click", () => set(!isLarge()));
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isLarge()) {
      event.stopPropagation();
      set(false);
      button.focus();
    }
  });
  return isLarge;
}
