"""Random tokenizers of every family, as files: `documents`, sentencepiece models, `.tiktoken` ranks."""

from __future__ import annotations

import base64
import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzing.documents import Made, bpe, unigram, wordpiece
from fuzzing.patterns import pattern
from fuzzing.texts import chance, training


def sentencepiece(rng: random.Random, folder: Path) -> Made:
    """A `.model` trained by sentencepiece with random options."""
    import sentencepiece as library

    options: dict[str, Any] = {
        "model_type": rng.choice(("unigram", "bpe")),
        "vocab_size": rng.choice((300, 600, 1500, 4000)),
        "normalization_rule_name": rng.choice(("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity")),
        "character_coverage": rng.choice((0.98, 0.9995, 1.0)),
        "max_sentencepiece_length": rng.choice((4, 16, 30)),
        "split_by_whitespace": chance(rng, 0.75),
        "treat_whitespace_as_suffix": chance(rng, 0.25),
    }
    for flag in (
        *("byte_fallback", "split_digits", "add_dummy_prefix", "remove_extra_whitespaces"),
        *("allow_whitespace_only_pieces", "split_by_unicode_script", "split_by_number"),
    ):
        options[flag] = chance(rng)
    if chance(rng):
        symbols = (
            "<sep>",
            "hello",
            "▁the",
            "é",
            "中文",
            "12",
            "ab",
            "  ",
            "\n",
            "\t",
            "😀",
            "ing",
            "a b",
            "▁",
            "ﬁ",
        )
        options["user_defined_symbols"] = rng.sample(symbols, rng.choice((1, 3)))
    if chance(rng, 0.3):
        options["control_symbols"] = ["<c1>", "[CLS]"]
    if chance(rng, 0.2):
        options |= rng.choice(({"pad_id": 3, "unk_id": 0}, {"bos_id": -1, "eos_id": -1}, {"unk_surface": "?"}))
    elif chance(rng, 0.2):
        options |= {"unk_id": 2, "bos_id": 4, "eos_id": 0, "pad_id": 1}
        options |= {"unk_piece": rng.choice(("the", "▁", "[UNK]")), "bos_piece": "<0x41>", "eos_piece": "e"}
    if chance(rng, 0.2):
        options["required_chars"] = "中é😀ƒ\u0301▁"
    if chance(rng, 0.2):
        options |= {"pretokenization_delimiter": "|"} if chance(rng, 0.3) else {"use_all_vocab": True}
    if chance(rng, 0.25):
        rules = folder / "rules.tsv"
        rules.write_text("\n".join(rng.sample(_RULES, 6)) + "\n", encoding="utf-8")
        options["normalization_rule_tsv" if chance(rng, 0.7) else "denormalization_rule_tsv"] = str(rules)
    lines = [line for line in training(rng, 8) if line.strip() and "\0" not in line]
    for _ in range(3):
        try:
            data = _trained(library, lines, options)
            break
        except RuntimeError as error:  # too many tokens asked for, it says how many there may be; or too few
            found = str(error).rpartition("value <= ")[2].split(".")[0]
            options["vocab_size"] = int(found) if found.isdigit() else 6000
            data = b""
    if data and chance(rng, 0.3):
        data = _altered(rng, data)
        options["altered"] = True
    path = folder / "spiece.model"
    path.write_bytes(data)
    return Made(options["model_type"], path, json.dumps(options, ensure_ascii=False))


def _altered(rng: random.Random, data: bytes) -> bytes:
    """A model with settings that it was not trained with, pieces of other types, and scores that are equal."""
    from tokbench_subword.files import sentencepiece_model as of

    model = of.parse(data)
    flags = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
    normalizer = replace(model.normalizer, **{flag: chance(rng, 0.6) for flag in flags})
    trainer = replace(model.trainer, treat_whitespace_as_suffix=chance(rng, 0.3))
    pieces = list(model.pieces)
    share = rng.choice((0.0, 0.0, 0.02))
    kind = rng.choice((of.UNUSED, of.USER_DEFINED, of.CONTROL))
    decimals = rng.choice((None, 0, 1))
    for index, piece in enumerate(pieces):
        if piece.type == of.NORMAL:
            score = piece.score if decimals is None else round(piece.score, decimals)
            pieces[index] = of.Piece(piece.text, score, kind if chance(rng, share) else of.NORMAL)
    return of.serialize(replace(model, pieces=tuple(pieces), trainer=trainer, normalizer=normalizer))


_RULES = (
    *("41\t61", "61 62\t62 61", "61 62 63\t", "20\t5F", "20 20\t20", "5F\t20", "E9\t65 301", "65 301\tE9"),
    *("4E2D\t20 4E2D 20", "2581\t20", "301\t", "1F600\t3A 29", "a\ta a", "9\t20", "3000\t20", "200B\t"),
    *("FB01\t66 69", "66 69\tFB01", "41 20\t58"),
)
"""Lines of a custom normalization: code points, and those that they become."""


def _trained(library: Any, lines: list[str], options: dict[str, Any]) -> bytes:
    writer = io.BytesIO()
    library.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=writer, minloglevel=2, num_threads=1, **options
    )
    return writer.getvalue()


_PATTERNS = (
    r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
    r"\w+|[^\w\s]+|\s+",
    r"\p{L}+",
    r"[\s\S]",
    r"\p{N}{1,3}+|[^\r\n\p{L}\p{N}]?+\p{L}++|\s++$|\s+(?!\S)|\s|.",
    r"^\s+|\S+$|.+?",
    r"(?i:'s|the|straße|ſ)|\p{Lu}\p{Ll}*|\p{M}+|[^\p{L}]|\p{L}",
    r"[\p{Han}&&[^一]]+|\p{Thai}+|\p{Arabic}+|[\s\S]",
    r".+|\n",
    r"[[:alpha:]]+|[^[:alpha:]]",
    r"\b\w+\b|\W",
    r"(?i)the|\w+|\s|.",
)


def ranks(rng: random.Random, folder: Path) -> Made:
    """A `.tiktoken` file: the bytes, then what merging made of them, and a pattern."""
    from tokbench_subword.pipeline.byte_alphabet import unspelled
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=chance(rng), use_regex=chance(rng, 0.8))
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=rng.choice((256, 300, 1500, 4000)), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(training(rng, 3), trainer)
    tokens = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    data = [unspelled(token) or b"" for token, _ in tokens]
    first = [bytes([byte]) for byte in range(256)]
    if chance(rng):
        rng.shuffle(first)
    learned = [token for token in data if len(token) > 1]
    order = first + learned
    if chance(rng, 0.3):  # ranks in another order than merges were learned in
        order = first + sorted(learned, key=lambda token: (len(token), rng.random()))
    path = folder / "random.tiktoken"
    lines = (base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(order))
    path.write_bytes(b"".join(lines))
    cut = pattern(rng, ruby=False) if chance(rng, 0.3) else rng.choice(_PATTERNS)
    return Made("ranks", path, f"{len(order)} ranks, pattern {cut}", cut)


MAKERS: dict[str, Callable[[random.Random, Path], Made]] = {
    "bpe": bpe,
    "wordpiece": wordpiece,
    "unigram": unigram,
    "model": sentencepiece,
    "ranks": ranks,
}
"""By the names of the command line."""
