// Requests to the server. Answers to rows are kept here until it has stored them, also through a reload.

const RETRY = [300, 700, 1500, 3000];
const PATIENCE = 60000;

export class Refused extends Error {
  constructor(status, answer) {
    super(answer.error ?? `The server answered ${status}.`);
    Object.assign(this, { status, answer });
  }
}

export class Unreachable extends Error {}

const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

export class Connection {
  #token;
  #waiting = new Map();
  #flushing = false;

  // onReach(words) gets the reason why the server does not respond, and null when it responds again.
  // onLeftOver(item, outcome) gets the outcome of entries that were sent before a reload.
  constructor(onReach, onLeftOver) {
    this.onReach = onReach;
    this.onLeftOver = onLeftOver;
    this.#token = tokenOfTheTab();
  }

  get hasToken() {
    return this.#token !== null;
  }

  async get(path, query = {}) {
    return this.#answer(`${path}?${new URLSearchParams(query)}`);
  }

  // As get, but waits for a server that does not respond.
  async patient(path, query = {}) {
    for (let tries = 0; ; tries++) {
      try {
        return await this.get(path, query);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        await pause(RETRY[Math.min(tries, RETRY.length - 1)]);
      }
    }
  }

  async file(path, query) {
    const answer = await this.#fetch(`${path}?${new URLSearchParams(query)}`);
    if (!answer.ok) throw new Refused(answer.status, await answer.json());
    const name = /filename\*=utf-8''([^;]+)/.exec(answer.headers.get("content-disposition"))[1];
    return [decodeURIComponent(name), await answer.blob()];
  }

  async upload(path, query, content) {
    return this.#answer(`${path}?${new URLSearchParams(query)}`, content, "application/octet-stream");
  }

  async post(path, body) {
    return this.#answer(path, JSON.stringify(body), "application/json");
  }

  // Sends until it is stored. The same key makes it the same entry, however often it is sent.
  deliver(path, body) {
    this.#keep([...this.kept, { path, body }]);
    const outcome = new Promise((resolve, reject) => this.#waiting.set(body.key, { resolve, reject }));
    this.flush();
    return outcome;
  }

  get kept() {
    return JSON.parse(sessionStorage.getItem(`kept ${this.#token}`) ?? "[]");
  }

  #keep(items) {
    sessionStorage.setItem(`kept ${this.#token}`, JSON.stringify(items));
  }

  async flush() {
    if (this.#flushing) return;
    this.#flushing = true;
    for (let tries = 0; this.kept.length; ) {
      const [item] = this.kept;
      let outcome;
      try {
        outcome = { answer: await this.post(item.path, item.body) };
        tries = 0;
      } catch (error) {
        if (error instanceof Unreachable) {
          await pause(RETRY[Math.min(tries++, RETRY.length - 1)]);
          continue;
        }
        outcome = { error };
      }
      this.#keep(this.kept.filter(other => other.body.key !== item.body.key));
      this.#tell(item, outcome);
    }
    this.#flushing = false;
  }

  #tell(item, outcome) {
    const waiting = this.#waiting.get(item.body.key);
    this.#waiting.delete(item.body.key);
    if (!waiting) this.onLeftOver(item, outcome);
    else if (outcome.error) waiting.reject(outcome.error);
    else waiting.resolve(outcome.answer);
  }

  async #answer(address, content, type) {
    const answer = await this.#fetch(address, content, type);
    let value;
    try {
      value = await answer.json();
    } catch {
      throw this.#unreachable("What answers at this address is not the label page's server.");
    }
    if (answer.status === 503) throw this.#unreachable(value.error); // the disk is full, or its file locked
    if (!answer.ok) throw new Refused(answer.status, value);
    return value;
  }

  async #fetch(address, content, type) {
    const headers = { Authorization: `Bearer ${this.#token}` };
    if (type) headers["Content-Type"] = type;
    let answer;
    try {
      answer = await fetch(address, {
        method: type ? "POST" : "GET",
        headers,
        body: content,
        redirect: "error",
        signal: AbortSignal.timeout(PATIENCE),
      });
    } catch {
      throw this.#unreachable("The server does not respond. Start it again with the same command.");
    }
    if (answer.status === 401) {
      throw this.#unreachable("The server has another token now. Open the address that it printed, in this tab.");
    }
    this.onReach(null);
    return answer;
  }

  #unreachable(words) {
    this.onReach(words);
    return new Unreachable(words);
  }
}

// The token follows the hash of the address. It is kept for this tab, and removed from the address.
function tokenOfTheTab() {
  const given = location.hash.slice(1);
  if (given && !document.getElementById(given)) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem("token");
}

window.addEventListener("hashchange", () => {
  if (!document.getElementById(location.hash.slice(1))) location.reload();
});
