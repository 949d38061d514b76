"""Look up the ids of a BPE tokenizer, of model and added tokens: how files spell each, and its bytes."""

from __future__ import annotations

from collections.abc import Iterable

from tokbench.arguments import known_id, known_ids
from tokbench.kernels.copies import cached_property
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.bpe.tokenizer_json import texts_by_id
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.decoders import BYTE, replacements_of
from tokbench_subword.pipeline.document import steps_of
from tokbench_subword.pipeline.document_tokenizer import DocumentTokenizer


class TokenLookup(DocumentTokenizer):
    """Lookups between ids, spellings and bytes, for the tokens of `model` and the added tokens of `document`.

    If `literal`, the text of an added token is never read as bytes spelled in the byte alphabet.
    """

    model: BpeModel
    literal: bool
    _preparation: BpePreparation

    @cached_property
    def _size(self) -> int:
        return max(len(self.model), 1 + max((token.id for token in self.document.added_tokens), default=-1))

    @property
    def unk_id(self) -> int | None:
        """The id of the unknown token, or None."""
        return self.model.unk

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a token in text; empty for special tokens and unused ids."""
        return self._bytes_of(known_id(token_id, self.vocab_size, name=self.name))

    def token_bytes_batch(self, ids: Iterable[int]) -> list[bytes]:
        """The bytes of many tokens; at byte level, from one list of all tokens."""
        ids = known_ids(ids, self.vocab_size, name=self.name)
        if self.model.level != "byte":
            return [self._bytes_of(index) for index in ids]
        tokens, special = self._decoded_bytes, self.special_ids
        return [b"" if index in special else tokens[index] for index in ids]

    def convert_token_to_id(self, token: str) -> int | None:
        """The id of a token as files spell it (``Ġword``); else the unknown token's id, or None."""
        return self._ids.get(token, self.model.unk)

    @cached_property
    def _added_by_id(self) -> dict[int, AddedToken]:
        return {token.id: token for token in self.document.added_tokens}

    @cached_property
    def _decoded_bytes(self) -> list[bytes]:
        """The bytes that each id decodes to at byte level, added tokens included; empty for unused ids."""
        tokens = [*self.model.vocabulary, *(b"" for _ in range(self.vocab_size - len(self.model.vocabulary)))]
        for index, text in self.model.unreachable.items():
            tokens[index] = text.encode("utf-8", "replace")
        for token in self.document.added_tokens:
            tokens[token.id] = self._added_bytes(token)
        return tokens

    def _added_bytes(self, token: AddedToken) -> bytes:
        """The bytes that an added token spells, if the decoder or vocabulary reads it so; else its text."""
        text = self._preparation.written[token.id]
        spells = unspelled(text) if self.model.level == "byte" and not self.literal else None
        if spells and (self._decodes_letters or self.model.ids.get(spells) == token.id):
            return spells
        return text.encode("utf-8", "replace")

    @cached_property
    def _decodes_letters(self) -> bool:
        return any(step.get("type") == "ByteLevel" for step in steps_of(self.document.decoder, "decoders"))

    @cached_property
    def _names(self) -> dict[int, str]:  # type: ignore[override]
        """Every token as files spell it."""
        return texts_by_id(self.model) | {token.id: token.content for token in self.document.added_tokens}

    @cached_property
    def _written(self) -> dict[int, str]:  # type: ignore[override]
        """Every token as the decoder receives it."""
        return {**texts_by_id(self.model), **self._preparation.written}

    def _bytes_of(self, token_id: int) -> bytes:
        if token_id in self.special_ids:
            return b""
        if self.model.level == "byte":
            return self._decoded_bytes[token_id]
        added = self._added_by_id.get(token_id)
        if added is not None and self._preparation.spelling:
            return self._added_bytes(added)
        if added is not None:  # the decoder replaces U+2581 in it too: Gemma has runs of them as added tokens
            return self._plain_bytes(self._preparation.written[token_id].encode("utf-8", "replace"))
        if token_id >= len(self.model.vocabulary):
            return b""
        plain = self._plain_bytes(self.model.vocabulary[token_id])
        return (unspelled(plain.decode()) or b"") if self._preparation.spelling else plain

    def _plain_bytes(self, token: bytes) -> bytes:
        """The bytes of a character-level token, without affixes and with the decoder's replacements."""
        model = self.model
        byte = BYTE.match(token.decode("utf-8", "surrogatepass")) if model.byte_fallback else None
        if byte:
            return bytes([int(byte[1], 16)])
        token = token.removeprefix(model.continuing_prefix.encode()).removesuffix(model.end_of_word.encode())
        for old, new in self._replacements:
            token = token.replace(old, new)
        return token

    @cached_property
    def _replacements(self) -> list[tuple[bytes, bytes]]:
        """The replacements (old, new) of the decoder, in order."""
        return [(old.encode(), new.encode()) for old, new in replacements_of(self.document.decoder)]
