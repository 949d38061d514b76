// A search box that waits until typing stops, cancels stale requests and remembers answers.

const WAIT_MS = 250;
const MAX_REMEMBERED = 50;

export class SearchBox {
  #controller = null;
  #timer = 0;
  #answers = new Map();

  constructor(input, list, { endpoint = "/api/search", wait = WAIT_MS } = {}) {
    this.input = input;
    this.list = list;
    this.endpoint = endpoint;
    this.wait = wait;
    input.addEventListener("input", () => this.#schedule());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.clear();
    });
  }

  #schedule() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#search(this.input.value.trim()), this.wait);
  }

  async #search(query) {
    if (query.length < 2) return this.clear();
    if (this.#answers.has(query)) return this.#show(this.#answers.get(query));
    this.#controller?.abort();
    this.#controller = new AbortController();
    try {
      const url = `${this.endpoint}?q=${encodeURIComponent(query)}&limit=10`;
      const response = await fetch(url, { signal: this.#controller.signal });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      const hits = await response.json();
      this.#remember(query, hits);
      this.#show(hits);
    } catch (error) {
      if (error.name !== "AbortError") this.#fail(error);
    }
  }

  #remember(query, hits) {
    if (this.#answers.size >= MAX_REMEMBERED) {
      const [oldest] = this.#answers.keys();
      this.#answers.delete(oldest);
    }
    this.#answers.set(query, hits);
  }

  #show(hits) {
    const items = hits.map(({ title, href }) => {
      const link = Object.assign(document.createElement("a"), { href, textContent: title });
      const item = document.createElement("li");
      item.append(link);
      return item;
    });
    this.list.replaceChildren(...items);
    this.list.hidden = items.length === 0;
  }

  #fail(error) {
    console.warn("search failed:", error);
    this.list.replaceChildren();
    this.list.dataset.error = String(error.message ?? error);
  }

  clear() {
    this.#controller?.abort();
    this.list.replaceChildren();
    this.list.hidden = true;
  }
}
