// The learning curve and its forecast: a picture, a sentence, and a table.

import { make } from "./elements.js";
import { count, error, sentence } from "./text.js";

const AHEAD = 1.6; // the picture ends at this many times the labels so far, or at the first forecast

let drawn = null;

export function drawCurve(place, { curve, promises, baseline, unit }, task) {
  const fresh = JSON.stringify([curve, promises, baseline, unit]);
  if (fresh === drawn) return; // so that the focus stays where it is
  drawn = fresh;
  if (!curve.length) {
    const words = "When there are enough labels, the error and its forecast appear here.";
    place.replaceChildren(make("p", {}, words));
    return;
  }
  const opened = place.querySelector("details")?.open ?? false;
  const say = (amount, like) => error(amount, task, like);
  const now = curve.at(-1);
  const known = sentence(`error to expect with ${count(now.labels)} labels: ${now.words}`);
  const sentences = [known, ...promises.map(promise => sentence(promise.words))];
  const shown = promises.filter((one, i) => i === 0 || now.labels + one.more <= AHEAD * now.labels);
  const ahead = shown.map(one => ({ ...one, labels: now.labels + one.more }));
  const label = [`${unit} against the number of labels.`, ...sentences].join(" ");
  place.replaceChildren(
    make("div", { class: "plane", role: "img", "aria-label": label }, plane(curve, ahead, baseline, unit, say)),
    ...legend(ahead.length > 0, baseline, unit, say),
    make("p", {}, make("strong", {}, sentences[0])),
    ...sentences.slice(1).map(words => make("p", {}, words)),
    numbers(curve, promises, opened, say),
  );
}

function plane(curve, ahead, baseline, unit, say) {
  const now = curve.at(-1);
  const right = (ahead.at(-1) ?? now).labels;
  // Bands of the first few labels may be huge; the scale follows the errors.
  const top = 1.15 * Math.max(...curve.map(one => one.error), now.upper, baseline ?? 0) || 1;
  const x = labels => (100 * labels) / right;
  const y = amount => 100 - (100 * amount) / top;
  const points = list => list.map(one => `${x(one.labels)},${y(one.error)}`).join(" ");
  const band = list =>
    [...list.map(one => `${x(one.labels)},${y(one.upper)}`)]
      .concat(list.map(one => `${x(one.labels)},${y(one.lower)}`).reverse())
      .join(" ");
  const picture = make("svg", { "aria-hidden": "true" });
  for (const tick of ticks(top)) {
    picture.append(make("line", { class: "grid", x1: 0, x2: "100%", y1: `${y(tick)}%`, y2: `${y(tick)}%` }));
    picture.append(make("text", { x: -8, y: `${y(tick)}%`, dy: 5, "text-anchor": "end" }, say(tick, 10 * top)));
  }
  for (const tick of ticks(right)) {
    picture.append(make("line", { class: "grid", x1: `${x(tick)}%`, x2: `${x(tick)}%`, y1: 0, y2: "100%" }));
    picture.append(make("text", { x: `${x(tick)}%`, y: "100%", dy: 20, "text-anchor": "middle" }, count(tick)));
  }
  picture.append(make("text", { x: "50%", y: "100%", dy: 42, "text-anchor": "middle" }, "labels"));
  picture.append(make("text", { x: "-3em", y: -12 }, unit));
  const inner = make("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", class: "inner" });
  const next = [now, ...ahead];
  inner.append(make("polygon", { class: "band", points: band(curve) }));
  if (ahead.length) inner.append(make("polygon", { class: "band promised", points: band(next) }));
  if (baseline !== null) {
    inner.append(make("polyline", { class: "baseline", points: `0,${y(baseline)} 100,${y(baseline)}` }));
  }
  inner.append(make("polyline", { class: "line", points: points(curve) }));
  if (ahead.length) inner.append(make("polyline", { class: "line promised", points: points(next) }));
  picture.append(inner, make("circle", { cx: `${x(now.labels)}%`, cy: `${y(now.error)}%`, r: 5 }));
  return picture;
}

// Round numbers, at least three steps.
function ticks(end) {
  const power = 10 ** Math.floor(Math.log10(end));
  const step = [5, 2, 1, 0.5, 0.2].map(one => one * power).find(one => end / one >= 3);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

function legend(promised, baseline, unit, say) {
  const entry = (name, text) => {
    const sample = make("svg", { class: "sample" }, make("line", { class: name, x1: 0, x2: 30, y1: 5, y2: 5 }));
    return make("li", {}, sample, text);
  };
  const entries = [entry("line", `${unit}, with its 90% interval`)];
  if (promised) entries.push(entry("line promised", "to be expected"));
  if (baseline !== null) entries.push(entry("baseline", `without a model ${say(baseline)}`));
  return [make("ul", { class: "legend", "aria-hidden": "true" }, ...entries)];
}

function numbers(curve, promises, opened, say) {
  const line = (name, one) =>
    make("tr", {}, make("th", { scope: "row" }, name),
      ...[one.error, one.lower, one.upper].map(amount => make("td", { class: "n" }, say(amount))));
  const now = curve.at(-1).labels;
  const rows = [
    ...curve.map(one => line(count(one.labels), one)),
    ...promises.map(one => line(`${count(now + one.more)}, expected`, one)),
  ];
  const head = ["labels", "error", "from", "to"].map((name, i) =>
    make("th", { scope: "col", class: i ? "n" : null }, name));
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  const attributes = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Error, in numbers" };
  const scroll = make("div", attributes, table);
  return make("details", { open: opened }, make("summary", {}, "In numbers"), scroll);
}
