"""`WordPieceTokenizer`: a WordPiece tokenizer for tokbench and for use on its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import Step, TokenizerError
from tokbench.arguments import plain_text
from tokbench.kernels.copies import Rebuilt, cached_property, forget_made
from tokbench_subword.files import formats
from tokbench_subword.files.probes import probes_of
from tokbench_subword.files.proof import is_converted, json_content, write_json
from tokbench_subword.files.tokenizer_json import document_of
from tokbench_subword.files.vocab_txt import write_vocabulary
from tokbench_subword.pipeline.bert import BertRules
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.document_tokenizer import DocumentTokenizer
from tokbench_subword.pipeline.origins import located
from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.wordpiece import tracing
from tokbench_subword.wordpiece.encoder import WordPieceEncoder, preparation_of
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.tokenizer_json import document_of_model, model_of_document
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.prepared import PreparedEncoder, PreparedTokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class WordPieceTokenizer(PreparedTokenizer, DocumentTokenizer, Rebuilt):
    """Greedy longest match over BERT's pre-tokens; a word that cannot be built is one unknown token.

    Not lossless: white space, case, accents and unknown words are lost. Encoding is content only: the text of a
    special token is ordinary text; tokens added with `add_tokens` are matched.

    Example:
        >>> model = WordPieceModel(vocabulary={"[UNK]": 0, "un": 1, "##happi": 2, "##ness": 3, "!": 4})
        >>> tokenizer = WordPieceTokenizer("demo", model)
        >>> tokenizer("Unhappiness!")
        [1, 2, 3, 4]
        >>> tokenizer.decode([1, 2, 3, 4])
        'unhappiness!'
        >>> tokenizer.tokenize("unhappily")
        ['[UNK]']
        >>> tokenizer.add_tokens(["<sep>"]), tokenizer("un<sep>un")
        ([5], [1, 5, 1])
    """

    lossless = False

    def __init__(
        self,
        name: str,
        model: WordPieceModel,
        *,
        threads: int = 1,
        cache: int = CACHE_BYTES,
        match_special: bool = False,
        source: str = "",
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.threads = threads
        self.cache = cache
        self._match_special = match_special
        self.source = source
        self.notes = dict(notes or {})

    @property
    def document(self) -> TokenizerJson:  # type: ignore[override]
        """The parts of the tokenizer around the model."""
        return self.model.document

    def _surround(self, document: TokenizerJson) -> None:
        self.model = replace(self.model, document=document)
        forget_made(self)

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """The ids of special tokens, including the unknown token."""
        return frozenset(self.model.special_tokens.values())

    @property
    def unk_id(self) -> int:
        """The id of the unknown token."""
        return self.model.unk_id

    # --- text to ids ------------------------------------------------------------------------------------

    def encode(self, text: str) -> list[int]:  # type: ignore[override]
        """The ids of `text`, as a list, since callers of this family join results with ``+``."""
        ids: list[int] = super().encode(text).tolist()
        if "_to_list" in self.__dict__:  # the compiled function that replaces both methods
            self.__dict__["encode"] = self.__dict__["_to_list"]
        return ids

    _to_list = encode

    @cached_property
    def _preparation(self) -> Preparation:  # type: ignore[override]
        return preparation_of(self.model, match_special=self.match_special)

    @cached_property
    def _encoder(self) -> WordPieceEncoder:
        prepared = self._preparation
        return WordPieceEncoder(
            self.model,
            prepared.compiled.cutters,
            spelled=prepared.spelled_by_encoder,
            threads=self.threads,
            cache=self.cache,
        )

    @cached_property
    def _prepared(self) -> PreparedEncoder:  # type: ignore[override]
        return PreparedEncoder(self._preparation.compiled, self._encoder)

    def offsets_batch(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens, ``(total, 2)``; text i has rows ``limits[i]`` to ``limits[i + 1]``.

        A span reaches from the first to the last character that contributes to the token; an accent removed
        from the end of a token is outside.
        """
        pipeline = self._preparation.before_model
        found = located(pipeline, texts)
        words, before = found.pieces(pipeline.cutters)
        batch, places = self._of_letters.locate_words(found.data, words)
        return found.spans(places, batch.offsets[before], self._plain_offsets)

    def _plain_offsets(self, text: str) -> NDArray[np.int64]:
        """The spans of the tokens of one text, int64 ``(n, 2)``, by the plain form."""
        return self._preparation.spans(text, self._of_letters.locate_words)

    @cached_property
    def _of_letters(self) -> WordPieceEncoder:
        """The encoder for words that are already spelled in the byte alphabet, if there are any."""
        letters = self._preparation.spelled_by_encoder  # the usual encoder then takes plain bytes
        return WordPieceEncoder(self.model, ()) if letters else self._encoder

    def trace(self, text: str) -> Iterator[Step]:
        """The steps of encoding: the words, then each match with the candidates tried."""
        return tracing.steps(self._preparation.words(plain_text(text, name=self.name)), self.model)

    # --- ids to text ------------------------------------------------------------------------------------

    @cached_property
    def _written(self) -> dict[int, str]:  # type: ignore[override]
        return {**self.model.tokens, **self._preparation.written}

    def token_bytes(self, token_id: int) -> bytes:
        """The UTF-8 of one token without its prefix; nothing for special tokens."""
        self.convert_id_to_token(token_id)
        if token_id in self.special_ids or token_id not in self.model.tokens:
            return b""
        return self._written[token_id].removeprefix(self.model.prefix).encode("utf-8", "surrogatepass")

    # --- the simple class API ---------------------------------------------------------------------------

    def convert_token_to_id(self, token: str) -> int:
        """The id of a token as the vocabulary writes it, or the unknown id if it is not in the vocabulary."""
        return self._ids.get(token, self.unk_id)

    @property
    def _names(self) -> Mapping[int, str]:  # type: ignore[override]
        return self.model.tokens

    def to_dict(self) -> dict[str, Any]:
        """The tokenizer as the content of a `tokenizer.json`, ready for JSON.

        Raises `TokenizerError` if `tokenizers` would give other ids (see `save`).
        """
        document = document_of_model(self.model)
        return json_content(document, proof=self._proof if self._names_added(document) else None)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, name: str = "wordpiece") -> WordPieceTokenizer:
        """The tokenizer for a `tokenizer.json`'s content; raises `TokenizerError` if the content is invalid."""
        return cls(name, model_of_document(document_of(content, where=name), where=name))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `tokenizer.json`, or, if `path` ends in ``.txt``, a vocabulary (see `save_vocabulary`).

        If the tokenizer came in another format, or has added tokens to which `tokenizers` would give other ids,
        the written file is proved to keep the ids. Raises `TokenizerError` if it does not, for GGUF (with the
        reason), and for any other ending.
        """
        target = Path(path)
        if target.suffix == ".gguf":
            raise TokenizerError(
                f"{self.name} is not written as {target.name}, which would change ids: llama.cpp prepares text "
                "for WordPiece by rules of its own (it takes Hangul syllables and some vowel signs apart and "
                "drops all but their first part, always folds case, and does not limit word length); serve it "
                "with a program that reads tokenizer.json"
            )
        formats.check_ending(self.name, target, formats.WORDPIECE)
        if target.suffix == ".txt":
            self.save_vocabulary(target)
            return
        document = document_of_model(self.model)
        changed = is_converted(self.source) or self._names_added(document)
        write_json(document, target, proof=self._proof if changed else None)

    def _names_added(self, document: TokenizerJson) -> bool:
        """Whether a document's vocabulary contains added tokens, so that the model can produce them."""
        return len(document.model["vocab"]) > len(self.model.vocabulary)

    def _proof(self) -> dict[str, Any]:
        return {
            "source": self.changed(match_special=False).encode,  # files do not store match_special
            "probes": probes_of(map(self.token_bytes, range(self.vocab_size)), self.document.added_tokens),
            "name": self.name,
        }

    def save_vocabulary(self, path: str | os.PathLike[str]) -> None:
        """Write BERT's `vocab.txt`: a token a line, the line number its id. It does not contain the rules.

        The rules are options of the family. Raises `TokenizerError` if ids have gaps or a token could not be
        read back, and for what no option sets: a normalizer or pre-tokenizer other than BERT's, added tokens.
        """
        if self.model.rules is None:
            steps = f"normalizer {self.document.normalizer}, pre-tokenizer {self.document.pre_tokenizer}"
            raise TokenizerError(
                f"{self.name}: vocab.txt is read by BERT's rules, and this tokenizer prepares text otherwise "
                f"({steps}): ids would change; save a .json instead"
            )
        added = [token.content for token in self.document.added_tokens if not token.special]
        if added:
            raise TokenizerError(
                f"{self.name}: vocab.txt does not say that {added[0]!r} is matched before others: ids would "
                "change; save a .json instead"
            )
        write_vocabulary([self.model.tokens.get(index) for index in range(self.vocab_size)], path)

    def unsaid_in(self, path: str | os.PathLike[str]) -> dict[str, str]:
        """The options needed to open the file `path`: for a `vocab.txt`, rules that differ from BERT's."""
        model, rules = self.model, self.model.rules
        if Path(path).suffix != ".txt" or rules is None:
            return {}
        usual = asdict(BertRules.of(lowercase=rules.lowercase)) | {"lowercase": True}
        stated = {name: str(value).lower() for name, value in asdict(rules).items() if value != usual[name]}
        for name, default in (("unk_token", "[UNK]"), ("prefix", "##"), ("max_input_chars_per_word", 100)):
            if (value := getattr(model, name)) != default:
                stated[name] = str(value)
        return stated

    def facts(self) -> Mapping[str, Any]:
        """What it is, ready for JSON."""
        facts = {"algorithm": "WordPiece", **self._facts_around()}
        if (rules := self.model.rules) is not None:
            facts["normalizer"] = f"BERT ({', '.join(rules.on)})" if rules.on else None
            facts["pre_tokenizer"] = "BERT: white space, every punctuation character"
        return {
            **facts,
            "byte_fallback": False,
            "special_tokens": self.model.special_tokens,
            "unk_token": self.model.unk_token,
            "prefix": self.model.prefix,
            "max_input_chars_per_word": self.model.max_input_chars_per_word,
            "lossless": False,
            "why_not_lossless": "white space is dropped, and a word that cannot be built becomes unknown",
            "unicode": "categories of 8.0, decomposition of 9.0, as tokenizers has them",
            **self.notes,
        }
