// Token view: builds the same markup as tokenview/render.py, and tells of the token under pointer or arrow keys.
"use strict";
const TokenView = (() => {
  const TINTS = 5;

  // spans: [text, ids, bytes in hex, kind] each, as render.py describes. Text is only ever set as text.
  function fill(box, spans, differs) {
    const all = document.createDocumentFragment();
    let count = 0;
    spans.forEach(([text, ids, bytes, kind], index) => {
      const span = document.createElement("span");
      let name = `t${count % TINTS}`;
      if (ids.length > 1) name += " many";
      if (kind) name += ` ${kind}`;
      if (differs?.has(index)) name += " differs";
      span.className = name;
      span.dataset.ids = ids.join(" ");
      span.dataset.bytes = bytes.join(" ");
      span.textContent = text;
      all.append(span);
      count += ids.length;
    });
    box.replaceChildren(all);
  }

  function describe(span) {
    const ids = span.dataset.ids.split(" ");
    const bytes = span.dataset.bytes.split(" ");
    const ranks = span.dataset.ranks?.split(" ") ?? [];
    const each = ids.map((id, index) => {
      const hex = (bytes[index] ?? "").replace(/../g, "$& ").trim();
      return `id ${id} · bytes ${hex || "none"}${ranks[index] ? ` · rank ${ranks[index]} by frequency` : ""}`;
    });
    return (ids.length > 1 ? `${ids.length} tokens for one character: ` : "") + each.join("; ");
  }

  function watch(view) {
    const text = view.querySelector(".text");
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

  return { fill, watch, describe };
})();
