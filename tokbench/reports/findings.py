"""Sentences that say what the figures show and no more, with intervals and what may be chance."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tokbench.metrics.correction import SURE
from tokbench.plots import data
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.plots.losses import ESTIMATED, LOSES, REWRITES, comparable, losses
from tokbench.plots.speed import pareto_front, speed_points
from tokbench.reports.criteria import costs, unpriced_tokenizers
from tokbench.reports.figures import measured
from tokbench.reports.sizes import caveat_of
from tokbench.reports.tables import reference_of
from tokbench.reports.training import how_much, trained_beside, trained_on
from tokbench.results import Run
from tokbench.wording import all_of_whom, listed, sentences


@dataclass(frozen=True, slots=True)
class KeyFinding:
    """A sentence, the plot that it belongs to, and a short form (`gist`) for a headline."""

    plot: str
    sentence: str
    gist: str = ""


def findings(run: Run) -> list[KeyFinding]:
    """The three most important findings that the run has figures for."""
    found = [compression(run), cost(run), fairness(run), speed(run), coverage(run)]
    return [finding for finding in found if finding is not None][:3]


def compression(run: Run) -> KeyFinding | None:
    """Which tokenizer compresses best on the main dataset, and which may be as good."""
    dataset = data.main_dataset(run)
    metric = data.main_metric(run, dataset)
    rows = _sound(run, metric, dataset)
    if rows.empty:
        return None
    labels = run_labels(run)
    best = rows.iloc[0]
    leader, scope = labels[best["tokenizer"]], _scope(run, dataset)
    share = measured(best["value"], best["ci_low"], best["ci_high"], "bytes per token", run.level)
    sound = not set(rows["tokenizer"]) & set(losses(run))
    among = " compared" if sound else " that lose the same things"
    mean = ", averaged over the languages" if metric != "compression_ratio" else ""
    sentence = f"On {scope}, {leader} reaches {share}{mean}: the most of those{among}."
    gist = f"{leader} packs the most text into a token on {scope}{'' if sound else f', of those{among}'}."
    if len(run.tokenizers) == 1:
        sentence = f"On {scope}, {leader} reaches {share}{mean}."
        gist = f"{leader} packs {best['value']:.2f} bytes into a token on {scope}{mean}."
    others = {name: apart(run, dataset, best["tokenizer"], name) for name in rows["tokenizer"][1:]}
    tied = [labels[name] for name, different in others.items() if different is False]
    equal = [labels[name] for name in rows.loc[rows["value"] == best["value"], "tokenizer"].iloc[1:]]
    if equal:
        sentence += f" {all_of_whom(equal, 'reaches', 'reach')} the same."
    if chance := [label for label in tied if label not in equal]:
        sentence += f" On this much text, {listed(chance)} may do as well: the difference could be chance."
    if tied:
        gist = f"{listed([leader, *tied])} share first place for text per token on {scope}."
    elif len(rows) > 1:
        second = rows.iloc[1]
        ends = measured(second["value"], second["ci_low"], second["ci_high"], level=run.level)
        sentence += f" Next is {labels[second['tokenizer']]} at {ends}."
        sentence += " No paired test was made between the two." if others[second["tokenizer"]] is None else ""
    sentence += _pooled_otherwise(run, dataset, metric, best["tokenizer"])
    elsewhere, gist_elsewhere = _elsewhere(run, dataset, best["tokenizer"], tied=bool(tied))
    sentence += elsewhere
    homework = trained_on(run, dataset)
    if homework:
        them = "it" if len(homework) == 1 else "them"
        sentence += f" {_trained(run, dataset)}, which flatters {them}."
    learnt = [name for name in trained_beside(run, dataset) if name not in homework]
    if len(rows) > 1 and set(rows["tokenizer"]) <= set(learnt):
        sentence += " All of these were trained on the other part of this collection."
    elif best["tokenizer"] in learnt:
        sentence += f" {leader} was trained on the other part of this collection, which puts it ahead."
        gist = f"{gist.removesuffix('.')}; {leader} was trained on the other part of this collection."
    if best["tokenizer"] in homework:
        who = "some were" if tied else "it was"
        gist = f"{gist.removesuffix('.')}, which {who} trained on{how_much(run, dataset)}."
    sentence += _left_out(run, rows["tokenizer"].tolist())
    return KeyFinding("compression", sentence, sentences(gist, gist_elsewhere))


def _trained(run: Run, dataset: str) -> str:
    """A sentence on tokenizers that were trained on a dataset; empty if none was."""
    labels, names = run_labels(run), trained_on(run, dataset)
    said = all_of_whom([labels[name] for name in names], "was", "were")
    return f"{said} trained on this very text{how_much(run, dataset)}" if names else ""


def _pooled_otherwise(run: Run, dataset: str, metric: str, best: str) -> str:
    """A sentence if another tokenizer is first when the bytes of all languages are pooled; else empty."""
    pooled = _sound(run, "compression_ratio", dataset)
    leads = pooled.loc[pooled["value"] == pooled["value"].max(), "tokenizer"].tolist()
    if metric == "compression_ratio" or not leads or best in leads:
        return ""
    first = run_labels(run)[leads[0]]
    return f" Pooled by bytes, where scripts of three bytes a character weigh most, {first} is first."


def _elsewhere(run: Run, main: str, best: str, *, tied: bool) -> tuple[str, str]:
    """Two sentences on the other datasets: who leads on each, and for the headline, whether `best` does.

    `best` is the first on the main dataset; if it is `tied` there with others, the headline repeats its name.
    """
    labels, leads = run_labels(run), {}
    for dataset in data.natural_datasets(run):
        rows = _sound(run, data.main_metric(run, dataset), dataset)
        if dataset != main and len(rows) > 1:
            first, *others = rows["tokenizer"]
            leads[dataset] = [first, *(name for name in others if apart(run, dataset, first, name) is False)]
    if not leads:
        return "", ""
    together: dict[str, list[str]] = {}
    for name, lead in leads.items():
        who = listed([labels[each] for each in lead], "or")
        together.setdefault(who, []).append(dataset_label(run, name))
    said = [f"on {listed(datasets)} {who}" for who, datasets in together.items()]
    different = [name for name, lead in leads.items() if best not in lead]
    alone = [name for name, lead in leads.items() if lead == [best]]
    others = "the other dataset" if len(leads) == 1 else f"the other {len(leads)} datasets"
    named = labels[best] if tied else "It"
    if different:
        of = f"{len(different)} of {others}" if len(different) < len(leads) else others
        gist = f"{f'Tokenizers other than {named}' if tied else 'Others'} lead on {of}."
    elif alone:
        does = "leads" if len(alone) == len(leads) else "leads or shares first place"
        gist = f"{named} {does} on {others}{'' if tied else ', too'}."
    else:
        gist = f"{named} shares first place on {others}{', too' if tied else ''}."
    return f" Most text per token elsewhere: {'; '.join(said)}.", gist


def _left_out(run: Run, ranked: list[str]) -> str:
    """Sentences on the tokenizers that are not ranked with the others, by reason."""
    known, labels = losses(run), run_labels(run)
    said = ""
    for mark, one, several in (
        (REWRITES, "gives text back in another form and is", "give text back in another form and are"),
        (LOSES, "loses text and is", "lose text and are"),
        (ESTIMATED, "is estimated and is", "are estimated and are"),
    ):
        names = [labels[name] for name, loss in known.items() if loss.mark == mark and name not in ranked]
        if names:
            ranked_how = "ranked separately" if mark == REWRITES else "not ranked"
            said += f" {all_of_whom(names, one, several)} {ranked_how}."
    return said


def cost(run: Run) -> KeyFinding | None:
    """The cheapest and the most expensive tokenizer at the user's prices; this finding has no plot."""
    every, known = costs(run), losses(run)
    losing = {name for name in every if name in known and known[name].mark == LOSES}
    prices = {name: price for name, price in every.items() if name not in losing}
    if len(prices) < 2:
        prices, losing = every, set()
    if len(prices) < 2:
        return None
    labels, datasets = run_labels(run), data.natural_datasets(run)
    ends = [min(prices, key=lambda name: prices[name]), max(reversed(prices), key=lambda name: prices[name])]
    unit = str(data.overall(run, "cost")["unit"].iloc[0])
    least, most = (measured(prices[name], None, None, unit) for name in ends)
    scope = dataset_label(run, datasets[0]) if len(datasets) == 1 else f"the text of {len(datasets)} datasets"
    sentence = f"At the prices given, {scope} costs least with {labels[ends[0]]}: {least}"
    sentence += f"; most with {labels[ends[1]]}: {most}."
    if left_out := [labels[name] for name in run.tokenizers if name in losing]:
        sentence += f" {all_of_whom(left_out, 'loses', 'lose')} text and cannot be compared by cost."
    lost = [labels[name] for name in ends if name in known and known[name].mark != ESTIMATED]
    if lost:
        sentence += f" {all_of_whom(lost, 'does', 'do')} not give text back as it was."
    if told := [labels[name] for name in ends if name in known and known[name].mark == ESTIMATED]:
        sentence += f" {all_of_whom(told, 'is', 'are')} estimated."
    if without := [labels[name] for name in unpriced_tokenizers(run)]:
        sentence += f" No price was given for {listed(without)}."
    return KeyFinding("", sentence, f"{labels[ends[0]]} is the cheapest for {scope}, at the prices given.")


