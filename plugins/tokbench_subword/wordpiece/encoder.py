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
"""Members of SETTINGS, int64: the trie base of tokens that continue a word, 0 if there are none; the unknown
id; the longest word; and whether its length is in bytes, each of them a character of the byte alphabet."""


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

    At each place the longest token is taken. The trie is searched from its root at the beginning of the word,
    after that from the base of continuing tokens. If nothing matches at some place, or the word is too long,
    the whole word is one unknown token.
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
    """The text preparation of a model; the encoder itself does a final ByteLevel step, if the prefix allows."""
    steps = steps_of(model.document.pre_tokenizer, "pretokenizers")
    last = bool(steps) and steps[-1].get("type") == "ByteLevel"
    by_encoder = last and unspelled(model.prefix) is not None
    return Preparation(document=model.document, match_special=match_special, spelled_by_encoder=by_encoder)


class WordPieceEncoder(WordEncoder):
    """Encodes words with a `WordPieceModel`. `spelled`: the tokens are spelled in the byte alphabet, and words
    are plain bytes. The other arguments are those of `WordEncoder`.
    """

    def __init__(
        self, model: WordPieceModel, cutters: Sequence[Cutter], *, spelled: bool = False, **options: Any
    ) -> None:
        super().__init__(match_word, _arrays(model, spelled=spelled), cutters=cutters, **options)
        self._model = model

    def locate_words(
        self, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of words, and (start, end) of each token in `data`, in bytes.

        Consecutive tokens of a word cover consecutive bytes; see `preparation.Locate`.
        """
        batch = self.encode_pretokens(data, words)
        places, known = token_places(batch, self._sizes, words, prefix=_size(self._model.prefix))
        places[batch.offsets[:-1][~known]] = words[~known]  # unknown as a whole
        return batch, places

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The size of each token in bytes, its prefix included."""
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
    """The bytes of a token in text; None if `spelled` and a character is outside the byte alphabet."""
    return unspelled(token) if spelled else token.encode("utf-8", "surrogatepass")
