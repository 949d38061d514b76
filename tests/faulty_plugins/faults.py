"""Tokenizers of bytes that are at fault, a family each: on text with the word "trigger", or always."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import tokbench


class Bytes:
    """What the faults are departures from; `on_trigger` gives what a text with the trigger is encoded as."""

    vocab_size = 256

    def __init__(self, name: str, on_trigger: Callable[[str], Any] | None = None) -> None:
        self.name, self.on_trigger = name, on_trigger

    def encode(self, text: str) -> Sequence[int]:
        if self.on_trigger is not None and "trigger" in text:
            found: Sequence[int] = self.on_trigger(text)
            return found
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


def raises(text: str) -> None:
    raise ValueError("no such merge")


class Speechless(Exception):
    """An exception that cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def raises_speechless(text: str) -> None:
    raise Speechless


def hangs(text: str) -> None:
    """Never comes back; where it begins to hang, it makes the file that HANGS_SINCE names."""
    if mark := os.environ.get("HANGS_SINCE"):
        Path(mark).touch()
    while True:
        time.sleep(0.05)


def hoards(text: str) -> None:
    held = []
    while True:
        held.append(bytearray(b"x") * 20_000_000)


class Talks(Bytes):
    """Prints to stdout, from Python and from below."""

    def encode(self, text: str) -> Sequence[int]:
        print("chatter" * 10)
        os.write(1, b"chatter from below")
        return super().encode(text)


class Wanders(Bytes):
    """Changes the working directory."""

    def encode(self, text: str) -> Sequence[int]:
        os.chdir("/")
        return super().encode(text)


class Disagrees(Bytes):
    """Gives other ids in a batch than alone."""

    def encode_batch(self, texts: Sequence[str]) -> tokbench.TokenBatch:
        return tokbench.TokenBatch.of([list(text.encode())[::-1] for text in texts])


class StartsLate(Bytes):
    """Takes a while for its first batch, as where it imports a library or starts threads."""

    started = False

    def encode_batch(self, texts: Sequence[str]) -> tokbench.TokenBatch:
        if not self.started:
            time.sleep(0.2)
            self.started = True
        return tokbench.TokenBatch.of([list(text.encode()) for text in texts])


ON_TRIGGER: dict[str, Callable[[str], Any]] = {
    "raises": raises,
    "speechless": raises_speechless,
    "hangs": hangs,
    "hoards": hoards,
    "exits": lambda text: os._exit(3),
    "politely_exits": lambda text: sys.exit("enough"),
    "segfaults": lambda text: ctypes.string_at(0),
    "out_of_range": lambda text: [999],
    "wrong_shape": lambda text: [list(text.encode())],
    "wrong_type": list,
}
ALWAYS = {"talks": Talks, "wanders": Wanders, "disagrees": Disagrees, "starts-late": StartsLate}


def load(spec: tokbench.Spec, context: tokbench.LoadContext) -> tokbench.Tokenizer:
    name = spec.family
    if name == "load_raises":
        raise tokbench.TokenizerError("no vocabulary at hand; set FAULTY_HOME to the folder that has it")
    return ALWAYS.get(name, Bytes)(name, ON_TRIGGER.get(name))


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    names = (*ON_TRIGGER, *ALWAYS, "load_raises")
    return [tokbench.TokenizerFamily(name=name, summary="at fault", load=load) for name in names]