def fairness(run: Run) -> KeyFinding | None:
    """How unequal languages are under the fairest and the least fair tokenizer."""
    dataset = data.main_dataset(run)
    fair = _premiums(run, dataset)
    if not fair:
        return None
    sentence = f"For the same text, {fair}"
    for other in data.parallel_datasets(run):
        if other != dataset and (there := _premiums(run, other)):
            sentence += f". On {dataset_label(run, other)}, {there}"
    trained = _trained(run, dataset)
    said = sentences(f"{sentence}.", f"{trained}." if trained else "", caveat_of(run, dataset))
    return KeyFinding("fairness", said)


def _premiums(run: Run, dataset: str) -> str:
    """The highest premiums of the fairest and the least fair tokenizer on a dataset; empty without any."""
    table = data.by_language(run, "premium", dataset)
    table = table[[name for name in table if name in comparable(run)]]
    if table.empty or len(table) < 2:
        return ""
    labels, worst = run_labels(run), table.max()
    fairest, hardest = worst.idxmin(), worst.idxmax()
    known = data.intervals(run, "premium", dataset)

    def most(name: str) -> tuple[str, str]:
        language = str(table[name].idxmax())
        low, high = known.get((language, name), (None, None))
        times = measured(float(table.at[language, name]), low, high, "times", run.level)
        return times, language_label(language, data.kind(run, dataset))

    times, language = most(str(fairest))
    reference = reference_of(run, dataset, table[fairest]) or "the reference language"
    said = f"{labels[fairest]} needs up to {times} as many tokens for {language} as for {reference}"
    if language == reference:
        said = f"{labels[fairest]} needs for no language more tokens than for {reference}"
    if hardest != fairest:
        as_many = " as many" if language == reference else ""
        times, language = most(str(hardest))
        said += f"; {labels[hardest]} up to {times}{as_many}, for {language}"
    return said


