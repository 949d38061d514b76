"""Turn paths into tokens in plain Python: ids, bytes and offsets; `emitting` is the compiled form.

Used for sampled and n-best paths, traces, and BPE models with unused pieces, which the kernels do not support
(see `sentencepiece.spm_bpe`). Unknown characters are spelled in bytes, or several in a row become one token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise, starmap
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench_subword.unigram.paths import UNKNOWN_PIECE, Node

_MARK = "\u2581".encode()


def byte_piece(byte: int) -> str:
    """The piece that stands for one byte.

    Example:
        >>> byte_piece(10)
        '<0x0A>'
    """
    return f"<0x{byte:02X}>"


def byte_ids_of(ids: Mapping[str, int], *, where: str) -> NDArray[np.int32]:
    """The id of each byte's piece: int32 of ``(256,)``, or of ``(0,)`` if there are no byte pieces.

    Raises `TokenizerError` if only some bytes have a piece.
    """
    known = [index for byte in range(256) if (index := ids.get(byte_piece(byte))) is not None]
    if len(known) not in (0, 256):
        missing = next(piece for piece in map(byte_piece, range(256)) if piece not in ids)
        raise TokenizerError(
            f"{where}: byte_fallback with only {len(known)} of the 256 byte pieces ({missing!r} is missing), "
            "which this plugin does not support; load the tokenizer with `transformers:` instead"
        )
    return np.array(known, np.int32)


class UnknownRules(Protocol):
    """A model's rules for unknown characters: a `Unigram`, or a vocabulary of sentencepiece.

    `byte_ids` are the ids of byte tokens, of ``(256,)``, or of ``(0,)`` without byte fallback. If `escaped`, a
    space in internal text means U+2581.
    """

    unk_id: int | None
    byte_ids: NDArray[np.int32]
    escaped: bool


class PathToken(NamedTuple):
    """A token: its id, or -1 without one; its start and end in internal text; its bytes."""

    id: int
    start: int
    end: int
    text: bytes


def tokens_of_path(rules: UnknownRules, data: bytes, path: Iterable[Node]) -> list[PathToken]:
    """The tokens of a path through internal text `data`.

    In a `tokenizer.json` the text of the unknown token itself is a piece like any other, but next to unknown
    characters it counts as unknown. A token of one byte has the place of the whole character.
    """
    tokens: list[PathToken] = []
    for unknown, group in groupby(path, lambda node: node.piece in (UNKNOWN_PIECE, rules.unk_id)):
        nodes = list(group)
        if not unknown or (len(nodes) == 1 and nodes[0].piece >= 0):
            tokens += [PathToken(node.piece, *node[:2], data[node.start : node.end]) for node in nodes]
        elif len(rules.byte_ids):
            for start, end, _ in nodes:
                spelled = data[start:end].replace(b" ", _MARK) if rules.escaped else data[start:end]
                tokens += [PathToken(int(rules.byte_ids[byte]), start, end, bytes([byte])) for byte in spelled]
        else:
            start, end = nodes[0].start, nodes[-1].end
            tokens.append(PathToken(-1 if rules.unk_id is None else rules.unk_id, start, end, data[start:end]))
    return tokens


def counted(tokens: Sequence[PathToken], rules: UnknownRules) -> str:
    """How many tokens a path has, and how many of them are unknown, for a step of a trace."""
    unknown = sum(token.id in (-1, rules.unk_id) for token in tokens)
    return f"tokens: {len(tokens)}" + (f", of them unknown: {unknown}" if unknown else "")


def ids_of_paths(
    rules: UnknownRules, data: bytes, rows: NDArray[np.integer], ends: list[int]
) -> list[list[int]]:
    """The ids of each path; the paths are given end to end, as rows of (start, end, piece) and their `ends`.

    By `tokens_of_path` alone, drawing a path takes 1.4 times as long over Japanese, 2 over German (T5).
    """
    pieces, unk_id = rows[:, 2], UNKNOWN_PIECE if rules.unk_id is None else rules.unk_id
    unknown = (pieces == UNKNOWN_PIECE) | (pieces == unk_id)
    if unknown.any():
        if len(rules.byte_ids):
            nodes = list(starmap(Node, rows.tolist()))
            paths = (nodes[start:end] for start, end in pairwise([0, *ends]))
            return [[token.id for token in tokens_of_path(rules, data, path)] for path in paths]
        kept = np.ones(len(rows) + 1, np.bool_)  # rows, except those that continue an unknown run
        kept[1:-1] = ~(unknown[1:] & unknown[:-1])
        kept[[0, *ends]] = True  # another path begins there
        pieces = np.where(unknown, unk_id, pieces)[kept[:-1]]
        ends = np.append(0, np.cumsum(kept[:-1]))[ends].tolist()
    ids: list[int] = pieces.tolist()
    return [ids[start:end] for start, end in pairwise([0, *ends])]
