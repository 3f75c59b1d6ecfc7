"use strict";
// The embedded data, and the small tools that every page uses.

const DATA = JSON.parse(document.getElementById("data").textContent);

const byId = (id) => document.getElementById(id);

async function decodeArray(encoded) {
  const bytes = Uint8Array.from(atob(encoded.data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const types = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
  return new types[encoded.bytes](buffer);
}

// Replace every encoded array in the data by its numbers.
async function decodeAll(value) {
  for (const [key, inner] of Object.entries(value)) {
    if (inner === null || typeof inner !== "object") continue;
    if (typeof inner.data === "string" && inner.bytes) value[key] = await decodeArray(inner);
    else if (!Array.isArray(inner) || typeof inner[0] === "object") await decodeAll(inner);
  }
}

function formatNumber(value) {
  if (value === null || value === undefined) return "unknown";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace(".0e", "e");
  return String(Number(value.toPrecision(3)));
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("aria-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

// Colours of the style sheet, cached until the theme changes: computed styles are slow.
const themeColors = new Map();

function themeColor(name) {
  if (!themeColors.has(name)) themeColors.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return themeColors.get(name);
}
