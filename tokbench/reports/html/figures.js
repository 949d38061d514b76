// The figures under the pointer: values, one tokenizer followed through all of them, one as the baseline of the others,
// one language, one figure saved.
// What a mark stands for comes with the drawing: data-t is its tokenizer, data-v what to say. A path of several places
// has their values in data-v, one a line, with the unit of all in data-u where they share it; data-n is the number of the
// list of their names among those of the whole drawing.
"use strict";
(() => {
  const follow = document.getElementById("follow");
  const language = document.getElementById("language");
  const baseline = document.getElementById("baseline");
  if (!follow) return;
  follow.closest(".follow").hidden = false;
  const labels = new Map([...follow.options].map((option) => [option.value, option.textContent]));
  const figures = [...document.querySelectorAll(".plot svg")];
  const tip = Object.assign(document.createElement("p"), { className: "tip", hidden: true });
  tip.setAttribute("role", "status");
  document.body.append(tip);

  const namesOf = (mark) => (mark.dataset.n === undefined ? [] : mark.ownerSVGElement.dataset.names.split("\n\n")[mark.dataset.n].split("\n"));
  const saidOf = (mark) => mark.dataset.v.split("\n").map((said) => (mark.dataset.u === undefined ? said : `${said} ${mark.dataset.u}`));

  // The places of a path in its own units: of strokes the middle of each, of a curve each point.
  function places(mark, count) {
    const path = mark.querySelector("path");
    const found = [...(path?.getAttribute("d") ?? "").matchAll(/[ML]\s*(-?[\d.]+)[ ,]+(-?[\d.]+)/g)];
    const each = found.length / count;
    if (each !== 1 && each !== 2) return [];
    const at = (index, part) => (Number(found[index * each][part]) + Number(found[index * each + each - 1][part])) / 2;
    const matrix = path.getScreenCTM();
    const reach = each === 2 ? mark.getBoundingClientRect().height / 2 : 0; // a stroke is as tall as its row
    return Array.from({ length: count }, (_, index) => {
      const { x, y } = new DOMPoint(at(index, 1), at(index, 2)).matrixTransform(matrix);
      return { x, y, reach };
    });
  }

  // The nearest mark that has something to say, within reach of a finger.
  function nearest(svg, x, y) {
    let best = { away: 16 };
    for (const mark of svg.querySelectorAll("[data-v]")) {
      const [spec, said] = [mark.dataset.t, saidOf(mark)];
      if (mark.dataset.n === undefined) {
        const box = mark.getBoundingClientRect();
        const away = Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
        if (away < best.away) best = { away, spec, said: said[0], beside: () => times(mark, said[0]) };
        continue;
      }
      const names = namesOf(mark);
      places(mark, names.length).forEach((place, index) => {
        const away = Math.hypot(place.x - x, Math.max(Math.abs(place.y - y) - place.reach, 0)) + 0.5; // a dot first
        const beside = () => times(mark, said[index], names[index]);
        if (away < best.away) best = { away, spec, said: `${names[index]}: ${said[index]}`, beside };
      });
    }
    return best.spec === undefined ? null : best;
  }

  // How many times the baseline's figure at the same place of the same panel, or of its own panel.
  function times(mark, said, name) {
    if (!baseline?.value || mark.dataset.t === baseline.value) return "";
    const figure = (text) => /^(\D*?)([\d.]+(?:e[-+]\d+)?) (.+?)(?: \(interval .*)?$/.exec(text ?? "");
    const own = figure(said);
    if (!own || own[3].endsWith("apart")) return "";
    for (const panel of [mark.parentElement, mark.ownerSVGElement]) {
      for (const each of panel.querySelectorAll("[data-v]")) {
        if (each.dataset.t !== baseline.value) continue;
        const index = name === undefined ? 0 : namesOf(each).indexOf(name);
        const under = (name === undefined) === (each.dataset.n === undefined) && figure(saidOf(each)[index]);
        if (under && under[1] === own[1] && under[3] === own[3] && Number(under[2])) {
          return `${(Number(own[2]) / Number(under[2])).toFixed(2)}× ${labels.get(baseline.value)}`;
        }
      }
    }
    return "";
  }

  // The frame of the panel that a mark is drawn in.
  const frame = (mark) => {
    const id = /#([^)]+)\)/.exec(mark.querySelector("[clip-path]")?.getAttribute("clip-path") ?? "")?.[1];
    const box = id && document.getElementById(id)?.firstElementChild;
    return box ? Object.fromEntries(["x", "y", "width", "height"].map((key) => [key, Number(box.getAttribute(key))])) : null;
  };

  // The baseline in every figure: an upright line through its dot, its curve in every panel.
  function compared() {
    document.querySelectorAll(".rule, .ruled").forEach((each) => each.remove());
    if (!baseline.value) return;
    for (const svg of figures) {
      const marks = [...svg.querySelectorAll("g[data-t]")];
      for (const mark of marks.filter((each) => each.dataset.t === baseline.value)) {
        const panel = frame(mark);
        if (!panel) continue;
        const dots = mark.querySelectorAll("use");
        const path = mark.querySelector(":scope > path, :scope > g > path");
        if (mark.dataset.n === undefined && dots.length === 1) {
          const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
          const x = dots[0].getAttribute("x");
          for (const [key, value] of Object.entries({ x1: x, x2: x, y1: panel.y, y2: panel.y + panel.height })) line.setAttribute(key, value);
          line.setAttribute("class", "rule");
          mark.parentElement.prepend(line);
        } else if (mark.dataset.n !== undefined && path) {
          const others = marks.filter((each) => each.dataset.n !== undefined && each.parentElement !== mark.parentElement);
          if (marks.some((each) => each.dataset.t === baseline.value && others.includes(each))) continue; // a row in each panel
          for (const other of others) {
            const there = frame(other);
            const copy = path.cloneNode();
            copy.setAttribute("class", "rule");
            copy.removeAttribute("id");
            if (there) copy.setAttribute("transform", `translate(${there.x - panel.x} ${there.y - panel.y})`);
            if (there) other.parentElement.append(copy);
          }
        }
      }
      const caption = svg.closest("figure").querySelector("figcaption");
      if (!svg.querySelector(".rule") || caption.querySelector(".ruled")) continue; // a wide and a narrow figure have one caption
      const said = document.createElement("span");
      said.className = "ruled";
      said.textContent = ` Dashed: ${labels.get(baseline.value)}, the baseline.`;
      caption.querySelector("b").after(said);
    }
  }

  function show(svg, event) {
    const found = nearest(svg, event.clientX, event.clientY);
    tip.hidden = !found;
    if (!found) return;
    const label = labels.get(found.spec) ?? found.spec;
    const said = [found.said, found.beside()].filter(Boolean).join("; ");
    tip.textContent = isolated(found.said === label ? label : [label, said].filter(Boolean).join(": "));
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.max(event.clientY - tip.offsetHeight - 12, 4)}px`;
  }

  function go(spec) {
    follow.value = follow.value === spec ? "" : spec;
    followed();
  }

  function followed() {
    document.querySelectorAll("[data-t]").forEach((each) => {
      const known = labels.has(each.dataset.t);
      each.classList.toggle("followed", known && each.dataset.t === follow.value);
      if (each instanceof SVGElement) each.classList.toggle("apart", follow.value !== "" && each.dataset.t !== follow.value);
    });
    document.querySelectorAll(".heat th[data-key]").forEach((head) => {
      const chosen = follow.value !== "" && head.dataset.key === follow.value;
      for (const row of head.closest("table").rows) row.cells[head.cellIndex]?.classList.toggle("followed", chosen);
    });
  }

  // A stroke over that of the chosen language, in every row of every figure.
  function spoken() {
    document.querySelectorAll(".spoken").forEach((each) => each.remove());
    document.querySelectorAll("tr[data-l]").forEach((row) => row.classList.toggle("followed", row.dataset.l === language.value));
    document.querySelectorAll("tr.followed[data-l]").forEach((row) => {
      const box = row.closest(".scroll");
      if (box && !row.closest("[hidden]")) box.scrollTop = row.offsetTop - box.clientHeight / 2;
    });
    if (!language.value) return;
    for (const mark of document.querySelectorAll(".plot g[data-n]")) {
      const index = namesOf(mark).indexOf(language.value);
      const path = mark.querySelector("path");
      const stroke = path?.getAttribute("d").split(/(?=M)/)[index];
      if (index < 0 || !stroke) continue;
      const over = path.cloneNode();
      over.setAttribute("d", stroke);
      over.setAttribute("class", "spoken");
      mark.append(over);
    }
  }

  // A figure as a file of its own: what the page's style sheet says is written into it.
  const written = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-size",
    "font-weight", "font-family", "text-anchor", "paint-order", "stroke-linejoin", "stroke-linecap"];
  function save(svg, name) {
    const copy = svg.cloneNode(true);
    const [from, to] = [svg, copy].map((each) => [each, ...each.querySelectorAll("*")]);
    from.forEach((each, index) => {
      const style = getComputedStyle(each);
      for (const property of written) to[index].setAttribute(property, style.getPropertyValue(property));
      to[index].removeAttribute("class");
    });
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const fill = getComputedStyle(document.body).backgroundColor;
    for (const [key, value] of Object.entries({ width: "100%", height: "100%", fill })) paper.setAttribute(key, value);
    copy.prepend(paper);
    saveFile(`${name}.svg`, new XMLSerializer().serializeToString(copy), "image/svg+xml");
  }

  figures.forEach((svg) => {
    svg.addEventListener("pointermove", (event) => show(svg, event));
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
    svg.addEventListener("click", (event) => {
      const found = nearest(svg, event.clientX, event.clientY);
      if (found) go(found.spec);
    });
  });
  document.querySelectorAll(".plot").forEach((plot) => {
    const drawn = () => [...plot.querySelectorAll("svg")].find((svg) => svg.getBoundingClientRect().width > 0);
    const title = plot.querySelector("figcaption b")?.textContent.replace(/\.$/, "") ?? "figure";
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "Save as SVG" });
    button.setAttribute("aria-label", `Save as SVG: ${title}`);
    button.addEventListener("click", () => save(drawn(), title.toLowerCase().replaceAll(" ", "_")));
    if (drawn()) plot.querySelector("figcaption").append(" ", button);
  });
  document.querySelectorAll("tr[data-t] > th").forEach((head) => {
    head.title ||= head.parentElement.dataset.t;
    if (labels.has(head.parentElement.dataset.t)) head.addEventListener("click", () => go(head.parentElement.dataset.t));
  });
  follow.addEventListener("change", followed);
  language?.addEventListener("change", spoken);
  baseline?.addEventListener("change", compared);
  if (baseline?.value) baseline.dispatchEvent(new Event("change")); // the suite's, or what the browser kept
})();
