"""Which tokenizers a page is opened with and offers, and by which names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs import tokenizer_plugin
from tokbench.errors import TokbenchError
from tokbench.live.opening import on_offer, open_bench
from tokbench.registry import build_registry

from .conftest import BERT


def test_a_tokenizer_answers_to_what_the_server_was_told_and_no_path_does(folder: Path) -> None:
    path = str(folder / "vocab.txt")
    bench = open_bench(build_registry(), ["words:vocab_size=1k", path], train_on="bundled:tricky")
    name, short = bench.seats
    assert name == "words:vocab_size=1000"
    for typed in ("words:vocab_size=1k", name):
        found = bench.encode("ab", [typed, short])["results"]
        assert [each["spec"] for each in found] == [name, short]
    for ask in (lambda: bench.encode("ab", [path]), lambda: bench.trace("ab", path)):
        with pytest.raises(TokbenchError, match="unknown tokenizer"):
            ask()


def test_every_answer_names_a_tokenizer_as_the_list_does() -> None:
    bench = open_bench(build_registry(), ["bpe:vocab_size=0.3k"], train_on="bundled:tricky")
    [name] = bench.seats
    assert name == "bpe:vocab_size=300"
    assert bench.encode("ab", ["bpe:vocab_size=0.3k"])["results"][0]["spec"] == name
    assert bench.trace("ab", "bpe:vocab_size=0.3k")["spec"] == name


def test_a_wrong_folder_or_text_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    plugin = tokenizer_plugin(
        tmp_path / "slow.py",
        f"vocab_size = 1\ndef __init__(self):\n    open({str(begun)!r}, 'w').close()\n"
        "def encode(self, text): return []\ndef decode(self, ids): return ''",
    )
    registry = build_registry(plugin_files=[plugin])
    with pytest.raises(TokbenchError, match="nowhere: no folder"):
        open_bench(registry, ["slow"], load_from=["nowhere"])
    with pytest.raises(TokbenchError, match=r"nowhere\.txt: there is no such file"):
        open_bench(registry, ["slow"], train_on="bundled:tricky + nowhere.txt")
    assert not begun.exists()


def test_what_is_lost_is_said(tmp_path: Path) -> None:
    plugin = tokenizer_plugin(
        tmp_path / "lower.py",
        "vocab_size, lossless = 0x110000, False\n"
        "encode = staticmethod(lambda text: [ord(each) for each in text.lower()])\n"
        "decode = staticmethod(lambda ids: ''.join(map(chr, ids)))",
    )
    bench = open_bench(build_registry(plugin_files=[plugin]), ["bytes", "lower"])
    for text, kept in (("ab", [True, True]), ("aB", [True, False])):
        assert [each["lossless"] for each in bench.encode(text, ["bytes", "lower"])["results"]] == kept


def test_only_what_is_read_as_data_is_offered(tmp_path: Path, folder: Path) -> None:
    registry = build_registry()
    (tmp_path / "model.bin").write_bytes(b"\x80\x04N.")  # a pickle
    (tmp_path / "link.txt").symlink_to(folder / "vocab.txt")
    assert list(on_offer(registry, [str(tmp_path)])) == []
    assert [name for name, _ in on_offer(registry, [str(folder)])] == [BERT]
    assert ("gpt-4o", "tiktoken:o200k_base") in list(on_offer(registry, ["names"]))
    with pytest.raises(TokbenchError, match="no folder"):
        list(on_offer(registry, [str(tmp_path / "nothing")]))


def test_no_path_of_the_server_is_shown(tmp_path: Path) -> None:
    """Not of a file that is missing, nor of one that cannot be read, nor of two that have one name."""
    for folder, text in (("one", "[UNK]\na\nb\n"), ("two", "[UNK]\na\n"), ("bad", "")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "vocab.txt").write_text(text)
    specs = [f"wordpiece:{tmp_path}/{folder}/vocab.txt" for folder in ("one", "two", "bad", "missing")]
    opened = open_bench(build_registry(), [*specs, str(tmp_path / "missing" / "tokenizer.json")])
    said = json.dumps(opened.about(), ensure_ascii=False)
    assert len({*opened.seats}) == 2
    assert len(opened.missing) >= 2
    assert str(tmp_path) not in said
