"""Ids to text by the decoder of a `tokenizer.json`: by a kernel, if all it does is to join tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from numpy.typing import NDArray

from tokbench.arguments import flat_ids, known_ids
from tokbench.batch import TokenBatch
from tokbench_subword.pipeline.decoders import BYTE, decoder_of
from tokbench_subword.pipeline.decoding_kernel import TokenJoiner
from tokbench_subword.pipeline.document import steps_of

_ONE_BY_ONE = ("Replace", "Strip", "Metaspace", "WordPiece")
_OTHERWISE_FIRST = ("Metaspace", "WordPiece")
"""Steps that see one token at a time, and those of them that decode the first token differently."""
_MOST_IDS = 1 << 21
"""The most ids for which there are tables; the ids of a damaged file may need more than the memory."""


def joining_decoder(config: Mapping[str, Any] | None, tokens: Sequence[str | None]) -> TokenJoiner | None:
    """The decoder `config` for tokens by id (None: no such id); None if it does more than joining.

    It only joins if it decodes each token by itself, except perhaps the first. Then it may also join byte
    tokens, and strip the whole text in the end.

    Example:
        >>> import numpy as np
        >>> config = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}
        >>> joining_decoder(config, ["_a", "b"]).text(np.array([0, 1, 0]))
        'ab a'
    """
    steps = list(steps_of(config, "decoders"))
    alone = list(takewhile(lambda step: step.get("type") in _ONE_BY_ONE, steps))
    kinds = [step.get("type") for step in steps[len(alone) :]]
    fallback = kinds[:1] == ["ByteFallback"]
    strips = steps[len(alone) + fallback + 1 :]
    if kinds[fallback : fallback + 1] not in ([], ["Fuse"]) or any(one["type"] != "Strip" for one in strips):
        return None
    decode = decoder_of({"type": "Sequence", "decoders": alone})
    texts = [token or "" for token in tokens]
    if config is None:
        usual, begins = [" " + text for text in texts], texts
    else:
        usual = decode(["", *texts])[1:]
        first = any(step["type"] in _OTHERWISE_FIRST for step in alone)
        begins = [decode([text])[0] for text in texts] if first else usual
    matches = {index: match for index, text in enumerate(usual) if fallback and (match := BYTE.match(text))}
    if fallback and begins is not usual and _byte_at_one_place(begins, usual):
        return None
    finish = decoder_of({"type": "Sequence", "decoders": strips}) if strips else None
    try:
        return TokenJoiner(
            [None if token is None else text.encode() for token, text in zip(tokens, usual, strict=True)],
            [] if begins is usual else [text.encode() for text in begins],
            ends_start=range(len(tokens)),
            bytes_of={index: int(match[1], 16) for index, match in matches.items()},
            whole_runs=True,
            finish=None if finish is None else lambda text: "".join(finish([text])),
        )
    except UnicodeEncodeError:  # a token with half of a surrogate pair
        return None


def _byte_at_one_place(begins: Sequence[str], usual: Sequence[str]) -> bool:
    """Whether some token is a byte at the beginning of a text but not elsewhere, or the reverse."""
    pairs = zip(begins, usual, strict=True)
    return any(one != other and (BYTE.match(one) or BYTE.match(other)) for one, other in pairs)


class DocumentDecoder:
    """Decodes ids by the decoder `config` of a `tokenizer.json`, for the tokenizer `name`.

    It starts from the string in `written` for each id below `size`. An id without a token adds nothing, not
    even the space between tokens. A `joiner` that does the same may be given; if it knows every id, `written`
    may be empty. `text` and `texts` raise `TokenizerError` for an id outside the vocabulary.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | None,
        written: Mapping[int, str],
        size: int,
        *,
        name: str,
        joiner: TokenJoiner | None,
    ) -> None:
        self._written, self._size, self._name = written, size, name
        self._decode = decoder_of(config)
        if joiner is None and size <= _MOST_IDS:
            joiner = joining_decoder(config, [written.get(index) for index in range(size)])
        self.joiner = joiner
        """Decodes all ids that have tokens by a kernel; None if a kernel cannot."""

    def text(self, ids: Sequence[int] | NDArray[Any]) -> str:
        """The text of some ids."""
        array = flat_ids(ids, name=self._name)
        if self.joiner is not None:
            try:
                return self.joiner.text(array)
            except IndexError:
                pass
        known = known_ids(array, self._size, name=self._name)
        return "".join(self._decode([self._written[index] for index in known if index in self._written]))

    def texts(self, batch: TokenBatch) -> list[str]:
        """The text of every document."""
        if self.joiner is not None:
            try:
                return self.joiner.texts(batch)
            except IndexError:
                pass
        return [self.text(ids) for ids in batch]
