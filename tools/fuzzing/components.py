"""Random parts of a `tokenizer.json`, as its JSON: normalizers, pre-tokenizers, decoders, added tokens."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from typing import Any

from tokbench_subword.pipeline.patterns import CL100K_IN_RUBY, NAMED
from tokbench_subword.sentencepiece.rules import charsmap_of

from fuzzing.patterns import pattern
from fuzzing.texts import chance

Json = dict[str, Any]

BYTE_LEVEL: Json = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
"""The decoder of that name, which asks for the options of the pre-tokenizer and minds none of them."""

_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_SCHEMES = ("always", "first", "never")
_SPLITS = (
    *(r"\s+", r"\w+", r"\p{L}+", r"[^\s]+", r"\p{Han}|\d", r"(?=\p{Lu})", r"\b", r"\p{Lu}\p{Ll}*|\p{P}"),
    *(r"$", r"^", r"\s*\S+", r"(?i)the|a", r".", r"[\s\S]", r"\p{M}+|\S", r"\s+|$"),
    *(r"(?i)[^a-c\s]+|\p{Lu}", r"a(?i)b|s+", r"[[:punct:]]+|[[:upper:]]"),
    *(r"(?<=[a-z])(?=[A-Z])|\s", r"a*", r"\z", r"[^\S\r\n]*", r"(?<=\d)(?=\D)", r"[一-龥぀-ゟ゠-ヿ]+"),
    *(r"\d{1,3}(?=(?:\d{3})*\b)", r"(?=(?:\d{3})+(?!\d))", r"(?:\r?\n)+(?!\r?\n)", r"(?<=ab|\d\d)\p{L}+|\s"),
    *(r"(?<!\d\d)\d|e(?!\w\w)", r"(?>th|t)h?|\s", r"(?:ab|a)++b|\p{P}", r"\w+(?=\s+\p{Lu})|\s+(?!\S\S)"),
    *(r"\p{N}{1,3}", r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?\p{P}+|\s+"),
)  # fmt: skip
_REPLACED = (
    *(
        r"\s+",
        r" {2,}",
        r"\p{M}",
        r"[0-9]",
        r"^\s+",
        r"\s+$",
        r"^",
        r"\b",
        r"(?<=\s)a",
        r"\p{L}\p{N}",
        r"[^\p{L}]",
    ),
    *(r"\A +| +\z", r"x?", r"(?=\s)"),
)
_CONTENTS = (
    *(
        "<s>",
        "</s>",
        "<mask>",
        "<|endoftext|>",
        "hello",
        "Hello",
        "he",
        "<m",
        "é",
        "E\u0301",
        "中文",
        "\n",
        "  ",
        " x",
    ),
    *(
        "[X]",
        "ab",
        "abc",
        "bcd",
        "İ",
        "ﬁ",
        "1",
        "12",
        "'",
        "ing",
        "▁",
        "Straße",
        "<MASK>",
        "สวั",
        "\u0301",
        "a b",
    ),
    *("_a", "😀", "the", "The", "##", " ", "a", "ＡＢ"),
)


def sequence(key: str, steps: list[Json]) -> Json:
    """Steps one after another."""
    return {"type": "Sequence", key: steps}


def _replace(rng: random.Random) -> Json:
    found: Json = {"Regex": pattern(rng, ruby=True) if chance(rng, 0.3) else rng.choice(_REPLACED)}
    if chance(rng):
        found = {"String": rng.choice((" ", "a", "'", "\n", "中", "aa", "  ", "``"))}
    return {"type": "Replace", "pattern": found, "content": rng.choice((" ", "", "#", "▁", "xx", '"'))}


def bert_normalizer(rng: random.Random) -> Json:
    """BERT's, with any of its rules."""
    return {
        "type": "BertNormalizer",
        "clean_text": chance(rng),
        "handle_chinese_chars": chance(rng),
        "strip_accents": rng.choice((None, True, False)),
        "lowercase": chance(rng),
    }


def precompiled(rng: random.Random) -> Json:
    """One of sentencepiece's maps."""
    rule = rng.choice(("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf"))
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap_of(rule)).decode()}


def normalizer(rng: random.Random, *, maps: bool = False) -> Json | None:
    """Any normalizer or several, or none; `maps` allows sentencepiece's compiled ones."""
    kinds: list[Callable[[], Json]] = [
        lambda: {"type": rng.choice(("NFC", "NFD", "NFKC", "NFKD"))},
        lambda: {"type": rng.choice(("Lowercase", "StripAccents", "Nmt"))},
        lambda: {"type": "Strip", "strip_left": chance(rng), "strip_right": chance(rng)},
        lambda: _replace(rng),
        lambda: {"type": "Prepend", "prepend": rng.choice(("▁", " ", "x", "ab"))},
        lambda: bert_normalizer(rng),
        *([lambda: precompiled(rng)] * 3 if maps else []),
    ]
    steps = [rng.choice(kinds)() for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))]
    if chance(rng, 0.03):
        steps.append({"type": "ByteLevel"})
    if not steps:
        return None
    if len(steps) > 1 and chance(rng, 0.3):
        steps[1:] = [sequence("normalizers", steps[1:])]
    return steps[0] if len(steps) == 1 and chance(rng, 0.7) else sequence("normalizers", steps)


def split(regex: str, behavior: str = "Isolated", *, invert: bool = False) -> Json:
    """A cut by an expression."""
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert}


def _any_split(rng: random.Random) -> Json:
    regex = pattern(rng, ruby=True) if chance(rng, 0.3) else rng.choice(_SPLITS)
    cut = split(regex, rng.choice(_BEHAVIORS), invert=chance(rng, 0.4))
    if chance(rng, 0.3):
        cut["pattern"] = {"String": rng.choice((" ", "e", "ab", "\n", ".", "中"))}
    return cut


