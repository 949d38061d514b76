// Token view: builds the same markup as tokenview/render.py, and tells of the token under pointer or arrow keys.
"use strict";
const TokenView = (() => {
  // spans: [text, ids, bytes in hex, kind, ranks] each, the distinct ones; sequence: which stands where. Each is
  // made once and copied from then on. Text is only ever set as text.
  function fill(box, spans, sequence, differs) {
    const models = spans.map(([text, ids, bytes, kind, ranks]) => {
      const span = document.createElement("span");
      const names = [ids.length > 1 ? "many" : "", kind].filter(Boolean);
      if (names.length) span.className = names.join(" ");
      span.dataset.i = ids.join(" ");
      span.dataset.b = bytes.join(" ");
      if (ranks.some(Boolean)) span.dataset.r = ranks.map((rank) => rank ?? "").join(" ");
      span.textContent = text;
      return span;
    });
    const all = document.createDocumentFragment();
    sequence.forEach((number, place) => {
      const span = models[number].cloneNode(true);
      if (differs?.has(place)) span.classList.add("differs");
      all.append(span);
    });
    box.replaceChildren(all);
  }

  // Bytes are left out of the markup where they are those of the text itself.
  function bytesOf(span) {
    if (span.dataset.b !== undefined) return span.dataset.b.split(" ");
    const text = span.textContent.replaceAll("↵\n", "\n").replaceAll("·", " ");
    return [Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join("")];
  }

  function describe(span) {
    const ids = span.dataset.i.split(" ");
    const bytes = bytesOf(span);
    const ranks = span.dataset.r?.split(" ") ?? [];
    const each = ids.map((id, index) => {
      const hex = (bytes[index] ?? "").replace(/../g, "$& ").trim();
      return `id ${id} · bytes ${hex || "none"}${ranks[index] ? ` · rank ${ranks[index]} by frequency` : ""}`;
    });
    return (ids.length > 1 ? `${ids.length} tokens for one character: ` : "") + each.join("; ");
  }

  function watch(view) {
    const text = view.querySelector(".text");
    for (const name of ["i", "r"]) {
      const column = text.dataset[name] ? text.dataset[name].split(" ") : []; // ids and ranks as a report has them, one entry a span
      column.forEach((entry, place) => { text.children[place].dataset[name] = entry.replaceAll("+", " "); });
    }
    const detail = view.querySelector(".detail");
    let here = null;
    const go = (span) => {
      here?.classList.remove("here");
      here = span;
      here?.classList.add("here");
      detail.textContent = here ? describe(here) : "";
    };
    text.addEventListener("pointerover", (event) => {
      const span = event.target.closest("span");
      if (span && text.contains(span)) go(span);
    });
    text.addEventListener("keydown", (event) => {
      const spans = [...text.children];
      const last = spans.length - 1;
      const at = here && text.contains(here) ? spans.indexOf(here) : -1;
      const to = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(at - 1, 0), Home: 0, End: last }[event.key];
      if (to === undefined || last < 0) return;
      event.preventDefault();
      go(spans[to]);
      spans[to].scrollIntoView({ block: "nearest" });
    });
  }

  // The scripts that this browser has no font for, in a sentence; their letters look like that of no character.
  const scripts = ["Arabic", "Armenian", "Bengali", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Greek", "Gujarati",
    "Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Kannada", "Katakana", "Khmer", "Lao", "Malayalam", "Myanmar", "Oriya",
    "Sinhala", "Tamil", "Telugu", "Thai", "Tibetan"].map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")]);
  scripts.push(["emoji", /\p{Emoji_Presentation}/u]);
  const drawn = new Map(); // by character
  function picture(character) {
    if (!drawn.has(character)) {
      const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 40 });
      const context = canvas.getContext("2d");
      context.font = `24px ${getComputedStyle(document.body).fontFamily}`;
      context.fillText(character, 4, 30);
      drawn.set(character, canvas.toDataURL());
    }
    return drawn.get(character);
  }
  function lacking(text) {
    const none = picture("\u0378"); // is assigned to no character
    const found = scripts.filter(([, letters]) => {
      const character = letters.exec(text)?.[0];
      return character !== undefined && picture(character) === none;
    });
    return found.length ? `This browser has no font for ${found.map(([name]) => name).join(", ")}: boxes stand for the letters.` : "";
  }

  return { fill, watch, describe, lacking };
})();
