"""Checks that a trained tokenizer is the same when loaded from its file, and when trained once more."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokbench.capabilities import Savable
from tokbench.registry import Registry
from tokbench.spec import Spec, with_defaults
from tokbench.testing.check import Failure
from tokbench.testing.texts import EDGE_CASES
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus

REMEDY = "save all that encode depends on; train by nothing but the text, the options and a fixed seed."


def trained(
    registry: Registry, spec: Spec, corpus: TrainingCorpus, folder: Path
) -> tuple[Tokenizer, Spec] | Failure:
    """A tokenizer trained on a text, saved into `folder`, with the spec of its file; or what is wrong."""
    family = registry.tokenizers[spec.family]
    assert family.train is not None
    heard: list[float] = []
    options: Mapping[str, Any] = with_defaults(family.options, spec.options)
    tokenizer = family.train(corpus, options, lambda fraction, doing: heard.append(fraction))
    if not isinstance(tokenizer, Savable):
        return Failure("train", "what train returned has no save(path)", None, "offer save(path).")
    wrong = [fraction for fraction in heard if not 0 <= fraction <= 1]
    if wrong:
        return Failure("train", f"progress was told {wrong[0]}", None, "tell progress fractions from 0 to 1.")
    path = folder / f"trained{family.trained_suffix}"
    tokenizer.save(path)
    if not path.exists():
        found = f"save({path.name!r}) wrote nothing there"
        return Failure("train", found, None, "write what load opens to the path that save is given.")
    return tokenizer, Spec(spec.family, str(path))


def trained_failures(registry: Registry, spec: Spec, corpus: TrainingCorpus, folder: Path) -> list[Failure]:
    """What is wrong with training, saving and loading; the file stays in `folder` for further checks."""
    first = trained(registry, spec, corpus, folder)
    if isinstance(first, Failure):
        return [first]
    tokenizer, where = first
    failures = []
    loaded = registry.load(where)
    if loaded.vocab_size != tokenizer.vocab_size:
        found = f"trained with {tokenizer.vocab_size} ids, loaded with {loaded.vocab_size}"
        failures.append(Failure("train", found, None, REMEDY))
    if text := _differs(tokenizer, loaded):
        failures.append(Failure("train", "loaded from its file, it gives other ids", text, REMEDY))
    with tempfile.TemporaryDirectory() as second:
        again = trained(registry, spec, corpus, Path(second))
        if not isinstance(again, Failure) and (text := _differs(tokenizer, again[0])):
            failures.append(
                Failure("train", "trained once more on that text, it gives other ids", text, REMEDY)
            )
    return failures


def _differs(one: Tokenizer, other: Tokenizer) -> str | None:
    """A text on which two tokenizers do not agree."""
    return next((text for text in EDGE_CASES if list(one.encode(text)) != list(other.encode(text))), None)
