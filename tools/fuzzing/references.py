"""The libraries that are the references, each opening a file that was made up."""

from __future__ import annotations

import json
import re
from typing import Any, Protocol

from tokbench_subword.pipeline.document import steps_of

from fuzzing.documents import Made

Spans = list[tuple[int, int] | None]

_GAP = "\U0010fffd gap"


class Unfit(Exception):
    """The library's own results for this file are no measure."""


class Reference(Protocol):
    """A library's tokenizer of a file."""

    def encode(self, text: str) -> tuple[list[int], Spans | None]:
        """The ids, and where they lie in code points; None where the library means something else by it."""
        ...

    def decode(self, ids: list[int]) -> str | None:
        """The text of ids, special tokens written out; None where versions of the library differ in it."""
        ...

    def surrounded(self, text: str) -> list[int] | None:
        """The ids with those that the file has put around them; None where the library has no such thing."""
        ...

    def score(self, ids: list[int]) -> float | None:
        """What the model gives a segmentation, where equal scores are as good as equal ids."""
        ...


def reference_of(made: Made) -> Reference:
    """The library that a file belongs to; raises what the library raises where it refuses the file."""
    if made.path.suffix == ".json":
        return _Tokenizers(made)
    return _Sentencepiece(made) if made.path.suffix == ".model" else _Tiktoken(made)


def _normalizer_of(step: dict[str, Any]) -> Any:
    """A normalizer as the library reads it from a file."""
    from tokenizers import Tokenizer, models

    content = json.loads(Tokenizer(models.BPE()).to_str())
    return Tokenizer.from_str(json.dumps(content | {"normalizer": step})).normalizer


def _put_in_front(normalizer: Any, text: str) -> bool:
    """Whether the normal form of `text` begins with a character that stands for none of it."""
    from tokenizers import PreTokenizedString, Regex

    normalizer.normalize_str(text)  # a panic in the next lines would end the process
    whole = PreTokenizedString(text)
    whole.normalize(normalizer.normalize)
    whole.split(lambda _, part: part.split(Regex(r"[\s\S]"), "isolated"))
    return any(start == end for _, (start, end), _ in whole.get_splits("original", "char")[:1])


def _keeps_places(step: dict[str, Any]) -> bool:
    """Whether what a normalizer makes of a character has the place of just that character, by nature."""
    if step["type"] == "BertNormalizer":
        strips = step["strip_accents"]
        return not (step["lowercase"] if strips is None else strips)
    if step["type"] == "Replace":
        return len(step["pattern"].get("String", "")) == 1
    return step["type"] in ("Lowercase", "StripAccents", "Nmt", "Strip", "Prepend")


