"""Which tokenizers of a run claim to be the same, and whether they give the same ids on its text.

Two claim the same vocabulary where nearly all their tokens stand for the same bytes; each such tokenizer is
compared with the first of its kind. Pairs that the suite names are compared whatever their vocabularies. The
text is a bounded part of every corpus, the same for all pairs; `tokbench diff` takes all of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tokbench.corpus import Shard
from tokbench.inspection.overlap import same_numbering, same_vocabulary
from tokbench.metrics.measurement import CellKey
from tokbench.results.failure import TaskFailure
from tokbench.runner.cache import TallyCache, remembered
from tokbench.runner.fingerprint import digest_of, source_digest
from tokbench.runner.picking import Sample, found_by_worker, in_turn, pick, utf8_bytes
from tokbench.runner.recipe import DatasetRecipe, Recipe, key_of, loaded
from tokbench.runner.training.candidates import Candidate
from tokbench.workers.calls import Emit
from tokbench.workers.pool import attempt

if TYPE_CHECKING:
    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.runner.planning.opening import Corpus  # which a worker does without, and
    from tokbench.runner.planning.plan import Plan

MOST_DOCUMENTS = 2_000
MOST_BYTES = 1_000_000
MOST_CHARS = 10_000
"""Code points compared of one document: a whole book would leave no room for others of its corpus."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tokenizers to diff, by canonical spec; `named` by the suite, or claiming the same vocabulary.

    `by_bytes`: their vocabularies number the same tokens differently, so that ids say nothing.
    """

    a: str
    b: str
    named: bool
    by_bytes: bool


def pairs_of(
    audits: Mapping[str, VocabularyAudit], ready: Collection[str], named: Sequence[tuple[str, str]]
) -> list[Pair]:
    """The pairs to compare: those `named`, then each tokenizer with the first that claims its vocabulary."""
    found: dict[frozenset[str], Pair] = {}
    for a, b in named:
        if a in ready and b in ready:
            known = a in audits and b in audits
            apart = known and not same_numbering(audits[a], audits[b])
            claimed = known and same_vocabulary(audits[a], audits[b])
            found[frozenset((a, b))] = Pair(a, b, named=True, by_bytes=apart and claimed)
    firsts: list[str] = []
    for b in audits:
        first = next((a for a in firsts if same_vocabulary(audits[a], audits[b])), None)
        if first is None:
            firsts.append(b)
            continue
        by_bytes = not same_numbering(audits[first], audits[b])
        found.setdefault(frozenset((first, b)), Pair(first, b, named=False, by_bytes=by_bytes))
    return list(found.values())


def diff_all(
    plan: Plan,
    candidates: Sequence[Candidate],
    audits: Mapping[str, VocabularyAudit],
    failed: Collection[CellKey],
) -> dict[str, Any]:
    """The diff of every pair, ready for ``diffs.json``; one that fails is there with its error.

    Documents of cells in which one of the two has `failed` already are left out.
    """
    recipes = {candidate.entry.key: candidate.recipe for candidate in candidates if candidate.recipe}
    named = [
        (key_of(plan.registry.tokenizer_spec(a)), key_of(plan.registry.tokenizer_spec(b)))
        for a, b in plan.suite.diff
    ]
    pairs = pairs_of(audits, recipes, named)
    documents = list(choose_documents(plan)) if pairs else []

    def compared(pair: Pair) -> dict[str, Any]:
        fine = [
            (document.name, document.text)
            for document in documents
            if not any(CellKey(key, document.dataset, document.language) in failed for key in (pair.a, pair.b))
        ]
        a, b = recipes[pair.a], recipes[pair.b]
        found = attempt(diff_one, a, b, fine, pair.by_bytes, plan.cache, limits=plan.limits)
        told = {"error": f"{found.kind}: {found.message}"} if isinstance(found, TaskFailure) else found
        return {**told, "a": pair.a, "b": pair.b, "named": pair.named}

    with ThreadPoolExecutor(plan.jobs) as threads:
        results = list(threads.map(compared, pairs))
    budget = {"documents": MOST_DOCUMENTS, "bytes": MOST_BYTES, "chars_per_document": MOST_CHARS}
    return {"budget": budget, "pairs": results}


def choose_documents(plan: Plan) -> Iterator[Sample]:
    """Documents of every language of every corpus in turn, from the beginning of each, within the budget."""
    languages = [found for corpus in plan.corpora for found in _read(plan, corpus)]
    size = 0
    for count, document in enumerate(in_turn(languages)):
        size += utf8_bytes([document.text])
        if size > MOST_BYTES or count == MOST_DOCUMENTS:
            return
        yield document


def _read(plan: Plan, corpus: Corpus) -> list[list[Sample]]:
    """The beginning of each language."""
    bounds = (MOST_DOCUMENTS, MOST_BYTES, MOST_CHARS)
    languages = list(corpus.shards.values())
    found = found_by_worker(read_beginnings, corpus.recipe, languages, bounds, limits=plan.limits)
    if found is None:
        return []
    key = corpus.recipe.key
    return [
        [Sample(key, language, text, f"{key} {language} {n}") for n, text in enumerate(texts, start=1)]
        for language, texts in zip(corpus.shards, found, strict=True)
    ]


def read_beginnings(
    emit: Emit, recipe: DatasetRecipe, languages: Sequence[Sequence[Shard]], bounds: tuple[int, int, int]
) -> list[list[str]]:
    """In a worker: the first documents of each language in turn, all of them together within the `bounds`."""
    documents, n_bytes, chars = bounds
    found: list[list[str]] = [[] for _ in languages]
    picked = pick(recipe, languages, n_bytes, cut=lambda text: (text[:chars],), unreadable=True)
    for language, text in itertools.islice(picked, documents):
        found[language].append(text)
    return found


def diff_one(
    emit: Emit,
    a: Recipe,
    b: Recipe,
    documents: Sequence[tuple[str, str]],
    by_bytes: bool,
    cache: TallyCache | None,
) -> dict[str, Any]:
    """In a worker: the `TokenizerDiff` of two tokenizers in JSON's types, or the one that was made before."""
    import tokbench.inspection
    from tokbench.inspection.diff import diff

    code = source_digest(str(tokbench.inspection.__file__))
    key = digest_of("diff", a.fingerprint, b.fingerprint, by_bytes, documents, code)

    def compared() -> dict[str, Any]:
        found = diff(loaded(a), loaded(b), documents, by_bytes=by_bytes)
        # A plugin names its tokenizers as it likes; the run knows them by their specs.
        return replace(found, a=a.key, b=b.key).as_json()

    return remembered(cache, key, compared)
