"""How the decoders of a Unigram `tokenizer.json` come down to joining what each token adds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from tokbench_subword.files.tokenizer_json import steps_of
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.unigram.decoding import UnigramDecoder

_ONE_BY_ONE = ("Replace", "Metaspace", "Strip")
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")


def joining_decoder(config: Mapping[str, Any] | None, tokens: Sequence[str | None]) -> UnigramDecoder | None:
    """The decoder of a document for tokens by id (None: no such id); None where it does more than joining.

    What it joins: tokens by themselves, but for the first, then perhaps those that are bytes. The whole text
    may be stripped in the end.

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
        first = any(step["type"] == "Metaspace" for step in alone)  # the others do not look where a token is
        begins = [decode([text])[0] for text in texts] if first else usual
    matches = {index: match for index, text in enumerate(usual) if fallback and (match := _BYTE.match(text))}
    if any(begins[index] != usual[index] for index in matches):
        return None
    finish = decoder_of({"type": "Sequence", "decoders": strips}) if strips else None
    try:
        return UnigramDecoder(
            [None if token is None else text for token, text in zip(tokens, usual, strict=True)],
            begins,
            ends_start=range(len(tokens)),
            bytes_of={index: int(match[1], 16) for index, match in matches.items()},
            whole_runs=True,
            finish=None if finish is None else lambda text: "".join(finish([text])),
        )
    except UnicodeEncodeError:  # a token with half of a surrogate pair
        return None
