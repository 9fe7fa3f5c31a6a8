// The page: one row or a batch of rows, the answers to them, and the state of the model.

import { AnswerForm, readNumber } from "./answer.js";
import { BatchItem } from "./batch.js";
import { Facts, neighbourItem } from "./card.js";
import { drawCurve } from "./curve.js";
import { drawWhole, setUpWhole } from "./whole.js";
import { chooseAnswer, offerFile, setUpFiles, setUpHelp, setUpSearch } from "./dialogs.js";
import { apart, button, find, make } from "./elements.js";
import { Keys } from "./keys.js";
import { Unreachable, Connection } from "./connection.js";
import { answer as inWords, count, rowName, sentence, short, visible } from "./text.js";

const POLL_INTERVAL = 3000; // milliseconds between questions for news of other tabs, people and the model
const MOST_POLLS = 40; // after an answer: a full fit may follow, and takes a while
const CLASSES = "classes"; // id of the list that completes class names

const connection = new Connection(showReachability, showLeftOver);
const keys = new Keys();
const facts = new Facts(find("facts"));
const entered = new Map(); // numbers entered in this tab, by target
let state = null;
let card = null;
let form = null;
let items = null; // of the batch; null while rows are shown one by one
let pressed = 0; // time of the last key or pointer press, from which the delay of an answer counts
let pollsLeft = MOST_POLLS;
let leftOver = Promise.resolve();

const target = () => state.targets.find(one => one.name === state.target);
const newKey = () => crypto.randomUUID();

async function start() {
  if (!connection.hasToken) {
    showReachability("This page needs its token. Open the whole address that the command printed, including the part after the #.");
    return;
  }
  const wanted = new URLSearchParams(location.search).get("target") ?? "";
  const named = () => connection.patient("/api/state", { target: wanted });
  showState((await named().catch(() => connection.patient("/api/state", { target: "" }))).state);
  await connection.flush();
  await leftOver;
  await next();
  setInterval(poll, POLL_INTERVAL);
}

// Shows all but the card.
function showState(fresh) {
  const old = state;
  if (JSON.stringify(old) === JSON.stringify(fresh)) return;
  state = fresh;
  const { task, classes } = target();
  keys.assign(classes);
  setText("target-name", short(visible(state.target)));
  setText("table", visible(state.table));
  const { rows, labeled, skipped, unsure } = state;
  const also = [skipped && `${count(skipped)} skipped`, unsure && `${count(unsure)} not sure`].filter(Boolean);
  setText("progress", `: ${[`${count(labeled)} of ${count(rows)} rows labeled`, ...also].join(", ")}`);
  setText("model", `Model: ${visible(state.model)}.`);
  find("undo").disabled = !state.undoable;
  showKeys();
  drawCurve(find("curve"), state, task);
  drawWhole(state.all_rows, task);
  if (old?.target !== state.target || old.targets.length !== state.targets.length) showTargets();
  if (task === "classification") showClasses(classes);
}

function showKeys() {
  for (const one of document.querySelectorAll("[data-command]")) {
    one.textContent = keys.shown(one.dataset.command);
  }
}

function showTargets() {
  document.title = `Labeling ${visible(state.target)} in ${visible(state.table)}`;
  const options = state.targets.map(one =>
    make("option", { value: one.name, selected: one.name === state.target }, short(visible(one.name))));
  find("target").replaceChildren(...options);
  find("targets").hidden = options.length < 2;
}

function showClasses(names) {
  const old = find(CLASSES);
  if (old?.options.length === names.length) return;
  const options = names.map(name => make("option", { value: name }));
  const list = make("datalist", { id: CLASSES }, ...options);
  if (old) old.replaceWith(list);
  else document.body.append(list);
}

function setText(id, text) {
  const element = find(id);
  if (element.textContent !== text) element.textContent = text;
}

async function next() {
  if (items) await nextBatch();
  else showCard((await connection.patient("/api/next", { target: state.target })).card);
}

function formOf(shown) {
  if (!entered.has(state.target)) entered.set(state.target, []);
  return new AnswerForm({ target: target(), card: shown, keys, entered: entered.get(state.target), submit, lists: CLASSES });
}

