"""The first symbols of a training: bytes or characters, in the order that decides ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench_subword.pipeline.byte_alphabet import CHARACTER_OF
from tokbench_subword.training.ties import HF

Symbols = tuple[NDArray[np.int32], NDArray[np.int64], list[bytes]]
"""The symbols of all words end to end, the start of each word (and the last end), each symbol's bytes."""


def byte_order(rule: int) -> list[int]:
    """The 256 bytes in the order of their first ids.

    That is the order of values, except with the rule `hf`: then it is the order of the byte alphabet of GPT-2's
    `vocab.json`. In it a byte that is printable in Latin-1 is its own character; the others follow from U+0100.
    """
    return list(CHARACTER_OF if rule == HF else range(256))


def characters_of(words: WordCounts) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The code points of all words end to end, and the start of each word in them (and the end of the last).

    Example:
        >>> points, starts = characters_of(WordCounts.of({"aé": 2, "b": 1}))
        >>> points.tolist(), starts.tolist()
        ([97, 233, 98], [0, 2, 3])
    """
    begun = np.append(0, np.cumsum((words.data & 0xC0) != 0x80))  # characters before each byte
    points = np.frombuffer(words.data.tobytes().decode("utf-8").encode("utf-32-le"), np.uint32)
    return points, begun[words.starts]


def byte_symbols(words: WordCounts, rule: int, alphabet: frozenset[str] | None) -> Symbols:
    """Each byte as a symbol: all 256 if `alphabet` is None, else those seen and the UTF-8 of `alphabet`."""
    seen = np.full(256, alphabet is None)
    if alphabet is not None:
        seen[words.data] = True
        seen[list("".join(alphabet).encode("utf-8", "surrogatepass"))] = True
    order = [byte for byte in byte_order(rule) if seen[byte]]
    symbol_of = np.zeros(256, np.uint8)
    symbol_of[order] = np.arange(len(order))
    symbols = np.frombuffer(words.data.tobytes().translate(symbol_of.tobytes()), np.uint8)
    return symbols.astype(np.int32), words.starts, [bytes([byte]) for byte in order]


def character_symbols(
    words: WordCounts, alphabet: frozenset[str], end_of_word: str = "", *, prefix: str = ""
) -> Symbols:
    """Each character as a symbol, in the order of code points.

    The last character of a word with `end_of_word`, or all but the first with `prefix`, are other symbols,
    which come after the plain ones.

    Example:
        >>> character_symbols(WordCounts.of({"aba": 1}), frozenset("c"), prefix="##")[::2]
        (array([0, 4, 3], dtype=int32), [b'a', b'b', b'c', b'##a', b'##b'])
    """
    points, starts = characters_of(words)
    wrong = next((text for text in alphabet if len(text) != 1), None)
    if wrong is not None:
        raise TokenizerError(f"initial_alphabet must contain single characters; {wrong!r} has {len(wrong)}")
    known = np.union1d(points, np.array(sorted(map(ord, alphabet)), np.int64)).astype(np.int64)
    tokens = [chr(point).encode("utf-8", "surrogatepass") for point in known.tolist()]
    symbols = np.searchsorted(known, points).astype(np.int32)
    marked = np.zeros(len(symbols), np.bool_)
    if end_of_word:
        marked[starts[1:][np.diff(starts) > 0] - 1] = True
    elif prefix:
        marked[:] = True
        marked[starts[:-1][np.diff(starts) > 0]] = False
    others, numbers = np.unique(symbols[marked], return_inverse=True)
    symbols[marked] = len(tokens) + numbers
    tokens += [prefix.encode() + tokens[index] + end_of_word.encode() for index in others.tolist()]
    return symbols, starts, tokens
