"""`WordPieceEncoder`: a `WordPieceModel` behind the word cache, by greedy longest match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import inline
from tokbench.kernels.copies import cached_property
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, i64_in, u64_in
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.document import steps_of
from tokbench_subword.pipeline.origins import token_places
from tokbench_subword.pipeline.patterns.cutters import Cutter
from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.pipeline.trie import BASE_SHIFT, build_trie, longest_below, root_of, unit_of
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.words.encoder import WordEncoder
from tokbench_subword.words.layout import MODEL
from tokbench_subword.words.searching import Search

UNITS, SETTINGS = range(MODEL, MODEL + 2)
"""The arrays of a model in the block of `words.layout`."""
CONTINUATION, UNK, LIMIT, BYTES = range(4)
"""Members of SETTINGS, int64: the base of what continues a word, 0 for nothing; the unknown id; the longest
word; and whether that is counted in bytes, each of which is a character of the byte alphabet."""


@inline
def _too_long(text: Bytes, start: Int, length: Int, settings: Ints) -> bool:
    """Whether a word has more characters than the limit."""
    if length <= settings[LIMIT]:
        return False
    if settings[BYTES] == 1:
        return True
    characters = 0
    for i in range(start, start + length):
        characters += (text[i] & 0xC0) != 0x80
    return characters > settings[LIMIT]


@Search
def match_word(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: int) -> int:
    """Write the tokens of a word; return the new end of `out`.

    From each place the longest token, from the root at the beginning of the word and from the base of what
    continues one after it. Where nothing matches, the whole word is one unknown token; so it is where it is too
    long.
    """
    units, settings = u64_in(block, UNITS), i64_in(block, SETTINGS)
    unk = np.int32(settings[UNK])
    if _too_long(text, start, length, settings):
        out[o] = unk
        return o + 1
    count, at, stop = o, start, start + length
    node = root_of(units)
    while at < stop:
        token, end = longest_below(units, node, text, at, stop)
        if token < 0:
            out[o] = unk
            return o + 1
        out[count] = token
        count += 1
        at, node = end, settings[CONTINUATION]
    return count


def preparation_of(model: WordPieceModel, *, match_special: bool = False) -> Preparation:
    """What happens to text before a model; its encoder spells bytes where the model's tokens can be bytes."""
    steps = steps_of(model.document.pre_tokenizer, "pretokenizers")
    last = bool(steps) and steps[-1].get("type") == "ByteLevel"
    by_encoder = last and unspelled(model.prefix) is not None
    return Preparation(document=model.document, match_special=match_special, spelled_by_encoder=by_encoder)


class WordPieceEncoder(WordEncoder):
    """Encodes words with a `WordPieceModel`; `spelled` says that its tokens are letters of the byte alphabet,
    and words are bytes. The others are those of `WordEncoder`.
    """

    def __init__(
        self, model: WordPieceModel, cutters: Sequence[Cutter], *, spelled: bool = False, **options: Any
    ) -> None:
        super().__init__(match_word, _arrays(model, spelled=spelled), cutters=cutters, **options)
        self._model = model

    def locate_words(
        self, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of words, and the bytes of `data` that the tokens stand for: (start, end) of each.

        The tokens of a word take its bytes one after another, as they are written; see `preparation.Locate`.
        """
        batch = self.encode_pretokens(data, words)
        places, told = token_places(batch, self._sizes, words, prefix=_size(self._model.prefix))
        places[batch.offsets[:-1][~told]] = words[~told]  # unknown as a whole
        return batch, places

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """How many bytes each token is written with."""
        sizes = np.zeros(self._model.size, np.int64)
        for token, index in self._model.vocabulary.items():
            sizes[index] = _size(token)
        return sizes


def _size(token: str) -> int:
    return len(token.encode("utf-8", "surrogatepass"))


def _arrays(model: WordPieceModel, *, spelled: bool) -> list[NDArray[Any]]:
    """The arrays of the search."""
    keys = {_key(token, spelled): index for token, index in model.vocabulary.items()}
    units = build_trie({key: index for key, index in keys.items() if key}, nul=True)
    continuation = unit_of(units, _key(model.prefix, spelled) or b"") >> BASE_SHIFT
    settings = [continuation, model.unk_id, model.max_input_chars_per_word, spelled]
    return [units, np.array(settings, np.int64)]


def _key(token: str, spelled: bool) -> bytes | None:
    """The bytes of a token in text; none where letters are asked for and one of its characters is no letter."""
    return unspelled(token) if spelled else token.encode("utf-8", "surrogatepass")