def speed(run: Run) -> KeyFinding | None:
    """Which tokenizers are beaten by none on both compression and speed."""
    fair = comparable(run)
    every = speed_points(run)
    points = {name: point for name, point in every.items() if name in fair}
    if len(points) < 2:
        return None
    labels, dataset = run_labels(run), data.timed_dataset(run)
    front = pareto_front(points)
    fastest = max(points, key=lambda name: points[name][0])
    rated = points[fastest][0]
    rows = data.speeds(run)
    row = rows.loc[fastest]
    rate = measured(row["value"], row["ci_low"], row["ci_high"], "MB/s")
    first = data.shown_pass(run, dataset)
    rate += f", in {first}" if first else ""
    sentence = f"{labels[fastest]} encodes {dataset_label(run, dataset)} fastest on this machine: {rate}."
    # A single timing has no interval (NaN) and tells nothing apart: hence "not slower", and not "as fast".
    tied = [name for name in points if name != fastest and not rows.loc[name, "ci_high"] < row["ci_low"]]
    if tied:
        sentence += f" {listed([labels[name] for name in tied])} may be as fast."
    if faster := [labels[name] for name, point in every.items() if name not in fair and point[0] > rated]:
        sentence += f" {all_of_whom(faster, 'is', 'are')} faster, but not ranked with it:"
        sentence += f" {'it does' if len(faster) == 1 else 'they do'} not give all text back."
    if len(front) == 1:
        equal = [labels[name] for name in points if name != fastest and points[name][1] == points[fastest][1]]
        also = f", as {all_of_whom(equal, 'does', 'do')}" if equal else ""
        pooled = ", pooled by bytes" if data.main_metric(run, dataset) != "compression_ratio" else ""
        sentence += f" {labels[fastest]} also compresses best of those timed{pooled}{also}."
    else:
        unbeaten = listed([labels[name] for name in front], "or")
        sentence += f" No other tokenizer beats {unbeaten} on both speed and compression."
    return KeyFinding("speed", sentences(sentence, data.busy(run)))


def coverage(run: Run) -> KeyFinding | None:
    """The finding used if nothing else was measured: how long tokens are."""
    dataset = data.main_dataset(run)
    rows = _sound(run, "token_length", dataset)
    if rows.empty:
        return None
    labels = run_labels(run)
    first, last = rows.iloc[0], rows.iloc[-1]
    longest = measured(first["value"], first["ci_low"], first["ci_high"], "bytes", run.level)
    if len(run.tokenizers) == 1:
        return KeyFinding("token_length", f"Its tokens are {longest} long on average.")
    some = len(rows) < len(data.ranked(run, "token_length", dataset))
    whose = "Among the tokenizers ranked together, tokens" if some else "Tokens"
    sentence = f"{whose} are longest on average with {labels[first['tokenizer']]}: {longest}"
    if len(rows) > 1:
        shortest = measured(last["value"], last["ci_low"], last["ci_high"], "bytes", run.level)
        sentence += f"; shortest with {labels[last['tokenizer']]}: {shortest}"
    return KeyFinding("token_length", sentence + ".")


def apart(run: Run, dataset: str, one: str, other: str) -> bool | None:
    """Whether two tokenizers' compression differs by more than chance; None if it was not tested."""
    metric = data.main_metric(run, dataset)
    figures = data.figures(run, metric, dataset)
    if figures[one] == figures[other]:
        return False
    chance = data.p_values(run, metric, dataset).get(frozenset((one, other)))
    return None if chance is None else chance < SURE


def _sound(run: Run, metric: str, dataset: str) -> pd.DataFrame:
    """The overall rows of a metric, best first, for the tokenizers that may be compared."""
    rows = data.ranked(run, metric, dataset)
    return rows[rows["tokenizer"].isin(comparable(run, rows["tokenizer"].tolist()))]


def _scope(run: Run, dataset: str) -> str:
    count = len(run.languages(dataset))
    label = dataset_label(run, dataset)
    return f"the {count} languages of " + label.removesuffix(f", {count} languages") if count > 1 else label
