// Where a person answers one row: a field for a number, or buttons and a field for a class.

import { apart, button, make } from "./elements.js";
import { guessWords } from "./card.js";
import { DIGITS, MOST_KEYS } from "./keys.js";
import { label, probability, rounded, short, visible } from "./words.js";

const LIKELIEST = 10; // classes that have a button where not all of them can
const BRIEF = 3; // characters of names that stand in narrow buttons
// A number this many widths of what was seen outside of it is asked about.
const FAR = 3;

export class AnswerForm {
  #sure = null; // the text that Enter would save although it looks odd
  #classes = new Map(); // by the key that chooses it
  busy = false;

  // say(answer, text) stores what was said; seen is the numbers that were said so far.
  constructor({ target, card, keys, seen, say, lists }) {
    Object.assign(this, { target, card, keys, seen, say });
    this.isNumber = target.task === "regression";
    this.note = make("p", { class: "note", role: "alert" });
    this.field = make("input", {
      autocomplete: "off",
      spellcheck: "false",
      enterkeyhint: "done",
      inputmode: this.isNumber && ![...seen, card.guess?.lower ?? 0].some(one => one < 0) ? "decimal" : null,
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

  // Whether the person is typing in the field now, or would be: a number has nothing else to be said by.
  // On a phone the keyboard comes up only when it is asked for.
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
    const doubt = this.#sure === text ? null : this.isNumber ? this.#doubtNumber(text) : this.#doubtClass(text);
    if (doubt) {
      this.#warn(doubt.words);
      this.#sure = doubt.final ? null : text;
    } else {
      this.#say("label", text);
    }
  }

  accept() {
    if (this.card.guess === null) this.#warn("There is no guess yet to accept.");
    else if (this.field.value.trim()) this.#warn("Enter saves what is typed. To accept the guess, clear the field.");
    else this.#say("label", String(rounded(this.card.guess.value, this.card.guess)));
  }

  choose(name) {
    this.#say("label", name);
  }

  skip() {
    this.#say("skip", null);
  }

  unsure() {
    this.#say("unsure", null);
  }

  fail(words) {
    this.#setBusy(false);
    this.#warn(words);
  }

  #say(answer, text) {
    if (this.busy) return;
    this.#setBusy(true);
    this.#warn("");
    this.say(this, answer, text);
  }

  #setBusy(busy) {
    this.busy = busy;
    this.field.readOnly = busy;
    this.element.setAttribute("aria-busy", busy);
  }

  #warn(words) {
    this.#sure = null;
    if (this.note.textContent !== words) this.note.textContent = words;
  }

  #doubtNumber(text) {
    const number = readNumber(text);
    if (Number.isNaN(number)) {
      return { words: `${short(text)} is not a number. Type one such as 3.5 or −2e6.`, final: true };
    }
    const range = usualRange(this.card.guess, this.seen);
    if (!range || (number >= range.from && number <= range.to)) return null;
    const seen = `${label(rounded(range.low))} to ${label(rounded(range.high))}`;
    return { words: `${label(number)} is far from what was to be expected (${seen}). Sure? Enter again saves it.` };
  }

  #doubtClass(text) {
    if (this.target.classes.includes(text) || !this.target.classes.length) return null;
    return { words: `“${short(visible(text))}” would be a new class. Sure? Enter again saves it.` };
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
    if (card.answer !== null && card.answer !== "clear") add("Clear", null, () => this.#say("clear", null));
    return make("p", { class: "row" }, ...made);
  }
}

// As the server reads it: one comma without a point is a decimal comma.
export function readNumber(text) {
  let plain = text.replaceAll("−", "-").replace(/[\s\u00a0]/g, "");
  if (plain.split(",").length === 2 && !plain.includes(".")) plain = plain.replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

// What the guess and the numbers said so far lead to expect, and how far from it is far.
export function usualRange(guess, seen) {
  const ends = seen.length >= 3 ? [...seen] : [];
  if (guess && guess.lower !== null && guess.upper !== null) ends.push(guess.lower, guess.upper);
  if (!ends.length) return null;
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const width = high - low || Math.abs(high) || 1;
  return { low, high, from: low - FAR * width, to: high + FAR * width };
}
