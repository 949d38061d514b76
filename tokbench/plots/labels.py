r"""Short names for tokenizers, datasets and languages, unique within a run and safe to draw.

Names keep their script. A letter that no font of the figure has is written as an escape (``\u4e2d``) instead of
being drawn as an empty box, and the note under the figure says so. Languages are labelled by code and English
name, so that none needs its own script.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from unicodedata import combining

from tokbench.errors import SpecError
from tokbench.languages import Language, lookup
from tokbench.metrics.measurement import ALL
from tokbench.plots import style
from tokbench.plots.losses import losses
from tokbench.results import Run
from tokbench.spec import Spec

_FILE = re.compile(r"\.(json|model|tiktoken|txt|bpe|vocab|jsonl|parquet|csv|tsv|conllu)$")
_GENERIC = {"tokenizer", "tokenizer.json", "spiece.model", "tokenizer.model", "hf", "vocab.txt", "."}
LONG = 40
"""Labels of tokenizers with more characters are shortened."""
LONG_TITLE = 72
"""Labels of datasets with more characters are shortened; they are used in titles and sentences."""


def printable(text: str) -> str:
    r"""`text` with escapes for control characters and for letters that no font of the figure has.

    Example:
        >>> printable("bpe:中.json"), printable("a" + chr(10))
        ('bpe:中.json', 'a\\n')
    """
    drawn, written = True, []
    for letter in text:
        # a mark is escaped together with its letter
        drawn = (drawn or not combining(letter)) and letter.isprintable() and style.drawable(letter)
        written.append(letter if drawn else style.escaped(letter))
    return "".join(written)


def tokenizer_labels(specs: Iterable[str], names: Mapping[str, str] | None = None) -> dict[str, str]:
    """A short label for each spec: family, variant and the options that matter, unique among `specs`.

    `names` are labels given in the suite, which are used as they are. A long label leaves out the options in
    which all `specs` of its family agree.

    Example:
        >>> tokenizer_labels(["bpe:pattern=gpt2,vocab_size=8000", "tiktoken:o200k_base"])
        {'bpe:pattern=gpt2,vocab_size=8000': 'bpe gpt2 8k', 'tiktoken:o200k_base': 'tiktoken o200k_base'}
    """
    given = dict(names or {})
    specs = list(dict.fromkeys(specs))
    short = {spec: given.get(spec) or _short(spec) for spec in specs}
    for spec, label in short.items():
        if len(label) > LONG and spec not in given:
            short[spec] = _short(spec, leave_out=_agreed(spec, specs))
    seen = Counter(short.values())
    return {spec: printable(spec if seen[label] > 1 else label) for spec, label in short.items()}


class _RunLabels(dict[str, str]):
    """Labels by spec; a spec that is no tokenizer of the run is its own label."""

    def __missing__(self, spec: str) -> str:
        return spec


def run_labels(run: Run, specs: Iterable[str] | None = None) -> dict[str, str]:
    """Short labels of the run's tokenizers, with the mark of those that lose something."""
    given = {entry["spec"]: entry["label"] for entry in run.manifest["tokenizers"] if entry.get("label")}
    labels, known = tokenizer_labels(run.tokenizers if specs is None else specs, given), losses(run)
    return _RunLabels(
        {spec: f"{label} {known[spec].mark}" if spec in known else label for spec, label in labels.items()}
    )


def _agreed(spec: str, specs: Iterable[str]) -> set[str]:
    """The options of a spec in which all of its family agree, without the size."""
    try:
        mine, others = Spec.parse(spec), [Spec.parse(each) for each in specs]
    except SpecError:
        return set()
    kin = [other.options for other in others if other.family == mine.family]
    alike = {name for name, own in mine.options.items() if all(each.get(name) == own for each in kin)}
    return alike - {"vocab_size"}


def dataset_label(run: Run, spec: str) -> str:
    """The label of a dataset in the suite, or else the `dataset_name` of its spec; unique in the run."""
    names = {entry["spec"]: entry.get("label") for entry in run.manifest["datasets"]}
    return dataset_labels([*names, spec], names)[spec]


