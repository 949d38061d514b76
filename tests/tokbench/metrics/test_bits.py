"""Bits per byte: exact denominators by hand, and the published short cuts found again."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tokbench
from tests.command import output
from tokbench.errors import CorpusError, TokenizerError
from tokbench.metrics.bits import audit_bits
from tokbench.metrics.lossfile import Scored, read_losses

BIT = math.log(2)


def figures(found) -> dict[str, float]:
    return {figure.name: figure.value for figure in found.figures}


def test_every_way_by_hand() -> None:
    """Two documents of bytes: né at 1 bit a token, cat at 2 bits."""
    scored = [Scored("1", np.full(3, BIT), text="né"), Scored("2", np.full(3, 2 * BIT), text="cat")]
    found = audit_bits(tokbench.load("bytes"), scored)
    assert (found.documents, found.tokens, found.bytes) == (2, 6, 6)
    assert figures(found) == pytest.approx({
        "exact": 9 / 6,
        "characters": 9 / 5,
        "mean_bytes_per_token": 9 / 6,
        "mean_of_vocabulary": 9 / 6,
        "single_tokens": 9 / (1 + 3 + 3 + 3),  # each half of é decodes to U+FFFD
        "mean_of_documents": (1 + 2) / 2,
    })  # fmt: skip
    assert found.figures[1].error == pytest.approx(6 / 5 - 1)


def test_tokens_without_a_loss_leave_their_bytes_out() -> None:
    tokenizer = tokbench.load("bytes")
    for nats in (np.array([BIT, BIT]), np.array([np.nan, BIT, BIT])):
        found = audit_bits(tokenizer, [Scored("1", nats, text="cat")])
        assert (found.bytes, found.unscored, found.bits_per_byte) == (2, 1, pytest.approx(1))


def test_special_tokens_have_losses_and_no_bytes() -> None:
    spec = "bpe:vocab_size=270,special_tokens=<|endoftext|>"
    tokenizer = tokbench.load(spec, train_on=["low cat"] * 9)
    ids = [*tokenizer.encode("low cat"), *tokenizer.special_ids]
    for text in ("low cat", None):
        found = audit_bits(tokenizer, [Scored("1", np.full(3, BIT), ids=ids, text=text)])
        assert (found.bytes, found.special_tokens, found.from_ids) == (7, 1, int(text is None))
        assert figures(found)["exact"] == pytest.approx(3 / 7)
        assert figures(found)["without_special"] == pytest.approx(2 / 7)
        assert figures(found)["special_as_text"] == pytest.approx(3 / (7 + len("<|endoftext|>")))


def test_published_errors_are_found_again(test_data: Path) -> None:
    """Parts of characters as U+FFFD (too low), a space dropped (too high) and counted twice (too low)."""
    thai = (test_data / "corpora/pud/tha_Thai.txt").read_text(encoding="utf-8").splitlines()[:60]
    english = (test_data / "corpora/pud/eng_Latn.txt").read_text(encoding="utf-8").splitlines()[:60]
    rng = np.random.default_rng(0)

    def errors(spec: str, texts: list[str]) -> dict[str, float]:
        tokenizer = tokbench.load(spec)
        scored = [Scored("1", rng.random(len(tokenizer.encode(text))), text=text) for text in texts]
        found = audit_bits(tokenizer, scored)
        assert found.bytes == sum(len(text.encode()) for text in texts)
        exact = found.figures[0]
        assert exact.interval is not None
        assert exact.interval[0] < exact.value < exact.interval[1]
        return {figure.name: figure.error for figure in found.figures}

    parts = errors("tiktoken:gpt2", thai)
    assert parts["single_tokens"] < -0.4
    assert parts["characters"] > 1.5
    llama = f"sentencepiece:{test_data}/vocabs/llama-2/tokenizer.model"
    spaces = errors(llama, english)
    assert 0.1 < spaces["single_tokens"] < 0.3
    assert -0.2 < spaces["space_twice"] < -0.1
    assert abs(spaces["mean_bytes_per_token"]) < 0.05


def test_text_that_is_rewritten_counts_by_its_own_bytes(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(["[UNK]", "a", "e", "-", "mail", ",", "x"]) + "\n")
    tokenizer = tokbench.load(f"wordpiece:{tmp_path}/vocab.txt")
    text = "É-mail , x"
    assert tokenizer.decode(tokenizer.encode(text)) == "e - mail, x"
    nats = np.full(len(tokenizer.encode(text)), BIT)
    found = audit_bits(tokenizer, [Scored("1", nats, text=text)])
    assert (found.bytes, found.rewritten) == (len(text.encode()), 1)
    part = np.append(np.nan, nats[1:])
    with pytest.raises(CorpusError, match="nothing to divide by"):  # its one document is left out
        audit_bits(tokenizer, [Scored("1", part, text=text)])
    whole = audit_bits(tokenizer, [Scored("1", part, text=text), Scored("2", nats, text=text)])
    assert (whole.left_out, whole.documents) == (1, 1)


def test_files(tmp_path: Path) -> None:
    rows = [{"ids": [97, 98], "nats": [None, 0.5], "text": None}, {"text": "cat", "nats": [1.0, 1.0, 1.0]}]
    lines = tmp_path / "losses.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows)) + "\n")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "losses.parquet")
    outputs = []
    for path in (lines, tmp_path / "losses.parquet"):
        outputs.append(json.loads(output("bpb", "bytes", path, "--json")))
    assert outputs[0] == outputs[1]
    assert outputs[0]["figures"][0]["value"] == pytest.approx(3.5 / math.log(2) / 4)
    shown = output("bpb", "bytes", lines, columns=140)
    assert "1 document without text: the bytes are those of the decoded ids" in shown
    assert "+" in shown


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{}", "line 1: a row needs `nats`"),
        ("[1]", "line 1: an object with nats"),
        ("{", "line 1: no JSON"),
        ('{"nats": 2.5, "ids": [97]}', "must be a list of numbers, a document a row"),
        ('{"nats": [-1], "ids": [97]}', "line 1: loss 1 of 1 is -1: losses are finite numbers of nats from 0"),
        ('{"nats": [1, 1e308], "text": "ab"}', r"line 1: loss 2 of 2 is 1e\+308: losses are finite numbers"),
        ('{"nats": [1e999], "ids": [97]}', "loss 1 of 1 is inf"),
        (f'{{"nats": [{10**400}], "ids": [97]}}', "must be a list of numbers"),
        ('{"nats": [1], "ids": [0.5]}', "`ids` must be a list of whole numbers"),
        ('{"nats": [1, 1, 1], "ids": [97]}', "losses: 3, tokens: 1; one a token"),
        ('{"nats": [1, 1, 1, 1], "text": "ab"}', "losses: 4, tokens: 2; if a BOS"),
    ],
)
def test_wrong_files_are_named_with_the_place(row: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "losses.jsonl").write_text(row + "\n")
    with pytest.raises(CorpusError, match=message):
        audit_bits(tokbench.load("bytes"), read_losses(tmp_path / "losses.jsonl"))


@pytest.mark.parametrize("wrong", [256, -1, 2**70])
def test_ids_that_there_are_not_are_named_with_the_place(wrong: int, tmp_path: Path) -> None:
    (tmp_path / "losses.jsonl").write_text(
        f'{{"nats": [1], "ids": [97]}}\n{{"nats": [1, 1], "ids": [97, {wrong}]}}'
    )
    with pytest.raises(TokenizerError, match=f"losses.jsonl, line 2: there is no token {wrong}; it is "):
        audit_bits(tokbench.load("bytes"), read_losses(tmp_path / "losses.jsonl"))


def test_no_loss_at_all_is_zero_bits_and_no_share_of_it(tmp_path: Path) -> None:
    found = audit_bits(tokbench.load("bytes"), [Scored(str(n), np.zeros(3), text="abc") for n in range(8)])
    assert {(figure.value, figure.error, figure.error_interval) for figure in found.figures} == {
        (0, None, None)
    }
    (tmp_path / "losses.jsonl").write_text('{"text": "abc", "nats": [0, 0, 0]}\n')
    shown = output("bpb", "bytes", tmp_path / "losses.jsonl")
    assert "0.0000" in shown
    assert "nan" not in shown


def test_a_way_of_counting_that_divides_by_nothing_is_left_out() -> None:
    """Of a tokenizer that drops the text, the mean over no tokens."""
    known = "ao1."
    encode = staticmethod(lambda text: [known.index(c) for c in text if c in known])
    decode = staticmethod(lambda ids: "".join(known[each] for each in ids))
    about = {"name": "some", "vocab_size": 4, "encode": encode, "decode": decode}
    found = audit_bits(type("Some", (), about)(), [Scored("1", np.zeros(0), text="xyz")])
    assert (found.bits_per_byte, found.bytes) == (0, 3)
    assert "mean_bytes_per_token" not in figures(found)


def test_a_loss_that_is_nan_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "losses.jsonl"
    file.write_text('{"text": "abd", "nats": [2.0, NaN, 0.5]}\n')
    with pytest.raises(CorpusError, match="a loss is NaN: null says that there is none"):
        list(read_losses(file))


def test_files_in_other_encodings(tmp_path: Path) -> None:
    path, row = (
        tmp_path / "losses.jsonl",
        json.dumps({"text": "né", "nats": [1.0], "ids": [1]}, ensure_ascii=False),
    )
    path.write_text(row, encoding="utf-8-sig")
    assert [scored.text for scored in read_losses(path)] == ["né"], "a byte order mark is no part of the text"
    path.write_text(row, encoding="latin-1")
    with pytest.raises(CorpusError, match=r"losses\.jsonl: not UTF-8 \(byte 0xe9\); save it as UTF-8"):
        list(read_losses(path))


def test_a_file_without_losses_is_named(tmp_path: Path) -> None:
    (tmp_path / "losses.jsonl").write_text("\n \n")
    with pytest.raises(CorpusError, match=r"losses\.jsonl: no document with losses in it"):
        read_losses(tmp_path / "losses.jsonl")


def test_intervals_do_not_depend_on_copies_or_on_the_order_of_documents() -> None:
    """Documents of two kinds, one after the other in turn, as translations often lie in a file."""
    draw = np.random.default_rng(0)
    texts = [f"{'ab' if number % 2 else 'é'}{number} " * 3 for number in range(4096)]
    losses = [draw.gamma(4, 1 if number % 2 else 3, len(text.encode())) for number, text in enumerate(texts)]
    scored = [
        Scored(str(at), nats, text=text) for at, (text, nats) in enumerate(zip(texts, losses, strict=True))
    ]

    def width(documents: list[Scored]) -> float:
        found = audit_bits(tokbench.load("bytes"), documents).figures[0].interval
        return found[1] - found[0]

    once = width(scored)
    assert width(scored * 3) == pytest.approx(once)
    assert width(sorted(scored, key=lambda each: (int(each.place) % 2, int(each.place)))) == pytest.approx(once)
