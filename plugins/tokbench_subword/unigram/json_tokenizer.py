"""`JsonUnigramTokenizer`: a `tokenizer.json` of the type Unigram, with ids as `tokenizers` gives them.

T5, ALBERT, XLM-R, mT5 and others have one.

Not the same as the `.model` it was made from: text is normalised otherwise (see `json_normalizers`), words are
segmented one by one, sums are float64, and special tokens are ordinary vocabulary with a score of their own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.tokenizer import Step, TokenBatch
from tokbench_subword.kernels.utf8 import repaired
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens, check_new
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.pipeline.tokenizer_json import (
    Document,
    content_of,
    document_of,
    read_document,
    steps_of,
    write_document,
)
from tokbench_subword.unigram.engine import SLACK
from tokbench_subword.unigram.segments import find_cuts
from tokbench_subword.unigram.trie import build_trie
from tokbench_subword.unigram.unigram_algorithm import UNKNOWN_PENALTY, Lexicon, Node, Unigram
from tokbench_subword.unigram.vocabulary import byte_piece
from tokbench_subword.unigram.word_path import WordPath


class JsonUnigramTokenizer:
    """A Unigram `tokenizer.json`, with ids equal to those of `tokenizers`.

    Encoding is content only: no template, special-token text is ordinary text; other added tokens are matched.

    Example:
        >>> vocab = [["<unk>", 0.0], ["ab", -1.0], ["a", -2.0]]
        >>> content = {"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}
        >>> tokenizer = JsonUnigramTokenizer.from_dict(content)
        >>> tokenizer("abax"), tokenizer.tokenize("aab")
        ([1, 2, 0], ['a', 'ab'])
    """

    lossless = False

    def __init__(
        self, document: Document, *, name: str, threads: int = 1, notes: Mapping[str, Any] | None = None
    ):
        self.name = name
        self.threads = threads
        self._notes = dict(notes or {})
        self._build(document)

    def _build(self, document: Document) -> None:
        self.document = document
        model = document.model
        if model.get("type", "Unigram") != "Unigram" or not isinstance(model.get("vocab"), Sequence):
            raise TokenizerError(
                f"{self.name}: the model is {model.get('type') or 'of no stated type'}, not Unigram; "
                "the families 'bpe' and 'wordpiece' read the others"
            )
        self.pieces, self.scores = _vocabulary(model["vocab"], self.name)
        unk = model.get("unk_id")
        if unk is not None and not (isinstance(unk, int) and 0 <= unk < len(self.pieces)):
            raise TokenizerError(f"{self.name}: unk_id {unk!r} is outside the vocabulary of {len(self.pieces)}")
        self.unk_id: int | None = unk
        self.ids = {piece: index for index, piece in enumerate(self.pieces)}
        added = document.added_tokens
        self._names = dict(enumerate(self.pieces)) | {token.id: token.content for token in added}
        self.vocab_size = max(self._names) + 1
        self.special_ids = frozenset(token.id for token in added if token.special)
        try:
            self._normalize = normalizer_of(document.normalizer)
            self._pre_tokenize = pre_tokenizer_of(document.pre_tokenizer)
            self._decode = decoder_of(document.decoder)
        except TokenizerError as error:
            raise TokenizerError(f"{self.name}: {error}") from error
        self._raw = AddedTokens(token for token in added if not token.normalized)
        normalize = self._normalize
        self._normal = AddedTokens(
            (token for token in added if token.normalized),
            normalize=(lambda text: normalize(Stretch(text)).text) if normalize else None,
        )
        self._algorithm = Unigram(self._lexicon(bool(model.get("byte_fallback"))), None)
        unknown = "" if unk is None else self.pieces[unk]
        self._words = WordPath.of(document, unknown, where=self.name)

    def _lexicon(self, fallback: bool) -> Lexicon:
        pieces = {piece.encode(): index for piece, index in self.ids.items() if piece and "\0" not in piece}
        known = [self.ids.get(byte_piece(byte)) for byte in range(256)] if fallback else []
        if any(index is None for index in known) and not all(index is None for index in known):
            raise TokenizerError(f"{self.name}: byte_fallback with only some of the 256 byte tokens")
        byte_ids = [] if None in known else known
        if self.unk_id is None and not byte_ids and len(pieces) == 0:
            raise TokenizerError(f"{self.name}: an empty vocabulary without an unknown token")
        unknown = float(self.scores.min()) - UNKNOWN_PENALTY
        return Lexicon(
            units=build_trie(pieces),
            scores=self.scores,
            unknown=unknown,
            largest=float(max(np.abs(self.scores).max(), abs(unknown))),
            threshold=math.inf,
            byte_ids=np.array(byte_ids, np.int32),
            unk_id=-1 if self.unk_id is None else self.unk_id,
            cuts=find_cuts(pieces),
            escaped=False,
        )

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> JsonUnigramTokenizer:
        """The tokenizer of a file; raises `TokenizerError` naming what is wrong or not known."""
        return cls(read_document(path), **{"name": os.fspath(path), **options})

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], *, name: str = "unigram") -> JsonUnigramTokenizer:
        """The tokenizer of a `tokenizer.json`'s content."""
        return cls(document_of(content, where=name), name=name)

    # --- text to ids ------------------------------------------------------------------------------------

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of `text`: int32."""
        return self.encode_batch([text]).ids

    def __call__(self, text: str) -> list[int]:
        """The ids of `text`, as a list."""
        ids: list[int] = self.encode(text).tolist()
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts: by kernels as far as they can, the rest as it is written down."""
        path = self._words
        if path is None:
            return self._encode_plainly(texts)
        texts = list(map(repaired, texts))
        ready = path.prepare(texts)
        ids, bounds = self._algorithm.engine.encode_ragged(ready.data + SLACK, ready.words, self.threads)
        batch = TokenBatch(self._known(ids), bounds[ready.documents])
        left = set(ready.left)
        if not self._raw.only_special:
            left.update(i for i, text in enumerate(texts) if self._raw.may_match(text, match_special=False))
        return _replaced(batch, sorted(left), self._encode_plainly([texts[i] for i in sorted(left)]))

    def _encode_plainly(self, texts: Sequence[str]) -> TokenBatch:
        plan: list[int] = []  # an added token's id, or -1 for a word that is to be encoded
        words: list[bytes] = []
        ends = [0]
        unk_piece = "" if self.unk_id is None else self.pieces[self.unk_id]
        for text in texts:
            for part in self._parts(repaired(text)):
                if isinstance(part, AddedToken):
                    plan.append(part.id)
                    continue
                for word in self._pre_tokenize(part):
                    if unk_piece and unk_piece in word.text:  # the kernel does not know it from other pieces
                        data = word.text.encode()
                        plan += [index for index, _ in self._path_ids(data, self._algorithm.path(data))]
                    elif word.text:
                        words.append(word.text.encode())
                        plan.append(-1)
            ends.append(len(plan))
        ids, bounds = self._algorithm.engine.encode_many(words, self.threads)
        ids = self._known(ids)
        if len(words) == len(plan):
            return TokenBatch(ids, bounds[np.array(ends)])
        marks = np.array(plan, np.int64)
        counts = np.ones(len(plan), np.int64)
        counts[marks < 0] = np.diff(bounds)
        starts = np.concatenate(([0], np.cumsum(counts)))
        woven = np.empty(starts[-1], np.int32)
        from_words = np.repeat(marks < 0, counts)
        woven[from_words] = ids
        woven[~from_words] = marks[marks >= 0]
        return TokenBatch(woven, starts[np.array(ends)])

    def _known(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        if self.unk_id is None and len(ids) and ids.min() < 0:
            raise TokenizerError(
                f"{self.name}: a character is not in the vocabulary, and there is no unknown token"
            )
        return ids

    def _parts(self, text: str, *, track: bool = False) -> Iterator[AddedToken | Stretch]:
        """`text` as added tokens and normalized stretches, in order."""
        for part, _ in self._located(text, track=track):
            yield part

    def _located(self, text: str, *, track: bool) -> Iterator[tuple[AddedToken | Stretch, tuple[int, int]]]:
        for piece in self._raw.split(text, match_special=False):
            if piece.token is not None:
                yield piece.token, (piece.start, piece.end)
                continue
            stretch = Stretch.of(text[piece.start : piece.end], start=piece.start, track=track)
            if self._normalize is not None:
                stretch = self._normalize(stretch)
            for inner in self._normal.split(stretch.text, match_special=False):
                part = stretch.part(inner.start, inner.end)
                span = (piece.start, piece.end)
                if part.origin:
                    span = part.origin[0][0], part.origin[-1][1]
                yield (part if inner.token is None else inner.token), span

    def tokenize(self, text: str) -> list[str]:
        """The pieces of `text`, as the vocabulary writes them."""
        return [self._names[index] for index in self(text)]

    def _paths(self, text: str) -> Iterator[tuple[Stretch, list[Node]] | tuple[AddedToken, tuple[int, int]]]:
        """Words with their best paths, and added tokens with their spans."""
        for part, span in self._located(repaired(text), track=True):
            if isinstance(part, AddedToken):
                yield part, span
                continue
            for word in self._pre_tokenize(part):
                if word.text:
                    yield word, self._algorithm.path(word.text.encode())

    def _path_ids(self, data: bytes, path: Iterable[Node]) -> list[tuple[int, Node]]:
        """The ids of a path with where they lie, unknown characters as bytes or fused.

        The text of the unknown token itself, in the vocabulary like any piece, is fused with what is beside it.
        """
        found: list[tuple[int, Node]] = []
        byte_ids = self._algorithm.lexicon.byte_ids
        for unknown, group in groupby(path, lambda node: node.piece in (-1, self.unk_id)):
            nodes = list(group)
            if not unknown or (len(nodes) == 1 and nodes[0].piece >= 0):
                found += [(node.piece, node) for node in nodes]
            elif len(byte_ids):
                found += [(int(byte_ids[byte]), node) for node in nodes for byte in data[node.start : node.end]]
            else:
                run = Node(nodes[0].start, nodes[-1].end, -1)
                found.append((-1 if self.unk_id is None else self.unk_id, run))
        return found

    def offsets(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token in code points of `text`: int64 ``(tokens, 2)``."""
        rows: list[tuple[int, int]] = []
        place = 0
        for part, rest in self._paths(text):
            if isinstance(part, AddedToken):
                rows.append(rest)  # type: ignore[arg-type]
                place = rows[-1][1]
                continue
            data, origin = part.text.encode(), part.origin or []
            for _, node in self._path_ids(data, rest):  # type: ignore[arg-type]
                first, last = len(data[: node.start].decode()), len(data[: node.end].decode())
                spans = origin[first:last]
                start = max(place, spans[0][0]) if spans else place
                rows.append((start, max(start, spans[-1][1]) if spans else start))
        return np.maximum.accumulate(np.array(rows, np.int64).reshape(-1, 2), axis=0)

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> list[int]:
        """One segmentation of each word, drawn with probability proportional to ``P ** alpha`` (Kudo 2018)."""
        if not 0.0 <= alpha < math.inf:
            raise TokenizerError(f"{self.name}: alpha must be a number from 0 up, not {alpha}")
        state = rng.bit_generator.state
        if self._words is not None and not self._raw.may_match(text, match_special=False):
            ready = self._words.prepare([repaired(text)])
            if not ready.left:
                pieces = self._algorithm.sample_rows(ready.data, rng, alpha, ready.words)[:, 2]
                if (pieces >= 0).all():
                    drawn: list[int] = pieces.tolist()
                    return drawn
        rng.bit_generator.state = state  # what is drawn does not depend on the way it is drawn
        ids: list[int] = []
        for part in self._parts(repaired(text)):
            if isinstance(part, AddedToken):
                ids.append(part.id)
                continue
            for word in self._pre_tokenize(part):
                data = word.text.encode()
                ids += [
                    index for index, _ in self._path_ids(data, self._algorithm.sample_path(data, rng, alpha))
                ]
        return ids

    def trace(self, text: str) -> Iterator[Step]:
        """The algorithm at work, word by word: the lattice with its scores, and the best path."""
        from tokbench_subword.unigram.tracing import path_tokens, word_steps

        done: list[bytes] = []
        for part in self._parts(repaired(text)):
            if isinstance(part, AddedToken):
                done.append(part.content.encode())
                yield Step("added", tuple(done), len(done) - 1, f"added token {part.content}")
                continue
            for word in self._pre_tokenize(part):
                if word.text:
                    data = word.text.encode()
                    yield from word_steps(self._algorithm, data, done, self._names, lambda piece: piece)
                    lexicon = self._algorithm.lexicon
                    done += path_tokens(lexicon.byte_ids, False, data, self._algorithm.path(data))

    # --- ids to text ------------------------------------------------------------------------------------

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, as `tokenizers` decodes it, special tokens written out."""
        return "".join(self._decode([self.convert_id_to_token(index) for index in ids]))

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one token, its ``▁`` as a space; nothing for special tokens and the unknown one."""
        token = self.convert_id_to_token(token_id)
        if token_id in self.special_ids or token_id == self.unk_id:
            return b""
        if token_id in self._bytes:
            return bytes([self._bytes[token_id]])
        return self._visible(token).encode()

    @cached_property
    def _bytes(self) -> dict[int, int]:
        return {index: byte for byte, index in enumerate(self._algorithm.lexicon.byte_ids.tolist())}

    def _visible(self, token: str) -> str:
        for step in steps_of(self.document.decoder, "decoders"):
            if step.get("type") == "Metaspace":
                token = token.replace(str(step["replacement"]), " ")
            elif step.get("type") == "Replace" and "String" in step.get("pattern", {}):
                token = token.replace(str(step["pattern"]["String"]), str(step["content"]))
        return token

    # --- the simple class API ---------------------------------------------------------------------------

    def normalize(self, text: str) -> str:
        """`text` after the normalizer."""
        return self._normalize(Stretch(repaired(text))).text if self._normalize else repaired(text)

    def pre_tokenize(self, text: str) -> list[str]:
        """The words of `text` that the model segments."""
        return [word.text for word in self._pre_tokenize(Stretch(self.normalize(text)))]

    def convert_token_to_id(self, token: str) -> int:
        """The id of a piece or added token, the unknown id where there is none."""
        for added in self.document.added_tokens:
            if added.content == token:
                return added.id
        index = self.ids.get(token, self.unk_id)
        if index is None:
            raise TokenizerError(f"{self.name}: no piece {token!r}, and no unknown token")
        return index

    def convert_id_to_token(self, token_id: int) -> str:
        """The piece of an id; raises `TokenizerError` for an id outside the vocabulary."""
        token = self._names.get(int(token_id))
        if token is None:
            raise TokenizerError(
                f"{self.name}: there is no token {token_id}; ids go from 0 to {self.vocab_size - 1}"
            )
        return token

    def add_tokens(self, tokens: str | Iterable[str]) -> list[int]:
        """Add tokens that are matched as a whole before the model sees the text; returns their new ids.

        Raises `TokenizerError` where one is in the vocabulary already.
        """
        contents = [tokens] if isinstance(tokens, str) else list(tokens)
        known = set(self._names.values())
        check_new(contents, known.__contains__)
        new = [
            AddedToken(content, self.vocab_size + index, normalized=False)
            for index, content in enumerate(contents)
        ]
        self._build(replace(self.document, added_tokens=(*self.document.added_tokens, *new)))
        return [token.id for token in new]

    def to_dict(self) -> dict[str, Any]:
        """The content of the `tokenizer.json`, ready for JSON."""
        return content_of(self.document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `tokenizer.json`."""
        write_document(self.document, path)

    def facts(self) -> Mapping[str, Any]:
        """What it is, ready for JSON."""
        names = {
            part: [str(step.get("type")) for step in steps_of(config, key)]
            for part, config, key in (
                ("normalizer", self.document.normalizer, "normalizers"),
                ("pre_tokenizer", self.document.pre_tokenizer, "pretokenizers"),
            )
        }
        return {
            "algorithm": "Unigram",
            "normalizer": ", ".join(names["normalizer"]) or None,
            "pre_tokenizer": ", ".join(names["pre_tokenizer"]) or None,
            "byte_fallback": bool(len(self._algorithm.lexicon.byte_ids)),
            "special_tokens": {self._names[index]: index for index in sorted(self.special_ids)},
            "lossless": False,
            "why_not_lossless": "normalizers and unknown characters; U+2581 comes back as a space",
            **self._notes,
        }


def _replaced(batch: TokenBatch, places: Sequence[int], others: TokenBatch) -> TokenBatch:
    """`batch` with the documents at `places`, in order, taken from `others`."""
    if not places:
        return batch
    lengths, parts, done = batch.lengths(), [], 0
    for place, ids in zip(places, others, strict=True):
        parts += [batch.ids[batch.offsets[done] : batch.offsets[place]], ids]
        done = place + 1
    parts.append(batch.ids[batch.offsets[done] :])
    lengths[places] = others.lengths()
    return TokenBatch(np.concatenate(parts), np.append(0, np.cumsum(lengths)))


def _vocabulary(entries: Sequence[Any], where: str) -> tuple[list[str], NDArray[np.float64]]:
    pieces, scores = [], []
    for index, entry in enumerate(entries):
        if not (isinstance(entry, Sequence) and len(entry) == 2 and isinstance(entry[0], str)):
            raise TokenizerError(f"{where}: entry {index} of the vocabulary is {entry!r}, not [piece, score]")
        if not isinstance(entry[1], int | float) or not math.isfinite(entry[1]):
            raise TokenizerError(f"{where}: piece {index} ({entry[0]!r}) has the score {entry[1]!r}")
        pieces.append(entry[0])
        scores.append(float(entry[1]))
    if not pieces:
        raise TokenizerError(f"{where}: the vocabulary is empty")
    return pieces, np.array(scores, np.float64)
