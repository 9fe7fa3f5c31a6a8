// Several rows at once, each in short form, to be answered in any order.

import { apart, button, make } from "./elements.js";
import { Facts } from "./card.js";
import { rowName, sentence, short, visible } from "./text.js";

const FIRST_COLUMNS = 8;

export class BatchItem {
  // formOf(card) makes the form that the row is answered by.
  constructor(card, formOf) {
    this.formOf = formOf;
    this.element = make("li", { class: "item", tabindex: -1 });
    this.open(card);
  }

  open(card) {
    Object.assign(this, { card, form: this.formOf(card), done: false });
    const title = make("h3", { id: `item-${card.row}` }, rowName(card.row));
    const facts = card.facts.slice(0, FIRST_COLUMNS).map(inline);
    const list = make("dl", { class: "inline" }, ...facts);
    const parts = [title, make("p", { class: "soft" }, sentence(card.reason)), list];
    this.element.setAttribute("aria-labelledby", title.id);
    this.element.replaceChildren(...parts, this.#wholeCard(), this.form.element);
  }

  // Shows the answer in one line; a click opens the row again.
  close(words, reopen) {
    this.done = true;
    const change = button("Change", null, { "aria-label": `Change ${rowName(this.card.row)}` });
    change.addEventListener("click", () => reopen(this));
    const line = make("p", { class: "row" }, `${rowName(this.card.row)}: `, make("strong", {}, apart(words)), change);
    this.element.removeAttribute("aria-labelledby");
    this.element.replaceChildren(line);
  }

  focus(inField = this.form.wantsField) {
    this.element.scrollIntoView({ block: "nearest" });
    (inField ? this.form.field : this.element).focus({ preventScroll: true });
  }

  #wholeCard() {
    const place = make("div");
    const whole = make("details", {}, make("summary", {}, `All ${this.card.facts.length} columns`), place);
    whole.addEventListener("toggle", () => {
      if (whole.open && !place.hasChildNodes()) new Facts(place).show(this.card.facts);
    });
    return whole;
  }
}

function inline(fact) {
  const value = fact.text === null ? make("i", { class: "soft" }, "blank") : apart(short(visible(fact.text)));
  return make("div", {}, make("dt", { class: "soft" }, apart(short(visible(fact.name)))), make("dd", {}, value));
}
