"""Checks of a dataset that is loaded."""

from __future__ import annotations

from collections.abc import Iterator

from tokbench.corpus import Dataset, Document, Shard, TextBlock, read_text
from tokbench.testing.check import ConformanceCheck, Problem


def _first_shards(dataset: Dataset) -> Iterator[Shard]:
    """The shards that are read: three of each language."""
    return (shard for language in dataset.languages for shard in list(dataset.shards(language))[:3])


@ConformanceCheck.of("languages", "languages is a fixed sequence of tags, each once.")
def _languages(dataset: Dataset) -> Problem:
    found = list(dataset.languages)
    if not found or any(not isinstance(each, str) or not each for each in found):
        return f"languages is {found}; name at least one"
    if found != list(dataset.languages) or len(set(found)) < len(found):
        return f"languages is {found}: each once, in a fixed order"
    return None


@ConformanceCheck.of("shards", "shards(language) gives the shards of that language, always the same.")
def _shards(dataset: Dataset) -> Problem:
    for language in dataset.languages:
        wrong = [shard for shard in dataset.shards(language) if shard.language != language]
        if wrong:
            return f"shards({language!r}) has one of {wrong[0].language!r}"
        if list(dataset.shards(language)) != list(dataset.shards(language)):
            return f"shards({language!r}) is not the same twice"
    return None


@ConformanceCheck.of("documents", "read(shard) yields tokbench.Document with the text as str.")
def _documents(dataset: Dataset) -> Problem:
    there = False
    for shard in _first_shards(dataset):
        for document in dataset.read(shard):
            if not isinstance(document, Document) or not isinstance(document.text, str):
                text = getattr(document, "text", None)
                of = f" of {type(text).__name__}" if isinstance(document, Document) else ""
                return f"read yields {type(document).__name__}{of}, not a Document of str"
            there = True
    return None if there else "there is no document in the first shards of any language"


@ConformanceCheck.of(
    "words", "gold words are (start, end) in code points of the text, in order, without overlap."
)
def _words(dataset: Dataset) -> Problem:
    from tokbench.tally.prepare import gold_words

    for shard in _first_shards(dataset):
        for document in dataset.read(shard):
            list(gold_words(document))
    return None


@ConformanceCheck.of("again", "read and digest depend on nothing but the shard.")
def _again(dataset: Dataset) -> Problem:
    for shard in _first_shards(dataset):
        if list(dataset.read(shard)) != list(dataset.read(shard)):
            return f"read gives other documents the second time, for {shard.source}"
        if not isinstance(dataset.digest(shard), str) or not dataset.digest(shard):
            return f"digest gives {dataset.digest(shard)!r}, not a hash of the text as str"
        if dataset.digest(shard) != dataset.digest(shard):
            return f"digest is not the same twice, for {shard.source}"
    return None


@ConformanceCheck.of("digest", "digest is a hash of what read yields.")
def _digests(dataset: Dataset) -> Problem:
    seen: dict[str, list[str]] = {}
    for shard in _first_shards(dataset):
        texts = [document.text for document in dataset.read(shard)]
        if seen.setdefault(dataset.digest(shard), texts) != texts:
            return "two shards with different text have the same digest, so they would share cached counts"
    return None


@ConformanceCheck.of("blocks", "read_blocks gives the documents of read, or None.")
def _blocks(dataset: Dataset) -> Problem:
    for shard in _first_shards(dataset):
        one = [document.text for document in dataset.read(shard)]
        many: list[str] = []
        for part in read_text(dataset, shard):
            many += part.texts() if isinstance(part, TextBlock) else [part.text]
        if one != many:
            return f"read_blocks gives {len(many)} documents that are not the {len(one)} of read"
    return None


@ConformanceCheck.of(
    "parallel", "give each document its line, the same in every language, or say parallel = False."
)
def _lines(dataset: Dataset) -> Problem:
    if not dataset.parallel:
        return None
    found = {
        language: [each.line for shard in dataset.shards(language) for each in dataset.read(shard)]
        for language in dataset.languages
    }
    bare = next((name for name, own in found.items() if None in own), None)
    if bare is not None:
        return f"parallel, but a document of {bare} has no line"
    other = next((name for name, own in found.items() if own != next(iter(found.values()))), None)
    return f"parallel, but the lines of {other} are not those of the first language" if other else None


READABLE = (_languages, _shards, _documents)
"""Without these nothing can be read."""
READ = (_words, _again, _digests, _blocks, _lines)
"""Of what is read."""
