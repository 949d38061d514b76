"""What a check examines: a loaded tokenizer, its files, and text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from tokbench.capabilities import Describable
from tokbench.errors import TokenizerError
from tokbench.lint.samples import SENTENCES
from tokbench.tokenizer import Tokenizer, encode_batch, first_difference, special_ids

if TYPE_CHECKING:
    from tokbench.inspection.audit import VocabularyAudit
    from tokbench.inspection.usage import Usage

TEMPLATES = ("chat_template.jinja", "chat_template.json")
"""Files that may hold a chat template if tokenizer_config.json does not."""


@dataclass(eq=False)
class Subject:
    """A loaded tokenizer with its files.

    `texts` are the documents by language, empty if no text was given. `open` loads another spec. `matching` is
    the same tokenizer with special tokens matched in text, or None if its family cannot.
    """

    spec: str
    tokenizer: Tokenizer
    files: Sequence[Path] = ()
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    open: Callable[[str], Tokenizer] | None = None
    open_matching: Callable[[], Tokenizer | None] = lambda: None

    @cached_property
    def folder(self) -> Path | None:
        """The folder of the tokenizer's file; None for a tokenizer without files."""
        return self.files[0].parent if self.files else None

    @cached_property
    def document(self) -> Mapping[str, Any] | None:
        """The content of the `tokenizer.json` that the spec opens; None for other formats."""
        for path in self.files:
            content = _json(path) if path.suffix == ".json" else None
            if isinstance(content, Mapping) and isinstance(content.get("model"), Mapping):
                return content
        return None

    @cached_property
    def config(self) -> Mapping[str, Any] | None:
        """The content of `tokenizer_config.json` next to the file, or None."""
        return self._beside("tokenizer_config.json")

    @cached_property
    def model_config(self) -> Mapping[str, Any] | None:
        """The content of the model's `config.json` next to the file, or None."""
        return self._beside("config.json")

    def _beside(self, name: str) -> Mapping[str, Any] | None:
        path = self.folder / name if self.folder else None
        if path is None or not path.is_file():
            return None
        content = _json(path)
        if not isinstance(content, Mapping):
            raise TokenizerError(f"{path}: expected an object, found a {type(content).__name__}")
        return content

    @cached_property
    def chat_template(self) -> str | None:
        """The chat template, from a file of its own or from `tokenizer_config.json`; or None."""
        for name in TEMPLATES:
            path = self.folder / name if self.folder else None
            if path is not None and path.is_file():
                text = path.read_text(encoding="utf-8")
                return text if path.suffix == ".jinja" else str(json.loads(text)["chat_template"])
        found = (self.config or {}).get("chat_template")
        if isinstance(found, list):  # several, by name
            found = next((one.get("template") for one in found if one.get("name") == "default"), None)
        return found if isinstance(found, str) else None

    @cached_property
    def audit(self) -> VocabularyAudit:
        """The audit of the vocabulary; an id that `texts` use is not UNREACHABLE."""
        from tokbench.inspection.audit import audit

        found = audit(self.tokenizer)
        return found.with_used(self.usage.counts) if self.texts else found

    @cached_property
    def usage(self) -> Usage:
        """How often each id occurs in `sample`."""
        from tokbench.inspection.usage import usage

        return usage(self.tokenizer, self.sample())

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """The tokenizer's own `facts()`; empty if it has none."""
        return self.tokenizer.facts() if isinstance(self.tokenizer, Describable) else {}

    @cached_property
    def controls(self) -> Mapping[str, int]:
        """The text and id of every special token, such as those that mark turns, ends and roles."""
        found: dict[str, int] = {}
        stated = self.facts.get("special_tokens")
        if isinstance(stated, Mapping):
            found = {str(text): int(index) for text, index in stated.items() if isinstance(index, int)}
        for token in (self.document or {}).get("added_tokens") or []:
            if token.get("special"):
                found[str(token["content"])] = int(token["id"])
        return dict(sorted(((text, index) for text, index in found.items() if text), key=lambda pair: pair[1]))

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """The ids of control tokens, as the tokenizer or its files state them."""
        return special_ids(self.tokenizer) | frozenset(self.controls.values())

    @cached_property
    def matching(self) -> Tokenizer | None:
        """The tokenizer with special tokens matched in text; None if its family cannot."""
        return self.open_matching()

    def sample(self) -> Sequence[str]:
        """The texts given, or the built-in sentences."""
        return [text for texts in self.texts.values() for text in texts] or list(SENTENCES.values())

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, as lists."""
        return encode_batch(self.tokenizer, texts).to_lists()


def token_text(token: Any) -> str | None:
    """A token as tokenizer_config.json names it: a text, or an object with its content."""
    return token.get("content") if isinstance(token, Mapping) else token


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TokenizerError(f"{path}: not JSON ({error})") from error


def shown(text: str, most: int = 40) -> str:
    """A text in quotes on one line, cut after `most` characters.

    Example:
        >>> shown("abcdefghijk", 6)
        "'abcde…"
    """
    written = repr(text)
    return written if len(written) <= most else written[:most] + "…"


def shown_changed(text: str, back: str) -> str:
    """A text and what decoding gives, with the code points that differ (up to four each) if the two look alike.

    Example:
        >>> print(shown_changed("e" + chr(0x301) + "a", chr(0xE9) + "a").encode("ascii", "ignore").decode())
        'ea' comes back as 'a' (U+0065 U+0301 as U+00E9)
    """
    said = f"{shown(text)} comes back as {shown(back)}"
    if normalize("NFC", shown(text)) != normalize("NFC", shown(back)):
        return said
    at = first_difference(text, back)
    lengths = next(
        (
            (one, other)
            for one, other in sorted(product(range(1, 5), repeat=2), key=sum)
            if normalize("NFC", text[at : at + one]) == normalize("NFC", back[at : at + other])
        ),
        (2, 2),
    )
    parts = (each[at : at + length] for each, length in zip((text, back), lengths, strict=True))
    parted = (" ".join(f"U+{ord(one):04X}" for one in part) or "nothing" for part in parts)
    return f"{said} ({' as '.join(parted)})"
