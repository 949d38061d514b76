"""Loads a suite: what to compare, on what, and how, from a TOML file or from options, or from both.

The keys are in `tokbench.runner.planning.suite_keys`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tokbench.errors import SpecError, UnknownNameError
from tokbench.runner.planning.suite_keys import GoldSettings, ModelSettings, SpeedSettings, Suite

SHIPPED = Path(__file__).parents[1] / "suites"


def load_suite(
    source: str | os.PathLike[str] | None,
    changes: Mapping[str, Any] | None = None,
    brought: Callable[[], Mapping[str, Path]] = dict,
) -> Suite:
    """The suite of a TOML file or of a shipped name, with `changes` laid over it.

    Without a source, the suite is `changes` alone, or the shipped `default` where it names no tokenizers or
    no datasets. Tokenizers among the changes stand in place of all of the suite's, the optional ones too, and
    datasets in place of its datasets; what the suite says of those goes in the plan (`Suite.replaced`). Plugins
    to load or to leave out are added to the suite's.
    `brought` gives the files of the suites that plugins bring, by name. Raises `SpecError` for a missing file,
    a syntax error, or an unknown key (with the nearest).
    """
    given = {key: value for key, value in (changes or {}).items() if value is not None}
    if source is None and not (given.get("tokenizers") and given.get("datasets")):
        source = "default"
        if given.get("tokenizers") or given.get("datasets"):
            given.setdefault("title", "")  # the suite's is of what it compares itself
    if given.get("tokenizers"):
        given.setdefault("optional", [])
    read = _read(source, brought) if source is not None else {}
    if "allow_remote_code" in read:
        raise SpecError(
            f"{source}: a suite file cannot set allow_remote_code; whoever runs it says --allow-remote-code"
        )
    laid_over = _validated(given, "options")  # before the two are one: which is at fault is told
    if not read:
        return laid_over
    own = _validated(read, str(source))
    for key in ("plugins", "disable_plugins"):
        given[key] = list(dict.fromkeys([*getattr(own, key), *getattr(laid_over, key)]))
    suite = _validated({**own.model_dump(exclude_unset=True), **given}, str(source))
    gone = [*own.tokenizers, *own.optional] if given.get("tokenizers") else []
    gone += own.datasets if given.get("datasets") else []
    suite._replaced = {key: gone for key in ("labels", "colors", "speed") if gone and key not in given}
    suite._left_untimed = given.get("speed") is False and "metrics" not in given
    return suite


def shipped_suites() -> dict[str, Path]:
    """The suites that come with tokbench: the file of each by name."""
    return {path.stem: path for path in sorted(SHIPPED.iterdir())}


def _read(source: str | os.PathLike[str], brought: Callable[[], Mapping[str, Path]]) -> dict[str, Any]:
    path = Path(source)
    if not path.is_file() and path.parent == Path() and str(source) not in shipped_suites():
        path = brought().get(str(source), path)
    if path.is_file():
        try:
            text = path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark first
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(f"{source}: not a suite file: {error}") from error
    elif str(source) in shipped_suites():
        text = shipped_suites()[str(source)].read_text(encoding="utf-8")
    elif path.suffix == ".toml" or path.parent != Path():
        raise SpecError(f"{source}: no such suite file")
    else:
        known = {*shipped_suites(), *brought()}
        raise UnknownNameError.of("suite", str(source), known, hint="Or name a .toml file")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        meant = "" if path.suffix == ".toml" else f"; text to count is named with -d {source}"
        raise SpecError(f"{source}: not valid TOML: {error}{meant}") from error


def _validated(content: Mapping[str, Any], where: str) -> Suite:
    _check_keys(content, Suite.model_fields, where)
    for name, table in (("speed", SpeedSettings), ("model", ModelSettings)):
        if isinstance(content.get(name), Mapping):
            _check_keys(content[name], table.model_fields, f"{where}, [{name}]")
    try:
        suite = Suite.model_validate(dict(content), context={"where": where})
    except ValidationError as error:
        problems = error.errors()
        # `speed` is true, false or a table: pydantic says of a wrong one that it is neither.
        other = "bool_type" if isinstance(content.get("speed"), Mapping) else "model_type"
        inner = [problem for problem in problems if problem["loc"][0] != "speed" or problem["type"] != other]
        lines = [_line(problem) for problem in inner]
        raise SpecError(f"{where}: " + "; ".join(dict.fromkeys(lines))) from error
    _ = suite.shape  # a shape that cannot be is an error before any work
    return suite


def _check_keys(content: Mapping[str, Any], known: Mapping[str, Any], where: str) -> None:
    for key in content:
        if key not in known:
            raise UnknownNameError.of(f"key in {where}:", key, known)


def _line(problem: Any) -> str:
    # Where a value may be one of several types, pydantic names the type in the place; nobody wrote that.
    tables = (Suite, SpeedSettings, GoldSettings, ModelSettings)
    known = {name for table in tables for name in table.model_fields}
    place = ".".join(str(part) for part in problem["loc"] if part in known)
    place = place or ".".join(map(str, problem["loc"]))
    said = problem["msg"].removeprefix("Value error, ")
    if said.startswith("Input "):  # pydantic's word for what was given
        said = re.sub(r"a valid dictionary( or instance of \w+)?", "a table", said)
        said = said.replace("a valid boolean", "true or false")
        return f"{place} {said.removeprefix('Input ')}, not {problem['input']!r}"
    return f"{place}: {said}"
