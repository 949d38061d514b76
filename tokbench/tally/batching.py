"""Documents and blocks of them in batches of about a size, however they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tokbench.corpus import Document, TextBlock


def batched_documents(documents: Iterable[Document], batch_bytes: int) -> Iterator[list[Document]]:
    """Documents in lists of about `batch_bytes`."""
    waiting: list[Document] = []
    size = 0
    for document in documents:
        waiting.append(document)
        size += len(document.text) if document.text.isascii() else 2 * len(document.text)
        if size >= batch_bytes:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def batched(blocks: Iterable[TextBlock], batch_bytes: int) -> Iterator[TextBlock]:
    r"""The documents of `blocks` in blocks of about `batch_bytes`, small ones joined and large ones cut.

    Example:
        >>> some = [TextBlock.of(["a"]), TextBlock.of(["b", "c", "d"]), TextBlock.of(["e"])]
        >>> [block.data for block in batched(some, 4)]
        [b'a\nb\n', b'c\nd\n', b'e\n']
    """
    waiting: list[TextBlock] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block.data)
        if size >= batch_bytes:
            yield from _cut(_joined(waiting), batch_bytes)
            waiting, size = [], 0
    if size:
        yield _joined(waiting)


def _joined(blocks: Sequence[TextBlock]) -> TextBlock:
    import numpy as np

    if len(blocks) == 1:
        return blocks[0]
    sizes = np.cumsum([0, *(len(block.data) for block in blocks)])
    ends = np.concatenate([block.ends + size for block, size in zip(blocks, sizes, strict=False)])
    return TextBlock(b"".join(block.data for block in blocks), ends)


def _cut(block: TextBlock, size: int) -> Iterator[TextBlock]:
    """Parts of about the same size each."""
    import numpy as np

    total = len(block.data)
    parts = max(1, round(total / size))
    cuts = np.searchsorted(block.ends, total * np.arange(1, parts) // parts)
    first = begin = 0
    for last in [*cuts.tolist(), len(block)]:
        if last > first:
            end = int(block.ends[last - 1]) + 1
            yield TextBlock(block.data[begin:end], block.ends[first:last] - begin)
            first, begin = last, end
