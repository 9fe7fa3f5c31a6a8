// The dialogs: search, help, a conflict, files and targets.

import { apart, find, make } from "./elements.js";
import { answer, count, rowName, visible } from "./text.js";

const MOST = 50; // rows that a search gives
const TYPING = 150; // milliseconds without a key before a search goes out

export function setUpSearch(search, choose) {
  const [dialog, query, list, words] = ["search-dialog", "query", "found", "found-count"].map(find);
  let latest = 0;
  let timer = null;

  async function look() {
    const wanted = ++latest;
    const text = query.value.trim();
    if (!text) {
      list.replaceChildren();
      words.textContent = "";
      return;
    }
    let found;
    try {
      found = await search(text);
    } catch (error) {
      words.textContent = error.message;
      return;
    }
    if (wanted !== latest) return;
    const first = found.length < MOST ? "" : "the first ";
    words.textContent = found.length ? `${first}${count(found.length)} found` : "No row has these words.";
    list.replaceChildren(...found.map(item));
  }

  function item(found) {
    const said = found.answer === null ? "" : `, ${answer(found.answer, found.value)}`;
    const open = make("button", { type: "button" });
    open.append(
      make("strong", {}, rowName(found.row)),
      make("span", { class: "soft" }, apart(said)),
      make("span", { class: "words" }, apart(visible(found.words))),
    );
    open.addEventListener("click", () => {
      dialog.close();
      choose(found.row);
    });
    return make("li", {}, open);
  }

  query.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, TYPING);
  });
  dialog.addEventListener("keydown", event => {
    const stops = [query, ...list.querySelectorAll("button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const here = stops.indexOf(document.activeElement);
    if (step && here >= 0) {
      event.preventDefault();
      stops[Math.min(Math.max(here + step, 0), stops.length - 1)].focus();
    } else if (event.key === "Enter" && here === 0 && stops.length > 1) {
      event.preventDefault();
      stops[1].click();
    }
  });
  return () => {
    query.value = "";
    look();
    dialog.showModal();
    query.focus();
  };
}

export function setUpHelp(keys, changed) {
  const [dialog, list, single] = ["help-dialog", "keys", "single-keys"].map(find);
  single.addEventListener("change", () => {
    keys.useSingle(single.checked);
    changed();
    fill();
  });
  const lines = [
    ["Enter", "save what is typed"],
    ["=", "take the model's guess as the label"],
    ["s", "skip the row: it is not shown again"],
    ["n", "not sure: stored, but not learned from"],
    ["u", "undo the last answer; also Ctrl+Z"],
    ["b", "several rows at once, or one by one again"],
    ["/", "search for a row"],
    ["Esc", "leave a field, so that single keys work again"],
    ["?", "this help; also H"],
  ];

  function fill() {
    single.checked = keys.single;
    const shown = lines.map(([key, words]) => {
      const name = key.length > 1 ? key : keys.shown(key);
      return make("div", {}, make("dt", {}, make("kbd", {}, name)), make("dd", {}, words));
    });
    const classes = make("div", {}, make("dt", {}, make("kbd", {}, "1"), " ", make("kbd", {}, "2"), " …"),
      make("dd", {}, "a class, by the key on its button"));
    list.replaceChildren(classes, ...shown);
  }

  return () => {
    fill();
    dialog.showModal();
  };
}

// Resolves to true if the person's own answer is to replace the one that is stored.
export function chooseAnswer(row, theirs, mine, when) {
  const dialog = find("conflict-dialog");
  const time = when ? ` at ${new Date(when).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}` : "";
  find("conflict-words").textContent =
    `${rowName(row)} was answered in another tab or by somebody else${time}, after it was shown here. ` +
    "Which answer should be kept?";
  find("theirs").textContent = theirs;
  find("mine").textContent = mine;
  return new Promise(done => {
    const finish = own => {
      dialog.close();
      done(own);
    };
    find("keep-theirs").onclick = () => finish(false);
    find("keep-mine").onclick = () => finish(true);
    dialog.oncancel = () => done(false);
    dialog.showModal();
    find("keep-theirs").focus();
  });
}

// actions: save(form), take(file), add(target); each resolves to words on what was done.
export function setUpFiles(actions) {
  const [dialog, status, form] = ["files-dialog", "files-status", "new-target"].map(find);

  async function tell(work) {
    status.textContent = "One moment …";
    try {
      status.textContent = await work;
    } catch (error) {
      status.textContent = error.message;
    }
  }

  for (const one of dialog.querySelectorAll("[data-form]")) {
    one.addEventListener("click", () => tell(actions.save(one.dataset.form)));
  }
  find("import").addEventListener("change", event => {
    const [file] = event.target.files;
    if (file) tell(actions.take(file)).then(() => (event.target.value = ""));
  });
  const task = () => form.querySelector("[name=task]:checked").value;
  form.addEventListener("change", () => {
    find("new-classes-row").hidden = task() !== "classification";
  });
  form.addEventListener("submit", event => {
    event.preventDefault();
    const lines = task() === "classification" ? find("new-classes").value.split("\n") : [];
    const classes = [...new Set(lines.map(line => line.trim()).filter(Boolean))];
    tell(actions.add({ name: find("new-name").value.trim(), task: task(), classes }));
  });
  return () => {
    status.textContent = "";
    dialog.showModal();
  };
}

export function offerFile(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}
