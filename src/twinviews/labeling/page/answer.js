// The form for an answer to one row: a field for a number, or buttons and a field for a class.

import { apart, button, make } from "./elements.js";
import { guessWords } from "./card.js";
import { DIGITS, MOST_KEYS } from "./keys.js";
import { label, probability, rounded, short, visible } from "./text.js";

const LIKELIEST = 10; // classes that have a button where not all of them can
const BRIEF = 3; // characters of names that stand in narrow buttons
// A number further than this many widths of the usual range outside of it needs a second Enter.
const FAR = 3;

export class AnswerForm {
  #confirmed = null; // the unusual text that a second Enter saves
  #classes = new Map(); // by the key that chooses it
  busy = false;

  // submit(form, answer, text) stores an answer; entered has the numbers entered so far.
  constructor({ target, card, keys, entered, submit, lists }) {
    Object.assign(this, { target, card, keys, entered, submit });
    this.isNumber = target.task === "regression";
    this.note = make("p", { class: "note", role: "alert" });
    this.field = make("input", {
      autocomplete: "off",
      spellcheck: "false",
      enterkeyhint: "done",
      inputmode: this.isNumber && ![...entered, card.guess?.lower ?? 0].some(one => one < 0) ? "decimal" : null,
      list: this.isNumber ? null : lists,
      "aria-label": this.isNumber ? visible(target.name) : "Another class",
      placeholder: this.isNumber ? null : "another class",
    });
    this.save = make("button", { class: "main" }, "Save ", make("kbd", {}, "Enter"));
    const typed = make("p", { class: "typed" }, this.field, this.save);
    const name = make("span", { class: "soft", "aria-hidden": "true" }, apart(short(visible(target.name))));
    if (this.isNumber) typed.prepend(name);
    const parts = [make("p", { class: "guess" }, ...guessWords(card.guess))];
    if (!this.isNumber) parts.push(this.#classButtons());
    this.element = make("form", { class: "answer" }, ...parts, typed, this.note, this.#others());
    this.element.addEventListener("submit", event => {
      event.preventDefault();
      this.enter();
    });
    this.field.addEventListener("input", () => this.#warn(""));
  }

  // Whether the field should have the focus: the person types in it, or the answer is a number.
  // On a phone the keyboard opens only when the person touches the field.
  get wantsField() {
    if (document.activeElement === this.field) return true;
    return this.isNumber && !matchMedia("(pointer: coarse)").matches;
  }

  classOf(key) {
    return this.keys.single ? this.#classes.get(key.toLowerCase()) : undefined;
  }

  enter() {
    const text = this.field.value.trim();
    if (!text) {
      this.#warn(this.isNumber ? "Type a number, or skip the row." : "Choose a class, or skip the row.");
      return;
    }
    const warning = this.#confirmed === text ? null : this.isNumber ? this.#checkNumber(text) : this.#checkClass(text);
    if (warning) {
      this.#warn(warning.words);
      this.#confirmed = warning.final ? null : text;
    } else {
      this.#send("label", text);
    }
  }

  accept() {
    if (this.card.guess === null) this.#warn("There is no guess yet to accept.");
    else if (this.field.value.trim()) this.#warn("Enter saves what is typed. To accept the guess, clear the field.");
    else this.#send("label", String(rounded(this.card.guess.value, this.card.guess)));
  }

  choose(name) {
    this.#send("label", name);
  }

  skip() {
    this.#send("skip", null);
  }

  unsure() {
    this.#send("unsure", null);
  }

  fail(words) {
    this.#setBusy(false);
    this.#warn(words);
  }

  #send(answer, text) {
    if (this.busy) return;
    this.#setBusy(true);
    this.#warn("");
    this.submit(this, answer, text);
  }

  #setBusy(busy) {
    this.busy = busy;
    this.field.readOnly = busy;
    this.element.setAttribute("aria-busy", busy);
  }

  #warn(words) {
    this.#confirmed = null;
    if (this.note.textContent !== words) this.note.textContent = words;
  }

  #checkNumber(text) {
    const number = readNumber(text);
    if (Number.isNaN(number)) {
      return { words: `${short(text)} is not a number. Type one such as 3.5 or −2e6.`, final: true };
    }
    const range = usualRange(this.card.guess, this.entered);
    if (!range || (number >= range.from && number <= range.to)) return null;
    const usual = `${label(rounded(range.low))} to ${label(rounded(range.high))}`;
    return { words: `${label(number)} is far outside the usual range (${usual}). Press Enter again to save it.` };
  }

  #checkClass(text) {
    if (this.target.classes.includes(text) || !this.target.classes.length) return null;
    return { words: `“${short(visible(text))}” would be a new class. Press Enter again to save it.` };
  }

  #classButtons() {
    const likely = new Map((this.card.guess?.probabilities ?? []).map(one => [one.name, one.probability]));
    const all = this.target.classes;
    const many = all.length > MOST_KEYS;
    const names = many ? [...likely.keys()].slice(0, LIKELIEST) : all;
    const buttons = names.map((name, i) => {
      const key = many ? DIGITS[i] : this.keys.ofClass(name);
      this.#classes.set(key, name);
      const share = likely.get(name) ?? 0;
      const kind = name === this.card.guess?.value ? "class likely" : "class";
      const made = button("", null, { class: kind, title: visible(name) });
      const bar = make("svg", { "aria-hidden": "true", viewBox: "0 0 100 1", preserveAspectRatio: "none" });
      bar.append(make("rect", { width: 100 * share, height: 1 }));
      const isItsKey = key === name.toLowerCase();
      if (this.keys.single && !isItsKey) made.append(make("kbd", {}, key.toUpperCase()));
      made.append(apart(short(visible(name)), { class: isItsKey ? "name key" : "name" }));
      if (likely.size) made.append(make("span", { class: "soft share" }, probability(share)), bar);
      made.addEventListener("click", () => this.choose(name));
      return made;
    });
    const brief = names.every(name => name.length <= BRIEF);
    const attributes = { class: brief ? "classes brief" : "classes", role: "group", "aria-label": "Classes" };
    return make("div", attributes, ...buttons);
  }

  #others() {
    const { keys, card } = this;
    const made = [];
    const add = (text, key, action) => {
      const one = button(text, key && keys.shown(key));
      one.addEventListener("click", action);
      made.push(one);
    };
    if (card.guess) {
      const words = make("span", {}, "Accept ", apart(short(label(rounded(card.guess.value, card.guess)))));
      add(words, "=", () => this.accept());
    }
    add("Skip", "s", () => this.skip());
    add("Not sure", "n", () => this.unsure());
    if (card.answer !== null && card.answer !== "clear") add("Clear", null, () => this.#send("clear", null));
    return make("p", { class: "row" }, ...made);
  }
}

// As the server reads it: one comma without a point is a decimal comma.
export function readNumber(text) {
  let plain = text.replaceAll("−", "-").replace(/[\s\u00a0]/g, "");
  if (plain.split(",").length === 2 && !plain.includes(".")) plain = plain.replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

// The range of the guess and of the numbers entered so far, and the limits beyond which is far.
export function usualRange(guess, entered) {
  const ends = entered.length >= 3 ? [...entered] : [];
  if (guess && guess.lower !== null && guess.upper !== null) ends.push(guess.lower, guess.upper);
  if (!ends.length) return null;
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const width = high - low || Math.abs(high) || 1;
  return { low, high, from: low - FAR * width, to: high + FAR * width };
}
