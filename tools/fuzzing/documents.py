"""Random `tokenizer.json` files: BPE trained and truncated, WordPiece and Unigram of random parts of words."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fuzzing import components as parts
from fuzzing.components import Json
from fuzzing.texts import chance, training

_SPECIAL = ("<s>", "</s>")


@dataclass(frozen=True, slots=True)
class Made:
    """A file, and what it was made by, short enough to be printed."""

    family: str
    path: Path
    description: str
    pattern: str = ""
    added: tuple[str, ...] = ()
    match_special: bool = False


def _saved(folder: Path, family: str, content: Json) -> Made:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    sizes = {key: len(content["model"][key]) for key in ("vocab", "merges") if key in content["model"]}
    shown = {**content, "model": {**content["model"], **sizes}}
    shown["added_tokens"] = [
        one for one in content["added_tokens"] if not one["special"] or one["content"] not in _SPECIAL
    ]
    text = json.dumps({key: value for key, value in shown.items() if value not in (None, [])})
    added = tuple(one["content"] for one in content["added_tokens"])
    description = re.sub(r'("precompiled_charsmap": "[^"]{20})[^"]*', r"\1…", text)
    return Made(family, path, description, added=added)


def _older(content: Json) -> Json:
    """The same as older versions write it: merges as texts, and nothing that goes without saying."""
    model = {key: value for key, value in content["model"].items() if value is not None and value is not False}
    del model["type"]
    merges = model.get("merges", [])
    if not any(" " in token for merge in merges for token in merge):
        model |= {"merges": [" ".join(merge) for merge in merges]} if merges else {}
    return {key: value for key, value in content.items() if value is not None} | {"model": model}


def _content(model: Json, **others: Any) -> Json:
    empty = dict.fromkeys(("normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return {"version": "1.0", "added_tokens": [], **empty, **others, "model": model}


def _finished(rng: random.Random, content: Json, special: list[str]) -> Json:
    """With added tokens, numbered by `tokenizers`, and what it does to ids in the end."""
    from tokenizers import AddedToken, Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(content))
    if special:
        tokenizer.add_special_tokens(special)
    if added := parts.added_tokens(rng):
        tokenizer.add_tokens([AddedToken(**one) for one in added])
    finished: Json = json.loads(tokenizer.to_str())
    if chance(rng, 0.1):
        finished = _older(finished)
    return finished | parts.limits(rng) | {"post_processor": parts.post_processor(rng)}


def bpe(rng: random.Random, folder: Path) -> Made:
    """A BPE `tokenizer.json`: of bytes or characters, trained, then with some of its merges taken away."""
    from tokenizers import Tokenizer, pre_tokenizers, trainers

    of_bytes = chance(rng, 0.6)
    model: Json = {"type": "BPE", "dropout": None, "unk_token": "<unk>" if chance(rng, 0.4) else None}
    model |= {"continuing_subword_prefix": None, "end_of_word_suffix": None, "vocab": {}, "merges": []}
    model |= {flag: chance(rng, 0.3) for flag in ("byte_fallback", "fuse_unk", "ignore_merges")}
    options: dict[str, Any] = {}
    for name, values in (
        ("continuing_subword_prefix", ("##", "@@", "é")),
        ("end_of_word_suffix", ("</w>", "_", "é")),
    ):
        if chance(rng, 0.12):
            model[name] = options[name] = rng.choice(values)
    special = [model["unk_token"]] if model["unk_token"] else []
    n_bytes = 0
    if model["byte_fallback"]:
        n_bytes = 256 if chance(rng, 0.8) else 100
        special += [f"<0x{byte:02X}>" for byte in range(n_bytes)]
    special += list(_SPECIAL) if chance(rng, 0.3) else []
    if of_bytes and chance(rng, 0.8):
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    elif not of_bytes and chance(rng, 0.6):
        options["limit_alphabet"] = rng.choice((30, 200, 500))
    content = _content(
        model,
        normalizer=parts.normalizer(rng),
        pre_tokenizer=parts.byte_level(rng) if of_bytes else parts.pre_tokenizer(rng),
        decoder=parts.BYTE_LEVEL if of_bytes and chance(rng, 0.7) else parts.decoder(rng),
    )
    tokenizer = Tokenizer.from_str(json.dumps(content))
    trainer = trainers.BpeTrainer(
        vocab_size=rng.choice((0, 50, 300, 600, 1500, 4000)),
        special_tokens=special,
        show_progress=False,
        min_frequency=rng.choice((0, 2)),
        **options,
    )
    tokenizer.train_from_iterator(training(rng, rng.choice((2, 5))), trainer)
    content = json.loads(tokenizer.to_str())
    if chance(rng, 0.7):  # bytes to fall back on are ordinary tokens
        content["added_tokens"] = [
            one for one in content["added_tokens"] if not one["content"].startswith("<0x")
        ]
    _truncate(rng, content["model"])
    return replace(_saved(folder, "bpe", _finished(rng, content, [])), match_special=chance(rng, 0.2))


def _truncate(rng: random.Random, model: Json) -> None:
    """Take merges from the end or from anywhere, with tokens or without, where the dice say so."""
    merges, vocab = model["merges"], model["vocab"]
    way = rng.choice(("none", "none", "none", "end", "holes", "tokens too"))
    if way == "end":
        del merges[rng.randrange(len(merges) + 1) :]
    elif way == "holes":
        model["merges"] = [merge for merge in merges if not chance(rng, 0.1)]
    elif way == "tokens too":
        made = {left + right for left, right in merges}
        gone = {token for token in vocab if token in made and chance(rng, 0.05)}
        model["vocab"] = {token: index for token, index in vocab.items() if token not in gone}
        prefix = model["continuing_subword_prefix"] or ""
        model["merges"] = [
            [left, right]
            for left, right in merges
            if not {left, right, left + right, left + right.removeprefix(prefix)} & gone
        ]


def _words(rng: random.Random, content: Json, per_text: int) -> list[str]:
    """The pre-tokens of training text under the components of `content`."""
    from tokenizers import Tokenizer

    around = Tokenizer.from_str(json.dumps(content))
    words: list[str] = []
    for line in training(rng, per_text):
        text = around.normalizer.normalize_str(line) if around.normalizer else line
        pieces = around.pre_tokenizer.pre_tokenize_str(text) if around.pre_tokenizer else [(text, None)]
        words += [piece for piece, _ in pieces if piece]
    return words


def wordpiece(rng: random.Random, folder: Path) -> Made:
    """A WordPiece `tokenizer.json` of random parts of words."""
    unk = rng.choice(("[UNK]", "<unk>", "UNK"))
    prefix = "##" if chance(rng, 0.6) else rng.choice(("", "@@", "_", "é", "▁", "#"))
    longest = rng.choice((1, 3, 10, 50, 1000)) if chance(rng, 0.4) else 100
    model: Json = {"type": "WordPiece", "unk_token": unk, "continuing_subword_prefix": prefix}
    model |= {"max_input_chars_per_word": longest, "vocab": {unk: 0}}
    cuts = rng.choice((parts.pre_tokenizer, parts.pre_tokenizer, parts.byte_level))
    content = _content(
        model,
        normalizer=parts.bert_normalizer(rng) if chance(rng, 0.4) else parts.normalizer(rng, maps=True),
        pre_tokenizer={"type": "BertPreTokenizer"} if chance(rng) else cuts(rng),
        decoder={"type": "WordPiece", "prefix": prefix, "cleanup": chance(rng)}
        if chance(rng)
        else parts.decoder(rng),
    )
    special = [unk, "[PAD]", "[CLS]"]
    rng.shuffle(special)
    vocab = {token: index for index, token in enumerate(special)}
    for word in _words(rng, content, 2):
        for _ in range(2):
            start = rng.randrange(len(word))
            part = word[start : start + rng.choice((1, 1, 2, 3, 5, 9, 200))]
            vocab.setdefault((prefix if start else "") + part, len(vocab))
    spread = 2 if chance(rng, 0.2) else 1  # ids with holes
    model["vocab"] = {token: index * spread for token, index in vocab.items()}
    return _saved(folder, "wordpiece", _finished(rng, content, special if chance(rng) else []))


def unigram(rng: random.Random, folder: Path) -> Made:
    """A Unigram `tokenizer.json` of random parts of words with random scores, some of them equal."""
    fallback, unk = chance(rng, 0.4), chance(rng, 0.85)
    model: Json = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]], "byte_fallback": False}
    content = _content(
        model,
        normalizer=parts.normalizer(rng, maps=True),
        pre_tokenizer=parts.metaspace(rng) if chance(rng, 0.6) else parts.pre_tokenizer(rng),
        decoder={"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}
        if chance(rng)
        else parts.decoder(rng),
    )
    scores: dict[str, float] = {"<unk>": rng.choice((0.0, -3.5))} if unk else {}
    if fallback:
        scores |= {f"<0x{byte:02X}>": rng.choice((0.0, -5.0)) for byte in range(256)}
    for word in _words(rng, content, 2):
        for _ in range(2):
            start = rng.randrange(len(word))
            part = word[start : start + rng.choice((1, 1, 2, 3, 5, 9))]
            scores.setdefault(part, -rng.choice((rng.random() * 12, 1.5, 2.25, round(rng.random() * 8, 1))))
    vocab = [[piece, score] for piece, score in scores.items()]
    if unk and chance(rng, 0.3):
        vocab.insert(5, vocab.pop(0))
    at = next((index for index, (piece, _) in enumerate(vocab) if piece == "<unk>"), None)
    model |= {"unk_id": at, "vocab": vocab, "byte_fallback": fallback}
    special = ["<unk>"] if unk else []
    return _saved(folder, "unigram", _finished(rng, content, [*special, *_SPECIAL] if chance(rng, 0.6) else []))
