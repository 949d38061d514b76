"""`tokenizer_config.json` and `added_tokens.json`: what `transformers` keeps beside a bare vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.vocabulary_files import read_text
from tokbench_subword.files.tokenizer_json import parse
from tokbench_subword.pipeline.added_tokens import FLAGS, AddedToken

BESIDE = ("tokenizer_config.json", "added_tokens.json")
"""The files that are read, where they are."""

_FURTHER = ("additional_special_tokens", "extra_special_tokens")
"""Settings that name further special tokens."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The configuration, empty where there is none, and the added tokens by id."""

    config: Mapping[str, Any]
    added: tuple[AddedToken, ...]

    @classmethod
    def of(cls, vocabulary: Path) -> Beside:
        """What stands beside a file; raises `TokenizerError` for files that are not what they should be.

        As `transformers` has it, `added_tokens.json` counts where the configuration describes no tokens.
        """
        config, tokens = (_object(vocabulary.with_name(name)) for name in BESIDE)
        described = config.get("added_tokens_decoder")
        try:
            if described:
                entries = [(str(one["content"]), int(index), one) for index, one in described.items()]
            else:
                entries = [
                    (str(content), int(index), {"normalized": True}) for content, index in tokens.items()
                ]
            added = [
                AddedToken(content, index, **{flag: bool(one.get(flag, False)) for flag in FLAGS})
                for content, index, one in entries
            ]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise TokenizerError(
                f"{vocabulary.parent}: an added token in {' or '.join(BESIDE)} lacks its content or id"
            ) from error
        return cls(config, tuple(sorted(added, key=lambda token: token.id)))

    def class_name(self, usual: str) -> str:
        """The class that the configuration names, or the `usual` one, without ``Tokenizer`` and ``Fast``."""
        name = str(self.config.get("tokenizer_class") or usual)
        return name.removesuffix("Fast").removesuffix("Tokenizer")

    def special(
        self, usual: Mapping[str, str | Mapping[str, Any]], ids: Mapping[str, int]
    ) -> tuple[AddedToken, ...]:
        """The special tokens, as far as a vocabulary has them.

        They are those of some `usual` settings (``pad_token`` …), where the configuration does not name others
        in their place, and what it names besides. One that is named by its text alone has the flags of the
        `usual` one.
        """
        named: list[Any] = []
        for setting, token in usual.items():
            one = self.config.get(setting, token)
            flags = token if isinstance(token, Mapping) else {}
            named.append({**flags, "content": one} if isinstance(one, str) else one)
        for more in filter(None, map(self.config.get, _FURTHER)):
            named += more.values() if isinstance(more, Mapping) else more
        found: dict[str, AddedToken] = {}
        for one in named:
            described = one if isinstance(one, Mapping) else {"content": one}
            content = described.get("content")
            if isinstance(content, str) and content in ids:
                flags = {flag: bool(described.get(flag, False)) for flag in FLAGS} | {"special": True}
                found[content] = AddedToken(content, ids[content], **flags)
        return tuple(found.values())


def _object(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file, empty where there is no such file."""
    if not path.is_file():
        return {}
    content = parse(read_text(path), str(path))
    if not isinstance(content, Mapping):
        raise TokenizerError(f"{path}: expected an object, found a {type(content).__name__}")
    return content
