"""What a run records beside figures: vocabulary audits, passages tokenized, gold words, diffs.

Each tokenizer is looked at by one call in a worker, once all is counted: it is not shown passages of cells in
which it failed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Shard
from tokbench.inspection.audit import VocabularyAudit
from tokbench.metrics.measurement import CellKey
from tokbench.registry import registry_of
from tokbench.results.atomic import write_json
from tokbench.results.failure import TaskFailure
from tokbench.results.folder import RunFolder
from tokbench.runner.cache import TallyCache, remembered
from tokbench.runner.fingerprint import digest_of, source_digest
from tokbench.runner.inspecting.diffs import diff_all
from tokbench.runner.picking import Sample, found_by_worker, pick
from tokbench.runner.recipe import DatasetRecipe, Recipe, loaded
from tokbench.runner.training.candidates import Candidate
from tokbench.workers.calls import NO_LIMITS, Begun, Emit, Limits
from tokbench.workers.interrupt import Stop
from tokbench.workers.pool import attempt

if TYPE_CHECKING:
    from tokbench.metrics.morphemes import MorphCounts
    from tokbench.runner.planning.opening import Corpus  # which a worker does without, and
    from tokbench.runner.planning.plan import Plan

SAMPLE_CHARS = 280
LARGEST_AUDIT = 600_000
"""Ids up to which a run audits a vocabulary by itself; `tokbench audit` takes any (all of Unicode, say)."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found: audit and injections, both for JSON; morphology by language; pieces of each passage."""

    audit: dict[str, Any] | None
    injections: list[dict[str, Any]] | None
    morphology: dict[str, MorphCounts]
    pieces: dict[int, list[dict[str, Any]]]


@dataclass
class Inspections:
    """What metrics need of the inspections of all tokenizers, by canonical spec."""

    audits: dict[str, VocabularyAudit] = field(default_factory=dict)
    morphology: dict[tuple[str, str], MorphCounts] = field(default_factory=dict)
    failures: dict[str, TaskFailure] = field(default_factory=dict)


def inspect_all(
    plan: Plan, candidates: Sequence[Candidate], folder: RunFolder, failed: Collection[CellKey], stop: Stop
) -> Inspections:
    """Look at every tokenizer, each in a worker; write ``samples.json``, ``audits.json`` and ``diffs.json``.

    Gives what metrics need of that. A tokenizer is not shown passages of the cells that have `failed`. Once
    the user asked to stop, no more are begun: that raises `KeyboardInterrupt`.
    """
    ready = [each for each in candidates if each.encodes]
    samples = choose_samples(plan.corpora, plan.suite.samples, plan.limits)
    with ThreadPoolExecutor(plan.jobs) as threads:
        looked = threads.map(lambda candidate: _inspected(plan, candidate, samples, failed, stop), ready)
        looks = dict(zip((candidate.entry.key for candidate in ready), looked, strict=True))
    found = {key: look for key, look in looks.items() if isinstance(look, Inspection)}
    audits = {key: each.audit for key, each in found.items() if each.audit is not None}
    needed = Inspections(
        {key: VocabularyAudit.from_json(audit) for key, audit in audits.items()},
        {(key, tag): counts for key, each in found.items() for tag, counts in each.morphology.items()},
        {key: look for key, look in looks.items() if isinstance(look, TaskFailure)},
    )
    write_json(folder.samples, [_shown(sample, index, found) for index, sample in enumerate(samples)])
    write_json(folder.audits, audits)
    if plan.suite.injection:
        injected = {key: each.injections for key, each in found.items() if each.injections is not None}
        write_json(folder.injections, injected)
    write_json(folder.diffs, diff_all(plan, ready, needed.audits, failed))
    return needed


def _inspected(
    plan: Plan, candidate: Candidate, samples: Sequence[Sample], failed: Collection[CellKey], stop: Stop
) -> Inspection | TaskFailure:
    if stop.asked:
        raise KeyboardInterrupt
    assert candidate.recipe is not None
    suite, size = plan.suite, candidate.about.vocab_size if candidate.about else 0
    gold = {tag: (entry.path, entry.format) for tag, entry in suite.morphology.items()}
    texts = {
        index: sample.text
        for index, sample in enumerate(samples)
        if CellKey(candidate.entry.key, sample.dataset, sample.language) not in failed
    }
    wanted = (suite.audit and size <= LARGEST_AUDIT, suite.injection, gold, texts, plan.cache)
    doing = "while its vocabulary was audited and passages were shown to it"
    return attempt(inspect_one, candidate.recipe, *wanted, limits=plan.limits, doing=doing)


def _shown(sample: Sample, index: int, found: Mapping[str, Inspection]) -> dict[str, Any]:
    head, _, tail = sample.dataset.partition(":")
    return {
        "title": f"{tail.rpartition('/')[2] or head}, {sample.language}",
        "dataset": sample.dataset,
        "language": sample.language,
        "text": sample.text,
        "tokenizations": [
            {"tokenizer": key, "pieces": each.pieces[index]}
            for key, each in found.items()
            if index in each.pieces
        ],
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
            text = found_by_worker(read_sample, corpus.recipe, shard, limits=limits)
            if text is not None:
                chosen.append(Sample(corpus.recipe.key, language, text))
    return chosen


# --- in a worker --------------------------------------------------------------------------------------------


def read_sample(emit: Emit, recipe: DatasetRecipe, shard: Shard) -> str | None:
    """The first document that is long enough to show something; failing that the first of all, shortened."""
    first = None
    for _, document in pick(recipe, [[shard]]):
        text = document.strip("\n")
        if SAMPLE_CHARS // 5 <= len(text) <= SAMPLE_CHARS:
            return text
        first = first or text
        if len(text) > SAMPLE_CHARS:
            break
    return first[:SAMPLE_CHARS] if first else None


def inspect_one(
    emit: Emit,
    recipe: Recipe,
    audit: bool,
    injection: bool,
    gold: Mapping[str, tuple[str, str]],
    texts: Mapping[int, str],
    cache: TallyCache | None,
) -> Inspection:
    """Audit the vocabulary (or find the audit made before), score the gold words, tokenize the passages.

    With `injection` it is also given its own control strings as plain text. `gold` maps a language to the path
    and the format of its gold words; `texts` are passages, by number.
    """
    from tokbench.inspection.pieces import pieces

    scores = {}
    for language, (path, form) in gold.items():
        from tokbench.metrics.gold import read_gold
        from tokbench.metrics.morphemes import score

        scores[language] = score(loaded(recipe), read_gold(Path(path), form).words)
    audited = _audited(recipe, cache) if audit else None
    injected = _injected(recipe) if injection else None
    emit(Begun())  # the passages have the time limit for themselves
    shown = {
        index: [piece.as_json() for piece in pieces(loaded(recipe), text)] for index, text in texts.items()
    }
    return Inspection(audited, injected, scores, shown)


def _injected(recipe: Recipe) -> list[dict[str, Any]]:
    """What control strings in plain text become; empty for a tokenizer that has none."""
    from tokbench.lint.injection import injections, summary
    from tokbench.lint.running import subject_of

    return summary(injections(subject_of(registry_of(recipe.context), recipe.spec, {})))


def _audited(recipe: Recipe, cache: TallyCache | None) -> dict[str, Any]:
    import tokbench.inspection
    from tokbench.inspection.audit import audit

    key = digest_of("audit", recipe.fingerprint, source_digest(str(tokbench.inspection.__file__)))
    # A plugin names its tokenizers as it likes; the run knows them by their specs.
    return remembered(cache, key, lambda: {**audit(loaded(recipe)).to_json(), "tokenizer": recipe.key})
