"""Writes docs/conversions.md: every conversion between formats, tried: ``python tools/conversions.py FOLDER``.

FOLDER holds the vocabularies of `SOURCES`. Each is converted to every other format of its algorithm; what is
written is opened by the library that the format belongs to, and held against the golden pack of the source.
GGUF is read by a program of yours, `--gguf-command`, to which the file is added: it reads a JSON string a line
and prints ids, as `tokbench golden check --command` has it. Without it, or where a library is not installed,
the cell says "not tried".
"""

from __future__ import annotations

import argparse
import json
import shlex
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokbench_subword.files.recognising import format_of
from tokbench_subword.sentencepiece.converting import tie_of
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer

from tokbench.errors import TokbenchError
from tokbench.golden.checking import by_command, by_tokenizer, check
from tokbench.golden.making import make
from tokbench.golden.pack import Pack
from tokbench.registry import build_registry
from tokbench.spec import Spec
from tokbench.tokenizer import Tokenizer

PAGE = Path(__file__).parent.parent / "docs" / "conversions.md"
_RANKS = "tiktoken-cache/"
SOURCES = {
    "gpt2/vocab.json": "bpe:{}/gpt2/vocab.json",
    "gpt2/tokenizer.json": "bpe:{}/gpt2/hf/tokenizer.json",
    "cl100k_base.tiktoken": f"bpe:{{}}/{_RANKS}9b5ad71b2ce5302211f9c61530b329a4922fc6a4,pattern=cl100k",
    "o200k_base.tiktoken": f"bpe:{{}}/{_RANKS}fb374d419588a4632f3f557e76b4b70aebbca790,pattern=o200k",
    "qwen2/tokenizer.json": "bpe:{}/qwen2/hf/tokenizer.json",
    "llama-2/tokenizer.model": "bpe:{}/llama-2/tokenizer.model",
    "llama-2/tokenizer.json": "bpe:{}/llama-2/hf/tokenizer.json",
    "spm-test/bpe.model": "bpe:{}/spm-test/test_sentencepiece_bpe.model",
    "t5-base/spiece.model": "unigram:{}/t5-base/spiece.model",
    "t5-base/tokenizer.json": "unigram:{}/t5-base/hf/tokenizer.json",
    "albert-base-v1/spiece.model": "unigram:{}/albert-base-v1/spiece.model",
    "albert-base-v1/tokenizer.json": "unigram:{}/albert-base-v1/hf/tokenizer.json",
    "spm-test/test_model.model": "unigram:{}/spm-test/test_model.model",
    "spm-test/test_ja_model.model": "unigram:{}/spm-test/test_ja_model.model",
    "bert-base-uncased/vocab.txt": "wordpiece:{}/bert-base-uncased/vocab.txt",
    "bert-base-uncased/tokenizer.json": "wordpiece:{}/bert-base-uncased/hf/tokenizer.json",
    "bert-base-multilingual-cased/vocab.txt": (
        "wordpiece:{}/bert-base-multilingual-cased/vocab.txt,lowercase=false"
    ),
}
"""Specs by the names of their rows; ``{}`` is the folder."""
TARGETS = {
    "tokenizer.json": "tokenizer.json",
    "vocab.json + merges.txt": "pair",
    ".tiktoken": "ranks.tiktoken",
    "Tekken": "tekken.json",
    ".model": "spiece.model",
    "vocab.txt": "vocab.txt",
    "GGUF": "vocabulary.gguf",
}
"""Formats, each with a name that asks for it."""

_LIBRARIES = ("tokenizers", "tiktoken", "sentencepiece", "mistral-common")
_TEXT = """\
# Every conversion, tried

Each vocabulary is converted to every other format of its algorithm by `tokbench convert`. *Equal*: the
format's own library opens what was written, and gives the same ids on all texts of the source's [golden
pack](golden.md), so many as stand in brackets. *Refused*: nothing is written, for the reason below. Texts of
the packs that hold the text of a special token are left out, since each library treats them in its own way. A
`tokenizer.json` made of a sentencepiece model cannot say which of two segmentations of the same score is
taken (*ties*), nor all of what the character map makes of characters with combining marks (*marks*): the cell
says how many texts get other ids for that. Written by `tools/conversions.py FOLDER`, whose head says which
vocabularies that folder holds, and how GGUF is tried. The libraries:
{libraries}.

"""


DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Cell:
    """What became of one conversion."""

    said: str
    reason: str = ""


def conversions(
    name: str, spec: str, folder: Path, *, gguf_command: str = "", rows: int | None = None
) -> Mapping[str, Cell]:
    """What became of a vocabulary in each of `TARGETS`; `rows` bounds how much of its golden pack is tried."""
    tokenizer = build_registry().load(spec)
    pack, *_ = make(tokenizer)
    special = [text for text in tokenizer.facts()["special_tokens"] if text]  # type: ignore[attr-defined]
    cases = [one for one in pack.cases if not any(text in one.text for text in special)]
    others = [one for one in pack.rows[:rows] if not any(text in one.text for text in special)]
    pack = Pack(pack.manifest, cases, others)
    found = {}
    for target, file in TARGETS.items():
        path = folder / file
        if name.endswith((target, *target.split(" + "))):
            found[target] = Cell("—")
            continue
        try:
            tokenizer.save(path)  # type: ignore[attr-defined]
        except TokbenchError as error:
            other = "cannot be written as" in str(error)  # a format of another algorithm
            found[target] = Cell("") if other else Cell("refused", _reason(error, tokenizer.name, folder))
            continue
        if target == "Tekken" and format_of(path) != "tekken":  # a tokenizer.json by that name
            found[target] = Cell("")
            continue
        try:
            found[target] = _held(path, tokenizer, pack, gguf_command)
        except TokbenchError as error:
            found[target] = Cell("written; not tried", _reason(error, tokenizer.name, folder))
    return found


