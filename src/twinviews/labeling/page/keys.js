// Which key does what. Letters are commands, unless the classes need them: then commands are with Alt.

const COMMANDS = "bhnsu";
const LETTERS = "acdefgijklmopqrtvwxyz";
export const DIGITS = "1234567890";
export const MOST_KEYS = DIGITS.length + LETTERS.length;

export class Keys {
  #ofClass = new Map();
  single = localStorage.getItem("single keys") !== "no";

  // A class of one letter or digit has that as its key, the others have the next that is free.
  // A class keeps its key when others come. Where there are more classes than keys, none has one.
  assign(classes) {
    if (classes.length > MOST_KEYS) classes = [];
    for (const name of this.#ofClass.keys()) if (!classes.includes(name)) this.#ofClass.delete(name);
    const free = key => ![...this.#ofClass.values()].includes(key);
    const fresh = classes.filter(name => !this.#ofClass.has(name));
    for (const name of fresh) {
      const own = name.toLowerCase();
      if (/^[0-9a-z]$/.test(own) && free(own)) this.#ofClass.set(name, own);
    }
    for (const name of fresh.filter(name => !this.#ofClass.has(name))) {
      const key = [...DIGITS, ...LETTERS].find(free);
      if (key) this.#ofClass.set(name, key);
    }
  }

  ofClass(name) {
    return this.#ofClass.get(name);
  }

  get lettersAreClasses() {
    return [...this.#ofClass.values()].some(key => COMMANDS.includes(key));
  }

  // What a key does, with Alt or without: the letter of its command, or undefined.
  commandOf(event) {
    if (event.altKey) {
      const letter = /^Key([A-Z])$/.exec(event.code)?.[1].toLowerCase() ?? event.key;
      return [...COMMANDS, "/", "?", "="].includes(letter) ? letter : undefined;
    }
    if (!this.single) return undefined;
    const letter = event.key.toLowerCase();
    if ("/?=".includes(letter)) return letter;
    return COMMANDS.includes(letter) && !this.lettersAreClasses ? letter : undefined;
  }

  // As it stands on a button.
  shown(command) {
    const plain = this.single && !(COMMANDS.includes(command) && this.lettersAreClasses);
    return plain ? command.toUpperCase() : `Alt+${command.toUpperCase()}`;
  }

  useSingle(yes) {
    this.single = yes;
    localStorage.setItem("single keys", yes ? "yes" : "no");
  }
}
