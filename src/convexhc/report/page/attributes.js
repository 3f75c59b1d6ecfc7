// Attributes of the nodes: colours, their key, and their agreement with the clusters shown.

// More values than this share the colours.
const MAX_KEY_VALUES = 24;

// The first value in the order of the data has the first colour.
function attributeColor(attribute, node) {
  const code = attribute.codes[node];
  if (attribute.kind === "number") {
    if (code === 0) return DATA.neutral[state.theme];
    return `rgb(${heatShades()[Math.round(((code - 1) / (attribute.steps - 1)) * (SHADES - 1))].join(" ")})`;
  }
  const colors = DATA.palette[state.theme];
  return attribute.values[code] === "" ? DATA.neutral[state.theme] : colors[code % colors.length];
}

const colorOfNode = (node) =>
  state.attribute < 0 ? colorOf(clusterOf(node)) : attributeColor(DATA.attributes[state.attribute], node);

function attributeText(node) {
  const attribute = DATA.attributes[state.attribute];
  const code = attribute.codes[node];
  if (attribute.kind !== "number") return `${attribute.name}: ${attribute.values[code] || "unknown"}`;
  const share = (code - 1) / (attribute.steps - 1);
  return `${attribute.name}: ${code === 0 ? "unknown" : `about ${formatNumber(attribute.low + share * (attribute.high - attribute.low))}`}`;
}

// Agreement of the shown partition with the chosen categories, or with the first ones, as text.
function agreementText() {
  const shown = state.attribute >= 0 ? DATA.attributes[state.attribute] : DATA.attributes.find(({ agreement }) => agreement);
  if (!shown || !shown.agreement) return "";
  const [ami, ari] = state.scale < 0 ? shown.agreement[state.level] : shown.scaleAgreement[state.scale];
  return `agreement with ${shown.name}: AMI ${ami.toFixed(2)}, ARI ${ari.toFixed(2)}`;
}

function colorKey(attribute) {
  if (attribute.kind === "number") {
    const ramp = element("span", { className: "shades" });
    const colors = heatShades().filter((_, shade) => shade % 9 === 0).map((parts) => `rgb(${parts.join(" ")})`);
    ramp.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
    return [element("span", { className: "ramp" }, formatNumber(attribute.low), ramp, formatNumber(attribute.high))];
  }
  const dots = attribute.values.slice(0, MAX_KEY_VALUES).map((value, code) => {
    const dot = element("span", { className: "swatch" });
    const colors = DATA.palette[state.theme];
    dot.style.background = value === "" ? DATA.neutral[state.theme] : colors[code % colors.length];
    return element("span", {}, dot, value || "unknown");
  });
  const more = attribute.values.length - MAX_KEY_VALUES;
  return more > 0 ? [...dots, `and ${counted(more, "more value")}`] : dots;
}

function makeAttributes() {
  const select = byId("color-by");
  select.append(
    element("option", { value: "-1", textContent: "by cluster" }),
    ...DATA.attributes.map(({ name }, at) => element("option", { value: String(at), textContent: `by ${name}` })),
  );
  byId("color-choice").hidden = false;
  select.addEventListener("change", () => {
    state.attribute = Number(select.value);
    refresh();
  });
  return () => {
    byId("agreement").textContent = agreementText();
    byId("agreement").hidden = !agreementText();
    byId("color-key").hidden = state.attribute < 0;
    if (state.attribute >= 0) byId("color-key").replaceChildren(...colorKey(DATA.attributes[state.attribute]));
  };
}
