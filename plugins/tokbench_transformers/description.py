"""Facts from a `tokenizer.json`: the bytes of its pieces, and why decoding may not restore the text.

Normalisers, pre-tokenizers and decoders are nested sequences of typed steps
(https://huggingface.co/docs/tokenizers/components).
"""

from __future__ import annotations

import json
import re
from codecs import charmap_encode
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tokenizers

Component = Mapping[str, Any] | None
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")
_PARTS = ("normalizers", "pretokenizers", "decoders", "processors")


_MODEL_SETTINGS = (
    "unk_token",
    "byte_fallback",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "fuse_unk",
    "dropout",
    "ignore_merges",
    "max_input_chars_per_word",
)


def describe(tokenizer: tokenizers.Tokenizer) -> dict[str, Any]:
    """The parts of a `tokenizer.json` other than the vocabulary: normalizer, pre_tokenizer, decoder, model.

    Each part is serialized alone, as the JSON that it is pickled as: the whole file, with its vocabulary, would
    take as long as loading did.
    """
    parts = {name: getattr(tokenizer, name) for name in ("normalizer", "pre_tokenizer", "decoder")}
    found = {name: None if part is None else json.loads(part.__getstate__()) for name, part in parts.items()}
    return found | {"model": _model_settings(tokenizer.model)}


def _model_settings(model: Any) -> dict[str, Any]:
    kind = type(model).__name__
    if kind == "Unigram":  # the only one that keeps its settings from Python
        settings: dict[str, Any] = json.loads(model.__getstate__())
        del settings["vocab"]
        return settings
    return {"type": kind} | {name: getattr(model, name) for name in _MODEL_SETTINGS if hasattr(model, name)}


def steps(component: Component) -> Iterator[Mapping[str, Any]]:
    """The steps of a component, sequences flattened.

    Example:
        >>> nested = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}
        >>> [step["type"] for step in steps(nested)]
        ['ByteFallback', 'Fuse']
    """
    if not component:
        return
    for part in _PARTS:
        if part in component:
            for inner in component[part]:
                yield from steps(inner)
            return
    yield component


def summary(component: Component) -> str | None:
    """The types of a component's steps with their important settings, as one line."""
    lines = []
    for step in steps(component):
        settings = [
            f"{name}={_short(value)}"
            for name, value in step.items()
            if name not in ("type", "precompiled_charsmap", "invert", "trim_offsets")
        ]
        lines.append(step["type"] + (f"({', '.join(settings)})" if settings else ""))
    return " → ".join(lines) or None


def _short(value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1:  # {"Regex": …} or {"String": …}
        value = next(iter(value.values()))
    return str(value)


def piece_decoder(decoder: Component, *, continuing: str = "", end: str = "") -> Callable[[str], bytes]:
    """A function from the text of a piece to its bytes, made from the decoder's steps.

    Marks of pieces that continue a word (``##``) or end one (``</w>``) are dropped.
    """
    kinds = {step["type"]: step for step in steps(decoder)}
    suffix = kinds["BPEDecoder"].get("suffix", "") if "BPEDecoder" in kinds else end
    if "ByteLevel" in kinds:
        return lambda piece: _byte_level(piece.removesuffix(suffix))
    space = kinds["Metaspace"].get("replacement", "▁") if "Metaspace" in kinds else None
    for step in steps(decoder):
        if step["type"] == "Replace" and step.get("content") == " ":
            space = step["pattern"].get("String", space)
    prefix = kinds["WordPiece"].get("prefix", "##") if "WordPiece" in kinds else continuing
    fallback = "ByteFallback" in kinds

    def decode(piece: str) -> bytes:
        match = _BYTE.match(piece) if fallback else None
        if match:
            return bytes([int(match[1], 16)])
        piece = piece.removeprefix(prefix).removesuffix(suffix)
        return (piece.replace(space, " ") if space else piece).encode("utf-8", "surrogatepass")

    return decode


def _byte_level(piece: str) -> bytes:
    try:
        return charmap_encode(piece, "strict", byte_alphabet())[0]
    except UnicodeEncodeError:  # an added token, kept as it is
        return piece.encode("utf-8", "surrogatepass")


@cache
def byte_alphabet() -> dict[int, int]:
    """The bytes by the characters of GPT-2's alphabet: printable Latin-1 is itself, U+0100 on the others."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: byte for byte in printable} | dict(enumerate(others, 0x100))


def losses(description: Mapping[str, Any]) -> list[str]:
    """The reasons why decode(encode(x)) may differ from x; empty if none is found."""
    found = []
    model = description["model"]
    normalizers = [step["type"] for step in steps(description.get("normalizer"))]
    before = list(steps(description.get("pre_tokenizer")))
    decoders = [step["type"] for step in steps(description.get("decoder"))]
    if rewriting := [name for name in normalizers if name not in ("Prepend", "Replace")]:
        found.append(f"text is normalised ({', '.join(rewriting)})")
    if not ({"ByteLevel"} & set(decoders) or model.get("byte_fallback")):
        found.append("characters outside the vocabulary become UNK")
    if any(step["type"] in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer") for step in before):
        found.append("white space is dropped")
    if any(step["type"] in ("Metaspace", "ByteLevel") and step.get("add_prefix_space") for step in before):
        found.append("a space is put before the text")
    if any(_drops_separators(step) for step in before):
        found.append("separators are dropped")
    if any(_drops_unmatched(step) for step in before):
        found.append("text that the pattern of its pre-tokenizer does not match is dropped")
    if {"Metaspace", "Replace"} & ({step["type"] for step in before} | set(normalizers)):
        found.append("U+2581 comes back as a space")
    return found


def _drops_separators(step: Mapping[str, Any]) -> bool:
    removed = step.get("behavior") == "Removed" and not step.get("invert")
    return removed or step["type"] == "CharDelimiterSplit"


def _drops_unmatched(step: Mapping[str, Any]) -> bool:
    """Whether a ``Split`` that keeps only its matches drops anything from texts with all kinds of characters.

    Patterns of byte-level tokenizers match every character, so they drop nothing.
    """
    if step.get("behavior") != "Removed" or not step.get("invert"):
        return False
    [(kind, source)] = step["pattern"].items()
    return _leaves_gaps(kind, source)


@lru_cache(maxsize=16)
def _leaves_gaps(kind: str, source: str) -> bool:
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(source) if kind == "Regex" else source, "removed", invert=True)
    return any(
        "".join(piece for piece, _ in split.pre_tokenize_str(text)) != text
        for text in (between.join(_characters()) for between in ("", "a", "1", " ", ".", "\n"))
    )


@cache
def _characters() -> list[str]:
    """Characters of all kinds: every one of European scripts, of the others fewer."""
    codes = [*range(0x250), *range(0x250, 0x3400, 16), *range(0x3400, 0x110000, 512)]
    return [chr(code) for code in codes if not 0xD800 <= code < 0xE000]
