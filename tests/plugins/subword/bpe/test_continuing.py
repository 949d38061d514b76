"""Training that goes on from a file, and pruning: what keeps its ids, and what `tokenizers` says."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.continuing import extended
from tokbench_subword.bpe.family import BPE
from tokbench_subword.bpe.opening import load
from tokbench_subword.bpe.pruning import dropped_leaves
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.methods import bpe_of_merges

from tests.command import invoke, output
from tests.plugins.conftest import train_on
from tests.plugins.subword.strings import hard_strings
from tokbench.errors import CorpusError, SpecError, TokenizerError
from tokbench.spec import with_defaults

PARALLEL = Path(__file__).parents[4] / "datasets" / "parallel"


def lines(language: str) -> list[str]:
    return (PARALLEL / f"{language}.txt").read_text(encoding="utf-8").splitlines()


trained = partial(train_on, BPE, threads=1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "tokenizer.json"
    trained(lines("eng_Latn"), vocab_size=700, special_tokens="<s> </s>").save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    content["normalizer"] = {"type": "NFC"}
    content["added_tokens"].append({**content["added_tokens"][0], "id": 700, "content": "<user>"})
    content["post_processor"] = {"type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<user>", 700]}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abc ", min_size=1, max_size=30), min_size=1, max_size=5), st.integers(256, 264))
def test_going_on_is_as_if_it_had_never_stopped(tmp_path_factory: Any, texts: list[str], size: int) -> None:
    whole = trained(texts, vocab_size=272, ties="bytes")
    path = tmp_path_factory.mktemp("some") / "tokenizer.json"
    first = trained(texts, vocab_size=size, ties="bytes")
    first.save(path)
    if len(first.model) == size:
        again = trained(texts, vocab_size=272, ties="bytes", base=str(path))
        assert again.model.vocabulary == whole.model.vocabulary
        assert again.model.merges.tolist() == whole.model.merges.tolist()


def test_a_pair_that_is_merged_twice_encodes_the_same_when_it_is_read_back(tmp_path: Path) -> None:
    """As `tokenizers` ranks it: by its last place, but a pair of the base by the place it had there."""
    base = bpe_of_merges([(b"a", b"b")])
    ab, c, abc = 256, ord("c"), 257
    learned = [[ab, c, abc], [c, c, 258], [ord("a"), ord("b"), ab], [ab, c, abc]]
    model = extended(base.model, np.array(learned, np.int32))
    assert model.merges.tolist() == [[ord("a"), ord("b"), ab], [c, c, 258], [ab, c, abc]]
    again = BpeTokenizer.of_model(model)
    again.save(tmp_path / "tokenizer.json")
    for text in ("abcc", "abccc", "cabc"):
        assert (
            BpeTokenizer.from_file(tmp_path / "tokenizer.json").encode(text).tolist()
            == again.encode(text).tolist()
        )


def test_old_tokens_stay_and_text_without_new_ones_is_as_before(base: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    old = BpeTokenizer.from_file(base)
    new = trained(lines("deu_Latn"), vocab_size=1000, base=str(base))
    assert new.vocab_size == 1000
    assert all(new.convert_id_to_token(i) == old.convert_id_to_token(i) for i in range(701))
    assert new.model.merges[: len(old.model.merges)].tolist() == old.model.merges.tolist()
    german = [sum(map(len, map(each.encode, lines("deu_Latn")))) for each in (old, new)]
    assert german[1] < 0.8 * german[0]
    new.save(tmp_path / "new.json")
    theirs = Tokenizer.from_file(str(tmp_path / "new.json"))
    same = 0
    for text in [*lines("deu_Latn"), *lines("eng_Latn"), *hard_strings(200)]:
        ids = new.encode(text).tolist()
        if "<s>" not in text:  # ordinary text here, matched there
            assert theirs.encode(text, add_special_tokens=False).ids == ids
        if max(ids, default=0) < 701:
            assert old.encode(text).tolist() == ids
            same += 1
    assert same > 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 701}, "vocab_size=701 must be above the 701 tokens"),
        ({"vocab_size": 900, "pattern": "o200k"}, "already determines pattern"),
        ({"vocab_size": 900, "ties": "first_seen"}, "hf or bytes"),
    ],
)
def test_what_cannot_be_continued_is_said(base: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        trained(["some text"], base=str(base), **options)
    characters = trained(["low lower"], vocab_size=40, level="char")
    characters.save(base.with_name("characters.json"))
    with pytest.raises(TokenizerError, match="is at character level"):
        trained(["some text"], base=str(base.with_name("characters.json")), vocab_size=900)


def test_a_base_is_opened_once(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was opened for the cut, for each slice of text and for the training; a changed file is opened anew."""
    from tokbench_subword.bpe import continuing

    opened: list[object] = []
    monkeypatch.setattr(continuing, "load", lambda *asked: opened.append(asked) or load(*asked))
    options: dict[str, Any] = with_defaults(BPE.options, {"base": str(base), "vocab_size": 720})
    continuing._opened.cache_clear()
    assert BPE.counting is not None
    BPE.counting.cut(options)
    for text in ("some text", "other text"):
        BPE.counting.count([text], options)
    trained(["some text"], vocab_size=720, base=str(base))
    assert len(opened) == 1
    base.write_bytes(base.read_bytes() + b"\n")
    BPE.counting.cut(options)
    assert len(opened) == 2


