"""Shapes of tokenizers as users meet them: well-known `tokenizer.json` files with one part of each replaced.

What is derived: every normalizer, every pre-tokenizer, many added tokens, affixes and the model's switches. The
vocabulary stays, so text may hold what a variant's has no token for; its ids are as well defined as any.
`benchmarks/vocabularies.py` measures them, and tests hold their ids to those of `tokenizers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Edits = Iterator[tuple[str, Json]]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
PATTERNS = {
    "Llama 3": LLAMA3,
    "o200k": O200K,
    "look-behind": r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=\D)|\s+",
    "word boundaries": r"\b",
    "possessive": r"[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+",
    "scripts": r"\p{Han}+|\p{Hiragana}+|\p{Thai}+|\p{N}{1,3}",
    "lines": r"[^\n]+|\n+",
    "SMILES": r"\[[^\]]+]|Br?|Cl?|[NOSPFIbcnops()=#\-+\\/:~@?>*$.]|%[0-9]{2}|[0-9]",
    "threes from the right": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))|[^\r\n\p{L}\p{N}]?\p{L}+|\s+(?!\S)|\s+",
    "atomic groups": r"(?>'s|'t|'re| ?\p{L}+)| ?\p{N}+|(?>\s+)(?!\S)|\s+",
}
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


@dataclass(frozen=True, slots=True)
class Variant:
    """A `tokenizer.json` as its JSON; `match_special` says whether text of special tokens is to be matched."""

    name: str
    content: Json
    match_special: bool = False

    @property
    def family(self) -> str:
        """The in-house family that opens it."""
        return str(self.content["model"]["type"]).lower()


def variants(vocabularies: Path, *bases: str) -> Iterator[Variant]:
    """The variants of some or all of `BASES` that are in the folder, as ``gpt2/hf/tokenizer.json``."""
    for base in bases or BASES:
        path = vocabularies / base / "hf" / "tokenizer.json"
        if path.is_file():
            content = json.loads(path.read_bytes())
            yield from (
                Variant(f"{base}: {label}", {**content, **edit}, match_special=label.endswith("control tokens"))
                for group in BASES[base]
                for label, edit in group(content)
            )


def sequence(key: str, *steps: Json) -> Json:
    """Steps one after another; `key` is ``normalizers`` or ``pretokenizers``."""
    return {"type": "Sequence", key: list(steps)}


def replace(pattern: str, content: str, *, kind: str = "String") -> Json:
    """The normalizer that replaces; `kind` is ``String`` or ``Regex``."""
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def split(pattern: str, behavior: str = "Isolated", *, invert: bool = False) -> Json:
    """The pre-tokenizer that cuts by a regular expression."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}


def byte_level(*, regex: bool = False, prefix: bool = False) -> Json:
    """The pre-tokenizer that spells bytes."""
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def metaspace(scheme: str = "always", *, cut: bool = True) -> Json:
    """The pre-tokenizer that makes spaces visible."""
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cut}


def _normalizers() -> dict[str, Json]:
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    return {
        **{name: {"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt")},
        "StripAccents": sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"}),
        "Strip": {"type": "Strip", "strip_left": True, "strip_right": True},
        "Prepend, Replace": sequence("normalizers", {"type": "Prepend", "prepend": " "}, replace("``", '"')),
        "Replace by pattern": replace(r"\s+", " ", kind="Regex"),
        "CLIP's": sequence(
            "normalizers", {"type": "NFC"}, replace(r"\s+", " ", kind="Regex"), {"type": "Lowercase"}
        ),
        "BertNormalizer": {**bert, "strip_accents": None, "lowercase": True},
        "BertNormalizer, cased": {**bert, "strip_accents": False, "lowercase": False},
    }


