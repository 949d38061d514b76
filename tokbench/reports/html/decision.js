// The decision under other weights: the same sums as tokbench.reports.decision, over the figures on the page.
"use strict";
document.querySelectorAll("[data-decision]").forEach((block) => {
  const given = JSON.parse(block.dataset.decision);
  const form = block.querySelector("form");
  const body = block.querySelector("tbody");
  const [choice, turns] = [block.querySelector(".choice"), block.querySelector(".turns")];
  const rows = new Map([...body.rows].map((row) => [plain(row.cells[0]), row]));
  const indices = given.names.map((_, index) => index);
  const number = (value) => String(Number(value.toPrecision(2)));
  const listed = (all) => {
    const names = all.length > 4 ? [...all.slice(0, 3), `${all.length - 3} others`] : all;
    return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
  };
  form.hidden = false;

  function decide() {
    const weights = {};
    for (const name of Object.keys(given.criteria)) {
      const weight = Math.max(0, Number(form.elements[name].value) || 0);
      if (weight > 0 && given.criteria[name].logs.every((log) => log !== null)) weights[name] = weight;
    }
    const active = Object.entries(weights);
    const total = active.reduce((sum, [, weight]) => sum + weight, 0);
    if (!total) {
      choice.textContent = "All weights are 0, so there is no choice.";
      turns.textContent = "";
      for (const index of indices) {
        const [, verdict, score] = rows.get(given.names[index]).cells;
        verdict.textContent = score.textContent = "–";
      }
      return;
    }
    const log = (name, index) => given.criteria[name].logs[index];
    const level = indices.map((index) => active.reduce((sum, [name, weight]) => sum + weight * log(name, index), 0) / total);
    const ranked = [...indices].sort((one, other) => level[other] - level[one]);
    const first = ranked[0];
    const apart = (other) => {
      let noise = 0;
      for (const [name, weight] of active) {
        const own = given.criteria[name].noise[first][other];
        if (own === null) {
          if (log(name, first) === log(name, other)) continue;
          return false;
        }
        noise += weight * own;
      }
      return (level[first] - level[other]) * total > Math.max(given.sure * noise, 1e-12);
    };
    const vague = given.unsaid > total; // more weighs that is not known than that is
    const best = ranked.filter((index) => vague || index === first || !apart(index));
    const names = best.map((index) => given.names[index]);
    // Criteria whose differences could not be tested.
    const unknown = active.map(([name]) => name).filter((name) => best.some((other) =>
      other !== first && given.criteria[name].noise[first][other] === null && log(name, first) !== log(name, other)));
    const even = best.filter((index) => level[first] - level[index] < 1e-12).length;
    const ahead = even === 1 ? `${names[0]} leads` : `${listed(names.slice(0, even))} are level`;
    choice.textContent = isolated(vague ? "No choice under these weights: most of the weight is on criteria that are not known."
      : names.length === 1 ? `Choice under these weights: ${names[0]}.`
      : `No winner under these weights: ${unknown.length
        ? `by the figures alone ${ahead}, but too little is measured to test the differences in ${listed(unknown)}`
        : even === names.length ? ahead : `${listed(names)} cannot be told apart`}.`);

    ranked.toReversed().forEach((index) => {
      const row = rows.get(given.names[index]);
      const score = Math.exp(level[index] - level[first]);
      row.cells[1].textContent = !best.includes(index) ? `${(100 * (1 - score)).toFixed(1)} % behind`
        : vague ? "no choice" : names.length === 1 ? "choice" : "may be as good";
      row.cells[2].dataset.v = score;
      row.cells[2].textContent = (100 * score).toFixed(1);
      body.prepend(row);
    });

    const [parts, parting] = [[], []];
    for (const [name, { logs }] of Object.entries(given.criteria)) {
      if (logs.some((log) => log === null)) continue;
      const weight = weights[name] ?? 0;
      let nearest = null;
      for (const other of ranked.slice(1)) {
        const own = logs[first] - logs[other];
        if (Math.abs(own) < 1e-12) continue;
        const lead = (level[first] - level[other]) * total;
        const equal = lead < 1e-12;
        if (equal && !parting.includes(name)) parting.push(name);
        const turn = equal ? weight : weight - lead / own;
        if ((own < 0 || turn > 1e-12) && (!nearest || Math.abs(turn - weight) < Math.abs(nearest[0] - weight))) {
          nearest = [turn, own < 0, other];
        }
      }
      if (nearest) {
        const [turn, above, other] = nearest;
        parts.push(`${name} ${above ? "above" : "below"} ${number(turn)} (now ${weight}): ${given.names[other]}`);
      }
    }
    turns.textContent = isolated((parting.length ? `The first are level: any other weight of ${parting.join(" or ")} separates them. ` : "")
      + (parts.length ? `Another would come first with ${parts.join("; ")}.`
        : `No change of a single weight puts another ahead of ${given.names[first]}.`));
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", decide);
  form.addEventListener("reset", () => setTimeout(decide));
});