def dataset_labels(specs: Iterable[str], names: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The name of each dataset, from `names` or `dataset_name`; the spec if two names are equal.

    Example:
        >>> [*dataset_labels(["text:mail/en.txt", "text:news/en.txt", "bundled:code"]).values()]
        ['text:mail/en.txt', 'text:news/en.txt', 'bundled code']
    """
    short = {spec: (names or {}).get(spec) or dataset_name(spec) for spec in specs}
    seen = Counter(short.values())
    return {spec: _kept_short(spec if seen[label] > 1 else label) for spec, label in short.items()}


def dataset_name(spec: str) -> str:
    """A short name of a dataset: its family, the last part of its path, and which part of it was read.

    Options on how it is read (where languages are stated, how wrong bytes are treated) are left out. A name
    longer than `LONG_TITLE` is cut in the middle, because names may differ at either end.

    Example:
        >>> dataset_name("bundled:parallel"), dataset_name("text:/data/novels/english.txt")
        ('bundled parallel', 'text english')
        >>> dataset_name("bundled:parallel,lines=odd")
        'bundled parallel, odd lines'
        >>> dataset_name("jsonl:crawl.jsonl,field=body,language_field=lang")
        'jsonl crawl field=body'
        >>> dataset_name("parallel:/data/pud,languages=eng_Latn+rus_Cyrl+zho_Hant")
        'parallel pud, eng_Latn, rus_Cyrl and zho_Hant'
        >>> dataset_name("flores:flores200,languages=deu_Latn+eng_Latn+rus_Cyrl+zho_Hant")
        'flores flores200, 4 languages'
    """
    label = _short(spec, leave_out=_HOW_READ, named=("field", "lines"))
    label = re.sub(r" languages=([^ ]+[+;][^ ]+)", _several, label)
    return _kept_short(re.sub(r" lines=(even|odd)\b", r", \1 lines", label))


def _kept_short(label: str) -> str:
    label, half = printable(label), LONG_TITLE // 2
    return label if len(label) <= LONG_TITLE else f"{label[:half]}…{label[1 - half :]}"


def _several(languages: re.Match[str]) -> str:
    *others, last = re.split("[+;]", languages[1])
    return f", {', '.join(others)} and {last}" if len(others) < 3 else f", {len(others) + 1} languages"


_HOW_READ = frozenset({"delimiter", "errors", "language_field", "max_document_bytes", "missing", "streaming"})
"""Options of datasets that do not say which text it is."""


def _short(text: str, *, leave_out: Collection[str] = (), named: Collection[str] = ()) -> str:
    try:
        spec = Spec.parse(text)
    except SpecError:
        return text
    parts = [spec.family]
    if spec.variant is not None:
        parts.append(_base(spec.variant))
    for name, value in sorted(spec.options.items(), key=lambda item: (item[0] == "vocab_size", item[0])):
        if name in named:
            parts.append(f"{name}={value}")
        elif name not in leave_out:
            parts.append(_count(str(value)) if name == "vocab_size" else _option(name, str(value)))
    return " ".join(parts)


def _base(variant: str) -> str:
    """The distinctive part of a path or hub name."""
    parts = [part for part in re.split(r"[/\\]", variant) if part]
    while len(parts) > 1 and parts[-1] in _GENERIC:
        parts.pop()
    return _FILE.sub("", parts[-1]) if parts else variant


def _option(name: str, value: str) -> str:
    telling = re.fullmatch(r"[A-Za-z][\w.-]*", value) and value not in ("true", "false")
    return value if telling else f"{name}={value}"


def _count(value: str) -> str:
    number = int(value) if value.isdigit() else 0
    return f"{number // 1000}k" if number and number % 1000 == 0 else value


def language_of(code: str, kind: str = "text") -> Language | None:
    """The language of a tag (BCP 47 or FLORES style), if known; None in a dataset of code.

    Tags of code are programming languages: "lua" is not Luba-Kasai.
    """
    return None if kind == "code" else lookup(code)


def language_label(code: str, kind: str = "text") -> str:
    """Code and English name: ``deu_Latn German``; only the code if the name is not known.

    `kind` is that of the dataset: in "code", languages are programming languages.

    Example:
        >>> language_label("all"), language_label("lua_Latn"), language_label("lua", "code")
        ('all languages', 'lua_Latn Luba-Kasai', 'lua')
    """
    if code == ALL:
        return "all languages"
    found = language_of(code, kind)
    return printable(f"{code} {found.name}" if found and found.name not in ("", code) else code)
