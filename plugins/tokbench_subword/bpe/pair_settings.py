"""What files beside `vocab.json` and `merges.txt` say: `tokenizer_config.json` and `added_tokens.json`.

The pair itself holds tokens and merges alone. How text is prepared for it follows from the class of
`transformers` that the configuration names; one that is not known here is refused, since ids would be silently
wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.json_model import token_text
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.preparation import document_around
from tokbench_subword.pipeline.added_tokens import AddedToken, check_numbers
from tokbench_subword.pipeline.tokenizer_json import Document, parse

_GPT2 = ("GPT2", "Roberta", "Bart", "Longformer", "LED", "Mvp", "CodeGen", "Blenderbot")
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
BESIDE = ("tokenizer_config.json", "added_tokens.json")
"""The files that are read, where they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSettings:
    """How text is prepared for a pair, by the files beside it."""

    pattern: str = "gpt2"
    normal_form: str | None = None
    prefix_space: bool = False
    added: tuple[AddedToken, ...] = ()
    where: str = ""

    @classmethod
    def beside(cls, vocab: Path, pattern: str | None) -> PairSettings:
        """The settings of the folder of `vocab`; a `pattern` given by the user goes before the class's.

        Raises `TokenizerError` for a class that is not known where no pattern is given, and for files that are
        not what they should be.
        """
        config, tokens = (_object(vocab.with_name(name)) for name in BESIDE)
        name = str(config.get("tokenizer_class") or "GPT2").removesuffix("Fast").removesuffix("Tokenizer")
        if pattern is None and name not in (*_GPT2, "Qwen2"):
            raise TokenizerError(
                f"{vocab.with_name(BESIDE[0])}: how {config['tokenizer_class']} cuts text is not known to this "
                f"plugin; say it with pattern=…, or load the folder with transformers:{vocab.parent}"
            )
        return cls(
            pattern=pattern or ("qwen2" if name == "Qwen2" else "gpt2"),
            normal_form="NFC" if name == "Qwen2" else None,
            prefix_space=bool(config.get("add_prefix_space", name == "Blenderbot")),
            added=tuple(_added(config, tokens, where=str(vocab.parent))),
            where=str(vocab.parent),
        )

    def document(self, model: BpeModel) -> Document:
        """The document around `model`, whose special tokens are among the added ones."""
        document = document_around(model.pattern, model.level)
        config: Any = document.pre_tokenizer
        if self.prefix_space and config["type"] == "Sequence":
            *steps, last = config["pretokenizers"]
            config = config | {"pretokenizers": [*steps, last | {"add_prefix_space": True}]}
        elif self.prefix_space:
            config = config | {"add_prefix_space": True}
        special = (AddedToken(t, i, normalized=False, special=True) for t, i in model.special_tokens.items())
        added = {token.content: token for token in (*special, *self.added)}
        ids = {token_text(model, token): index for token, index in model.ids.items()}
        ids |= model.special_tokens
        check_numbers(sorted(added.values(), key=lambda token: token.id), ids, where=self.where)
        return replace(
            document,
            normalizer={"type": self.normal_form} if self.normal_form else None,
            pre_tokenizer=config,
            added_tokens=tuple(sorted(added.values(), key=lambda token: token.id)),
        )


def _object(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file, empty where there is no such file."""
    if not path.is_file():
        return {}
    try:
        content = parse(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise TokenizerError(f"{path}: is not UTF-8 at byte {error.start}") from error
    if not isinstance(content, Mapping):
        raise TokenizerError(f"{path}: expected an object, found a {type(content).__name__}")
    return content


def _added(config: Mapping[str, Any], tokens: Mapping[str, Any], *, where: str) -> Iterator[AddedToken]:
    """The added tokens: those of the configuration with their flags, or else those of `added_tokens.json`."""
    described = config.get("added_tokens_decoder")
    try:
        for index, entry in (described or {}).items():
            flags = {flag: bool(entry.get(flag, False)) for flag in _FLAGS}
            yield AddedToken(str(entry["content"]), int(index), **flags)
        for content, index in ({} if described else tokens).items():
            yield AddedToken(str(content), int(index))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TokenizerError(
            f"{where}: an added token in {' or '.join(BESIDE)} lacks its content or id"
        ) from error
