// The live page: sends the text as it is typed, shows what comes back. Visitors' text is only ever set as text.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const state = { tokenizers: [], chosen: [], prices: new Map(), limits: { chars: 20000 }, rows: new Map() };
  const text = at("text");

  async function ask(path, body) {
    const response = await fetch(path, body === undefined ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    }).catch(() => {
      throw new Error("The server cannot be reached. Is tokbench serve still running? Start it again, then reload this page.");
    });
    // What is no JSON is from a proxy that stands before the server.
    const answer = await response.json().catch(() => null);
    if (answer === null || (!response.ok && !answer.error)) {
      throw new Error(`Not answered by tokbench but by what stands before it (status ${response.status}): try again in a few seconds, or ask who runs this page.`);
    }
    if (!response.ok) throw new Error(answer.error);
    return answer;
  }

  // --- links: everything that is shown, after the # sign ----------------------------------------------
  function readLink() {
    const link = new URLSearchParams(location.hash.slice(1));
    return { text: link.get("text"), named: link.getAll("t") };
  }

  function writeLink() {
    const link = new URLSearchParams([["text", text.value], ...state.chosen.map((spec) => ["t", spec])]);
    return `${location.href.split("#")[0]}#${link}`;
  }

  // --- what was typed ---------------------------------------------------------------------------------
  // One request at a time, and no waiting before it: what is typed meanwhile is sent when the answer is there.
  let busy = false;
  let again = false;

  async function update() {
    again = true;
    if (busy) return;
    busy = true;
    while (again) {
      again = false;
      await refresh();
    }
    busy = false;
  }

  async function refresh() {
    const message = at("message");
    const size = [...text.value].length;
    if (size > state.limits.chars) {
      forget();
      message.textContent = `${size.toLocaleString("en")} characters: this page takes ${state.limits.chars.toLocaleString("en")} at most.`;
      return;
    }
    const waiting = setTimeout(() => { message.textContent = "Waiting for the tokenizers …"; }, 1000);
    try {
      const begun = performance.now();
      const answer = await ask("api/encode", { text: text.value, tokenizers: state.chosen, mode: at("mode").value });
      if (again) return;
      message.textContent = "";
      show(answer);
      document.body.dataset.updated = String(Math.round(performance.now() - begun));
    } catch (error) {
      forget();
      message.textContent = error.message;
    } finally {
      clearTimeout(waiting);
    }
  }

  // Nothing of an earlier text is left beside an error.
  function forget() {
    at("size").textContent = "";
    const results = [...state.rows.keys()].map((spec) => ({ spec, error: "" }));
    show({ chars: 0, bytes: 0, results });
    at("size").textContent = "";
  }

  function show(answer) {
    at("size").textContent = `${answer.chars.toLocaleString("en")} characters, ${answer.bytes.toLocaleString("en")} bytes`;
    const counts = answer.results.filter((each) => each.tokens && each.lossless).map((each) => each.tokens);
    const fewest = counts.length > 1 ? Math.min(...counts) : -1;
    at("loses").hidden = answer.results.every((each) => each.error !== undefined || each.lossless);
    const marked = at("differences").checked && at("mode").value !== "chat"; // each template has a text of its own
    const first = marked ? answer.results.find((each) => each.sequence) : null;
    const bytes = marked ? new TextEncoder().encode(text.value) : null;
    for (const result of answer.results) {
      const row = state.rows.get(result.spec);
      if (!row) continue;
      const loses = result.error === undefined && !result.lossless;
      row.tokens.textContent = result.error !== undefined ? "–" : result.tokens.toLocaleString("en") + (loses ? "\u00a0†" : "");
      row.tokens.classList.toggle("best", result.tokens === fewest && !loses);
      row.ratio.textContent = result.bytes_per_token?.toFixed(2) ?? "–";
      row.count = result.tokens;
      price(result.spec);
      row.note.textContent = result.error !== undefined ? "" : `${result.tokens.toLocaleString("en")} tokens` + (loses ? ", loses text" : "");
      row.note.title = result.error !== undefined || result.exact ? "" : "not the text byte for byte";
      row.error.textContent = result.error ?? "";
      row.error.hidden = !result.error;
      row.idsOf = () => (result.sequence ?? []).flatMap((number) => result.spans[number][1]);
      row.ids.hidden = !at("ids").checked || result.error !== undefined;
      row.copy.hidden = result.error !== undefined;
      const differs = first && result.sequence && result !== first ? different(result, first, bytes) : null;
      row.fill = () => {
        TokenView.fill(row.text, result.spans ?? [], result.sequence ?? [], differs);
        row.detail.textContent = ""; // it told of a token that is gone
        row.ids.textContent = row.ids.hidden ? "" : row.idsOf().join(" ");
      };
      if (row.inSight) fillNow(row);
    }
    clearTimeout(rest);
    rest = setTimeout(fillRest, 100);
    at("lacking").textContent = TokenView.lacking(text.value);
  }

  // Views out of sight are filled when nobody types: typing stays quick with many tokenizers.
  let rest = 0;

  function fillNow(row) {
    row.fill?.();
    row.fill = null;
  }

  function fillRest() {
    const row = [...state.rows.values()].find((each) => each.fill);
    if (!row) return;
    fillNow(row);
    rest = setTimeout(fillRest, 0);
  }

  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const row = [...state.rows.values()].find((each) => each.view === target);
      if (!row) continue;
      row.inSight = isIntersecting;
      if (isIntersecting) fillNow(row);
    }
  });

  // For each place, where its tokens stand in the text's bytes: by their own bytes, else as the server found out.
  function cuts({ spans, sequence, places }) {
    let start = 0;
    let token = 0;
    return sequence.map((number) => spans[number][2].map((hex) => {
      if (places) return places[token++];
      start += hex.length / 2;
      return [start - hex.length / 2, start];
    }));
  }

  // The places of a result with a token that is not among those of another tokenizer. Whether a space belongs to
  // the word after it is each family's way of writing, and no other cut: it counts where both keep every byte.
  function different(result, other, bytes) {
    const whole = result.exact && other.exact;
    const space = (at) => bytes[at] === 32 || bytes[at] === 10 || bytes[at] === 9;
    const named = ([start, end]) => {
      while (!whole && start < end && space(start)) start += 1;
      while (!whole && start < end && space(end - 1)) end -= 1;
      return whole || start < end ? `${start}-${end}` : "";
    };
    const reference = new Set(cuts(other).flat().map(named)).add("");
    return new Set(cuts(result).map((all, place) => (all.every((each) => reference.has(named(each))) ? -1 : place)));
  }

  function price(spec) {
    const row = state.rows.get(spec);
    const rate = state.prices.get(spec);
    const known = rate > 0 && row.count >= 0;
    row.cost.textContent = known ? ((row.count * rate) / 1e6).toLocaleString("en", { maximumSignificantDigits: 3 }) : "–";
  }

  // --- which tokenizers -------------------------------------------------------------------------------
  function build() {
    const body = document.querySelector("#figures tbody");
    body.replaceChildren();
    sight.disconnect();
    at("views").replaceChildren();
    state.rows.clear();
    for (const each of state.tokenizers.filter(({ spec }) => state.chosen.includes(spec))) {
      const cell = (name = "n") => make("td", { className: name });
      const rate = make("input", { type: "number", min: "0", step: "any", value: state.prices.get(each.spec) ?? "" });
      rate.setAttribute("aria-label", `Price per million tokens of ${each.label}`);
      rate.addEventListener("input", () => { state.prices.set(each.spec, Number(rate.value)); price(each.spec); });
      const row = { tokens: cell(), ratio: cell(), cost: cell(), note: make("small"), error: make("p", { className: "error", hidden: true }) };
      row.ids = make("p", { className: "ids", hidden: true });
      row.copy = make("button", { type: "button", textContent: "Copy ids" });
      row.copy.setAttribute("aria-label", `Copy ids of ${each.label}`);
      row.copy.addEventListener("click", () => copied(row.copy, `[${row.idsOf().join(", ")}]`));
      row.text = make("div", { className: "text", tabIndex: 0, dir: "auto" });
      row.text.setAttribute("role", "group");
      row.text.setAttribute("aria-label", `Tokens of ${each.label}`);
      const head = make("th", { scope: "row", textContent: each.label, title: each.spec });
      body.append(make("tr", {}, head, row.tokens, row.ratio, make("td", { className: "n" }, rate), row.cost));
      const who = make("div", { className: "who" }, make("h3", { textContent: each.label }), row.note, row.copy);
      if (each.traceable) {
        const button = make("button", { type: "button", textContent: "Step through" });
        button.addEventListener("click", () => openSteps(each));
        who.append(button);
      }
      row.detail = make("p", { className: "detail" });
      row.detail.setAttribute("aria-live", "polite");
      const view = make("div", { className: "view tokens" }, who, make("div", {}, row.error, row.text, row.ids, row.detail));
      TokenView.watch(view);
      row.view = view;
      at("views").append(view);
      sight.observe(view);
      state.rows.set(each.spec, row);
    }
  }

  function choices() {
    const list = state.tokenizers.map((each) => {
      const box = make("input", { type: "checkbox", checked: state.chosen.includes(each.spec) });
      box.addEventListener("change", () => {
        const chosen = new Set(state.chosen);
        if (box.checked) chosen.add(each.spec); else chosen.delete(each.spec);
        state.chosen = state.tokenizers.map(({ spec }) => spec).filter((spec) => chosen.has(spec));
        build();
        update();
      });
      return make("label", { title: `${each.spec}, ${each.vocab_size.toLocaleString("en")} ids` }, box, each.label);
    });
    const lost = state.missing.map((each) => make("label", { className: "missing", title: each.why },
      make("input", { type: "checkbox", disabled: true }), each.spec));
    at("choices").replaceChildren(...list, ...lost);
    at("more").replaceChildren(...state.more.map((name) => make("option", { textContent: name })));
    at("loading").hidden = !state.more.length;
  }

  // --- step by step -----------------------------------------------------------------------------------
  const steps = { list: [], spec: "", at: 0 };

  function openSteps(each) {
    steps.spec = each.spec;
    at("steps-h").textContent = `${each.label}, step by step`;
    at("steps-text").value = [...text.value].slice(0, state.limits.trace_chars).join("");
    at("steps").showModal();
    trace();
  }

  async function trace() {
    try {
      const answer = await ask("api/trace", { text: at("steps-text").value, tokenizer: steps.spec });
      steps.list = answer.steps;
      at("steps-tokens").dir = getComputedStyle(at("steps-text")).direction;
      at("at").max = String(Math.max(0, steps.list.length - 1));
      go(0);
      if (answer.cut) at("steps-count").textContent += " (the first ones)";
    } catch (error) {
      steps.list = [];
      go(0);
      at("steps-note").textContent = error.message;
    }
  }

  // A line in which words from right to left reorder nothing beside them: as `_apart` of inspection/steps.py.
  const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+/gu;
  const apart = (line) => line.replace(LEFTWARD, "\u2068$&\u2069");

  // A piece stands in the order of the text; within, it runs as its own letters do: bytes, ⟨90 91⟩, from left to right.
  function piece(shown, changed) {
    const dir = shown.startsWith("⟨") ? "ltr" : /\p{L}/u.test(shown) ? "auto" : "";
    return make("li", { textContent: shown, dir, className: changed ? "changed" : "" });
  }

  // A detail in words: lists with commas, one line for each thing of a list of things.
  function plain(value) {
    if (value === null || (Array.isArray(value) && !value.length)) return "none";
    if (Array.isArray(value)) return value.map(plain).join(typeof value[0] === "object" ? "\n" : ", ");
    if (typeof value !== "object") return String(value);
    return Object.entries(value).map(([key, each]) => `${key} ${plain(each)}`).join(" · ");
  }

  function go(to) {
    steps.at = Math.max(0, Math.min(to, steps.list.length - 1));
    const step = steps.list[steps.at];
    at("at").value = String(steps.at);
    at("back").disabled = steps.at === 0;
    at("forward").disabled = steps.at >= steps.list.length - 1;
    at("steps-count").textContent = steps.list.length ? `${steps.at + 1} of ${steps.list.length}` : "no steps";
    const note = !step ? "" : step.note.startsWith(step.kind) ? step.note : [step.kind, step.note].filter(Boolean).join(": ");
    at("steps-note").textContent = apart(note);
    at("steps-tokens").replaceChildren(...(step?.tokens ?? []).map((token, index) => piece(token, index === step.changed)));
    at("steps-detail").replaceChildren(...Object.entries(step?.detail ?? {}).flatMap(([key, value]) =>
      [make("dt", { textContent: key }), make("dd", { textContent: apart(plain(value)) })]));
  }

  at("back").addEventListener("click", () => go(steps.at - 1));
  at("forward").addEventListener("click", () => go(steps.at + 1));
  at("at").addEventListener("input", () => go(Number(at("at").value)));
  at("close").addEventListener("click", () => at("steps").close());
  at("steps-form").addEventListener("submit", (event) => { event.preventDefault(); trace(); });

  // --- start ------------------------------------------------------------------------------------------
  async function start() {
    const about = await ask("api/tokenizers");
    state.tokenizers = about.tokenizers;
    state.limits = about.limits;
    state.missing = about.missing;
    state.more = about.more;
    const linked = readLink();
    const failed = [];
    for (const name of linked.named) if (state.more.includes(name)) await load(name).catch((error) => failed.push(error.message));
    state.chosen = state.tokenizers.map(({ spec }) => spec).filter((spec) => linked.named.includes(spec));
    if (!state.chosen.length) state.chosen = about.tokenizers.slice(0, 8).map(({ spec }) => spec);
    text.value = linked.text ?? "NewYork, New York,  NewYork. Übergrößenträger? 東京タワー 👩‍👩‍👧";
    for (const example of about.examples) at("example").append(make("option", { value: example.text, textContent: example.title }));
    choices();
    build();
    await update();
    if (failed.length) at("message").textContent = `In the link, but not loaded: ${failed.join("; ")}`;
    document.body.dataset.ready = "true";
  }

  // What was copied is said on the button for a moment.
  async function copied(button, content, else_ = "Cannot copy here") {
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(content);
      button.textContent = "Copied";
    } catch {
      button.textContent = else_;
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  }

  async function load(name) {
    const loaded = await ask("api/load", { tokenizer: name });
    state.more = state.more.filter((each) => each !== loaded.spec);
    state.tokenizers.push(loaded);
    return loaded.spec;
  }

  at("load").addEventListener("click", async () => {
    const button = at("load");
    button.disabled = true;
    at("message").textContent = `Loading ${at("more").value} …`;
    try {
      state.chosen.push(await load(at("more").value));
      choices();
      build();
      await update();
    } catch (error) {
      at("message").textContent = error.message;
    } finally {
      button.disabled = false;
    }
  });

  text.addEventListener("input", update);
  at("mode").addEventListener("change", update);
  at("ids").addEventListener("change", update);
  at("differences").addEventListener("change", update);
  at("example").addEventListener("change", () => { if (at("example").value) { text.value = at("example").value; update(); } });
  at("link").addEventListener("click", () => {
    const link = writeLink();
    history.replaceState(null, "", link);
    copied(at("link"), link, "Link is in the address bar");
  });
  window.addEventListener("hashchange", () => {
    const linked = readLink();
    if (linked.text !== null && linked.text !== text.value) { text.value = linked.text; update(); }
  });
  start().catch((error) => { at("message").textContent = `${error.message} (Reload this page to try again.)`; });
})();