function showCard(fresh) {
  const place = find("card");
  const scrolled = window.scrollY > place.offsetTop; // read before anything changes
  const typed = form !== null && document.activeElement === form.field;
  card = fresh;
  form = card && formOf(card);
  setText("row", card ? rowName(card.row) : "Every row is answered");
  const atTheEnd = "Answers can still be searched for, changed and saved to a file.";
  setText("reason", card ? sentence(card.reason) : atTheEnd);
  showSoFar(card);
  facts.show(card ? card.facts : []);
  find("neighbours").replaceChildren(...(card ? card.neighbours.map(neighbourItem) : []));
  find("neighbours-title").hidden = !card?.neighbours.length;
  find("answer").replaceChildren(...(card ? [form.element] : []));
  place.setAttribute("aria-busy", "false");
  if (scrolled) window.scrollTo(0, place.offsetTop);
  if (document.querySelector("dialog[open]")) return;
  const focus = form && (typed || form.wantsField) ? form.field : find("answer");
  focus.focus({ preventScroll: true });
}

function showSoFar(shown, elsewhere = false) {
  const place = find("so-far");
  place.hidden = !shown || shown.answer === null || shown.answer === "clear";
  if (place.hidden) return;
  const words = elsewhere ? "Answered elsewhere in the meantime: " : "Answered so far: ";
  place.replaceChildren(words, make("strong", {}, apart(inWords(shown.answer, shown.value))), " ");
  const on = button("Next row");
  on.addEventListener("click", next);
  place.append(on);
}

async function submit(from, answer, text) {
  const began = pressed;
  const shown = from.card;
  const answered = state.target;
  let outcome = null;
  let body = {
    key: newKey(), target: answered, row: shown.row, answer, value: text,
    origin: shown.origin, expects: shown.event, next: items === null,
  };
  while (body && !outcome) {
    try {
      outcome = await connection.deliver("/api/record", body);
    } catch (error) {
      if (error.status !== 409) {
        from.fail(error.message);
        return;
      }
      body = await resolveConflict(body, error.answer.current);
    }
  }
  pollsLeft = MOST_POLLS;
  if (outcome && answer === "label" && from.isNumber) entered.get(answered).push(readNumber(text));
  if (state.target !== answered) return; // another one is shown by now
  const words = inWords(answer, text);
  showState(outcome ? outcome.state : (await connection.patient("/api/state", { target: answered })).state);
  const said = outcome ? `Saved for row ${count(shown.row + 1)}: ${words}.` : "The stored answer is kept.";
  if (items) afterItem(from, outcome ? words : "as it was stored", outcome?.event, said);
  else if (card === shown) {
    if (outcome) showCard(outcome.card);
    else await next();
    setText("status", card ? `${said} ${rowName(card.row)} is next.` : said);
    measure(began);
  }
}

// Records the delay from the key that answered a row until the next row is painted.
function measure(began) {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => performance.measure("label-to-next", { start: began, end: performance.now() })));
}

// Another answer is stored already. Returns the body that replaces it, or null to keep it.
async function resolveConflict(body, current) {
  const theirs = current ? inWords(current.entry.answer, current.entry.value) : "no answer";
  const mine = inWords(body.answer, body.value);
  if (current && sameAnswer(body, current.entry)) return null;
  if (!(await chooseAnswer(body.row, theirs, mine, current?.time))) return null;
  return { ...body, key: newKey(), expects: current?.number ?? 0 };
}

function sameAnswer(mine, theirs) {
  if (mine.answer !== theirs.answer) return false;
  return typeof theirs.value === "number" ? readNumber(mine.value) === theirs.value : mine.value === theirs.value;
}

// Shows what became of an answer from before a reload, which has reached the server now.
function showLeftOver(item, { answer, error }) {
  if (answer) {
    if (answer.state.target === state.target) showState(answer.state);
    const what = item.path === "/api/undo" ? "The undo" : `The answer to row ${count(item.body.row + 1)}`;
    setText("status", `${what} had to wait, and is stored now.`);
  } else if (error.status === 409) {
    leftOver = resolveConflict(item.body, error.answer.current).then(body => body && connection.deliver(item.path, body));
  } else {
    setText("status", error.message);
  }
}

