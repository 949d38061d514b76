// The report's behaviour: theme, tables that sort, filter, hide columns and download, panels to choose from.
// Everything is readable without it; it only adds controls.
"use strict";
function saveFile(name, text, type) {
  const link = document.createElement("a");
  Object.assign(link, { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The text of an element, whose names do not hold on to their marks by a space of their own.
function plain(element) {
  return element.textContent.replaceAll("\u00a0", " ").trim();
}

// A text whose words from right to left do not reorder what stands beside them: as `_isolated` in assemble.py.
function isolated(text) {
  const word = String.raw`(?:[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}]\p{M}*)+`;
  return text.replace(new RegExp(`${word}(?:[ _./'-]${word})*`, "gu"), "\u2068$&\u2069");
}

(() => {
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Theme: automatic, light, dark; remembered where the browser allows it.
  const themes = ["automatic", "light", "dark"];
  const button = document.getElementById("theme");
  const memory = {
    get() { try { return localStorage.getItem("tokbench-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("tokbench-theme", value); } catch { /* private window */ } },
  };
  const setTheme = (theme) => {
    if (theme === "automatic") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    memory.set(theme);
  };
  if (button) {
    let current = themes.includes(memory.get()) ? memory.get() : "automatic";
    button.hidden = false;
    setTheme(current);
    button.addEventListener("click", () => {
      current = themes[(themes.indexOf(current) + 1) % themes.length];
      setTheme(current);
    });
  }

  // Tables.
  const value = (cell) => {
    if (!cell) return null;
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    return cell.classList.contains("none") ? null : plain(cell);
  };
  const order = new Intl.Collator("en", { numeric: true }).compare;

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, index) => {
      const label = head.querySelector("span") ?? head.firstChild;
      const shown = label.nodeType === Node.TEXT_NODE ? [label.cloneNode()] : label.childNodes;
      const control = make("button", { type: "button" }, ...shown);
      label.replaceWith(control);
      control.addEventListener("click", () => {
        const numeric = "n" in head.dataset;
        const now = head.getAttribute("aria-sort");
        const ascending = now ? now === "descending" : !numeric;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [value(row.cells[index]), row]);
        rows.sort(([one], [other]) => {
          if (one === null || other === null) return (one === null) - (other === null); // unmeasured last
          const sign = typeof one === "number" && typeof other === "number" ? one - other : order(one, other);
          return ascending ? sign : -sign;
        });
        body.append(...rows.map(([, row]) => row));
      });
    });
  }

  function csv(table) {
    const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const shown = (cells) => [...cells].filter((cell) => !cell.hidden);
    // a name that a spreadsheet would run as a formula, as report format spreadsheet writes it
    const safe = (given) => (/^[=+@\t\r-]/.test(given) && typeof given === "string" ? `'${given}` : given);
    const lines = [shown(table.tHead.rows[0].cells).map((head) => head.dataset.key)];
    for (const row of table.tBodies[0].rows) {
      if (!row.hidden) lines.push(shown(row.cells).map((cell) => String(safe(value(cell)) ?? "")));
    }
    return lines.map((line) => line.map(quote).join(",")).join("\r\n") + "\r\n";
  }

  const phone = matchMedia("(max-width: 40rem)").matches; // figures first: what describes a row may be asked for

  function tools(block) {
    const table = block.querySelector("table");
    const rows = [...table.tBodies[0].rows];
    const heads = [...table.tHead.rows[0].cells];
    const bar = make("div", { className: "tools" });
    const count = make("span", { className: "count" });
    count.setAttribute("aria-live", "polite");
    let words = "";
    let hideLossy = false;
    const apply = () => {
      let there = 0;
      for (const row of rows) {
        row.hidden = (hideLossy && row.classList.contains("lossy")) || !plain(row).toLowerCase().includes(words);
        there += !row.hidden;
      }
      const all = `${rows.length} row${rows.length === 1 ? "" : "s"}`;
      count.textContent = there === rows.length ? all : `${there} of ${all}`;
    };
    if (rows.length > 5) {
      const filter = make("input", { type: "search", placeholder: "Filter rows" });
      filter.setAttribute("aria-label", "Filter rows");
      filter.addEventListener("input", () => { words = filter.value.trim().toLowerCase(); apply(); });
      bar.append(filter);
    }
    if (heads.length > 3) {
      const list = make("div");
      heads.slice(1).forEach((head, index) => {
        const box = make("input", { type: "checkbox", checked: !(phone && "wide" in head.dataset) });
        const show = () => { for (const row of table.rows) row.cells[index + 1].hidden = !box.checked; };
        box.addEventListener("change", show);
        show();
        list.append(make("label", {}, box, ` ${head.querySelector("button").textContent}`));
      });
      const menu = make("details", { className: "menu" }, make("summary", { textContent: "Columns" }), list);
      menu.addEventListener("keydown", (event) => {
        if (event.key === "Escape") { menu.open = false; menu.firstChild.focus(); }
      });
      document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
      bar.append(menu);
    }
    const download = make("button", { type: "button", textContent: "Download CSV" });
    download.addEventListener("click", () => saveFile(`${block.dataset.table}.csv`, csv(table), "text/csv"));
    bar.append(download);
    if (rows.some((row) => row.classList.contains("lossy"))) {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () => { hideLossy = box.checked; apply(); });
      bar.append(make("label", {}, box, " Hide tokenizers that lose text or are estimated"));
    }
    bar.append(count);
    apply();
    block.prepend(bar);
  }

  for (const block of document.querySelectorAll("[data-table]")) {
    sortable(block.querySelector("table"));
    if (!block.closest("[data-decision]")) tools(block);
  }

  // Panels: one at a time, chosen from a list.
  document.querySelectorAll("[data-switch]").forEach((group) => {
    const panels = [...group.children];
    if (panels.length < 2) return;
    const choice = make("select");
    for (const panel of panels) choice.append(make("option", { textContent: panel.dataset.label }));
    const show = () => panels.forEach((panel, index) => { panel.hidden = index !== choice.selectedIndex; });
    choice.addEventListener("change", show);
    panels.forEach((panel) => panel.querySelector("h3")?.classList.add("unseen"));
    group.prepend(make("div", { className: "tools" }, make("label", {}, `${group.dataset.switch} `, choice)));
    show();
  });

  // Heat maps: shades over the whole map, or within each row, where only tokenizers are to be compared.
  document.querySelectorAll(".heat").forEach((block) => {
    const cells = [...block.querySelectorAll("td[data-v]")];
    const original = cells.map((cell) => cell.className);
    cells.forEach((cell) => { if (cell.title) cell.title = `interval ${cell.title}`; });
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      if (!box.checked) { cells.forEach((cell, index) => { cell.className = original[index]; }); return; }
      for (const row of block.querySelectorAll("tbody tr")) {
        const there = [...row.querySelectorAll("td[data-v]")];
        const values = there.map((cell) => Number(cell.dataset.v));
        const low = Math.min(...values);
        const span = Math.max(...values) - low || 1;
        there.forEach((cell, index) => { cell.className = `h${Math.round(((values[index] - low) / span) * 8)}`; });
      }
    });
    block.querySelector(".tools").append(make("label", {}, box, " Shade within each language"));

    // Relative to the baseline: ratios in place of figures; shades and files keep the figures.
    const baseline = document.getElementById("baseline");
    const heads = [...block.querySelectorAll("thead th.n")];
    const figures = cells.map((cell) => [cell, [...cell.childNodes]]);
    const unit = block.querySelector(".legend span:last-child");
    const named = unit.textContent;
    baseline?.addEventListener("change", () => {
      const chosen = baseline.value ? baseline.selectedOptions[0].textContent : "";
      unit.textContent = chosen ? `${named}; the numbers: times that of ${chosen}` : named;
      const place = heads.find((head) => head.dataset.key === baseline.value)?.cellIndex;
      for (const [cell, shown] of figures) {
        const under = cell.parentElement.cells[place]?.dataset.v;
        if (place === undefined) cell.replaceChildren(...shown);
        else cell.textContent = Number(under) ? `${(Number(cell.dataset.v) / Number(under)).toFixed(2)}×` : "–";
      }
    });
  });

  // A table that goes on to the right or below fades there, so that nobody takes its edge for its end.
  document.querySelectorAll(".data .scroll").forEach((box) => {
    const look = () => {
      box.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
      box.classList.toggle("below", box.scrollHeight - box.clientHeight - box.scrollTop > 2);
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box.firstElementChild);
    new ResizeObserver(look).observe(box);
  });

  const views = [...document.querySelectorAll(".tokens")];
  views.forEach(TokenView.watch);
  const lacking = TokenView.lacking(views.map((view) => view.textContent).join("\n"));
  if (lacking) document.querySelector("#samples")?.append(make("p", { className: "note", textContent: lacking }));

  // Where the reader is, in the contents.
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  document.querySelectorAll("main > section").forEach((section) => seen.observe(section));
})();
