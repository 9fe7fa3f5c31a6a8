// Numbers, shares and answers as text.

const DIGITS = 3;
const LONGEST = 60;
// Invisible characters, line breaks, and marks that turn the direction of text.
const HIDING = /[\p{Cc}\p{Cs}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const SPELLED = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export const visible = text =>
  text.replace(HIDING, mark => SPELLED[mark] ?? "\\u" + mark.charCodeAt(0).toString(16).padStart(4, "0"));

export const short = text => (text.length <= LONGEST ? text : text.slice(0, LONGEST - 1) + "…");

// Three digits, or all that stand before the point; or as fine as another number is shown.
export function number(amount, like = amount) {
  const size = Math.abs(like);
  if (amount === 0) return "0";
  if (size < 1e-4 || size >= 1e7) return amount.toExponential(DIGITS - 1).replaceAll("-", "−");
  const decimals = Math.max(0, DIGITS - 1 - Math.floor(Math.log10(size)));
  return amount
    .toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    .replace("-", "−");
}

// Words that may be a part of a sentence, as a whole one.
export function sentence(text) {
  const words = visible(text);
  return words && words[0].toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");
}

export const count = amount => amount.toLocaleString("en");
export const rowName = row => `Row ${count(row + 1)}`;

// A label as it was said: a number with the digits it has, a class by its name.
export const label = value =>
  typeof value === "number"
    ? String(Number(value.toPrecision(10))).replaceAll("-", "−")
    : visible(value);

export function answer(said, value) {
  if (said === "label") return short(label(value));
  return { skip: "skipped", unsure: "not sure", clear: "no label" }[said] ?? "no answer";
}

// A guess is rounded to what its interval leaves of it, and is taken as it is shown.
export function rounded(value, guess = null) {
  if (typeof value !== "number") return value;
  const width = guess ? guess.upper - guess.lower : 0; // null counts as 0
  if (!(width > 0)) return Number(value.toPrecision(4));
  const digit = 10 ** (Math.floor(Math.log10(width)) - 2);
  return Number((Math.round(value / digit) * digit).toPrecision(12));
}

export function percent(share) {
  const hundredths = 100 * share;
  const whole = hundredths >= 10;
  return `${Number(hundredths.toFixed(whole ? 0 : 1))}%`;
}

export function probability(share) {
  if (share > 0 && share < 0.01) return "<1%";
  if (share < 1 && share > 0.99) return ">99%";
  return `${Math.round(100 * share)}%`;
}

// Where a value lies among all rows.
export function place(fact) {
  if (fact.place !== null) {
    const [more, most, less, least] =
      fact.kind === "date" ? ["later", "latest", "earlier", "earliest"] : ["higher", "highest", "lower", "lowest"];
    if (fact.place === 0) return `no row is ${less}`;
    if (fact.place < 0.0005) return `among the ${least}`;
    if (fact.place > 0.9995) return `among the ${most}`;
    return `${more} than ${percent(fact.place)} of rows`;
  }
  if (fact.share === null) return "";
  const rows = fact.share < 0.0005 ? "in hardly any other row" : `in ${percent(fact.share)} of rows`;
  return fact.text === null ? `as ${rows}` : rows;
}

export function error(amount, task, like) {
  return task === "classification" ? percent(amount) : number(amount, like);
}
