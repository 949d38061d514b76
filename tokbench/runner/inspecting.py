"""What a run shows beside figures: passages tokenized by everyone, vocabulary audits, gold words, diffs."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import CorpusError
from tokbench.metrics.metric import CellKey
from tokbench.results.atomic import write_json
from tokbench.results.cell import Failure
from tokbench.results.folder import RunFolder
from tokbench.runner.cache import TallyCache
from tokbench.runner.counting import failure, loaded
from tokbench.runner.differing import compare_all
from tokbench.runner.limits import CallFailed, Limits, WorkerLost
from tokbench.runner.plan import Corpus, Plan
from tokbench.runner.pool import borrowed
from tokbench.runner.recipe import Recipe, digest_of, source_digest
from tokbench.runner.subjects import Subject
from tokbench.runner.worker import Emit

if TYPE_CHECKING:
    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.metrics.morphology import MorphCounts

SAMPLE_CHARS = 280
LARGEST_AUDIT = 600_000
"""Ids up to which a run audits a vocabulary by itself; `tokbench audit` takes any (all of Unicode, say)."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A passage that every tokenizer is shown with."""

    dataset: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one worker saw of one tokenizer."""

    pieces: dict[int, list[dict[str, Any]]]
    audit: dict[str, Any] | None
    morphology: dict[str, MorphCounts]


@dataclass
class Inspections:
    """What was seen of all of them, by canonical spec."""

    audits: dict[str, VocabularyAudit] = field(default_factory=dict)
    morphology: dict[tuple[str, str], MorphCounts] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)


def inspect_all(
    plan: Plan, subjects: Sequence[Subject], folder: RunFolder, failed: Collection[CellKey]
) -> Inspections:
    """Write ``samples.json``, ``audits.json`` and ``diffs.json``, and give what metrics need of them.

    A tokenizer is not shown the passages of cells in which it has `failed` already.
    """
    from tokbench.inspection.audit import VocabularyAudit

    samples = choose_samples(plan.corpora, plan.suite.samples)
    ready = [subject for subject in subjects if subject.ready and subject.recipe is not None]
    with ThreadPoolExecutor(plan.jobs) as threads:
        looks = list(threads.map(lambda subject: _look(plan, subject, samples, failed), ready))
    found = Inspections()
    views: list[list[dict[str, Any]]] = [[] for _ in samples]
    audits: dict[str, Any] = {}
    for subject, seen in zip(ready, looks, strict=True):
        key = subject.entry.key
        if isinstance(seen, Failure):
            found.failures[key] = seen
            continue
        for index, pieces in seen.pieces.items():
            views[index].append({"tokenizer": key, "pieces": pieces})
        for language, counts in seen.morphology.items():
            found.morphology[key, language] = counts
        if seen.audit is not None:
            audits[key] = seen.audit
            found.audits[key] = VocabularyAudit.from_json(seen.audit)
    write_json(folder.samples, [_shown(sample, view) for sample, view in zip(samples, views, strict=True)])
    write_json(folder.audits, audits)
    write_json(folder.diffs, compare_all(plan, ready, found.audits, failed))
    return found


def _look(
    plan: Plan, subject: Subject, samples: Sequence[Sample], failed: Collection[CellKey]
) -> Seen | Failure:
    suite = plan.suite
    cache = TallyCache(plan.registry.context.cache_dir / "tallies") if suite.cache else None
    gold = {tag: (entry.path, entry.format) for tag, entry in suite.morphology.items()}
    limits = Limits(suite.timeout, plan.memory_limit)
    size = subject.about.vocab_size if subject.about else 0
    shown = {
        index: sample
        for index, sample in enumerate(samples)
        if CellKey(subject.entry.key, sample.dataset, sample.language) not in failed
    }
    audits = suite.audit and size <= LARGEST_AUDIT
    try:
        with borrowed() as worker:
            seen: Seen = worker.call(look, subject.recipe, shown, audits, gold, cache, limits=limits)
    except WorkerLost as loss:
        if loss.kind == "interrupted":
            raise
        return failure(loss.kind, f"while its vocabulary was audited: {loss}", output=loss.output)
    except CallFailed as error:
        return failure(
            error.kind,
            f"while its vocabulary was audited: {error}",
            traceback=error.traceback,
            output=error.output,
        )
    return seen


def _shown(sample: Sample, views: list[dict[str, Any]]) -> dict[str, Any]:
    head, _, tail = sample.dataset.partition(":")
    return {
        "title": f"{tail.rpartition('/')[2] or head}, {sample.language}",
        "dataset": sample.dataset,
        "language": sample.language,
        "text": sample.text,
        "tokenizations": views,
    }


def choose_samples(corpora: Sequence[Corpus], n: int) -> list[Sample]:
    """About `n` passages: the same number of each dataset, from languages spread over those it has.

    Where there is English it is among them, so that most readers can read one.
    """
    chosen: list[Sample] = []
    for index, corpus in enumerate(corpora):
        share = n * (index + 1) // len(corpora) - n * index // len(corpora)
        languages = sorted(corpus.shards, key=lambda code: not re.match(r"en(g|\b)", code))
        step = max(1, len(languages) // share) if share else 1
        for language in languages[::step][:share]:
            text = None
            with contextlib.suppress(CorpusError):  # the cells of this text say so already
                text = next(_fitting(corpus, language), None)
            if text is not None:
                chosen.append(Sample(corpus.recipe.key, language, text))
    return chosen


def _fitting(corpus: Corpus, language: str) -> Iterator[str]:
    """The first document that is long enough to show something; failing that the first of all, shortened."""
    first = None
    for document in corpus.dataset.read(corpus.shards[language][0]):
        text = document.text.strip("\n")
        if SAMPLE_CHARS // 5 <= len(text) <= SAMPLE_CHARS:
            yield text
            return
        first = first or text
        if len(text) > SAMPLE_CHARS:
            break
    if first:
        yield first[:SAMPLE_CHARS]


# --- in a worker --------------------------------------------------------------------------------------------


def look(
    emit: Emit,
    recipe: Recipe,
    samples: Mapping[int, Sample],
    audit: bool,
    gold: Mapping[str, tuple[str, str]],
    cache: TallyCache | None,
) -> Seen:
    """Tokenize the samples, audit the vocabulary (or find the audit made before), score the gold words."""
    from tokbench.inspection.pieces import pieces

    tokenizer = loaded(recipe)
    shown = {
        index: [piece.as_json() for piece in pieces(tokenizer, sample.text)]
        for index, sample in samples.items()
    }
    scores = {}
    for language, (path, form) in gold.items():
        from tokbench.metrics.gold import read_gold
        from tokbench.metrics.morphology import score

        scores[language] = score(tokenizer, read_gold(Path(path), form).words)
    return Seen(shown, _audited(recipe, cache) if audit else None, scores)


def _audited(recipe: Recipe, cache: TallyCache | None) -> dict[str, Any]:
    import tokbench.inspection
    from tokbench.inspection.audit import audit

    key = digest_of("audit", recipe.fingerprint, source_digest(str(tokbench.inspection.__file__)))
    known = cache.get(key) if cache else None
    if known is not None:
        kept: dict[str, Any] = json.loads(known)
        return kept
    # A tokenizer trained here is named after the file it lies in; the run knows it by its spec.
    content = {**audit(loaded(recipe)).to_json(), "tokenizer": recipe.key}
    if cache:
        cache.put(key, json.dumps(content).encode())
    return content