def _reason(error: TokbenchError, name: str, folder: Path) -> str:
    """What an error says, without the names of files."""
    text = str(error).removeprefix(name).lstrip(": ").replace(f"{folder}/", "")
    if text.startswith("is not written as "):
        text = text.removeprefix("is not written as ").split(" ", 1)[1]
    return _in_a_cell(text[:300])


def _in_a_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _held(path: Path, tokenizer: Tokenizer, pack: Pack, gguf_command: str) -> Cell:
    """What the library of a format makes of a file, beside the pack of its source."""
    if path.suffix == ".gguf":
        if not gguf_command:
            return Cell("written; not tried")
        implementation = by_command(f"{gguf_command} {shlex.quote(str(path))}", timeout=600)
    else:
        implementation = by_tokenizer(build_registry().load(_library_spec(path, tokenizer)))
    texts = len(pack.cases) + len(pack.rows)
    why: Counter[str] = Counter()
    shown = ""
    for one in check(pack, implementation):
        [answer] = implementation([one.text])
        kind = _excused(one.text, tokenizer, answer.ids)
        why[kind] += 1
        if kind == DIFFERENT:
            shown = f"{one.text[:40]!r} is {list(one.expected)} and would be {list(one.found)}"
    if not why:
        return Cell(f"equal ({texts:,})")
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(why.items()))
    return Cell(f"equal ({texts - sum(why.values()):,}), but {said}", _in_a_cell(shown))


def _excused(text: str, tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """Why other ids were to be expected of a text; `DIFFERENT` where they were not."""
    if not isinstance(tokenizer, SpmTokenizer):
        return DIFFERENT
    if tie_of(tokenizer.vocabulary)(list(map(int, tokenizer.encode(text))), ids):
        return "ties"
    marked = any(unicodedata.combining(other) for other in text[1:])
    return "marks" if marked and tokenizer.model.normalizer.charsmap else DIFFERENT


def _library_spec(path: Path, tokenizer: Tokenizer) -> str:
    """The spec by which the adapter of a format's own library opens what was written."""
    if path.suffix == ".model":
        return f"sentencepiece:{path}"
    if path.name == "tekken.json":
        return f"mistral:{path}"
    if path.suffix == ".tiktoken":
        pattern = tokenizer.model.pattern.as_rust()  # type: ignore[attr-defined]
        return str(Spec("tiktoken", str(path), {"pattern": pattern}))
    if path.suffix == ".txt":
        rules = tokenizer.model.rules  # type: ignore[attr-defined]
        config = {"tokenizer_class": "BertTokenizer", "do_lower_case": rules.lowercase}
        return f"transformers:{_beside(path.parent / 'bert', path, config)}"
    if path.is_dir():
        return f"transformers:{_beside(path, None, {'tokenizer_class': 'GPT2Tokenizer'})}"
    return f"transformers:{path}"


def _beside(folder: Path, file: Path | None, config: Mapping[str, object]) -> Path:
    """A folder as `transformers` opens it: the class stands in a configuration."""
    folder.mkdir(exist_ok=True)
    if file is not None:
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def page(found: Mapping[str, Mapping[str, Cell]], libraries: Iterable[str]) -> str:
    """The page: a table, and the reasons by number."""
    reasons: list[str] = []
    lines = [f"| | {' | '.join(TARGETS)} |", f"|---|{'---|' * len(TARGETS)}"]
    for name, cells in found.items():
        row = []
        for cell in cells.values():
            if cell.reason and cell.reason not in reasons:
                reasons.append(cell.reason)
            mark = f" [{reasons.index(cell.reason) + 1}]" if cell.reason else ""
            row.append(cell.said + mark)
        lines.append(f"| {name} | {' | '.join(row)} |")
    notes = [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    text = _TEXT.format(libraries=", ".join(libraries))
    empty = "—: the source's own format. An empty cell: the family that opens the source does not write it."
    empty += " Reasons:"
    return text + "\n".join([*lines, "", empty, "", *notes, ""])


def main(arguments: Sequence[str] | None = None) -> None:
    """Try all conversions and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of vocabularies")
    parser.add_argument("--gguf-command", default="", help="a program that reads GGUF; the file is added to it")
    parser.add_argument("--gguf-library", default="", help="what to call it on the page")
    parser.add_argument("--only", default="", help="names of sources that hold this")
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    given = parser.parse_args(arguments)
    found = {}
    for name, spec in (SOURCES | _bundled()).items():
        if given.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found[name] = conversions(
                name, spec.format(given.folder), Path(folder), gguf_command=given.gguf_command
            )
        print(name, {target: cell.said for target, cell in found[name].items()}, flush=True)
    versions = [f"{name} {_version(name)}" for name in _LIBRARIES]
    given.output.write_text(page(found, [*versions, given.gguf_library or "GGUF by none"]), encoding="utf-8")


def _bundled() -> dict[str, str]:
    """The Tekken vocabulary that mistral-common brings along, where it is installed."""
    from importlib.util import find_spec

    there = find_spec("mistral_common")
    if there is None or there.origin is None:
        return {}
    return {"tekken_240911/Tekken": f"bpe:{Path(there.origin).parent / 'data' / 'tekken_240911.json'}"}


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    main()
