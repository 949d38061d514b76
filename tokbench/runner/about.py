"""What a worker tells of a tokenizer before it counts: that it loads, and its facts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokbench.inspection.facts import facts
from tokbench.registry import PluginChoice
from tokbench.runner.counting import loaded
from tokbench.runner.recipe import Recipe, TrainingRecipe, file_digests, fingerprint, open_registry, versions
from tokbench.runner.spool import spool, spooled
from tokbench.runner.training import Trained, corpus_digest, ensure_trained
from tokbench.runner.worker import Emit
from tokbench.spec import Spec
from tokbench.tokenizer import LoadContext, special_ids, unk_id


@dataclass(frozen=True, slots=True)
class About:
    """What the manifest says of a tokenizer that loads; everything in it is ready for JSON."""

    name: str
    vocab_size: int
    special_tokens: int
    unk_id: int | None
    load_seconds: float
    facts: dict[str, Any] = field(default_factory=dict)


def about(emit: Emit, recipe: Recipe) -> About:
    """Load a tokenizer and tell of it."""
    begun = time.perf_counter()
    tokenizer = loaded(recipe)
    seconds = time.perf_counter() - begun
    registry = open_registry(recipe.plugins, recipe.context)
    known = facts(tokenizer, registry.tokenizers[recipe.spec.family], recipe.spec, recipe.context)
    return About(
        name=tokenizer.name,
        vocab_size=int(tokenizer.vocab_size),
        special_tokens=len(special_ids(tokenizer)),
        unk_id=unk_id(tokenizer),
        load_seconds=seconds,
        facts={key: value for key, value in known.items() if key not in ("files", "libraries")},
    )


def digest_training(emit: Emit, corpus: TrainingRecipe) -> str:
    """The digest of a training corpus."""
    return corpus_digest(corpus.load())


def spool_training(emit: Emit, corpus: TrainingRecipe, path: Path) -> Path | None:
    """Put the text of a training corpus aside where that is worth it."""
    return spool(corpus.load(), path)


def train_one(
    emit: Emit, spec: Spec, corpus: TrainingRecipe, aside: Path | None, digest: str, folder: Path
) -> Trained:
    """Train one tokenizer, on the text put `aside` where there is one."""
    text = corpus.load() if aside is None else spooled(aside, corpus.key)
    return ensure_trained(
        corpus.registry(),
        spec,
        text,
        digest,
        folder,
        progress=lambda fraction, doing: emit(("training", str(spec), fraction, doing)),
    )


def recipe_of(
    plugins: PluginChoice, context: LoadContext, spec: Spec, trained: Trained | None
) -> tuple[Recipe, list[dict[str, Any]], dict[str, str]]:
    """The recipe of a tokenizer, with the files and the library versions it depends on."""
    registry = open_registry(plugins, context)
    family = registry.tokenizers[spec.family]
    loads = spec if trained is None else trained.spec
    named: Sequence[Any] = [trained.path] if trained is not None else ()
    if trained is None and family.files is not None:
        named = family.files(spec, context)
    files = file_digests(named)
    print_ = trained.fingerprint if trained is not None else fingerprint(registry, spec, files)
    return Recipe(str(spec), loads, plugins, context, print_), files, versions(family.libraries)