def test_counts_for_a_base_serve_that_base(base: Path, tmp_path: Path) -> None:
    counts, text = tmp_path / "c.parquet", f"parallel:{PARALLEL},languages=deu_Latn"
    for command in (
        ["count", "-d", text, "--for", f"bpe:base={base},vocab_size=720", "-o", counts, "--jobs", "1"],
        ["train", "bpe", "-d", f"counts:{counts}", "--vocab-size", "720", "-o", tmp_path / "a.json"],
    ):
        option = ["--option", f"base={base}"] if command[0] == "train" else []
        output(*command, *option)
    trained(lines("deu_Latn"), vocab_size=720, base=str(base)).save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()
    other = ["train", "bpe", "-d", f"counts:{counts}", "-o", str(tmp_path / "x.json")]
    with pytest.raises(CorpusError, match="count anew"):
        output(*other)


def plainly_dropped(merges: list[list[int]], counts: list[int], n_dropped: int) -> list[int]:
    """Leaves, the least used first, looked for anew each time."""
    uses, gone = Counter(dict(enumerate(counts))), []
    made = {new: (left, right) for left, right, new in reversed(merges)}
    while len(gone) < n_dropped:
        rest = [merge for merge in merges if merge[2] not in gone]
        parts = {part for left, right, _ in rest for part in (left, right)}
        leaves = [new for _, _, new in rest if new not in parts]
        if not leaves:
            break
        token = min(leaves, key=lambda leaf: (uses[leaf], -leaf))
        gone.append(token)
        for part in made[token]:
            uses[part] += uses[token]
    return gone


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abc", min_size=2, max_size=30), min_size=1, max_size=5), st.integers(1, 20), st.data())
def test_leaves_are_those_found_plainly(texts: list[str], n_dropped: int, data: st.DataObject) -> None:
    model = trained(texts, vocab_size=280, pattern="none").model
    size = len(model.vocabulary)
    counts = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    assert dropped_leaves(model, counts, n_dropped) == plainly_dropped(model.merges.tolist(), counts, n_dropped)


def test_pruned_tokenizers_encode_the_rest_as_before(base: Path, tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    target, ids = tmp_path / "small.json", tmp_path / "map.json"
    command = ["prune", f"bpe:{base}", "-d", f"parallel:{PARALLEL},languages=eng_Latn", "--vocab-size", "600"]
    said = invoke(*command, "-o", str(target), "--map", str(ids))
    assert "600 tokens kept" in said.output
    assert "101 gone" in said.output
    new_ids = np.array([-1 if index is None else index for index in json.loads(ids.read_text())])
    old, new = BpeTokenizer.from_file(base), BpeTokenizer.from_file(target)
    assert new.vocab_size == 600
    assert json.loads(target.read_text())["post_processor"]["cls"] == ["<user>", 599]
    theirs = Tokenizer.from_file(str(target))
    for text in [*lines("eng_Latn"), *lines("deu_Latn"), *hard_strings(200)]:
        before, after = new_ids[old.encode(text)], new.encode(text).tolist()
        assert new.decode(after) == old.decode(old.encode(text))
        if (before >= 0).all():
            assert before.tolist() == after
        if "<s>" not in text:
            assert theirs.encode(text, add_special_tokens=False).ids == after


@pytest.mark.parametrize(
    "asked",
    [
        {"added_tokens": [{"content": "cc", "id": 5}]},
        {"unk_token": "cc"},
        {"post_processor": {"type": "BertProcessing", "sep": ["cc", 5], "cls": ["a", 0]}},
    ],
)
def test_tokens_that_are_asked_for_by_name_are_not_pruned(asked: dict[str, Any]) -> None:
    from tokenizers import Tokenizer

    vocab = {token: index for index, token in enumerate(["a", "b", "c", "ab", "abc", "cc"])}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"], ["ab", "c"], ["c", "c"]]}
    model["unk_token"] = asked.pop("unk_token", None)
    whole = BpeTokenizer.from_dict({"model": model, **asked})
    small, new_ids = whole.pruned([0] * 6, 5)
    assert new_ids.tolist() == [0, 1, 2, 3, -1, 4]
    content = small.to_dict()
    assert content["post_processor"] in (None, {"type": "BertProcessing", "sep": ["cc", 4], "cls": ["a", 0]})
    theirs = Tokenizer.from_str(json.dumps(content))
    for text in ("cc", "abccx", "xabx"):
        assert small(text) == theirs.encode(text, add_special_tokens=False).ids
    with pytest.raises(TokenizerError, match="cannot be pruned to 3 tokens: 4 are bytes"):
        whole.pruned([0] * 6, 3)


def test_a_template_of_tokens_that_are_not_there_is_not_pruned() -> None:
    around = {"type": "BertProcessing", "sep": ["cc", 9], "cls": ["a", 0]}
    model = {"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": [["a", "a"]]}
    whole = BpeTokenizer.from_dict({"model": model, "post_processor": around})
    with pytest.raises(TokenizerError, match="adds the token 9, which does not exist"):
        whole.pruned([0, 0], 1)


@pytest.mark.parametrize(
    ("spec", "size", "error", "message"),
    [
        ("bpe:{base}", "100", TokenizerError, "cannot be pruned to 100 tokens: 259 are bytes"),
        ("bpe:{base}", "800", SpecError, "has 701 tokens; prune to fewer"),
        ("bytes", "100", SpecError, "cannot be pruned"),
    ],
)
def test_what_cannot_be_pruned_is_said(
    base: Path, tmp_path: Path, spec: str, size: str, error: type[Exception], message: str
) -> None:
    command = ["prune", spec.replace("{base}", str(base)), "-d", "bundled:prose", "--vocab-size", size]
    with pytest.raises(error, match=message):
        output(*command, "-o", str(tmp_path / "x.json"))
    assert not list(tmp_path.iterdir())