async function undo() {
  if (!state.undoable) {
    setText("status", "There is nothing to undo.");
    return;
  }
  let outcome;
  try {
    outcome = await connection.deliver("/api/undo", { target: state.target, key: newKey() });
  } catch (error) {
    setText("status", error.message);
    return;
  }
  showState(outcome.state);
  if (!outcome.card) {
    setText("status", "There is nothing to undo.");
    return;
  }
  pollsLeft = MOST_POLLS;
  const item = items?.find(one => one.card.row === outcome.card.row);
  if (item) {
    item.open(outcome.card);
    item.focus();
  } else {
    if (items) leaveBatch();
    showCard(outcome.card);
  }
  setText("status", `Undid the answer to row ${count(outcome.card.row + 1)}.`);
}

async function toggleBatch() {
  if (items) {
    leaveBatch();
    await next();
  } else {
    items = [];
    showMode();
    await nextBatch();
  }
}

function leaveBatch() {
  items = null;
  showMode();
}

function showMode() {
  find("batch").setAttribute("aria-pressed", items !== null);
  find("card").hidden = find("answer").hidden = items !== null;
  find("list").hidden = items === null;
}

async function nextBatch() {
  const { cards } = await connection.patient("/api/batch", { target: state.target, k: find("list-size").value });
  if (!items) return;
  items = cards.map(one => new BatchItem(one, formOf));
  find("items").replaceChildren(...items.map(item => item.element));
  find("more").hidden = true;
  setText("status", items.length ? `${items.length} rows to answer.` : "Every row is answered.");
  items[0]?.focus();
}

function afterItem(from, words, event, said) {
  const item = items.find(one => one.form === from);
  if (!item) return;
  const typed = document.activeElement === from.field;
  if (event) item.card = { ...item.card, event: event.number };
  item.close(words, reopen);
  const rest = items.filter(one => !one.done);
  setText("status", `${said} ${rest.length ? `${rest.length} left in this batch.` : "The batch is done."}`);
  find("more").hidden = rest.length > 0;
  const after = items.slice(items.indexOf(item)).find(one => !one.done) ?? rest[0];
  if (after) after.focus(typed || after.form.wantsField);
  else find("more").focus();
}

async function reopen(item) {
  const { card: now } = await connection.patient("/api/card", { target: state.target, row: item.card.row });
  item.open({ ...now, origin: item.card.origin, reason: item.card.reason });
  item.focus();
}

async function open(row) {
  try {
    const chosen = await connection.get("/api/card", { target: state.target, row });
    if (items) leaveBatch();
    showCard(chosen.card);
    setText("status", `${rowName(row)} is shown.`);
  } catch (error) {
    setText("status", error.message);
  }
}

async function switchTo(name) {
  history.replaceState(null, "", `?${new URLSearchParams({ target: name })}`);
  showState((await connection.patient("/api/state", { target: name })).state);
  await next();
}

// Asks for news of other tabs, other people and the model.
async function poll() {
  if (!state || document.visibilityState !== "visible" || form?.busy || connection.kept.length) return;
  try {
    const { version } = await connection.get("/api/version");
    const news = version !== state.version;
    if (!news && pollsLeft-- <= 0) return;
    const polled = state.target;
    const fresh = (await connection.get("/api/state", { target: polled })).state;
    if (form?.busy || state.target !== polled || fresh.version < state.version) return;
    const guesses = card?.guess === null && fresh.model !== state.model;
    showState(fresh);
    if (items || !card || !(news || guesses)) return;
    pollsLeft = MOST_POLLS;
    const shown = card;
    const now = (await connection.get("/api/card", { target: polled, row: shown.row })).card;
    if (card !== shown || form.busy) return;
    if (now.event !== shown.event) showSoFar(now, true);
    else if (guesses && isIdle()) showCard({ ...shown, guess: now.guess });
  } catch {
    // The banner shows why the server does not respond, and the next poll tries again.
  }
}

