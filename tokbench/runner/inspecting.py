"""What a run shows beside figures: passages tokenized by everyone, vocabulary audits, gold words, diffs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Shard
from tokbench.metrics.metric import CellKey
from tokbench.results.atomic import write_json
from tokbench.results.cell import Failure
from tokbench.results.folder import RunFolder
from tokbench.runner.cache import TallyCache, remembered
from tokbench.runner.counting import loaded
from tokbench.runner.diffs import diff_all
from tokbench.runner.limits import NO_LIMITS, Limits
from tokbench.runner.pool import attempt
from tokbench.runner.recipe import DatasetRecipe, Recipe, digest_of, source_digest
from tokbench.runner.subjects import Subject
from tokbench.runner.worker import Emit

if TYPE_CHECKING:
    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.metrics.morphology import MorphCounts
    from tokbench.runner.plan import Corpus, Plan  # which a worker does without

SAMPLE_CHARS = 280
LARGEST_AUDIT = 600_000
"""Ids up to which a run audits a vocabulary by itself; `tokbench audit` takes any (all of Unicode, say)."""


@dataclass(frozen=True, slots=True)
class AuditTask:
    """One tokenizer by itself: its vocabulary to be audited (or not), its cuts of gold words to be scored.

    `gold` maps a language to the path and the format of its gold words. With `injection`, its control strings
    are given to it as plain text.
    """

    recipe: Recipe
    audit: bool
    injection: bool
    gold: Mapping[str, tuple[str, str]]
    cache: TallyCache | None
    limits: Limits


@dataclass(frozen=True, slots=True)
class Audited:
    """What was found of one tokenizer by itself: audit, injections (for JSON both), morphology by language."""

    audit: dict[str, Any] | None
    injections: list[dict[str, Any]] | None
    morphology: dict[str, MorphCounts]


@dataclass(frozen=True, slots=True)
class Sample:
    """A passage that every tokenizer is shown with."""

    dataset: str
    language: str
    text: str


@dataclass
class Inspections:
    """What was seen of all of them, by canonical spec."""

    audits: dict[str, VocabularyAudit] = field(default_factory=dict)
    morphology: dict[tuple[str, str], MorphCounts] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)


class Inspector:
    """Looks at the tokenizers of a run: at each by itself, beside the counting; at what it makes of passages.

    The passages have to wait, for a tokenizer is not shown those of cells in which it failed.
    """

    def __init__(self, plan: Plan, subjects: Sequence[Subject]) -> None:
        self._plan = plan
        self._ready = [
            each for each in subjects if each.ready and each.recipe is not None and not each.estimated
        ]
        self._audited: dict[str, Audited | Failure] = {}

    def audits(self) -> dict[str, AuditTask]:
        """What is to be found out of each tokenizer, by canonical spec: whenever there is time."""
        return {subject.entry.key: self._task(subject) for subject in self._ready}

    def take(self, task: AuditTask, found: Audited | Failure) -> None:
        """What was found, by whichever thread."""
        self._audited[task.recipe.key] = found

    def finish(self, folder: RunFolder, failed: Collection[CellKey]) -> Inspections:
        """Write ``samples.json``, ``audits.json`` and ``diffs.json``, and give what metrics need of them.

        `failed` are the cells that could not be counted.
        """
        from tokbench.inspection.audit import VocabularyAudit

        samples = choose_samples(self._plan.corpora, self._plan.suite.samples, self._plan.limits)
        with ThreadPoolExecutor(self._plan.jobs) as threads:
            looks = list(threads.map(lambda subject: self._look(subject, samples, failed), self._ready))
        found = Inspections()
        views: list[list[dict[str, Any]]] = [[] for _ in samples]
        audits: dict[str, Any] = {}
        injected: dict[str, Any] = {}
        for subject, shown in zip(self._ready, looks, strict=True):
            key = subject.entry.key
            seen = self._audited[key]
            if isinstance(seen, Failure):
                found.failures[key] = seen
                continue
            if isinstance(shown, Failure):
                found.failures[key] = shown
                continue
            for index, pieces in shown.items():
                views[index].append({"tokenizer": key, "pieces": pieces})
            for language, counts in seen.morphology.items():
                found.morphology[key, language] = counts
            if seen.injections is not None:
                injected[key] = seen.injections
            if seen.audit is not None:
                audits[key] = seen.audit
                found.audits[key] = VocabularyAudit.from_json(seen.audit)
        write_json(folder.samples, [_shown(sample, view) for sample, view in zip(samples, views, strict=True)])
        write_json(folder.audits, audits)
        if self._plan.suite.injection:
            write_json(folder.injections, injected)
        write_json(folder.diffs, diff_all(self._plan, self._ready, found.audits, failed))
        return found

    def _task(self, subject: Subject) -> AuditTask:
        suite = self._plan.suite
        gold = {tag: (entry.path, entry.format) for tag, entry in suite.morphology.items()}
        size = subject.about.vocab_size if subject.about else 0
        assert subject.recipe is not None
        return AuditTask(
            subject.recipe,
            suite.audit and size <= LARGEST_AUDIT,
            suite.injection,
            gold,
            self._plan.cache,
            self._plan.limits,
        )

    def _look(
        self, subject: Subject, samples: Sequence[Sample], failed: Collection[CellKey]
    ) -> dict[int, list[dict[str, Any]]] | Failure:
        key = subject.entry.key
        if key not in self._audited:  # its cells were counted by an earlier run, or elsewhere
            self.take(task := self._task(subject), run_audit(task))
        shown = {
            index: sample.text
            for index, sample in enumerate(samples)
            if CellKey(key, sample.dataset, sample.language) not in failed
        }
        if not shown or isinstance(self._audited[key], Failure):
            return {}
        assert subject.recipe is not None
        doing = "while passages were shown to it"
        return attempt(show, subject.recipe, shown, limits=self._plan.limits, doing=doing)


def _shown(sample: Sample, views: list[dict[str, Any]]) -> dict[str, Any]:
    head, _, tail = sample.dataset.partition(":")
    return {
        "title": f"{tail.rpartition('/')[2] or head}, {sample.language}",
        "dataset": sample.dataset,
        "language": sample.language,
        "text": sample.text,
        "tokenizations": views,
    }


def choose_samples(corpora: Sequence[Corpus], n: int, limits: Limits = NO_LIMITS) -> list[Sample]:
    """About `n` passages: the same number of each dataset, from languages spread over those it has.

    Where there is English it is among them, so that most readers can read one. What cannot be read gives none:
    the cells of that text say so already.
    """
    chosen: list[Sample] = []
    for index, corpus in enumerate(corpora):
        share = n * (index + 1) // len(corpora) - n * index // len(corpora)
        languages = sorted(corpus.shards, key=lambda code: not re.match(r"en(g|\b)", code))
        step = max(1, len(languages) // share) if share else 1
        for language in languages[::step][:share]:
            shard = corpus.shards[language][0]
            text = attempt(read_sample, corpus.recipe, shard, limits=limits, again=True)
            if isinstance(text, str):
                chosen.append(Sample(corpus.recipe.key, language, text))
    return chosen


# --- in a worker --------------------------------------------------------------------------------------------


def read_sample(emit: Emit, recipe: DatasetRecipe, shard: Shard) -> str | None:
    """The first document that is long enough to show something; failing that the first of all, shortened."""
    first = None
    for document in recipe.load().read(shard):
        text = document.text.strip("\n")
        if SAMPLE_CHARS // 5 <= len(text) <= SAMPLE_CHARS:
            return text
        first = first or text
        if len(text) > SAMPLE_CHARS:
            break
    return first[:SAMPLE_CHARS] if first else None


def show(emit: Emit, recipe: Recipe, texts: Mapping[int, str]) -> dict[int, list[dict[str, Any]]]:
    """Tokenize some passages."""
    from tokbench.inspection.pieces import pieces

    tokenizer = loaded(recipe)
    return {index: [piece.as_json() for piece in pieces(tokenizer, text)] for index, text in texts.items()}


def run_audit(task: AuditTask) -> Audited | Failure:
    """What is found of a tokenizer in a worker, or why nothing is."""
    return attempt(audit_one, task, limits=task.limits, doing="while its vocabulary was audited")


def audit_one(emit: Emit, task: AuditTask) -> Audited:
    """Audit the vocabulary (or find the audit made before), score the gold words."""
    scores = {}
    for language, (path, form) in task.gold.items():
        from tokbench.metrics.gold import read_gold
        from tokbench.metrics.morphology import score

        scores[language] = score(loaded(task.recipe), read_gold(Path(path), form).words)
    audited = _content(task.recipe, task.cache) if task.audit else None
    return Audited(audited, _injected(task.recipe) if task.injection else None, scores)


def _injected(recipe: Recipe) -> list[dict[str, Any]]:
    """What control strings in plain text become; empty for a tokenizer that has none."""
    from tokbench.lint.injection import injections, summary
    from tokbench.lint.subject import subject_of

    return summary(injections(subject_of(recipe.registry.load(), recipe.spec, {})))


def _content(recipe: Recipe, cache: TallyCache | None) -> dict[str, Any]:
    import tokbench.inspection
    from tokbench.inspection.audit import audit

    key = digest_of("audit", recipe.fingerprint, source_digest(str(tokbench.inspection.__file__)))
    # A tokenizer trained here is named after the file it lies in; the run knows it by its spec.
    return remembered(cache, key, lambda: {**audit(loaded(recipe)).to_json(), "tokenizer": recipe.key})
