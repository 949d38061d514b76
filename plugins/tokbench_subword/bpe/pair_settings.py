"""How text is prepared for `vocab.json` and `merges.txt`, by what `transformers` keeps beside them.

The pair itself holds tokens and merges alone. The rest follows from the class that the configuration names; one
that is not known here is refused, since ids would be silently wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.json_model import token_text
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.preparation import document_around
from tokbench_subword.files.beside import BESIDE, Beside
from tokbench_subword.files.tokenizer_json import Document
from tokbench_subword.pipeline.added_tokens import AddedToken, check_numbers

_GPT2 = ("GPT2", "Roberta", "Bart", "Longformer", "LED", "Mvp", "CodeGen", "Blenderbot")
_QWEN2 = "Qwen2"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSettings:
    """How text is prepared for a pair; `where` names its folder in errors."""

    pattern: str
    normal_form: str | None
    prefix_space: bool
    added: tuple[AddedToken, ...]
    where: str

    @classmethod
    def beside(cls, vocab: Path, pattern: str | None) -> PairSettings:
        """The settings of the folder of `vocab`; a `pattern` given by the user goes before the class's.

        Raises `TokenizerError` for a class that is not known where no pattern is given, and for files that are
        not what they should be.
        """
        beside = Beside.of(vocab)
        name = beside.class_name("GPT2")
        if pattern is None and name not in (*_GPT2, _QWEN2):
            raise TokenizerError(
                f"{vocab.with_name(BESIDE[0])}: how {beside.config['tokenizer_class']} cuts text is not known "
                f"to this plugin; say it with pattern=…, or load the folder with transformers:{vocab.parent}"
            )
        return cls(
            pattern=pattern or ("qwen2" if name == _QWEN2 else "gpt2"),
            normal_form="NFC" if name == _QWEN2 else None,
            prefix_space=bool(beside.config.get("add_prefix_space", name == "Blenderbot")),
            added=beside.added,
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
        by_content = {token.content: token for token in (*special, *self.added)}
        added = sorted(by_content.values(), key=lambda token: token.id)
        ids = {token_text(model, token): index for token, index in model.ids.items()}
        check_numbers(added, {**ids, **model.special_tokens}, where=self.where)
        normalizer = {"type": self.normal_form} if self.normal_form else None
        return replace(document, normalizer=normalizer, pre_tokenizer=config, added_tokens=tuple(added))
