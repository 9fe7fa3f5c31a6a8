// Elements made of names, attributes and text. Text from the table is only ever text.

const DRAWN = new Set(["svg", "path", "rect", "line", "circle", "text", "polyline", "polygon"]);

export function make(name, attributes = {}, ...children) {
  const element = DRAWN.has(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export const find = id => document.getElementById(id);

// Words of the table, kept from turning the direction of what stands around them.
export const apart = (text, attributes = {}) => make("bdi", attributes, text);

export function button(text, key, attributes = {}) {
  const made = make("button", { type: "button", ...attributes }, text);
  if (key) made.append(" ", make("kbd", {}, key));
  return made;
}
