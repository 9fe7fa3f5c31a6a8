// The answer about all rows: whether rows come for it, its intervals, and the labels that it still needs.

import { readNumber } from "./answer.js";
import { apart, find, make } from "./elements.js";
import { sentence, short, visible } from "./text.js";

let drawn = null;
let wished = null; // the half-width that the field shows
let isShare = false;

// want(on, halfWidth) tells the server, and resolves when the page shows the result.
export function setUpWhole(want) {
  const [field, note] = [find("half-width"), find("whole-note")];
  const halfWidth = () => {
    if (!field.value.trim()) return null;
    const typed = readNumber(field.value);
    return isShare ? typed / 100 : typed;
  };
  const tell = async on => {
    const wanted = halfWidth();
    if (wanted !== null && !(wanted > 0)) {
      note.textContent = "Type a number above 0, or leave it blank.";
      return;
    }
    note.textContent = "";
    try {
      await want(on, wanted);
    } catch (error) {
      note.textContent = error.message;
    }
  };
  const isOn = () => find("whole-on").getAttribute("aria-pressed") === "true";
  find("whole-on").addEventListener("click", () => tell(!isOn()));
  find("wish").addEventListener("submit", event => {
    event.preventDefault();
    tell(isOn());
  });
}

export function drawWhole(allRows, task) {
  const fresh = JSON.stringify([allRows, task]);
  if (fresh === drawn) return; // so that the focus stays where it is
  drawn = fresh;
  isShare = task === "classification";
  const { on, intervals, words, half_width: half } = allRows;
  find("whole-on").setAttribute("aria-pressed", on);
  find("whole-how").textContent = on
    ? "Rows are drawn by chance, more often where the model errs more. Label all that come."
    : "Not the most useful rows for a model, but rows whose labels answer for the whole table.";
  find("whole").replaceChildren(...intervals.map(isShare ? shareLine : meanLine));
  find("wish").hidden = !on;
  find("wish-unit").textContent = isShare ? "%" : "";
  const text = words ? sentence(words) : "";
  if (find("whole-words").textContent !== text) find("whole-words").textContent = text;
  const shown = half === null ? "" : String(Number((isShare ? 100 * half : half).toPrecision(6)));
  if (shown !== wished && document.activeElement !== find("half-width")) find("half-width").value = shown;
  wished = shown;
}

function meanLine({ title, value, ends }) {
  return make("div", { class: "told" },
    make("dt", {}, apart(short(visible(title)))),
    make("dd", {}, make("strong", {}, value), make("span", { class: "soft" }, `95% interval ${ends}`)));
}

// With a bar from zero to the share, and a line for its interval.
function shareLine({ title, value, ends, share: [middle, low, high] }) {
  const picture = make("svg", { "aria-hidden": "true", viewBox: "0 0 100 8", preserveAspectRatio: "none" },
    make("rect", { class: "all", width: 100, height: 8 }),
    make("rect", { class: "part", width: 100 * middle, height: 8 }),
    make("rect", { class: "ends", x: 100 * low, y: 3, width: Math.max(100 * (high - low), 0.5), height: 2 }));
  const line = meanLine({ title, value, ends });
  line.querySelector("dd").append(picture);
  return line;
}