def _cuts() -> dict[str, list[Json]]:
    found = {
        f"Split {behavior}{', inverted' * invert}": [split(r"\s+", behavior, invert=invert)]
        for behavior in BEHAVIORS
        for invert in (False, True)
    }
    found |= {f"Split by {name}": [split(pattern)] for name, pattern in PATTERNS.items()}
    found["DeepSeek's"] = [split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK)]
    found |= {
        f"Digits{', one by one' * single}": [{"type": "Digits", "individual_digits": single}]
        for single in (False, True)
    }
    found |= {
        f"Punctuation {behavior}": [{"type": "Punctuation", "behavior": behavior}] for behavior in BEHAVIORS
    }
    plain = ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")
    found |= {name: [{"type": name}] for name in plain}
    found["UnicodeScripts"] = [{"type": "UnicodeScripts"}]
    found["FixedLength"] = [{"type": "FixedLength", "length": 5}]
    found["CharDelimiterSplit"] = [{"type": "CharDelimiterSplit", "delimiter": " "}]
    found["WhitespaceSplit, Digits, Punctuation"] = [
        {"type": "WhitespaceSplit"},
        {"type": "Digits", "individual_digits": True},
        {"type": "Punctuation", "behavior": "Isolated"},
    ]
    return found


def normalizers(content: Json) -> Edits:
    """Each normalizer in the place of the file's own, and none."""
    if content["normalizer"] is not None:
        yield "no normalizer", {"normalizer": None}
    for name, normalizer in _normalizers().items():
        yield name, {"normalizer": normalizer}


def normalizers_before(content: Json) -> Edits:
    """Each normalizer before the file's own, which makes spaces visible."""
    for name, normalizer in _normalizers().items():
        yield name, {"normalizer": sequence("normalizers", normalizer, content["normalizer"])}


def cuts(content: Json) -> Edits:
    """Each pre-tokenizer in the place of the file's own."""
    yield "no pre-tokenizer", {"pre_tokenizer": None}
    for name, steps in _cuts().items():
        yield name, {"pre_tokenizer": sequence("pretokenizers", *steps)}


def cuts_into_bytes(content: Json) -> Edits:
    """Each pre-tokenizer, then the spelling in bytes."""
    for regex in (False, True):
        for prefix in (False, True):
            label = f"ByteLevel, {'its' if regex else 'no'} pattern{', space in front' * prefix}"
            yield label, {"pre_tokenizer": byte_level(regex=regex, prefix=prefix)}
    for name, steps in _cuts().items():
        yield name, {"pre_tokenizer": sequence("pretokenizers", *steps, byte_level())}
    falcon = [byte_level(regex=True), {"type": "Digits", "individual_digits": False}, split("[0-9][0-9][0-9]")]
    punctuation = {"type": "Punctuation", "behavior": "Contiguous"}
    yield "Falcon's", {"pre_tokenizer": sequence("pretokenizers", punctuation, *falcon)}


def metaspaces(content: Json) -> Edits:
    """Metaspace in all its ways, without a normalizer, and after WhitespaceSplit with one."""
    for scheme in ("always", "first", "never"):
        for cut in (True, False):
            label = f"Metaspace {scheme}{', not split' * (not cut)}"
            yield label, {"normalizer": None, "pre_tokenizer": metaspace(scheme, cut=cut)}
    for name in ("NFKC", "Strip", "CLIP's"):
        edit = {"normalizer": _normalizers()[name], "pre_tokenizer": metaspace("first")}
        yield f"{name}, Metaspace first", edit
    after = sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace())
    yield "NFKC, WhitespaceSplit, Metaspace", {"normalizer": {"type": "NFKC"}, "pre_tokenizer": after}


def _with_added(content: Json, contents: list[str], **flags: bool) -> Json:
    model = content["model"]
    known = model["vocab"] if isinstance(model["vocab"], dict) else {piece for piece, _ in model["vocab"]}
    kept = [token for token in content["added_tokens"] if token["content"] in known]
    free = max([len(model["vocab"]) - 1, *(token["id"] for token in kept)]) + 1
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    new = [text for text in contents if text not in known]
    return {"added_tokens": kept + [off | flags | {"id": free + i, "content": s} for i, s in enumerate(new)]}