def _with_gaps(content: dict[str, Any]) -> Any:
    """The tokenizer with a token for what its model drops; None where the model drops nothing.

    The library itself takes all that follows for as much further to the left.
    """
    from tokenizers import Tokenizer

    model = content["model"]
    if "merges" not in model or model.get("unk_token") is not None:
        return None
    vocabulary = {**model["vocab"], _GAP: max(model["vocab"].values(), default=-1) + 1}
    changes = {"unk_token": _GAP, "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary}
    return Tokenizer.from_str(json.dumps({**content, "model": model | changes}))


def _with_space(added: Any) -> str:
    """The expression of an added token with the white space that it takes."""
    before, after = (r"\s*" if strips else "" for strips in (added.lstrip, added.rstrip))
    return before + re.escape(added.content) + after


class _Tokenizers:
    def __init__(self, made: Made) -> None:
        from tokenizers import Tokenizer

        content = json.loads(made.path.read_text("utf-8")) | {"truncation": None, "padding": None}
        self._surrounding = Tokenizer.from_str(json.dumps(content))
        self._surrounding.encode_special_tokens = not made.match_special
        content |= {"post_processor": None}  # which may shorten spans
        self._library = Tokenizer.from_str(json.dumps(content))
        self._library.encode_special_tokens = not made.match_special
        self._gaps = _with_gaps(content)
        if self._gaps is not None:
            self._gaps.encode_special_tokens = not made.match_special
        # An unknown token comes after all bytes of the next characters there, and has a span of as many.
        late = made.family == "bpe" and content["model"].get("byte_fallback")
        self._late_unknown = content["model"].get("unk_token") if late else None
        self._added = self._library.get_added_tokens_decoder()
        self._own = self._library.get_vocab(with_added_tokens=False)
        self._fused_bytes = made.family == "unigram" and content["model"].get("byte_fallback")
        steps = steps_of(content.get("normalizer"), "normalizers")
        self._steps = list(map(_normalizer_of, steps))
        self._placed = all(map(_keeps_places, steps))
        self._spells = '"ByteLevel"' in json.dumps(content.get("pre_tokenizer"))
        matched = [one for one in self._added.values() if made.match_special or not one.special]
        raw = [one for one in matched if not one.normalized]
        self._raw = [
            re.compile("|".join(re.escape(one.content) for one in raw) or r"(?!)"),
            re.compile("|".join(map(_with_space, raw)) or r"(?!)"),
        ]
        self._check_added()

    def _check_added(self) -> None:
        """Raise `Unfit` for added tokens that the library has no order for."""
        normalizer = self._library.normalizer
        contents = [one.content for one in self._added.values() if one.normalized]
        forms = [normalizer.normalize_str(content) for content in contents] if normalizer else contents
        if "" in forms:
            raise Unfit("normalizing leaves nothing of an added token: it matches everywhere or panics")
        if len({*forms}) < len(forms):
            raise Unfit("normalizing makes two added tokens equal: it takes one or the other, run by run")

    def _check_normal(self, text: str) -> None:
        """Raise `Unfit` for text that the library writes in part twice.

        Once a `Replace` has put something in front by an empty match, whatever goes by characters does so, or
        panics: a next normalizer, which alone would not, or `ByteLevel`.
        """
        normalizer = self._library.normalizer
        if normalizer is None:
            return
        for piece in {piece for raw in self._raw for piece in raw.split(text)}:
            by_steps = piece
            for step in self._steps:
                by_steps = step.normalize_str(by_steps)
            if self._steps and normalizer.normalize_str(piece) != by_steps:
                raise Unfit("normalizers in a sequence give another text than one after another")
            if self._spells and _put_in_front(normalizer, piece):
                raise Unfit("what is spelled in bytes is not all of the text")

    def encode(self, text: str) -> tuple[list[int], Spans | None]:
        self._check_normal(text)
        found = self._library.encode(text, add_special_tokens=False)
        if not self._placed:
            return found.ids, None
        if self._gaps is not None:
            return found.ids, self._beside_gaps(text, found.tokens)
        if self._late_unknown in found.tokens and any(token.startswith("<0x") for token in found.tokens):
            return found.ids, None
        # All bytes of unknown characters in a row have the span of the whole row there.
        spans: Spans = [
            None if self._fused_bytes and token.startswith("<0x") else span
            for token, span in zip(found.tokens, found.offsets, strict=True)
        ]
        return found.ids, spans

    def _beside_gaps(self, text: str, tokens: list[str]) -> Spans | None:
        """The spans of tokens beside which a model drops what it does not know; None where merges go across."""
        found = self._gaps.encode(text, add_special_tokens=False)
        kept = [one for one in zip(found.tokens, found.offsets, strict=True) if one[0] != _GAP]
        return [span for _, span in kept] if [token for token, _ in kept] == tokens else None

    def decode(self, ids: list[int]) -> str | None:
        for index in ids:
            added = self._added.get(index)
            if added and self._library.id_to_token(index) != added.content:
                return None  # version 0.23 writes such a token normalized, those before as it was given
            if added and added.content not in self._own and not added.content.isascii():
                return None  # its letters are read as bytes: "Straße" comes back broken
        return str(self._library.decode(ids, skip_special_tokens=False))

    def surrounded(self, text: str) -> list[int]:
        ids: list[int] = self._surrounding.encode(text).ids
        return ids

    def score(self, ids: list[int]) -> float | None:
        return None


class _Sentencepiece:
    def __init__(self, made: Made) -> None:
        import sentencepiece

        self._library = sentencepiece.SentencePieceProcessor(model_file=str(made.path))
        self._unigram = made.family == "unigram"

    def encode(self, text: str) -> tuple[list[int], Spans | None]:
        mapping = self._library.EncodeAsOffsetMapping(text)
        ids = self._library.encode(text)
        spans: Spans = [tuple(span) for span in mapping["offsets"]]
        for index in range(len(ids) - 1):
            if self._library.is_byte(ids[index]) and self._library.is_byte(ids[index + 1]):
                spans[index] = None  # it gives a character's span to the last of its bytes only
        return ids, spans

    def decode(self, ids: list[int]) -> str:
        return str(self._library.decode(ids))

    def surrounded(self, text: str) -> None:
        return None

    def score(self, ids: list[int]) -> float | None:
        return sum(map(self._library.get_score, ids)) if self._unigram else None


class _Tiktoken:
    def __init__(self, made: Made) -> None:
        import tiktoken

        from tokbench.vocabulary_files import read_ranks

        ranks = read_ranks(made.path)
        self._library = tiktoken.Encoding(
            name="random",
            pat_str=made.pattern,
            mergeable_ranks=ranks,
            special_tokens={"<|end|>": len(ranks)},
        )

    def encode(self, text: str) -> tuple[list[int], Spans | None]:
        return self._library.encode_ordinary(text), None

    def decode(self, ids: list[int]) -> str:
        return self._library.decode(ids)

    def surrounded(self, text: str) -> None:
        return None

    def score(self, ids: list[int]) -> float | None:
        return None
