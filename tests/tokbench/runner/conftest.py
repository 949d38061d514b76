from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.runs import no_workers_left, runs_into
from tokbench.results import Run

__all__ = ["no_workers_left"]


def write_corpus(folder: Path) -> Path:
    """Three small files, one of which has the word that faulty plugins wait for; gives the folder."""
    folder.mkdir()
    for name, text in {
        "eng_Latn": "the cat sat on the mat\na second line\n" * 20,
        "deu_Latn": "trigger the fault\nand go on\n" * 5,
        "fra_Latn": "once more, with feeling\n" * 20,
    }.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with three small files, one of which has the word that faulty plugins wait for."""
    return write_corpus(tmp_path / "corpus")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    """Runs some tokenizers on some text without the speed pass, and gives the run."""
    return runs_into(tmp_path / "out")


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """The same on such a corpus for a whole module of tests, all of which look at one run."""
    folder = tmp_path_factory.mktemp("once")
    corpus = write_corpus(folder / "corpus")

    def call(tokenizers: Sequence[str], **options: Any) -> Run:
        return runs_into(folder / "out")(tokenizers, [f"text:{corpus}"], **options)

    return call
