"""Datasets of a run as they are opened: what each states of itself, its languages and shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tokbench.corpus import CountedDataset, Dataset, Shard
from tokbench.errors import CorpusError
from tokbench.registry import Registry
from tokbench.results.failure import TaskFailure
from tokbench.runner.recipe import DatasetRecipe
from tokbench.spec import Spec
from tokbench.tally.counters import CorpusFacts
from tokbench.workers.calls import Emit, Limits
from tokbench.workers.pool import attempt

SMALL_RUN = 500_000
"""Bytes, over all tokenizers, that are counted sooner than a second process has started."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """One dataset of the suite: what it states of itself, and the facts and the shards of each language.

    The dataset itself stays where it was opened: the code of plugins runs in workers only. `counted`, of a
    dataset of counts, says how its text was cut and for what spec; else None. `about` is for the manifest, and
    `label` how it is to be shown, if said.
    """

    recipe: DatasetRecipe
    parallel: bool
    kind: str
    counted: tuple[str, str] | None
    about: Mapping[str, Any]
    facts: Mapping[str, CorpusFacts]
    shards: Mapping[str, tuple[Shard, ...]]
    label: str = ""

    @property
    def n_bytes(self) -> int:
        """The expected bytes of text."""
        return sum(shard.n_bytes for shards in self.shards.values() for shard in shards)


def opened(registry: Registry, spec: Spec, limits: Limits) -> Corpus:
    """Open a dataset and tell of what it lacks; raises `CorpusError` where it cannot be, or has no text."""
    recipe = DatasetRecipe.of(registry, spec)
    ours = registry.in_house(spec.family, "tokbench_datasets")
    found = open_corpus(None, recipe, registry) if ours else attempt(open_corpus, recipe, limits=limits)
    if isinstance(found, TaskFailure):
        owner = registry.owner(spec.family, "tokbench_datasets")
        raise CorpusError(f"{spec}: the plugin {owner!r} could not open it: {found.kind}: {found.message}")
    if lacks := found.about.get("lacks"):
        registry.tell(f"{spec}: {lacks}")
    return found


def _is_blank(dataset: Dataset, shards: Sequence[Shard]) -> bool:
    """Whether no document of a small dataset holds text; of a large one, that is told when it is counted."""
    if not 0 < sum(shard.n_bytes for shard in shards) < SMALL_RUN:
        return False
    try:
        texts = (document.text for shard in shards for document in dataset.read(shard))
        return all(not text or text.isspace() for text in texts)
    except CorpusError:
        return False


def open_corpus(emit: Emit | None, recipe: DatasetRecipe, registry: Registry | None = None) -> Corpus:
    """Open a dataset, in a worker where its code is a plugin's, and give what the plan needs of it."""
    dataset = recipe.load() if registry is None else registry.dataset(recipe.spec)
    if isinstance(dataset.languages, str):
        raise CorpusError(f"{recipe.spec}: languages is {dataset.languages!r}, not a list of tags")
    shards = {str(language): tuple(dataset.shards(language)) for language in dataset.languages}
    every = tuple(chain(*shards.values()))
    read_here = emit is None and not isinstance(dataset, CountedDataset)
    if not every or (read_here and _is_blank(dataset, every)):
        raise CorpusError(f"{recipe.spec}: there is no text in it, or all of it is blank")
    told = getattr(dataset, "facts", None)
    return Corpus(
        recipe,
        bool(dataset.parallel),
        str(getattr(dataset, "kind", "text")),
        (dataset.cut, dataset.wanted) if isinstance(dataset, CountedDataset) else None,
        dict(told()) if callable(told) else {},
        {language: CorpusFacts.of(dataset, language) for language in shards},
        {language: found for language, found in shards.items() if found},
    )
