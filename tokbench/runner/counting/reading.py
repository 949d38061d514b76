"""Reads text so that what a plugin's dataset does wrong is said to be that dataset's, and no tokenizer's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tokbench.arguments import kind_of
from tokbench.corpus import Document, TextBlock
from tokbench.errors import CorpusError, TokbenchError, described
from tokbench.registry import registry_of
from tokbench.runner.recipe import DatasetRecipe

Text = Iterator[Document] | Iterator[TextBlock]


def checked_text(text: Text, dataset: DatasetRecipe) -> Text:
    """`text` of a dataset, checked where a plugin reads it, so that no tokenizer is blamed for its errors.

    Raises `CorpusError` that names dataset and plugin.
    """
    return _checked(text, dataset) if _whose(dataset) else text


@contextmanager
def blaming(dataset: DatasetRecipe) -> Iterator[None]:
    """In the block, what a plugin's dataset raises becomes a `CorpusError` that names both."""
    try:
        yield
    except (TokbenchError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit, and what Rust panics with, too
        if whose := _whose(dataset):
            raise CorpusError(f"{whose}: {described(error)}") from error
        raise


def _whose(dataset: DatasetRecipe) -> str:
    """A dataset and its plugin, for errors; empty where that is tokbench's own."""
    registry, family = registry_of(dataset.context), dataset.spec.family
    if registry.in_house(family, "tokbench_datasets"):
        return ""
    return f"the dataset {dataset.key!r} of the plugin {registry.owner(family, 'tokbench_datasets')!r}"


def _checked(text: Text, dataset: DatasetRecipe) -> Iterator[Any]:
    with blaming(dataset):
        for found in text:
            if not isinstance(found, TextBlock) and not (
                isinstance(found, Document) and isinstance(found.text, str)
            ):
                raise CorpusError(
                    f"{_whose(dataset)} gives {kind_of(found)}, where a tokbench.Document with a text is needed"
                )
            yield found
