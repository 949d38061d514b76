"""Sentences that say what the figures show, and no more: with intervals, and where two cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokbench.plots import data
from tokbench.plots.labels import dataset_label, language_label
from tokbench.reports.figures import measured
from tokbench.reports.training import trained_on

if TYPE_CHECKING:
    import pandas as pd

    from tokbench.results import Run


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, the plot it belongs to, and its gist in a few words for a headline."""

    plot: str
    sentence: str
    gist: str = ""


def findings(run: Run) -> list[Finding]:
    """The three things to know first, as far as the run measured them."""
    found = [compression(run), cost(run), fairness(run), speed(run), coverage(run)]
    return [finding for finding in found if finding is not None][:3]


def compression(run: Run) -> Finding | None:
    """Which tokenizer gets most text into a token on the main dataset, and who cannot be told from it."""
    dataset = data.main_dataset(run)
    rows = _sound(run, "compression_ratio", dataset)
    if rows.empty:
        return None
    labels = data.names(run)
    best = rows.iloc[0]
    leader, scope = labels[best["tokenizer"]], _scope(run, dataset)
    share = measured(best["value"], best["ci_low"], best["ci_high"], "bytes per token")
    sentence = f"On {scope}, {leader} comes to {share}, the most of those compared."
    gist = f"{leader} packs the most text into a token on {scope}."
    tied = [labels[name] for name in rows["tokenizer"][1:] if not apart(run, dataset, best["tokenizer"], name)]
    if tied:
        sentence += f" {_listed(tied)} cannot be told apart from it on this much text."
        gist = f"{_listed([leader, *tied])} pack about the most text into a token on {scope}."
    elif len(rows) > 1:
        second = rows.iloc[1]
        ends = measured(second["value"], second["ci_low"], second["ci_high"])
        sentence += f" Next is {labels[second['tokenizer']]} at {ends}."
    homework = trained_on(run, dataset)
    if homework:
        were, them = ("was", "it") if len(homework) == 1 else ("were", "them")
        sentence += f" {_listed([labels[name] for name in homework])} {were} trained on this very text, "
        sentence += f"which flatters {them}."
    if best["tokenizer"] in homework:
        gist = f"{gist.removesuffix('.')}, which {'some were' if tied else 'it was'} trained on."
    losers = [labels[name] for name in data.lossy(run)]
    if losers:
        verb = "loses text and is" if len(losers) == 1 else "lose text and are"
        sentence += f" {_listed(losers)} {verb} not ranked."
    return Finding("compression", sentence, gist)


def cost(run: Run) -> Finding | None:
    """With which tokenizer the text costs least at the user's prices, and with which most; it has no plot."""
    dataset = data.main_dataset(run)
    rows = data.ranked(run, "cost", dataset, higher=False)
    if len(rows) < 2:
        return None
    labels = data.names(run)
    first, last = rows.iloc[0], rows.iloc[-1]
    least, most = (f"{measured(row['value'], None, None, row['unit'])}" for row in (first, last))
    scope = dataset_label(dataset)
    sentence = f"At the prices given, {scope} costs least with {labels[first['tokenizer']]}: {least}"
    sentence += f"; most with {labels[last['tokenizer']]}: {most}."
    lost = [labels[row["tokenizer"]] for row in (first, last) if row["tokenizer"] in data.lossy(run)]
    if lost:
        sentence += f" {_listed(lost)} {'loses' if len(lost) == 1 else 'lose'} text."
    without = [labels[name] for name in run.tokenizers if name not in set(rows["tokenizer"])]
    if without:
        sentence += f" No price was given for {_listed(without)}."
    return Finding(
        "", sentence, f"{labels[first['tokenizer']]} is the cheapest for {scope}, at the prices given."
    )


