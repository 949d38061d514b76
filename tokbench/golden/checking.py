"""Checks an implementation against a golden pack: which texts get other ids, and at which stage first."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from tokbench.capabilities import Staged
from tokbench.errors import SpecError, TokenizerError
from tokbench.golden.pack import Golden, Pack, checksum
from tokbench.tokenizer import Tokenizer, encode_batch, first_difference, token_bytes
from tokbench.wording import counted, reason

MODEL = "model"
UNKNOWN = "unknown (only ids are given)"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an implementation says of a text: its ids, and as far as it can, the pieces after each stage."""

    ids: Sequence[int]
    stages: Mapping[str, Sequence[str]] | None = None
    bytes: Sequence[bytes] | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """A text on which an implementation departs: at which stage first, from which token on, and both sides."""

    rule: str
    text: str
    stage: str
    position: int
    expected: Sequence[Any]
    found: Sequence[Any]


Implementation = Callable[[Sequence[str]], Iterator[Answer]]


def by_tokenizer(tokenizer: Tokenizer) -> Implementation:
    """A tokenizer of tokbench's as an implementation, which tells all that it can."""

    def answers(texts: Sequence[str]) -> Iterator[Answer]:
        for text, ids in zip(texts, encode_batch(tokenizer, texts).to_lists(), strict=True):
            stages = None
            if isinstance(tokenizer, Staged):
                stages = {name: list(pieces) for name, pieces in tokenizer.stages(text).items()}
            yield Answer(ids, stages, [token_bytes(tokenizer, index) for index in ids])

    return answers


def by_command(command: str, *, timeout: float) -> Implementation:
    """A program as an implementation: a JSON string a line comes in, a line of ids goes out.

    A line that goes out is numbers with spaces between them, a JSON list of them, or an object with `ids` and
    as many of the stages as it likes. Raises `TokenizerError` for a program that fails or answers otherwise.
    """

    def answers(texts: Sequence[str]) -> Iterator[Answer]:
        given = "".join(json.dumps(text) + "\n" for text in texts)
        try:
            done = subprocess.run(
                shlex.split(command), input=given.encode(), capture_output=True, timeout=timeout
            )
        except (OSError, ValueError) as error:
            raise SpecError(f"--command {command}: cannot be run ({reason(error)})") from error
        except subprocess.TimeoutExpired as error:
            raise TokenizerError(f"--command {command}: no answer within {timeout:g} s") from error
        if done.returncode:
            last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it says nothing"])[-1]
            raise TokenizerError(f"--command {command}: ended with status {done.returncode}: {last}")
        try:
            said = done.stdout.decode()
        except UnicodeDecodeError as error:
            at = done.stdout[: error.start].count(b"\n") + 1
            raise TokenizerError(f"--command {command}, line {at}: the answer is not UTF-8") from error
        lines = said.removesuffix("\n").split("\n")  # JSON may hold what splitlines takes for an end
        if len(lines) != len(texts):
            found = f"{counted(len(lines), 'line')} came back for {counted(len(texts), 'text')}"
            raise TokenizerError(f"--command {command}: {found}; print one for each")
        for number, line in enumerate(lines, 1):
            yield _answer(line, f"--command {command}, line {number}")

    return answers


def _answer(line: str, where: str) -> Answer:
    line = line.strip()
    try:
        content = json.loads(line) if line[:1] in ("[", "{") else [int(part) for part in line.split()]
        stages = None
        if isinstance(content, Mapping):
            stages = {name: list(parts) for name, parts in content.items() if name != "ids"} or None
            content = content["ids"]
        return Answer([int(index) for index in content], stages)
    except (ValueError, KeyError, TypeError) as error:
        raise TokenizerError(f"{where}: expected ids, found {line[:60]!r}") from error


def check(pack: Pack, implementation: Implementation) -> Iterator[Departure]:
    """Every text of the pack on which the ids differ, the cases first."""
    answers = implementation([case.text for case in pack.cases])
    for case, answer in zip(pack.cases, answers, strict=True):
        if list(answer.ids) != list(case.ids):
            yield _departure(case, answer)
    answers = implementation([row.text for row in pack.rows])
    for row, answer in zip(pack.rows, answers, strict=True):
        if len(answer.ids) != row.n or checksum(answer.ids) != row.crc32:
            yield Departure("every token", row.text, MODEL, 0, [counted(row.n, "id")], list(answer.ids)[:12])


def _departure(case: Golden, answer: Answer) -> Departure:
    """The first stage at which an answer departs from a case."""
    position = first_difference(case.ids, answer.ids)
    for name, expected in (case.stages or {}).items():
        theirs = (answer.stages or {}).get(name)
        if theirs is not None and list(theirs) != list(expected):
            return Departure(case.rule, case.text, name, position, expected, theirs)
    stage = MODEL
    if not (case.stages and answer.stages and case.stages.keys() <= answer.stages.keys()):
        stage = _inferred(case, answer)
    part = slice(position, position + 6)
    return Departure(case.rule, case.text, stage, position, list(case.ids)[part], list(answer.ids)[part])


def _inferred(case: Golden, answer: Answer) -> str:
    """The stage, where only tokens are known: whether they spell the same text, and keep to its pre-tokens."""
    if answer.bytes is None:
        return UNKNOWN
    if b"".join(answer.bytes) != b"".join(case.bytes):
        return "normalizer, added tokens or unknown characters (the tokens spell another text)"
    if not case.stages or "pre-tokenizer" not in case.stages:
        return UNKNOWN
    pieces = [piece.encode("utf-8", "surrogatepass") for piece in case.stages["pre-tokenizer"]]
    if len(b"".join(pieces)) != len(b"".join(case.bytes)):
        return "pre-tokenizer or model"
    ends, places = (set(accumulate(map(len, parts))) for parts in (pieces, answer.bytes))
    return MODEL if ends <= places else "pre-tokenizer"
