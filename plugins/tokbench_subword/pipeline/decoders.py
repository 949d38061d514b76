"""The decoders of `tokenizer.json`, by their names there: they turn the tokens' strings into text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.document import steps_of
from tokbench_subword.pipeline.normalizers import compile_pattern
from tokbench_subword.pipeline.pre_tokenizers import prepend_scheme
from tokbench_subword.pipeline.stretch import Stretch

Decoder = Callable[[list[str]], list[str]]

BYTE = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>\Z")
"""A token that stands for a byte."""


def decoder_of(config: Mapping[str, Any] | None) -> Decoder:
    """The decoder of a `tokenizer.json`; raises `TokenizerError` for an unknown one.

    Without a decoder, tokens are joined with spaces between them, as `tokenizers` does.

    Example:
        >>> "".join(decoder_of({"type": "BPEDecoder", "suffix": "</w>"})(["lo", "w</w>", "er</w>"]))
        'low er'
    """
    if config is None:
        return lambda tokens: [" ".join(tokens)]
    kind = str(config.get("type"))
    if kind == "Sequence":
        return partial(_in_order, [decoder_of(item) for item in config["decoders"]])
    if kind == "Fuse":
        return lambda tokens: ["".join(tokens)]
    if kind == "ByteFallback":
        return _byte_fallback
    if kind == "Replace":
        return partial(_replace, compile_pattern(config["pattern"]), str(config["content"]))
    if kind == "Strip":
        return partial(_strip, str(config["content"]), int(config["start"]), int(config["stop"]))
    if kind == "BPEDecoder":
        return partial(_word_ends, str(config.get("suffix", "</w>")))
    if kind == "ByteLevel":
        return _byte_level
    if kind == "Metaspace":
        return partial(_metaspace, str(config["replacement"]), prepend_scheme(config) != "never")
    if kind == "WordPiece":
        return partial(_word_pieces, str(config.get("prefix", "##")), bool(config.get("cleanup", True)))
    if kind == "CTC":
        pad, delimiter = str(config.get("pad_token", "<pad>")), str(config.get("word_delimiter_token", "|"))
        return partial(_ctc, pad, delimiter if config.get("cleanup", True) else None)
    raise TokenizerError(
        f"the decoder {kind!r:.80} is not known to this plugin; load the tokenizer with `transformers:` instead"
    )


def joins_bytes(config: Mapping[str, Any] | None) -> bool:
    """Whether all a decoder does is to join the bytes that the tokens spell.

    Example:
        >>> joins_bytes({"type": "ByteLevel"}), joins_bytes({"type": "Fuse"})
        (True, False)
    """
    kinds = [step.get("type") for step in steps_of(config, "decoders")]
    return kinds[:1] == ["ByteLevel"] and {*kinds[1:]} <= {"Fuse"}


def replacements_of(config: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """The replacements that a decoder makes in each token, in order, as pairs of literals (patterns left
    out).
    """
    found = []
    for step in steps_of(config, "decoders"):
        if step.get("type") == "Metaspace":
            found.append((str(step["replacement"]), " "))
        elif step.get("type") == "Replace" and "String" in step.get("pattern", {}):
            found.append((str(step["pattern"]["String"]), str(step["content"])))
    return found


def _in_order(steps: Sequence[Decoder], tokens: list[str]) -> list[str]:
    for step in steps:
        tokens = step(tokens)
    return tokens


def _replace(spans: Any, content: str, tokens: list[str]) -> list[str]:
    """Replace the matches in each token; empty tokens have none, as in the library."""
    return [t and Stretch(t).edited((start, end, content) for start, end in spans(t)).text for t in tokens]


def _strip(content: str, start: int, stop: int, tokens: list[str]) -> list[str]:
    stripped = []
    for token in tokens:
        left, right = 0, len(token)
        while left < min(start, len(token)) and token[left] == content:
            left += 1
        while len(token) - right < stop and right > left and token[right - 1] == content:
            right -= 1
        stripped.append(token[left:right])
    return stripped


def _word_ends(suffix: str, tokens: list[str]) -> list[str]:
    last = len(tokens) - 1
    return [token.replace(suffix, "" if i == last else " ") for i, token in enumerate(tokens)]


def _metaspace(replacement: str, prepended: bool, tokens: list[str]) -> list[str]:
    first = "" if prepended else " "
    return [token.replace(replacement, " " if i else first) for i, token in enumerate(tokens)]


_CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)
# "do not" is contracted, too: an old mistake of the reference decoders, kept so that texts are equal. They
# look at one token at a time, so it matters only for a token that contains both words.


def _word_pieces(prefix: str, cleanup: bool, tokens: list[str]) -> list[str]:
    """Join continuations and separate words; `cleanup` cleans each token together with the space before it."""
    spaced = [token.removeprefix(prefix) if token.startswith(prefix) else " " + token for token in tokens[1:]]
    written = [*tokens[:1], *spaced]
    return list(map(_cleaned, written)) if cleanup else written


def _cleaned(token: str) -> str:
    for found, clean in _CLEANUP:
        token = token.replace(found, clean)
    return token


def _ctc(pad: str, delimiter: str | None, tokens: list[str]) -> list[str]:
    """Keep one of equal tokens in a row, and drop padding: speech models give a token for every time step."""
    written = [token.replace(pad, "") if pad else token for token, _ in groupby(tokens)]
    if delimiter is not None:
        written = [_cleaned(token).replace(delimiter, " ") for token in written]
    return [token for token in written if token]


def _byte_level(tokens: list[str]) -> list[str]:
    """Text from tokens in GPT-2's byte alphabet; a token with other characters is taken as it is."""
    data = b"".join(
        token.encode() if (known := unspelled(token)) is None and token else known or b"" for token in tokens
    )
    return [data.decode("utf-8", "replace")]


def _byte_fallback(tokens: list[str]) -> list[str]:
    """Replace runs of ``<0x..>`` tokens by the text of their bytes, or by U+FFFD for each if that is not
    UTF-8.
    """
    out: list[str] = []
    run = bytearray()
    for token in [*tokens, None]:
        match = BYTE.match(token) if token is not None else None
        if match:
            run.append(int(match[1], 16))
            continue
        if run:
            try:
                out.append(run.decode())
            except UnicodeDecodeError:
                out += ["\ufffd"] * len(run)
            run.clear()
        if token is not None:
            out.append(token)
    return out
