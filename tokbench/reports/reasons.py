"""The sentences of a decision: the choice, what would change it, what is noise, and what is not known."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from tokbench.metrics.weights import CRITERIA
from tokbench.plots import data
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import ESTIMATED, losses
from tokbench.reports.criteria import EQUAL, Known, costs, level_of, noise_unknown, unpriced_tokenizers
from tokbench.reports.training import training_marks
from tokbench.results import Run
from tokbench.wording import all_of_whom, listed


def reasons(
    run: Run,
    weights: Mapping[str, float],
    active: Mapping[str, float],
    known: Mapping[str, Known],
    choice: tuple[str, ...],
    ranked: list[str],
) -> list[str]:
    """The sentences; `active` are the nonzero weights of known criteria.

    `choice` are the chosen tokenizers among all that are `ranked`, the best first.
    """
    labels, lost = run_labels(run), losses(run)
    first, *ties = choice
    unknown = [key for key in active if any(noise_unknown(known[key], first, name) for name in ties)]
    top = level_of(first, active, known)
    level = sum(top - level_of(name, active, known) < EQUAL for name in choice)
    said = [headline_of([labels[name] for name in choice], unknown, level)]
    turns, parting = _turning_points(weights, known, ranked)
    parts = [
        f"{key} {'above' if above else 'below'} {_number(turn)} (now {weights[key]:g}): {labels[other]}"
        for key, (turn, above, other) in turns.items()
    ]
    none = f"No change of a single weight puts another ahead of {labels[ranked[0]]}."
    said.append(f"Another would come first with {'; '.join(parts)}." if parts else none)
    if parting:
        said[1] = f"The first are level: any other weight of {' or '.join(parting)} separates them. {said[1]}"
    for unsure in dict.fromkeys(known[key].unsure for key in active):
        if unsure:
            keys = [key for key in active if known[key].unsure == unsure]
            leave = all_of_whom(keys, "leaves", "leave").capitalize()
            said.append(f"{leave} out {texts_named(run, unsure)}: its differences could not be tested.")
    said += not_known(weights, known)
    flattered: dict[str, list[str]] = {}
    for dataset in data.natural_datasets(run):
        marks = training_marks(run, dataset)
        if names := ", ".join(labels[name] for name in ranked if name in marks):
            flattered.setdefault(names, []).append(dataset)
    for names, datasets in flattered.items():
        said.append(
            f"Better on {texts_named(run, datasets)} than elsewhere, since trained on that text or on another "
            f"part of its collection: {names}. Judge them on other text (-d)."
        )
    for why, of_estimates in (("decoding changes the text", False), ("they are estimated", True)):
        out = [
            labels[name]
            for name in run.tokenizers
            if name in lost and name not in ranked and (lost[name].mark == ESTIMATED) == of_estimates
        ]
        if out:
            said.append(f"Left out, because {why}: {', '.join(out)}.")
    if known.get("price") and known.get("context") and known["price"].metric == known["context"].metric:
        said.append("Price and context are the same figure here, tokens: their weights add up.")
    return said + _unpriced(run, known)


def gaps(run: Run, weights: Mapping[str, float], known: Mapping[str, Known], *, vague: bool) -> list[str]:
    """Sentences on what a choice could not take into account.

    These are weighted criteria that are not known, if weights were given or the choice is `vague` without them,
    and tokenizers without a price, if prices were given.
    """
    told = vague or run.manifest.get("suite", {}).get("weights")
    return (not_known(weights, known) if told else []) + (_unpriced(run, known) if costs(run) else [])


def not_known(weights: Mapping[str, float], known: Mapping[str, Known]) -> list[str]:
    """A sentence on the weighted criteria that are not known; empty if all are known."""
    missing = [c for c in CRITERIA if c.name not in known and c.name != "lossless" and weights[c.name] > 0]
    return [f"Not known: {'; '.join(f'{c.name} ({c.lacking})' for c in missing)}."] if missing else []


def headline_of(names: list[str], unknown: list[str], level: int) -> str:
    """The choice in words: one name, or several that are tied, of which the first `level` are equal.

    `unknown` are the criteria whose differences could not be tested.

    Example:
        >>> headline_of(["a"], [], 1), headline_of(["a", "b"], [], 1)
        ('Choice under these weights: a.', 'No winner under these weights: a and b cannot be told apart.')
        >>> headline_of(["a", "b"], [], 2)
        'No winner under these weights: a and b are level.'
        >>> headline_of(["a", "b"], ["price"], 1).partition(": ")[2]
        'by the figures alone a leads, but too little is measured to test the differences in price.'
    """
    if len(names) == 1:
        return f"Choice under these weights: {names[0]}."
    ahead = f"{names[0]} leads" if level == 1 else f"{listed(names[:level])} are level"
    if unknown:
        said = (
            f"by the figures alone {ahead}, but too little is measured to test the differences in "
            f"{listed(unknown)}"
        )
    else:
        said = ahead if level == len(names) else f"{listed(names)} cannot be told apart"
    return f"No winner under these weights: {said}."


def _turning_points(
    weights: Mapping[str, float], known: Mapping[str, Known], ranked: list[str]
) -> tuple[dict[str, tuple[float, bool, str]], list[str]]:
    """For each criterion, the nearest weight beyond which another than the first of `ranked` is ahead.

    Each comes with whether the weight must rise, and who is ahead then; a weight of 0 can only rise. Also
    returned are the criteria of which any change of weight would separate the first from those tied with it.
    """
    first, *others = ranked
    found: dict[str, tuple[float, bool, str]] = {}
    parting: dict[str, None] = {}
    keys = [key for key, each in known.items() if all(name in each.values for name in ranked)]
    for other in others:
        apart = {key: math.log(known[key].values[first] / known[key].values[other]) for key in keys}
        lead = sum(weights[key] * apart[key] for key in keys)
        lead = 0.0 if lead < EQUAL else lead
        for key in keys:
            if abs(apart[key]) < EQUAL:
                continue
            if not lead:
                parting[key] = None
            turn = weights[key] - lead / apart[key]
            near = key not in found or abs(turn - weights[key]) < abs(found[key][0] - weights[key])
            if near and (apart[key] < 0 or turn > EQUAL):
                found[key] = (turn, apart[key] < 0, other)
    return {key: found[key] for key in keys if key in found}, [key for key in keys if key in parting]


def _unpriced(run: Run, known: Mapping[str, Known]) -> list[str]:
    """Sentences on tokenizers without a price, and on using text per token instead of price."""
    if "price" not in known:
        return []
    labels, costing = run_labels(run), costs(run)
    free = [labels[name] for name, cost in costing.items() if not cost]
    without = [labels[name] for name in unpriced_tokenizers(run)]
    if known["price"].metric == "cost":
        return [f"Left out, because no price was given: {listed(without)}."] if without else []
    if costing and free:
        return [f"The price of {listed(free)} is 0, so that no ratio can be taken: price is taken per token."]
    if not without:
        return ["Too few tokenizers were measured on all texts to compare prices: price is taken per token."]
    none = not run.frame.loc[run.frame["metric"] == "cost", "value"].notna().any()
    whose = "No prices were given" if none else f"No price was given for {listed(without)}"
    return [f"{whose}: price is taken per token."]


def texts_named(run: Run, datasets: Collection[str]) -> str:
    """Some datasets as a sentence names them, in the order of the run."""
    return listed([dataset_label(run, name) for name in run.datasets if name in datasets])


def _number(value: float) -> str:
    """Two digits, written out.

    Example:
        >>> _number(139.6), _number(0.0421)
        ('140', '0.042')
    """
    return f"{float(f'{value:.2g}'):g}"
