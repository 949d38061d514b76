"""`diff` finds what was sown: each kind of difference between two tokenizers that ought to be one."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
import tiktoken
from tiktoken._educational import SimpleBytePairEncoding
from tokbench_tiktoken.sources import blueprint

import tokbench
from tests.command import invoke
from tests.tokbench.lint.broken import broken, sound, write
from tokbench.inspection.diff import diff
from tokbench.inspection.divergence import CAUSES
from tokbench.inspection.recent import is_recent

TEXTS = [
    "plain words the cat",
    "two  spaces and\n\nlines",
    "the number 1234567",
    "cafe\u0301 and <|endoftext|>",
    "the end of it",
]


def documents(*texts: str):
    return [(str(number), text) for number, text in enumerate(texts or TEXTS, start=1)]


@pytest.fixture
def edited(test_data: Path, tmp_path: Path):
    """A copy of a `tokenizer.json` after an edit of its content."""

    def make(model: str, edit) -> str:
        content = json.loads(
            (test_data / "vocabs" / model / "hf" / "tokenizer.json").read_text(encoding="utf-8")
        )
        edit(content)
        path = tmp_path / f"{model}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return f"transformers:{path}"

    return make


def test_equal_tokenizers_are_equal(test_data):
    found = diff(tokbench.load("gpt-2"), tokbench.load(f"transformers:{test_data}/vocabs/gpt2/hf"), documents())
    assert found.equal
    assert found.share_equal == 1
    assert found.divergences == ()
    assert found.n_tokens_a == found.n_tokens_b > 0


@pytest.fixture(scope="module")
def llamas(test_data):
    """Llama 2 as transformers makes it of its sentencepiece file, and as it was published."""
    specs = ("llama-2,tokenizer_class=LlamaTokenizer", "llama-2/hf")
    return [tokbench.load(f"transformers:{test_data}/vocabs/{spec}") for spec in specs]


def test_raw_sentencepiece_file_in_transformers(llamas):
    found = diff(*llamas, documents())
    assert found.causes == {"white space": 1}
    (one,) = found.divergences
    assert one.document == "2"
    assert TEXTS[1][one.start : one.end] == one.text == "  spaces"
    assert one.a[one.lead].text == "  "


@pytest.fixture
def converted(test_data: Path, tmp_path: Path):
    """cl100k as transformers converts its ranks for `tokenizers`, with a pattern of the caller's."""
    from transformers.convert_slow_tokenizer import TikTokenConverter

    def convert(regex: str):
        (source,) = blueprint("cl100k_base").sources
        converter = TikTokenConverter(str(source.path), pattern=regex, additional_special_tokens=[])
        path = tmp_path / f"{hashlib.sha256(regex.encode()).hexdigest()[:8]}.json"
        converter.converted().save(str(path))
        return tokbench.load(f"transformers:{path}")

    return convert


def lines_of(test_data: Path, *names: str):
    paths = [test_data / "corpora" / name for name in names]
    return [
        (f"{path.name} {number}", line)
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1)
    ]


CORPORA = ("pud/eng_Latn.txt", "pud/hin_Deva.txt", "pud/zho_Hant.txt", "naughty-strings/blns.txt")


@pytest.mark.long
def test_possessive_pattern_pasted_into_tokenizers(test_data, converted):
    """``\\p{N}{1,3}+`` takes three digits at most in tiktoken; to Oniguruma it is ``(?:\\p{N}{1,3})+``."""
    right, possessive = tokbench.load("gpt-4"), blueprint("cl100k_base").pattern
    greedy = re.sub(r"(?<=[+*?])\+|(?<=\d\})\+", "", possessive)
    texts = lines_of(test_data, *CORPORA)
    assert diff(right, converted(greedy), texts).equal
    found = diff(right, converted(possessive), texts)
    assert set(found.causes) == {"digits"}
    assert found.causes["digits"] > 50
    assert all(re.search(r"\d{4}", divergence.text) for divergence in found.divergences)


def test_raw_sentencepiece_file_over_a_corpus(test_data, llamas):
    """On real text too, where what follows the double space is cut otherwise as well."""
    found = diff(*llamas, lines_of(test_data, CORPORA[-1]))
    assert set(found.causes) == {"white space"}
    assert found.causes["white space"] > 5


def test_two_ids_swapped(edited):
    def swap(content):
        vocab = content["model"]["vocab"]
        vocab["Ġthe"], vocab["Ġof"] = vocab["Ġof"], vocab["Ġthe"]

    pair = tokbench.load("gpt-2"), tokbench.load(edited("gpt2", swap))
    found = diff(*pair, documents())
    assert found.causes == {"numbering": 2}
    assert {divergence.text for divergence in found.divergences} == {" the", " of"}
    assert diff(*pair, documents(), by_bytes=True).equal
    assert not diff(tokbench.load("gpt-2"), tokbench.load("gpt-4"), documents(), by_bytes=True).equal


