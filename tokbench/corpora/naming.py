"""Language tags: what a file's name or folder says of its language, natural or programming."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from tokbench.corpora.finding import bare_name
from tokbench.errors import SpecError, nearest
from tokbench.languages import lookup, same_language
from tokbench.spec import Spec

UNKNOWN = "und"

FLORES_TAG = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}\Z")
BCP47_TAG = re.compile(r"[a-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:[-_](?:[A-Z]{2}|[0-9]{3}))?\Z")

# ISO 639-1. A folder `py` or `db` is none of them.
_ISO_639_1 = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""

# Ending of a file name → programming language, in the tags of the bundled corpus `code`.
CODE_LANGUAGES = {
    "bash": "shell", "c": "c", "cc": "cpp", "clj": "clojure", "cpp": "cpp", "cs": "csharp", "css": "css",
    "cxx": "cpp", "dart": "dart", "erl": "erlang", "ex": "elixir", "exs": "elixir", "f90": "fortran",
    "go": "go", "h": "c", "hpp": "cpp", "hs": "haskell", "htm": "html", "html": "html", "java": "java",
    "jl": "julia", "js": "javascript", "json": "json", "jsx": "javascript", "kt": "kotlin", "lua": "lua",
    "m": "objectivec", "md": "markdown", "mjs": "javascript", "ml": "ocaml", "php": "php", "pl": "perl",
    "py": "python", "pyi": "python", "r": "r", "rb": "ruby", "rs": "rust", "scala": "scala", "sh": "shell",
    "sql": "sql", "swift": "swift", "tex": "tex", "toml": "toml", "ts": "typescript", "tsx": "typescript",
    "xml": "xml", "yaml": "yaml", "yml": "yaml", "zig": "zig",
}  # fmt: skip


def text_language(path: str) -> str:
    """The language that the name of a file of text, or else its folder, says; "und" where neither does.

    A FLORES tag counts anywhere between dots; a shorter BCP-47 tag only as the whole name, since ``cs`` or
    ``pl`` as an ending may as well be a programming language.

    Example:
        >>> text_language("data/wiki.deu_Latn.txt"), text_language("pt-BR/news.txt"), text_language("a.txt")
        ('deu_Latn', 'pt-BR', 'und')
        >>> text_language("en.txt"), text_language("py/readme.txt"), text_language("src/notes.txt")
        ('en', 'und', 'und')
    """
    name = bare_name(path)
    for part in name.split("."):
        if FLORES_TAG.match(part):
            return part
    folder = PurePosixPath(path.replace("\\", "/")).parent.name
    for candidate in (name.partition(".")[0], folder):
        if FLORES_TAG.match(candidate) or (BCP47_TAG.match(candidate) and _plausible(candidate)):
            return candidate
    return UNKNOWN


def _plausible(tag: str) -> bool:
    """Whether a short tag is one: `src` or `doc` look like three-letter codes, and are none."""
    first = re.split("[-_]", tag)[0]
    return first in _ISO_639_1.split() if len(first) == 2 else len(tag) > 3


def code_language(path: str) -> str:
    """The programming language that the ending of a file name says; "und" for an unknown one.

    Example:
        >>> code_language("src/main.rs"), code_language("Makefile")
        ('rust', 'und')
    """
    return CODE_LANGUAGES.get(bare_name(path).rpartition(".")[2].lower(), UNKNOWN)


def by_language(
    paths: list[str], language: str | None, named: Callable[[str], str] = text_language
) -> dict[str, list[str]]:
    """Files by language: the given one for all, or what each name says."""
    files: dict[str, list[str]] = {}
    for path in paths:
        files.setdefault(language or named(path), []).append(path)
    return dict(sorted(files.items()))


def note_on(files: Mapping[str, Sequence[str]], spec: Spec) -> str:
    """The note for languages that were read from file names, if these names may mean something else.

    By the rule ``my.txt`` is Burmese, but it may as well be "my text". A tag of two letters is noted if it is
    that of a single file, or if other files have no language; if all of several files have one, nothing is
    noted.

    Example:
        >>> note_on({"my": ["my.txt"]}, Spec("text", "my.txt")).partition(";")[0]
        'text:my.txt: the language my (Burmese) was read from the file name'
        >>> note_on({"de": ["de.txt"], "en": ["en.txt"]}, Spec("text", "folder"))
        ''
    """
    alone = len(files) == 1 and len(*files.values()) == 1
    short = [tag for tag in files if len(tag) == 2]
    if spec.get("language") or not short or not (alone or UNKNOWN in files):
        return ""
    told = ", ".join(f"{tag} ({known.name})" if (known := lookup(tag)) else tag for tag in short)
    what = "the language {} was" if len(short) == 1 else "the languages {} were"
    return f"{spec}: {what.format(told)} read from the file name; add language=und if that is not a language"


def choose(available: Iterable[str], wanted: str | None, *, where: str) -> list[str]:
    """The languages of the option ``languages=a+b`` (or ``a;b``), in that order; all, sorted, without it.

    Example:
        >>> choose(["fra_Latn", "deu_Latn"], "fra_Latn", where="flores")
        ['fra_Latn']
    """
    known = sorted(available)
    if not wanted:
        return known
    chosen: list[str] = []
    for tag in re.split(r"[+;\s]+", wanted.strip("+; ")):
        if tag not in known:
            near = same_language(tag, known) or nearest(tag, known)
            guess = f"; did you mean {' or '.join(near)}?" if near else "."
            raise SpecError(f"{where} has no language {tag!r}{guess} It has: {', '.join(known)}")
        if tag not in chosen:
            chosen.append(tag)
    return chosen
