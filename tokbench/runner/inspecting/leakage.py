"""Whether a measured text was trained on: its lines are looked up in the training text.

A copied file has another name and the same lines. Of each text that is measured, the hashes of its distinct
lines are kept (a fixed number of them, those of the smallest hashes, which is a random choice that is the same
each time); then the training text is read once, and each of its lines is looked up. Lines shorter than
`SHORTEST` bytes are shared by chance, and count only where a text has no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from tokbench.corpus import Shard
from tokbench.runner.cache import TallyCache, remembered
from tokbench.runner.fingerprint import digest_of, reader_digest
from tokbench.runner.picking import found_by_worker, pick
from tokbench.runner.recipe import DatasetRecipe, TrainingRecipe
from tokbench.runner.training.candidates import Candidate
from tokbench.workers.calls import Begun, Emit

if TYPE_CHECKING:
    from tokbench.runner.planning.plan import Plan  # which a worker does without

SHORTEST = 32
"""A line of so many bytes or more is taken not to be repeated by chance."""
MOST_LINES, LEAST_LINES = 400_000, 256
"""Lines kept of all texts together, shared out among languages, and of a language at the least."""
MOST_BYTES = 256_000_000
"""Bytes read of a dataset, spread over its languages and their shards."""

Leaks = dict[str, dict[str, dict[str, int]]]
"""By dataset and language: ``lines`` looked for in the training text, and how many were ``found``."""


Measured = Mapping[DatasetRecipe, Mapping[str, Sequence[Shard]]]
"""What is measured: the shards of each language of each dataset."""


def find_leaks(
    plan: Plan, candidates: Sequence[Candidate], digests: Mapping[tuple[str, str], Sequence[str]]
) -> Leaks:
    """How many lines of what is measured are in the training text; empty where nothing was trained.

    `digests` are those of the shards of each dataset and language. What cannot be read is left out: its cells
    say so already.
    """
    trained = [candidate.training for candidate in candidates if candidate.training]
    if plan.training is None or not trained:
        return {}
    measured = {corpus.recipe: corpus.shards for corpus in plan.corpora}
    readers = [reader_digest(each) for each in (*plan.training.parts, *measured)]
    known = sorted((*key, list(each)) for key, each in digests.items())
    identity = digest_of("leaks 2", trained[0].get("corpus"), known, readers)
    return found_by_worker(look_up, plan.training, measured, identity, plan.cache, limits=plan.limits) or {}


# --- in a worker --------------------------------------------------------------------------------------------


def look_up(
    emit: Emit, training: TrainingRecipe, measured: Measured, identity: str, cache: TallyCache | None
) -> Leaks:
    """Look the lines of `measured` up in the training text; what was found before is not looked up again."""
    return remembered(cache, identity, lambda: _looked_up(emit, training, measured))


def _looked_up(emit: Emit, training: TrainingRecipe, measured: Measured) -> Leaks:
    most = max(LEAST_LINES, MOST_LINES // max(sum(map(len, measured.values())), 1))
    wanted: dict[tuple[str, str], frozenset[int]] = {}
    for recipe, languages in measured.items():
        share = MOST_BYTES // max(len(languages), 1)
        for language, shards in languages.items():
            emit(Begun())  # a time limit is for a language
            texts = (text for _, text in pick(recipe, [_spread(shards, share)], share))
            wanted[recipe.key, language] = lines_of(texts, most)
    anywhere = frozenset().union(*wanted.values())
    met: set[int] = set()
    corpus = training.load()
    for shard in corpus.shards() if anywhere else ():
        emit(Begun())
        for document in corpus.dataset.read(shard):
            met.update(line for line in map(hash_of, document.text.split("\n")) if line in anywhere)
    leaks: Leaks = {}
    for (dataset, language), lines in wanted.items():
        leaks.setdefault(dataset, {})[language] = {"lines": len(lines), "found": len(lines & met)}
    return leaks


def hash_of(line: str) -> int:
    """64 bits that stand for a line, blanks at its ends left out."""
    data = line.strip().encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def lines_of(texts: Iterable[str], most: int) -> frozenset[int]:
    r"""The `most` smallest hashes of the distinct lines of some texts, of those long enough if there are any.

    Example:
        >>> texts = ["a line that is long enough to be told\nand\n", "one", "one"]
        >>> len(lines_of(texts, 10)), len(lines_of(["and\n", "one", "one"], 10)), len(lines_of(texts, 0))
        (1, 2, 0)
    """
    long: set[int] = set()
    short: set[int] = set()
    for text in texts:
        for line in text.split("\n"):
            bare = line.strip()
            if not bare:
                continue
            kept = long if len(bare) >= SHORTEST or len(bare.encode("utf-8", "replace")) >= SHORTEST else short
            kept.add(hash_of(bare))
            if len(kept) > 2 * most + LEAST_LINES:
                kept.intersection_update(sorted(kept)[:most])
    return frozenset(sorted(long or short)[:most])


def _spread(shards: Sequence[Shard], n_bytes: int) -> Sequence[Shard]:
    """Shards of about so many bytes, at equal distances among all."""
    size = sum(shard.n_bytes for shard in shards)
    return shards[:: max(1, -(-size // max(n_bytes, 1)))]