def added_tokens(content: Json) -> Edits:
    """None, 25 runs of spaces, 771 unused or control tokens, some tokens with each flag."""
    yield "no added tokens", {"added_tokens": [t for t in content["added_tokens"] if t["content"] == "<unk>"]}
    spaces = [" " * count for count in range(26, 1, -1)]
    yield "25 added runs of spaces", _with_added(content, spaces, normalized=True)
    yield "771 added unused tokens", _with_added(content, [f"<unused_{i}>" for i in range(771)])
    if content["model"]["type"] != "WordPiece":  # which takes the text of special tokens as text
        control = [f"[control_{i}]" for i in range(771)]
        yield "771 added control tokens", _with_added(content, control, special=True)
    for flag in ("lstrip", "rstrip", "single_word", "normalized"):
        yield f"added tokens with {flag}", _with_added(content, ["<mask>", "Hello World", "ﬁ"], **{flag: True})


def switches(content: Json) -> Edits:
    """Each switch of a BPE model turned."""
    model = content["model"]
    for switch in ("ignore_merges", "byte_fallback", "fuse_unk"):
        value = not model.get(switch, False)
        yield f"{switch} {'on' if value else 'off'}", {"model": model | {switch: value}}


def affixes(content: Json) -> Edits:
    """A byte-level vocabulary turned into one whose tokens say that a word ends, or goes on, with them."""
    model = content["model"]
    pairs = [pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"]]
    within = [(a, b) for a, b in pairs if "Ġ" not in a + b]
    letters = [token for token in model["vocab"] if len(token) == 1]
    ending = [[left, right + end] for left, right in within for end in ("", "</w>")]
    going_on = [[start + left, "##" + right] for left, right in within for start in ("", "##")]
    for key, affix, letters_with, merges, normalizer in (
        ("end_of_word_suffix", "</w>", [one + "</w>" for one in letters], ending, _normalizers()["CLIP's"]),
        ("continuing_subword_prefix", "##", ["##" + one for one in letters], going_on, None),
    ):
        made = [left + (right[2:] if merges is going_on else right) for left, right in merges]
        vocab = {token: index for index, token in enumerate(dict.fromkeys([*letters, *letters_with, *made]))}
        changed = {**model, "vocab": vocab, "merges": merges, key: affix}
        cut = sequence("pretokenizers", split(CLIP, "Removed", invert=True), byte_level())
        edit: Json = {"model": changed, "normalizer": normalizer, "pre_tokenizer": cut, "added_tokens": []}
        yield f"words with {affix}", edit


def superwords(content: Json) -> Edits:
    """Tokens of two words, whose merges come last, and lines that nothing cuts: as SuperBPE has it."""
    model = content["model"]
    words = [token for token in model["vocab"] if token[0] == "Ġ" and token[1:].isalpha()][:120]
    merges = [pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"]]
    pairs = [[left, right] for left in words for right in words]
    size = max(model["vocab"].values()) + 1
    vocab = model["vocab"] | {left + right: size + index for index, (left, right) in enumerate(pairs)}
    changed = {**model, "vocab": vocab, "merges": [*merges, *pairs]}
    yield "superwords", {"model": changed, "pre_tokenizer": byte_level()}


def lacking_bytes(content: Json) -> Edits:
    """A character of ASCII that is a token and none of the bytes, as in Gemma's first vocabularies."""
    model = content["model"]
    vocab = {"\t" if token == "<0x09>" else token: index for token, index in model["vocab"].items()}
    yield "a tab that is a token", {"model": {**model, "vocab": vocab}}


BASES: dict[str, tuple[Callable[[Json], Edits], ...]] = {
    "gpt2": (normalizers, cuts_into_bytes, added_tokens, switches, affixes, superwords),
    "qwen2": (added_tokens,),
    "llama-2": (normalizers_before, metaspaces, added_tokens, switches, lacking_bytes),
    "bert-base-uncased": (normalizers, cuts, added_tokens),
    "t5-base": (normalizers, cuts, metaspaces, added_tokens),
    "albert-base-v1": (metaspaces, added_tokens),
}
"""What is derived from which file."""
