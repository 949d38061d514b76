"""Which tokenizers lose text or are estimated, and which may be ranked with each other.

A tokenizer that drops text or lowers the case looks better than it is. So tokenizers are ranked only with those
that lose the same: nothing, or the same kinds of form (case, accents, normal forms, spaces). Tokenizers that
lose the text itself are not ranked, nor those that are estimated, whose losses are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokbench.plots.data import by_language, natural_datasets, overall, ranked, remembered
from tokbench.results import Run
from tokbench.wording import listed

LOSES, REWRITES, ESTIMATED = "†", "‡", "≈"
"""The marks of tokenizers that lose text, that only change its form, and that are estimated."""

EXPLAINED = {
    LOSES: "† loses text: its figures cannot be compared with any others.",
    REWRITES: "‡ gives text back in another form (case, spaces): comparable only with others that do so.",
    ESTIMATED: "≈ estimated: token counts predicted from those of another tokenizer; not ranked.",
}

_KINDS = {"lost_form": "case, accents or normal form", "lost_spaces": "spaces", "lost_text": "text"}


@dataclass(frozen=True, slots=True)
class LossSummary:
    """What a tokenizer loses; or what it is `estimated` from.

    `changed` is the share of documents that decoding changes, `unknown` the share of characters that became
    unknown, and `kinds` what is lost ("case, accents or normal form", "spaces", "text"; empty if the run does
    not say). All are on the dataset of which it loses most, which `where` names if there are several.
    `elsewhere` are the kinds lost only on other datasets.
    """

    changed: float = 0.0
    unknown: float = 0.0
    kinds: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    estimated: str = ""
    where: str = ""

    @property
    def mark(self) -> str:
        """The mark after the tokenizer's name."""
        if self.estimated:
            return ESTIMATED
        kinds = {*self.kinds, *self.elsewhere}
        return REWRITES if kinds and not self.unknown and "text" not in kinds else LOSES

    @property
    def likeness(self) -> tuple[str, ...] | None:
        """The kinds of loss of tokenizers comparable with this one; None if none are."""
        return tuple(sorted({*self.kinds, *self.elsewhere})) if self.mark == REWRITES else None

    def __str__(self) -> str:
        if self.estimated:
            return f"{self.estimated}; whether it gives text back is not known"
        said = [f"{_percent(self.changed)} of documents changed"] if self.changed else []
        if said and self.kinds:
            said[0] += f" ({', '.join(self.kinds)})"
        if self.unknown:
            said.append(f"{_percent(self.unknown)} of characters unknown")
        elsewhere = f"; elsewhere {listed([*self.elsewhere])}, too" if self.elsewhere else ""
        return "; ".join(said) + (f", on {self.where}" if self.where else "") + elsewhere


@remembered
def losses(run: Run) -> dict[str, LossSummary]:
    """The tokenizers that lose something of natural text.

    Losses on corpora of hard cases do not count, because a single character that a tokenizer uses itself would
    be enough; see `hard_losses`.
    """
    estimated = {
        entry["spec"]: LossSummary(estimated=entry["facts"]["estimated"]["from"])
        for entry in run.manifest["tokenizers"]
        if entry.get("facts", {}).get("estimated")
    }
    return _lost_of(run, natural_datasets(run)) | estimated


@remembered
def hard_losses(run: Run) -> dict[str, LossSummary]:
    """The tokenizers that are lossless on natural text, but not on every hard case."""
    usual = natural_datasets(run)
    lost = _lost_of(run, [name for name in run.datasets if name not in usual])
    return {name: loss for name, loss in lost.items() if name not in losses(run)}


def _lost_of(run: Run, datasets: Sequence[str]) -> dict[str, LossSummary]:
    names = {entry["spec"]: str(entry.get("label") or entry["spec"]) for entry in run.manifest["datasets"]}
    shares: dict[tuple[str, str, str], float] = {}
    for metric in ("round_trip", "unk_rate", *_KINDS):
        for row in overall(run, metric).itertuples():
            shares[metric, str(row.tokenizer), str(row.dataset)] = float(row.value)
    found: dict[str, LossSummary] = {}
    for name in run.tokenizers:
        lost = []
        for dataset in datasets:
            unknown, text = (shares.get((metric, name, dataset), 0.0) for metric in ("unk_rate", "lost_text"))
            lost.append((text, unknown, 1 - shares.get(("round_trip", name, dataset), 1.0), dataset))
        _, unknown, changed, dataset = max(lost, key=lambda own: own[:3], default=(0.0, 0.0, 0.0, ""))
        if changed or unknown:
            on = {
                what: [each for each in datasets if shares.get((metric, name, each))]
                for metric, what in _KINDS.items()
            }
            found[name] = LossSummary(
                changed,
                unknown,
                kinds=tuple(what for what, there in on.items() if dataset in there),
                elsewhere=tuple(what for what, there in on.items() if there and dataset not in there),
                where=names[dataset] if len(datasets) > 1 else "",
            )
    return found


def comparable(run: Run, names: Iterable[str] | None = None) -> list[str]:
    """The tokenizers that may be ranked with each other: those that lose nothing.

    If all of `names` (by default all of the run's) lose something, the largest group that loses the same kinds
    of form; empty if all lose text.
    """
    known = losses(run)
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in run.tokenizers if names is None else names:
        likeness = known[name].likeness if name in known else ()
        if likeness is not None:
            alike.setdefault(likeness, []).append(name)
    return alike.get(()) or max(alike.values(), key=len, default=[])


def order(run: Run, names: Iterable[str]) -> list[str]:
    """`names` with those that lose nothing first, then those that rewrite, then those that lose text."""
    known = losses(run)
    place = {"": 0, REWRITES: 1, ESTIMATED: 2, LOSES: 3}
    return sorted(names, key=lambda name: place[known[name].mark if name in known else ""])


def best_first(run: Run, metric: str, dataset: str, *, higher: bool = True) -> list[str]:
    """The tokenizers measured on a dataset, best first; lossless ones before the others."""
    return order(run, ranked(run, metric, dataset, higher=higher)["tokenizer"].tolist())


def fairest_first(run: Run, dataset: str) -> list[str]:
    """The tokenizers by their highest premium, lowest first; lossless ones before the others."""
    worst = by_language(run, "premium", dataset).max().sort_values(kind="stable")
    return order(run, map(str, worst.index))


def colors(run: Run) -> dict[str, str]:
    """The colours that the suite gives to tokenizers, by spec; those with losses have the colour of losses."""
    given = {entry["spec"]: entry["color"] for entry in run.manifest["tokenizers"] if entry.get("color")}
    return {spec: color for spec, color in given.items() if spec not in losses(run)}


def unmarked(label: str) -> str:
    """A label without its mark.

    Example:
        >>> unmarked("wordpiece 8k †"), unmarked("bytes")
        ('wordpiece 8k', 'bytes')
    """
    return label[:-2] if mark_of(label) else label


def mark_of(label: str) -> str:
    """The mark at the end of a label, or an empty string."""
    return label[-1] if label[-2:] in (f" {LOSES}", f" {REWRITES}", f" {ESTIMATED}") else ""


def _percent(share: float) -> str:
    if share < 0.0001:
        return "< 0.01 %"
    return f"{100 * share:.2g} %" if share < 0.095 else f"{100 * share:.0f} %"
