"""Measures how good a golden pack is: changes the tokenizer in one place and sees whether the pack notices.

A change is made in the content of a `tokenizer.json`: a normalizer left out, an alternative of a pattern, a
flag turned over, a merge or token left out, two ids exchanged. The mutation score is the share of the changes
that the pack tells. A change that other, random text does not tell either is taken for one without effect, and
is listed apart: an equivalent mutant (Jia and Harman 2011, "An Analysis and Survey of the Development of
Mutation Testing").
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokbench.errors import TokbenchError
from tokbench.golden.changes import Change, Content, of_model
from tokbench.golden.pack import Pack, checksum
from tokbench.tokenizer import Tokenizer, encode_batch

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
_LISTS = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers"}
_FLAGS = (
    *("add_prefix_space", "use_regex", "lowercase", "strip_accents", "clean_text", "handle_chinese_chars"),
    *("individual_digits", "split", "invert", "strip_left", "strip_right"),
)
_SWAPS = (
    *((r"{1,3}", r"{1,2}"), (r"{1,3}", "+"), ("(?i:", "(?:")),
    *((r"\p{N}", r"[0-9]"), (r"\p{L}", "[a-zA-Z]")),
)


@dataclass(frozen=True, slots=True)
class MutationScore:
    """How many changes a pack tells, of how many that have an effect; the names of those it does not tell."""

    told: int
    tried: int
    missed: tuple[str, ...]
    without_effect: tuple[str, ...]
    refused: tuple[str, ...]

    @property
    def share(self) -> float:
        """The mutation score; NaN where nothing was tried."""
        return self.told / self.tried if self.tried else float("nan")

    def to_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "score": round(self.share, 4) if self.tried else None,
            "told": self.told,
            "tried": self.tried,
            "missed": list(self.missed),
            "without_effect_on_other_text": list(self.without_effect),
            "refused_by_the_library": list(self.refused),
        }


def mutants(content: Mapping[str, Any], *, drawn: int) -> Iterator[tuple[str, Content]]:
    """The changed contents, each with a name; `drawn` merges and tokens of each kind are drawn evenly."""
    changes = [*_of_parts(content), *_of_added(content), *of_model(content, random.Random(0), drawn)]
    for name, change in changes:
        one = copy.copy(dict(content))
        for part in ("normalizer", "pre_tokenizer", "added_tokens"):
            one[part] = copy.deepcopy(content.get(part))
        one["model"] = dict(content["model"])
        change(one)
        yield name, one


REPLACED = "instead"


def _steps(content: Mapping[str, Any], part: str) -> list[dict[str, Any]]:
    component = content.get(part)
    if not component:
        return []
    return list(component[_LISTS[part]]) if component["type"] == "Sequence" else [component]


def _of_parts(content: Mapping[str, Any]) -> Iterator[Change]:
    """Each normalizer and pre-tokenizer left out, its flags turned over, its pattern changed."""
    for part in _LISTS:
        for number, step in enumerate(_steps(content, part)):
            where = f"{part} {number + 1} ({step['type']})"

            def left_out(one: Content, part: str = part, number: int = number) -> None:
                if one[part]["type"] == "Sequence":
                    del one[part][_LISTS[part]][number]
                else:
                    one[part] = None

            yield f"{where} left out", left_out
            for name, value in _settings(step):
                yield f"{where}: {name} = {str(value)[:60]}", _setting(part, number, name, value)


def _setting(part: str, number: int, name: str, value: Any) -> Callable[[Content], None]:
    def change(one: Content) -> None:
        step = _steps(one, part)[number]
        if name == REPLACED:
            step.clear()
            step.update(value)
        else:
            step[name] = value

    return change


def _settings(step: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for flag in _FLAGS:
        if flag in step:
            yield flag, not step[flag]
    if "prepend_scheme" in step:
        for scheme in ("always", "never", "first"):
            if scheme != step["prepend_scheme"]:
                yield "prepend_scheme", scheme
    if "behavior" in step:
        for behavior in ("Removed", "MergedWithPrevious", "MergedWithNext"):
            if behavior != step["behavior"]:
                yield "behavior", behavior
    pattern = step.get("pattern")
    if isinstance(pattern, Mapping) and "Regex" in pattern:
        for source in _patterns(pattern["Regex"]):
            yield "pattern", {"Regex": source}
    if step["type"] == "ByteLevel" and step.get("use_regex", True) and "use_regex" in step:
        for source in _patterns(GPT2):
            split = {"type": "Split", "pattern": {"Regex": source}, "behavior": "Isolated", "invert": False}
            inner = {**step, "use_regex": False}
            yield REPLACED, {"type": "Sequence", "pretokenizers": [split, inner]}
    if "precompiled_charsmap" in step:
        for kind in ("NFKC", "NFC"):
            yield REPLACED, {"type": kind}


def _patterns(source: str) -> Iterator[str]:
    """A pattern with one alternative left out, other bounds, other case, or without its last lookahead."""
    parts = _alternatives(source)
    for number in range(len(parts)) if len(parts) > 1 else ():
        yield "|".join(parts[:number] + parts[number + 1 :])
    for old, new in _SWAPS:
        if old in source:
            yield source.replace(old, new)
    for old in (r"(?!\S)", "[\\r\\n]*", " ?"):
        if old in source:
            yield source.replace(old, "", 1)


def _alternatives(source: str) -> list[str]:
    """The alternatives at the top of a pattern."""
    parts, depth, last = [], 0, 0
    for match in re.finditer(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]", source):
        text = match[0]
        depth += {"(": 1, ")": -1}.get(text, 0)
        if text == "|" and not depth:
            parts.append(source[last : match.start()])
            last = match.end()
    return [*parts, source[last:]]


def _of_added(content: Mapping[str, Any]) -> Iterator[Change]:
    """Added tokens that text is searched for, left out or with another flag; special ones are text here."""
    tokens = [token for token in content.get("added_tokens") or [] if not token.get("special")]
    for token in tokens[:5]:
        text = token["content"]

        def left_out(one: Content, text: str = text) -> None:
            one["added_tokens"] = [other for other in one["added_tokens"] if other["content"] != text]

        yield f"added token {text!r} left out", left_out
        for flag in ("lstrip", "rstrip", "single_word"):

            def turned(one: Content, text: str = text, flag: str = flag) -> None:
                for other in one["added_tokens"]:
                    other[flag] = other[flag] != (other["content"] == text)

            yield f"added token {text!r}: {flag} turned over", turned


def score(
    pack: Pack,
    content: Mapping[str, Any],
    open_file: Callable[[Path], Tokenizer],
    other_text: Sequence[str],
    *,
    drawn: int,
    tell: Callable[[float, str], None] = lambda done, word: None,
) -> MutationScore | str:
    """The mutation score of a pack whose tokenizer is `content`; a text says why there is none.

    `open_file` loads a `tokenizer.json`, by whatever library; it must agree with the pack to begin with.
    """
    told, missed, without, refused = 0, [], [], []
    with TemporaryDirectory(prefix="tokbench-golden-") as folder:
        file = Path(folder) / "tokenizer.json"

        def opened(one: Mapping[str, Any]) -> Tokenizer:
            file.write_text(json.dumps(one, ensure_ascii=False), encoding="utf-8")
            return open_file(file)

        original = opened(content)
        if not agrees(pack, original):
            return "another library gives other ids than the pack to begin with"
        fixed = encode_batch(original, other_text).to_lists()
        for number, (name, one) in enumerate(mutants(content, drawn=drawn), 1):
            tell(1 - 1 / (1 + number / 20), f"change {number}: {name[:40]}")  # how many there are is not known
            try:
                mutant = opened(one)
                if not agrees(pack, mutant):
                    told += 1
                elif encode_batch(mutant, other_text).to_lists() == fixed:
                    without.append(name)
                else:
                    missed.append(name)
            except TokbenchError:
                refused.append(name)
    return MutationScore(told, told + len(missed), tuple(missed), tuple(without), tuple(refused))


def agrees(pack: Pack, tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer gives the ids of a pack; stops at the first part that differs."""
    cases = encode_batch(tokenizer, [case.text for case in pack.cases]).to_lists()
    if any(ids != list(case.ids) for ids, case in zip(cases, pack.cases, strict=True)):
        return False
    for start in range(0, len(pack.rows), 500):
        rows = pack.rows[start : start + 500]
        for ids, row in zip(encode_batch(tokenizer, [row.text for row in rows]).to_lists(), rows, strict=True):
            if len(ids) != row.n or checksum(ids) != row.crc32:
                return False
    return True


def random_text(size: int, seed: int = 1) -> list[str]:
    """Texts that the pack does not hold, of words and characters drawn at random: `size` texts."""
    from tokbench.golden.cases import PARTS
    from tokbench.lint.samples import SENTENCES

    rng = random.Random(seed)
    words = [word for sentence in SENTENCES.values() for word in sentence.split()]
    found = []
    for _ in range(size):
        parts = rng.choices([*PARTS, *words], k=rng.randint(2, 30))
        found.append(rng.choice(["", " "]).join(parts))
    return found
