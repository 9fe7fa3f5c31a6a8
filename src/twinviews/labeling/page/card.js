// A row as a card: its columns, and the most similar labeled rows.

import { apart, button, make } from "./elements.js";
import { label, place, probability, rounded, rowName, short, visible } from "./text.js";

const FIRST_COLUMNS = 200;
const FIRST_CHARACTERS = 300;
const LONG = 40; // characters; a longer text has the whole width

// The columns of a table. Elements are made once, and a new row changes only what differs.
export class Facts {
  #shown = [];
  #limit = FIRST_COLUMNS;

  constructor(place) {
    this.list = make("dl", { class: "facts" });
    this.rest = button("");
    this.rest.addEventListener("click", () => {
      this.#limit = Infinity;
      this.show(this.facts);
      this.list.tabIndex = -1;
      this.list.focus();
    });
    place.replaceChildren(this.list, this.rest);
  }

  show(facts) {
    this.facts = facts;
    const first = facts.slice(0, this.#limit);
    const same =
      this.#shown.length === first.length && this.#shown.every((fact, i) => fact.name === first[i].name);
    if (!same) {
      this.#shown = first.map(fact => new ShownFact(fact));
      this.list.replaceChildren(...this.#shown.map(fact => fact.element));
    }
    first.forEach((fact, i) => this.#shown[i].show(fact));
    this.rest.hidden = first.length === facts.length;
    this.rest.textContent = `Show all ${facts.length} columns`;
  }
}

class ShownFact {
  #bars = null;

  constructor(fact) {
    this.name = fact.name;
    this.value = make("dd", { class: "value" });
    this.mark = make("rect", { class: "here" });
    this.strip = make("svg", { "aria-hidden": "true", preserveAspectRatio: "none" });
    this.place = make("dd", { class: "place soft" });
    const name = make("dt", { class: "soft" }, apart(short(visible(fact.name))));
    const strip = make("dd", { class: "strip", "aria-hidden": "true" }, this.strip);
    this.element = make("div", { class: "fact" }, name, this.value, strip, this.place);
  }

  show(fact) {
    showText(this.value, fact.text);
    this.element.classList.toggle("long", (fact.text ?? "").length > LONG);
    this.place.textContent = place(fact);
    if (fact.bars.length) this.#showBars(fact);
    else this.#showShare(fact.share);
  }

  #showBars({ bars, bar }) {
    this.strip.removeAttribute("hidden");
    const spread = bars.join();
    if (spread !== this.#bars) {
      this.#bars = spread;
      const most = Math.max(...bars, 1);
      // A bin with few rows keeps a thin line, so that it differs from an empty one.
      this.heights = bars.map(rows => (rows ? Math.max(4, (100 * rows) / most) : 0));
      const path = this.heights.map((height, i) => `M${i + 0.06} 100v${-height}h.88V100z`).join("");
      this.strip.setAttribute("viewBox", `0 0 ${bars.length} 100`);
      this.strip.replaceChildren(make("path", { d: path }), this.mark);
    }
    const height = bar === null ? 0 : Math.max(12, this.heights[bar]);
    setAll(this.mark, { x: (bar ?? 0) + 0.06, y: 100 - height, width: 0.88, height });
  }

  #showShare(share) {
    this.strip.toggleAttribute("hidden", share === null);
    if (share === null) return;
    if (this.#bars !== "share") {
      this.#bars = "share";
      this.strip.setAttribute("viewBox", "0 0 100 100");
      this.strip.replaceChildren(make("path", { d: "M0 70h100v20H0z", class: "all" }), this.mark);
    }
    setAll(this.mark, { x: 0, y: 70, width: Math.max(1, 100 * share), height: 20 });
  }
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

function showText(element, text) {
  if (text === null) {
    element.replaceChildren(make("i", { class: "soft" }, "blank"));
    return;
  }
  const whole = visible(text);
  if (whole.length <= FIRST_CHARACTERS) {
    element.replaceChildren(apart(whole));
    return;
  }
  const part = apart(whole.slice(0, FIRST_CHARACTERS) + "…");
  const more = button(`Show all ${whole.length.toLocaleString("en")} characters`);
  more.addEventListener("click", () => element.replaceChildren(apart(whole, { tabindex: "-1" })));
  element.replaceChildren(part, " ", more);
}

export function guessWords(guess) {
  if (guess === null) return ["There is no guess yet. What the model waits for is shown below the curve."];
  const said = make("strong", {}, apart(short(label(rounded(guess.value, guess)))));
  if (guess.probabilities.length) {
    const sure = guess.probabilities.find(one => one.name === guess.value) ?? guess.probabilities[0];
    return ["The model would say ", said, `, ${probability(sure.probability)} sure.`];
  }
  const [low, high] = [guess.lower, guess.upper].map(end => end !== null && label(rounded(end, guess)));
  if (low && high) return ["The model would say ", said, `, between ${low} and ${high} (9 times in 10).`];
  return ["The model would say ", said, ". An interval needs a few more labels."];
}

export function neighbourItem(neighbour) {
  const differences = neighbour.differences.map(([name, value]) =>
    make("li", {}, apart(short(visible(name)), { class: "soft" }), " ", apart(short(visible(value)))));
  const head = make(
    "p",
    {},
    make("strong", {}, apart(short(label(neighbour.label)))),
    make("span", { class: "soft" }, ` ${rowName(neighbour.row)}, ${probability(neighbour.likeness)} alike`),
  );
  const differ = make("ul", { "aria-label": "Where it differs most" }, ...differences);
  return make("li", {}, head, ...(differences.length ? [differ] : []));
}