class Educational:
    """tiktoken's teaching version of an encoding: the same ranks and pattern, cut by `regex`."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.name, self.vocab_size = f"educational {encoding.name}", encoding.n_vocab
        self._bpe = SimpleBytePairEncoding(pat_str=encoding._pat_str, mergeable_ranks=encoding._mergeable_ranks)

    def encode(self, text):
        return self._bpe.encode(text, visualise=None)

    def decode(self, ids):
        return self._bpe.decode(ids)

    def token_bytes(self, token_id):
        return self._bpe.decode_bytes([token_id])


def test_another_version_of_unicode(test_data):
    r"""Letters that `regex` knows and tiktoken's engine does not: to the one ``\p{L}``, to the other not."""
    letters = [chr(point) for point in (0x0558, 0x088F, 0x10940, 0x323B0)]
    newer, older = Educational(tiktoken.get_encoding("cl100k_base")), tokbench.load("gpt-4")
    plain = ["f(a) b", "Straße(a)", "漢字(a) 1234"]
    found = diff(older, newer, documents(*plain, *(f"f {letter}(a) b" for letter in letters)))
    if found.equal:
        pytest.skip("tiktoken and regex have come to know the same Unicode; name letters of a newer version")
    assert set(found.causes) == {"Unicode class"}
    assert found.n_equal >= len(plain)
    assert {divergence.text for divergence in found.divergences} == {"(a"}
    assert is_recent("\U0001e4d0")
    assert not is_recent("é")


@pytest.mark.parametrize(
    ("a", "b", "text", "expected"),
    [
        ("gpt-4", "qwen", "in 1234567 days", "digits"),
        ("gpt-2", "gpt-4", "year 20231231", "digits"),
        ("gpt-2", "gpt-4", "def f():\n        return", "white space"),
        ("gpt-4", "gpt-4o", "Donaudampfschifffahrt", "segmentation"),
    ],
)
def test_what_parts_two_vocabularies(a, b, text, expected, test_data):
    known = {"qwen": f"transformers:{test_data}/vocabs/qwen2/hf"}
    pair = [tokbench.load(known.get(name, name)) for name in (a, b)]
    assert diff(*pair, documents(text), by_bytes=True).causes == {expected: 1}


def test_special_tokens(test_data):
    found = diff(tokbench.load("gpt-2"), tokbench.load("tiktoken:gpt2,special=match"), documents())
    assert found.causes == {"special tokens": 1}


def test_normalisation(tmp_path):
    both = write(tmp_path / "nfc", sound()), write(tmp_path / "bare", broken("not_normalized"))
    found = diff(*(tokbench.load(f"transformers:{folder}") for folder in both), documents())
    assert found.causes == {"normalisation": 1}


def test_unknown_and_segmentation(test_data):
    t5 = tokbench.load(f"sentencepiece:{test_data}/vocabs/t5-base/spiece.model")
    llama = tokbench.load(f"sentencepiece:{test_data}/vocabs/llama-2/tokenizer.model")
    assert diff(t5, llama, documents("龘"), by_bytes=True).causes == {"unknown": 1}
    found = diff(
        tokbench.load("gpt-2"), tokbench.load("gpt-4o"), documents("internationalisation"), by_bytes=True
    )
    assert set(found.causes) <= {"segmentation", "ties"}


def test_json_and_examples_of_each_kind(test_data):
    many = documents(*(f"number {number}1234" for number in range(30)), "two  spaces")
    found = diff(tokbench.load("gpt-2"), tokbench.load("gpt-4"), many, examples=8)
    assert len(found.divergences) <= 8
    content = json.loads(json.dumps(found.as_json()))
    assert sum(content["causes"].values()) == content["n_documents"] - content["n_equal"]
    assert set(content["causes"]) <= set(CAUSES)


def test_no_documents():
    found = diff(tokbench.load("bytes"), tokbench.load("chars"), [])
    assert found.equal
    assert found.as_json()["share_equal"] is None


@pytest.mark.parametrize(("b", "status"), [("bytes", 0), ("chars", 1)])
def test_the_command_exits_as_it_found(b, status, tmp_path):
    (tmp_path / "text.txt").write_text("plain\né\n", encoding="utf-8")
    arguments = ["diff", "bytes", b, "-d", str(tmp_path / "text.txt")]
    result = invoke(*arguments)
    assert result.exit_code == status
    assert ("é₂" in result.output) == bool(status)
    content = json.loads(invoke(*arguments, "--json").stdout)
    assert content["n_documents"] == 2
    assert content["n_equal"] == 2 - status