// Whether the form may be replaced without losing something that the person is doing.
function isIdle() {
  const { activeElement: here } = document;
  return !form.field.value && [document.body, find("answer"), form.field].includes(here);
}

function showReachability(words) {
  const banner = find("banner");
  const waiting = words && connection?.kept?.length ? " Your answers are kept here and will be stored when it responds." : "";
  const text = words ? words + waiting : "";
  if (banner.textContent !== text) banner.textContent = text;
  banner.hidden = !words;
}

// The form that a key is for: in a batch, the one that has the focus, or the first that is open.
function formInUse() {
  if (!items) return form;
  const here = items.find(item => !item.done && item.element.contains(document.activeElement));
  return (here ?? items.find(item => !item.done))?.form;
}

const commands = {
  u: undo,
  b: toggleBatch,
  h: () => openHelp(),
  "?": () => openHelp(),
  "/": () => openSearch(),
  s: () => formInUse()?.skip(),
  n: () => formInUse()?.unsure(),
  "=": () => formInUse()?.accept(),
};

function isTyping(element) {
  if (!element.matches("input, textarea, select")) return false;
  return !(target().task === "regression" && element.closest("form.answer"));
}

document.addEventListener("keydown", event => {
  pressed = event.timeStamp;
  if (!state || event.repeat || event.isComposing || document.querySelector("dialog[open]")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !document.activeElement.value) {
    event.preventDefault();
    undo();
    return;
  }
  if (event.key === "Escape" && isTyping(document.activeElement)) {
    (items?.find(item => item.element.contains(document.activeElement))?.element ?? find("answer")).focus();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.key.length > 1) return;
  if (!event.altKey && isTyping(document.activeElement)) return;
  const command = keys.commandOf(event);
  const name = event.altKey ? undefined : formInUse()?.classOf(event.key);
  if (command) {
    event.preventDefault();
    commands[command]();
  } else if (name !== undefined) {
    event.preventDefault();
    formInUse().choose(name);
  }
}, { capture: true });
document.addEventListener("pointerdown", event => (pressed = event.timeStamp), { capture: true });

const openSearch = setUpSearch(
  async text => (await connection.get("/api/search", { target: state.target, q: text })).found, open);
const openHelp = setUpHelp(keys, () => {
  showKeys();
  if (card) showCard(card);
});
const openFiles = setUpFiles({
  async save(kind) {
    const [name, blob] = await connection.file("/api/export", { form: kind });
    offerFile(name, blob);
    return `${name} is passed to the browser.`;
  },
  async take(file) {
    const query = { target: state.target, name: file.name };
    const { imported, state: fresh } = await connection.upload("/api/import", query, file);
    showState(fresh);
    await next();
    return imported.words;
  },
  async add(wanted) {
    await connection.post("/api/targets", wanted);
    await switchTo(wanted.name);
    return `${short(visible(wanted.name))} is a target now, and is shown.`;
  },
});

setUpWhole(async (on, half_width) => {
  const changed = on !== state.all_rows.on;
  const body = { target: state.target, on, half_width };
  showState((await connection.post("/api/all-rows", body)).state);
  pollsLeft = MOST_POLLS;
  if (changed) await next();
});

document.addEventListener("visibilitychange", poll);
find("undo").addEventListener("click", undo);
find("search").addEventListener("click", openSearch);
find("batch").addEventListener("click", toggleBatch);
find("help").addEventListener("click", openHelp);
find("files").addEventListener("click", openFiles);
find("more").addEventListener("click", nextBatch);
find("list-size").addEventListener("change", nextBatch);
find("target").addEventListener("change", event => switchTo(event.target.value));
window.addEventListener("unhandledrejection", event => {
  if (!(event.reason instanceof Unreachable)) setText("status", event.reason.message);
});
window.addEventListener("beforeunload", event => {
  if (connection.kept.length) event.preventDefault(); // closing the tab would lose what is not stored yet
});

start();