def metaspace(rng: random.Random) -> Json:
    """Metaspace in any of its ways."""
    return {
        "type": "Metaspace",
        "replacement": "▁" if chance(rng, 0.85) else "_",
        "prepend_scheme": rng.choice(_SCHEMES),
        "split": chance(rng, 0.7),
    }


def _byte_level(rng: random.Random, *, regex: bool) -> Json:
    return {
        "type": "ByteLevel",
        "add_prefix_space": chance(rng, 0.3),
        "trim_offsets": chance(rng),
        "use_regex": regex,
    }


def byte_level(rng: random.Random) -> Json:
    """A pre-tokenizer that ends in bytes, as GPT-2 and those after it have them."""
    named = [NAMED[name] for name in ("gpt2", "llama3", "qwen2", "o200k", "whitespace")]
    kinds: list[Callable[[], list[Json]]] = [
        lambda: [split(rng.choice((*named, CL100K_IN_RUBY)))],
        lambda: [split(rng.choice(named), "Removed", invert=True)],
        lambda: [split(r"\p{N}{1,3}"), split(r"[一-龥぀-ゟ゠-ヿ]+"), split(rng.choice(_SPLITS))],
        lambda: [_any_split(rng) for _ in range(rng.choice((1, 1, 2)))],
        lambda: [_plain_step(rng)],
        lambda: [_byte_level(rng, regex=chance(rng)), _plain_step(rng)],
        lambda: [],
    ]
    steps = rng.choice(kinds)()
    last = _byte_level(rng, regex=chance(rng, 0.8 if not steps else 0.25))
    return last if not steps else sequence("pretokenizers", [*steps, last])


def _plain_step(rng: random.Random) -> Json:
    return rng.choice(
        (
            {"type": "Digits", "individual_digits": chance(rng)},
            {"type": "Punctuation", "behavior": rng.choice(_BEHAVIORS)},
            {"type": "CharDelimiterSplit", "delimiter": rng.choice((" ", "-", "e"))},
            {"type": rng.choice(("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"))},
            {"type": "FixedLength", "length": rng.choice((1, 3, 7))},
            metaspace(rng),
            _any_split(rng),
        )
    )


def pre_tokenizer(rng: random.Random) -> Json | None:
    """A pre-tokenizer into characters: one step, several or none."""
    steps = [_plain_step(rng) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    if not steps:
        return None
    if len(steps) > 1 and chance(rng, 0.3):
        steps[1:] = [sequence("pretokenizers", steps[1:])]
    return steps[0] if len(steps) == 1 else sequence("pretokenizers", steps)


def decoder(rng: random.Random) -> Json | None:
    """Any decoder, fitting or not."""
    space = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    llama = sequence("decoders", [space, {"type": "ByteFallback"}, {"type": "Fuse"}, strip])
    steps: list[Json] = [
        BYTE_LEVEL,
        {"type": "Metaspace", "replacement": "▁", "prepend_scheme": rng.choice(_SCHEMES), "split": True},
        {"type": "BPEDecoder", "suffix": rng.choice(("</w>", "_", ""))},
        {"type": "WordPiece", "prefix": rng.choice(("##", "@@", "")), "cleanup": chance(rng)},
        {"type": rng.choice(("Fuse", "ByteFallback"))},
        {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": chance(rng)},
        {"type": "Strip", "content": rng.choice("a ▁"), "start": rng.randrange(3), "stop": rng.randrange(3)},
        {"type": "Replace", "pattern": {"Regex": rng.choice((r"\s", "^.", "$"))}, "content": "·"},
    ]
    several = sequence("decoders", rng.sample(steps, rng.choice((2, 3))))
    return rng.choice((None, *steps, several, several, llama, llama))


def added_tokens(rng: random.Random) -> list[Json]:
    """Some added tokens with any flags; their ids are for `tokenizers` to give."""
    count = rng.choice((0, 0, 1, 3, 6))
    return [
        {
            "content": content,
            "single_word": chance(rng, 0.3),
            "lstrip": chance(rng, 0.3),
            "rstrip": chance(rng, 0.3),
            "normalized": chance(rng),
            "special": chance(rng, 0.35),
        }
        for content in rng.sample(_CONTENTS, count)
    ]


def post_processor(rng: random.Random) -> Json | None:
    """Any post-processor: it puts tokens around a text, or shortens spans, where it is asked to."""
    begin, end = ({"id": text, "ids": [rng.randrange(5)], "tokens": [text]} for text in ("<s>", "</s>"))
    single = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    template = {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [
            *single,
            {"Sequence": {"id": "B", "type_id": 1}},
            {"SpecialToken": {"id": "</s>", "type_id": 1}},
        ],
        "special_tokens": {"<s>": begin, "</s>": end},
    }
    pair = {"sep": ["</s>", rng.randrange(5)], "cls": ["<s>", rng.randrange(5)]}
    kinds: list[Json] = [
        {"type": "ByteLevel", "add_prefix_space": chance(rng), "trim_offsets": chance(rng), "use_regex": True},
        {"type": "RobertaProcessing", **pair, "trim_offsets": chance(rng), "add_prefix_space": chance(rng)},
        {"type": "BertProcessing", **pair},
        template,
    ]
    if chance(rng, 0.2):
        return sequence("processors", rng.sample(kinds, 2))
    return rng.choice([None, *kinds])


def limits(rng: random.Random) -> Json:
    """Truncation and padding, which make encoding lie about length."""
    truncation = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    padding = {"strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": None}
    padding |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "<pad>"}
    return {"truncation": truncation if chance(rng) else None, "padding": padding if chance(rng) else None}
