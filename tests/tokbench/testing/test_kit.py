"""The kit passes a right tokenizer and fails each of many wrong ones, for the right reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import invoke
from tests.runs import tokenizer_plugin
from tests.tokbench.testing.right_tokenizer import Right
from tests.tokbench.testing.wrong_tokenizers import WRONG, Lowercases, SpecialsOutside
from tokbench.batch import TokenBatch
from tokbench.errors import SpecError
from tokbench.registry import build_registry
from tokbench.testing import ConformanceError, check, check_tokenizer, conduct, failures_of
from tokbench.testing.kit import TEXT_CHECKS, WHOLE_CHECKS

SECONDS_EACH = ("threads", "memory", "speed")
"""Checks that encode much: made where they are what is tested, and of a right tokenizer."""


def test_a_right_tokenizer_passes() -> None:
    check_tokenizer(Right(), examples=30)


@pytest.mark.long
@pytest.mark.parametrize(("wrong", "check"), WRONG, ids=[wrong.__name__ for wrong, _ in WRONG])
def test_each_wrong_tokenizer_fails_for_the_right_reason(
    wrong: type, check: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    failures = failures_of(wrong(), examples=30, skip=[name for name in SECONDS_EACH if name != check])
    assert check in {failure.check for failure in failures}
    assert all(failure.remedy for failure in failures)


def test_the_smallest_failing_text_is_shown() -> None:
    found = failures_of(Lowercases(), examples=30, skip=SECONDS_EACH)
    [text] = [failure.text for failure in found if failure.check == "lossless"]
    assert text is not None
    assert len(text) == 1


class TellsAnotherEnd(Right):
    """By batches, another id and place for the letter a."""

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        return TokenBatch.of([[98] if text == "a" else self.encode(text) for text in texts])

    def encode_utf8(self, data: Any, offsets: Any) -> TokenBatch:
        return self.encode_batch([data[a:b].tobytes().decode() for a, b in pairwise(offsets)])

    def offsets_batch(self, texts: Sequence[str]) -> Any:
        spans = [self.offsets(text) + (text == "a") for text in texts]
        return np.concatenate(spans), np.append(0, np.cumsum([len(each) for each in spans]))

    def encode_with_offsets(self, texts: Sequence[str]) -> Any:
        return TokenBatch.of(map(self.encode, texts)), self.offsets_batch(texts)[0]


def test_what_a_batch_gives_otherwise_is_shown_of_the_text_where_it_does() -> None:
    found = failures_of(TellsAnotherEnd(), examples=5, skip=SECONDS_EACH)
    assert [(failure.check, failure.problem) for failure in found] == [
        ("batch", "in a batch [98], alone [97]"),
        ("encode_utf8", "from bytes [98], from the text [97]"),
        ("offsets_batch", "in a batch [[1, 2]], alone [[0, 1]]"),
        ("encode_with_offsets", "spans [[1, 2]], of offsets [[0, 1]]"),
    ]


def test_a_slow_tokenizer_is_no_leaking_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Right):
        def encode(self, text: str) -> Any:
            time.sleep(0.002)
            return super().encode(text)

    monkeypatch.setattr(check, "PATIENCE", 3)
    monkeypatch.setattr(conduct, "LONGEST_ROUNDS", 0.2, raising=False)
    [memory] = [one for one in conduct.CONDUCT if one.name == "memory"]
    assert memory.problem(Slow()) is None


def test_the_error_lists_every_failure() -> None:
    with pytest.raises(ConformanceError, match=r"'right' fails 1 of the conformance checks") as caught:
        check_tokenizer(SpecialsOutside(), examples=5, skip=SECONDS_EACH)
    assert "remedy  special_ids must lie within the vocabulary." in str(caught.value)


def test_checks_can_be_left_out() -> None:
    check_tokenizer(SpecialsOutside(), examples=5, skip=["special_ids", *SECONDS_EACH])


def test_every_check_has_a_tokenizer_that_fails_it() -> None:
    names = {check.name for check in (*TEXT_CHECKS, *WHOLE_CHECKS)}
    assert names <= {check for _, check in WRONG}


def test_ids_that_depend_on_what_was_encoded_before_are_noticed(tmp_path: Any) -> None:
    plugin = tokenizer_plugin(
        tmp_path / "growing.py",
        "vocab_size = 10**6\n"
        "def __init__(self): self.ids = {}\n"
        "def encode(self, text): return [self.ids.setdefault(c, len(self.ids)) for c in text]\n"
        "def decode(self, ids): return ''.join(dict(enumerate(self.ids))[i] for i in ids)",
    )
    failures = failures_of("growing", examples=10, registry=build_registry(plugin_files=[plugin]))
    assert [failure.check for failure in failures] == ["recipe"]


def test_a_spec_whose_tokenizer_raises_fails_the_check_of_encoding(tmp_path: Any) -> None:
    plugin = tokenizer_plugin(
        tmp_path / "raising.py",
        "vocab_size = 256\n"
        "def encode(self, text):\n"
        "    if 'x' in text: raise ValueError('no x')\n"
        "    return list(text.encode())\n"
        "def decode(self, ids): return bytes(ids).decode(errors='replace')",
    )
    registry = build_registry(plugin_files=[plugin])
    [failure] = failures_of("raising", examples=10, registry=registry, skip=SECONDS_EACH)
    assert failure.check == "encodes"
    assert "ValueError" in failure.problem
    assert "no x" in failure.problem


def test_a_tokenizer_that_hangs_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hangs(Right):
        waited = 0

        def encode(self, text: str) -> Any:
            if "b" in text:
                Hangs.waited += 1
                time.sleep(60)
            return super().encode(text)

    monkeypatch.setattr(check, "PATIENCE", 0.2)
    [failure] = failures_of(Hangs(), examples=20)
    assert (failure.check, "no answer within" in failure.problem) == ("encodes", True)
    assert "b" in str(failure.text)
    assert Hangs.waited == 1


def test_a_tokenizer_that_leaves_python_fails_and_ends_nothing(tmp_path: Any) -> None:
    plugin = tokenizer_plugin(
        tmp_path / "leaving.py",
        "vocab_size = 256\n"
        "def encode(self, text): raise SystemExit(0)\n"
        "def decode(self, ids): return bytes(ids).decode(errors='replace')",
    )
    [failure] = failures_of("leaving", examples=5, registry=build_registry(plugin_files=[plugin]))
    assert (failure.check, "SystemExit" in failure.problem) == ("encodes", True)


@pytest.mark.parametrize(
    ("end", "how"),
    [("os._exit(0)", "with exit status 0"), ("os.kill(os.getpid(), signal.SIGSEGV)", "by signal SIGSEGV")],
)
def test_a_check_that_ends_the_process_is_named_with_its_text(tmp_path: Path, end: str, how: str) -> None:
    plugin = tokenizer_plugin(
        tmp_path / "ending.py",
        "vocab_size = 256\n"
        "def encode(self, text): return list(text.encode())\n"
        "def decode(self, ids):\n"
        "    import os, signal, sys\n"
        "    if len(ids) == 1:\n"
        "        print('last words', flush=True)\n"
        f"        {end}\n"
        "    return bytes(ids).decode(errors='replace')",
    )
    done = invoke("plugins", "check", "ending", "--plugin", plugin)
    assert done.exit_code == 1
    assert f"- decodes: the process ended {how}\n    on      '" in done.stdout
    assert done.stdout.endswith("ending: 1 check fails\n")
    assert "last words" in done.stderr


def test_a_dataset_that_ends_the_process_fails_the_check_that_read_it(tmp_path: Path) -> None:
    plugin = tmp_path / "closing.py"
    plugin.write_text(
        "import os, tokbench\n\n"
        "class Closing:\n"
        "    name, parallel, languages = 'closing', False, ('eng_Latn',)\n"
        "    shards = read = digest = lambda self, given: os._exit(3)\n\n"
        "@tokbench.hookimpl\ndef tokbench_datasets():\n"
        "    load = lambda spec, context: Closing()\n"
        "    return [tokbench.DatasetFamily(name='closing', summary='', load=load)]\n"
    )
    done = invoke("plugins", "check", "closing", "--plugin", plugin)
    assert (done.exit_code, "- shards: the process ended with exit status 3" in done.stdout) == (1, True)


def test_a_wrong_request_is_told_as_by_any_command() -> None:
    with pytest.raises(SpecError, match="unknown dataset family 'nonsense'"):
        invoke("plugins", "check", "bpe:vocab_size=300", "--train-on", "nonsense", catch=False)
