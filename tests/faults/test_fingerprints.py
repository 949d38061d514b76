"""What figures depend on is part of a fingerprint: where it changed, they are made anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.sources import DATASET
from tokbench.results import Run

RunIt = Callable[..., Run]
Write = Callable[[str, str], str]


OF_A_FILE = """
import pathlib
class Cut:
    name, vocab_size = "cut", 0x110000
    def __init__(self, length): self.length = length
    def encode(self, text): return [ord(c) for c in text[: self.length]]
    def decode(self, ids): return "".join(map(chr, ids))
@tokbench.hookimpl
def tokbench_tokenizers():
    load = lambda spec, context: Cut(int(pathlib.Path(spec.variant).read_text()))
    return [tokbench.TokenizerFamily(name="cut", summary="", load=load)]
"""


def test_a_file_that_no_family_names_is_part_of_the_fingerprint_all_the_same(
    text: Path, run: RunIt, plugin: Write, tmp_path: Path
) -> None:
    length, found = tmp_path / "length.txt", []
    for size in ("5", "3"):
        length.write_text(size)
        done = run([f"cut:{length}"], [f"text:{text}"], plugins=[plugin("cut", OF_A_FILE)])
        found.append(int(done.table("tokens").iloc[0, 0]))
    assert found == [5 * 80, 3 * 80]


@pytest.mark.long
def test_a_helper_beside_a_plugin_is_part_of_its_fingerprint(
    text: Path, run: RunIt, plugin: Write, tmp_path: Path
) -> None:
    path = plugin(
        "mine",
        "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n"
        "class Mine:\n    name, vocab_size = 'mine', 1000\n"
        "    def encode(self, text):\n        import mine_helper\n        return mine_helper.ids(text)\n"
        "    def decode(self, ids):\n        return ''.join(map(chr, ids))\n"
        "@tokbench.hookimpl\ndef tokbench_tokenizers():\n"
        "    return [tokbench.TokenizerFamily(name='mine', summary='', load=lambda spec, context: Mine())]",
    )
    helper = tmp_path / "mine_helper.py"
    found = []
    for body in ("[ord(c) for c in text]", "[ord(c) for c in text for _ in (1, 2)]"):
        helper.write_text(f"def ids(text):\n    return {body}\n")
        done = run(["mine"], [f"text:{text}"], plugins=[path])
        found.append(done.table("compression_ratio").iloc[0, 0])
    assert found[0] == pytest.approx(2 * found[1])


@pytest.mark.long
def test_the_reader_of_a_dataset_is_part_of_its_tallies_keys(run: RunIt, plugin: Write) -> None:
    found = []
    for read in ("pass", "yield Document('more of it')"):
        path = plugin("reads", DATASET.format(shards="pass", read=read))
        done = run(["bytes"], ["mine"], plugins=[path])
        found.append(int(done.tally("bytes", "mine").documents))
    assert found == [1, 2]
