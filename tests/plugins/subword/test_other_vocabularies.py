"""Vocabularies made here by the libraries, of one language or of many, on every line of all the others.

The everyday run takes a part of each corpus; `pytest -m slow` takes every line, of the novels one in twenty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, trainers
from tokenizers import pre_tokenizers as P

import tokbench

ALPHABET = P.ByteLevel.alphabet()
BYTES = P.ByteLevel(add_prefix_space=False, use_regex=False)
DIGITS = r"\p{N}{1,3}| ?\p{L}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def _byte_level(pattern: str) -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = P.Sequence([P.Split(Regex(pattern), "isolated"), BYTES])
    made.decoder = decoders.ByteLevel()
    return made, trainers.BpeTrainer(vocab_size=6000, initial_alphabet=ALPHABET, show_progress=False)


def _llama() -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    return made, trainers.BpeTrainer(vocab_size=5000, special_tokens=special, show_progress=False)


def _words() -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.pre_tokenizer = P.Sequence([P.Whitespace(), P.Digits(True)])
    return made, trainers.BpeTrainer(
        vocab_size=4000, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )


def _wordpiece(**rules: bool) -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(**rules), P.BertPreTokenizer()
    return made, trainers.WordPieceTrainer(vocab_size=5000, special_tokens=["[UNK]"], show_progress=False)


def _unigram(scheme: str, normalizer: Any) -> tuple[Tokenizer, Any]:
    made = Tokenizer(models.Unigram())
    made.normalizer, made.pre_tokenizer = normalizer, P.Metaspace(prepend_scheme=scheme)
    return made, trainers.UnigramTrainer(
        vocab_size=3000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )


DOCUMENTS: dict[str, tuple[str, str, Callable[[], tuple[Tokenizer, Any]]]] = {
    "BPE of bytes, German": ("bpe", "deu_Latn", lambda: _byte_level(DIGITS)),
    "BPE of bytes, Japanese": ("bpe", "jpn_Jpan", lambda: _byte_level(r"\s?[^\s]+|\s+")),
    "BPE as Llama's, Russian": ("bpe", "rus_Cyrl", _llama),
    "BPE of words, Turkish": ("bpe", "tur_Latn", _words),
    "WordPiece, French": ("wordpiece", "fra_Latn", _wordpiece),
    "WordPiece that keeps case, Hindi": (
        "wordpiece",
        "hin_Deva",
        lambda: _wordpiece(lowercase=False, strip_accents=False),
    ),
    "Unigram, Korean": ("unigram", "kor_Hang", lambda: _unigram("always", normalizers.NFC())),
    "Unigram, Arabic": ("unigram", "arb_Arab", lambda: _unigram("first", normalizers.NFKD())),
}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "unigram, Thai": ("tha_Thai", {"model_type": "unigram", "vocab_size": 2000}),
    "unigram, Finnish, its bytes": (
        "fin_Latn",
        {"model_type": "unigram", "vocab_size": 3000, "byte_fallback": True, "split_digits": True},
    ),
    "unigram, Czech, as it is": (
        "ces_Latn",
        {"model_type": "unigram", "vocab_size": 3000, "normalization_rule_name": "identity"}
        | {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "split_by_whitespace": False},
    ),
    "bpe, Chinese": ("zho_Hant", {"model_type": "bpe", "vocab_size": 4000, "byte_fallback": True}),
    "bpe, Polish, case folded": (
        "pol_Latn",
        {"model_type": "bpe", "vocab_size": 3000, "normalization_rule_name": "nmt_nfkc_cf"}
        | {"treat_whitespace_as_suffix": True, "character_coverage": 0.99},
    ),
}


def _training(test_data: Path, language: str) -> list[str]:
    return (test_data / f"corpora/pud/{language}.txt").read_text(encoding="utf-8").split("\n")


def _corpora(test_data: Path, every: int) -> Iterator[list[str]]:
    """The lines of each file, or one in `every`, which begins at another place in each."""
    files = sorted(path for path in (test_data / "corpora").rglob("*") if path.suffix in (".txt", ".dev"))
    for number, file in enumerate(files):
        text = file.read_bytes().decode("utf-8", "replace").replace("\0", "")
        step = 20 * every if "novels" in file.parts else every
        yield text.split("\n")[number % step :: step]


def _check_document(made: str, test_data: Path, folder: Path, every: int) -> None:
    family, language, make = DOCUMENTS[made]
    theirs, trainer = make()
    theirs.train_from_iterator(_training(test_data, language), trainer)
    path = folder / "tokenizer.json"
    theirs.save(str(path))
    theirs = Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    ours = tokbench.load(f"{family}:{path}")
    for lines in _corpora(test_data, every):
        expected = theirs.encode_batch_fast(lines, add_special_tokens=False)
        for line, ids, found in zip(lines, ours.encode_batch(lines), expected, strict=True):
            assert ids.tolist() == found.ids, ascii(line)


def _check_model(made: str, test_data: Path, folder: Path, every: int) -> None:
    import sentencepiece

    language, options = MODELS[made]
    prefix = folder / "spiece"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_training(test_data, language)),
        model_prefix=str(prefix),
        minloglevel=2,
        num_threads=1,
        **options,
    )
    theirs = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
    ours = tokbench.load(f"{options['model_type']}:{prefix}.model")
    for lines in _corpora(test_data, every):
        for line, ids, found in zip(lines, ours.encode_batch(lines), theirs.encode(lines), strict=True):
            if ids.tolist() != found:  # only a tie of Unigram's may be broken otherwise
                assert options["model_type"] == "unigram", ascii(line)
                scores = [sum(map(theirs.get_score, each)) for each in (ids.tolist(), found)]
                assert scores[0] == pytest.approx(scores[1], abs=1e-3), ascii(line)


@pytest.mark.parametrize("made", ["BPE of bytes, Japanese", "WordPiece, French", "Unigram, Korean"])
def test_a_document_on_some_lines_of_other_languages(made: str, test_data: Path, tmp_path: Path) -> None:
    _check_document(made, test_data, tmp_path, 200)


@pytest.mark.parametrize("made", ["unigram, Finnish, its bytes", "bpe, Chinese"])
def test_a_model_on_some_lines_of_other_languages(made: str, test_data: Path, tmp_path: Path) -> None:
    _check_model(made, test_data, tmp_path, 200)


@pytest.mark.slow
@pytest.mark.parametrize("made", DOCUMENTS)
def test_a_document_on_every_line_of_other_languages(made: str, test_data: Path, tmp_path: Path) -> None:
    _check_document(made, test_data, tmp_path, 1)


@pytest.mark.slow
@pytest.mark.parametrize("made", MODELS)
def test_a_model_on_every_line_of_other_languages(made: str, test_data: Path, tmp_path: Path) -> None:
    _check_model(made, test_data, tmp_path, 1)