def fairness(run: Run) -> Finding | None:
    """How unequal languages are under the fairest and the least fair tokenizer."""
    dataset = data.main_dataset(run)
    table = data.by_language(run, "premium", dataset)
    table = table.drop(columns=[name for name in data.lossy(run) if name in table])
    if table.empty or len(table) < 2:
        return None
    labels = data.names(run)
    worst = table.max()
    fairest, hardest = worst.idxmin(), worst.idxmax()
    dearest = str(table[fairest].idxmax())
    known = data.intervals(run, "premium", dataset)

    def times(language: str, name: str) -> str:
        low, high = known.get((language, name), (None, None))
        return measured(float(table.at[language, name]), low, high, "times")

    sentence = (
        f"For the same text the dearest language takes {times(dearest, fairest)} the tokens of the "
        f"reference with {labels[fairest]} ({language_label(dearest)})"
    )
    if hardest != fairest:
        far = str(table[hardest].idxmax())
        sentence += f", and {times(far, hardest)} with {labels[hardest]} ({language_label(far)})"
    return Finding("fairness", sentence + ".")


def speed(run: Run) -> Finding | None:
    """Which tokenizers nothing beats on both compression and speed."""
    from tokbench.plots.speed import pareto_front, speed_points

    bad = data.lossy(run)
    points = {name: point for name, point in speed_points(run).items() if name not in bad}
    if len(points) < 2:
        return None
    labels = data.names(run)
    front = pareto_front(points)
    fastest = max(points, key=lambda name: points[name][0])
    rows = data.speeds(run)
    row = rows.loc[fastest]
    rate = measured(row["value"], row["ci_low"], row["ci_high"], "MB/s")
    sentence = f"{labels[fastest]} encodes fastest on this machine: {rate}."
    # A single timing has no interval (NaN) and tells nothing apart: hence "not slower", and not "as fast".
    tied = [name for name in points if name != fastest and not rows.loc[name, "ci_high"] < row["ci_low"]]
    if tied:
        sentence += f" {_listed([labels[name] for name in tied])} cannot be told from it."
    if len(front) == 1:
        sentence += f" {labels[fastest] if tied else 'It'} also compresses best of those timed."
    else:
        unbeaten = _listed([labels[name] for name in front], "or")
        sentence += f" No other tokenizer beats {unbeaten} on both speed and compression."
    return Finding("speed", sentence)


def coverage(run: Run) -> Finding | None:
    """The plain statement that stands in where nothing else was measured: how long tokens are."""
    rows = _sound(run, "token_length", data.main_dataset(run))
    if rows.empty:
        return None
    labels = data.names(run)
    first, last = rows.iloc[0], rows.iloc[-1]
    longest = measured(first["value"], first["ci_low"], first["ci_high"], "bytes")
    sentence = f"Tokens are longest on average with {labels[first['tokenizer']]}: {longest}"
    if len(rows) > 1:
        shortest = measured(last["value"], last["ci_low"], last["ci_high"], "bytes")
        sentence += f"; shortest with {labels[last['tokenizer']]}: {shortest}"
    return Finding("token_length", sentence + ".")


def apart(run: Run, dataset: str, one: str, other: str) -> bool:
    """Whether two tokenizers' compression differs beyond doubt on a dataset.

    By the paired comparison, corrected for the number of pairs, where the run made one; else by whether the
    two intervals stay apart, which is the stricter question.
    """
    paired = data.known_difference(run, "compression_ratio", dataset, one, other)
    if paired is not None and paired["p_holm"] == paired["p_holm"]:
        return bool(paired["p_holm"] < 0.05)
    rows = data.overall(run, "compression_ratio", dataset).set_index("tokenizer")
    first, second = rows.loc[one], rows.loc[other]
    if any(end != end or end is None for end in (first["ci_low"], second["ci_low"])):
        return bool(first["value"] != second["value"])
    return bool(first["ci_low"] > second["ci_high"] or second["ci_low"] > first["ci_high"])


def _sound(run: Run, metric: str, dataset: str) -> pd.DataFrame:
    """The overall rows of a metric, best first, without tokenizers that lose text."""
    rows = data.ranked(run, metric, dataset)
    return rows[~rows["tokenizer"].isin(list(data.lossy(run)))]


def _scope(run: Run, dataset: str) -> str:
    count = len(run.languages(dataset))
    label = dataset_label(dataset)
    return f"the {count} languages of {label}" if count > 1 else label


def _listed(names: list[str], word: str = "and") -> str:
    """Names in a sentence, the tail of a long list as a number.

    Example:
        >>> _listed(["a", "b", "c"]), _listed(list("abcdef"))
        ('a, b and c', 'a, b, c and 3 others')
    """
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
