"""The family `transformers`: how its specs are loaded, and by which library."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from tokbench import LoadContext, Option, Spec, SpecError, TokenizerError, TokenizerFamily
from tokbench_transformers.fast import FastTokenizer, settle
from tokbench_transformers.hub import repository_file, snapshot
from tokbench_transformers.slow import AutoTokenizer, PlacedAutoTokenizer
from tokbench_transformers.training import OPTIONS as TRAINING_OPTIONS
from tokbench_transformers.training import train

FILE = "tokenizer.json"
_ANY_CLASS = re.compile(r"tekken\.json|(?:tiktoken|tokenizer)\.model|tokenizer\.(?:[\d.]+\.)?json")
"""Names of files that every class of `transformers` takes for its vocabulary, those of versions among them."""
_SETTINGS = frozenset(
    ("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json", FILE)
)
"""Files beside a vocabulary, and vocabularies, that are an object of JSON."""
WEIGHTS = frozenset(
    (".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".onnx", ".gguf", ".ckpt", ".npz", ".tflite")
)
"""Endings of a model's own files: gigabytes, and nothing to a tokenizer."""
_BEGINNING = re.compile(
    rb'\s*\{\s*"(?:version|truncation|padding|added_tokens|normalizer|pre_tokenizer|post_processor|decoder|model)"'
    rb"\s*:\s*[^\s\d]"  # a number is the id of a token of that name, in a vocab.json
)
_ANOTHER = ". Name another file, or get this one anew"
_DELETE = ". Delete it from the hub's cache, and load again with the network at hand"


def load(spec: Spec, context: LoadContext) -> FastTokenizer | AutoTokenizer:
    """Open a `tokenizer.json` with `tokenizers`; without one, use `transformers`."""
    if not spec.variant:
        raise SpecError("transformers: name a hub repository, a folder or a tokenizer.json: transformers:NAME")
    if spec.get("revision") is not None and Path(spec.variant).expanduser().exists():
        raise SpecError(f"{spec}: revision is for names on the hub; {spec.variant} is here, and has no other")
    settle(context.threads)
    special, backend = spec.get("special", "text"), spec.get("backend", "auto")
    if backend == "auto" and spec.get("tokenizer_class") is None:
        path = json_file(spec, context)
        if path is not None:
            return FastTokenizer(_open(path, spec), name=str(spec), special=special)
    tokenizer = _from_transformers(spec, context)
    kind = PlacedAutoTokenizer if tokenizer.is_fast else AutoTokenizer
    return kind(tokenizer, name=str(spec), special=special)


def json_file(spec: Spec, context: LoadContext) -> Path | None:
    """The `tokenizer.json` behind a spec; None where there is none."""
    variant = spec.variant or ""
    path = Path(variant).expanduser()
    if path.is_file():
        if path.suffix == ".json":
            return path
        hint = "use sentencepiece:FILE, or name the folder" if path.suffix == ".model" else "name the folder"
        raise TokenizerError(f"{spec}: {path.name} is not a tokenizer.json; {hint}")
    if path.is_dir():
        return path / FILE if (path / FILE).is_file() else None
    if variant.startswith((".", "/", "~")) or variant.endswith(".json") or variant.count("/") > 1:
        raise TokenizerError(f"{spec}: there is no file or folder {path}")
    return repository_file(variant, FILE, revision=spec.get("revision"), context=context, spec=str(spec))


def _open(path: Path, spec: Spec) -> Any:
    import tokenizers

    try:
        return tokenizers.Tokenizer.from_file(str(path))
    except BaseException as error:  # the library raises bare Exception, and Rust's panics are none
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        remedy = _ANOTHER if Path(spec.variant or "").expanduser().exists() else _DELETE
        why = f": {_fault(path)}".removesuffix(": ")
        why = why or f" that tokenizers {tokenizers.__version__} can read: {error}"
        raise TokenizerError(f"{spec}: {path} is not a tokenizer.json{why}{remedy}") from error


def _read(path: Path) -> tuple[Any, str]:
    """The object in a JSON file, or None and a message on what is wrong with the file."""
    try:
        found = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}: {error.msg}"
        return None, f"is not JSON ({place}), so it may be damaged or not whole"
    except UnicodeDecodeError as error:
        return None, f"is not JSON (byte {error.start} is not UTF-8)"
    except (RecursionError, ValueError):  # the latter for a number of thousands of digits
        return None, ""
    return (found, "") if isinstance(found, dict) else (None, "is JSON, but no object")


def _fault(path: Path) -> str:
    """Why a file is not a `tokenizer.json`, as far as this can be found without the library; else empty."""
    found, wrong = _read(path)
    if found is None:
        return wrong and f"it {wrong}"
    if "model" not in found:
        there = ", ".join(map(repr, list(found)[:5])) or "nothing"
        return f'it is JSON, but lacks "model", which holds the vocabulary; it has {there}'
    if not isinstance(found["model"], dict):
        return 'its "model" is no object'
    return "" if "vocab" in found["model"] else 'its "model" lacks "vocab"'


def _from_transformers(spec: Spec, context: LoadContext) -> Any:
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it advises on models, which nobody asked for
    import transformers

    name = spec.get("tokenizer_class") or "AutoTokenizer"
    kind: Any = getattr(transformers, name, None)
    if not hasattr(kind, "from_pretrained"):
        raise SpecError(f"{spec}: transformers {transformers.__version__} has no tokenizer class {name!r}")
    options: dict[str, Any] = {
        "revision": spec.get("revision", "main"),
        "local_files_only": context.offline,
        "trust_remote_code": context.allow_remote_code,
    }
    path = Path(spec.variant or "").expanduser()
    try:
        tokenizer = kind.from_pretrained(str(path), **options)
    except Exception as error:  # whatever the class raises: dozens of kinds, some bare
        raise TokenizerError(f"{spec}: {_remedy(error, spec, context)}") from error
    names = {*(tokenizer.vocab_files_names or {}).values()}
    if names and path.is_dir() and not any(_holds_tokens(file, names) for file in path.iterdir()):
        raise TokenizerError(
            f"{spec}: the folder has no vocabulary for {type(tokenizer).__name__}, which is "
            f"{' or '.join(sorted(names))}; transformers would go on with special tokens alone"
        )
    return tokenizer


def _holds_tokens(file: Path, names: Collection[str]) -> bool:
    """Whether a class that looks for files of these `names` finds its vocabulary in this one."""
    known = file.name in names or _ANY_CLASS.fullmatch(file.name) is not None
    return known and file.is_file() and file.stat().st_size > 0


def _remedy(error: Exception, spec: Spec, context: LoadContext) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = " ".join(lines if lines and lines[0].endswith(":") else lines[:1])  # what a colon announces, too
    message = f"transformers cannot load it: {type(error).__name__}: {first[:400]}"
    if "trust_remote_code" in str(error):
        return "it needs code from its repository, which runs only when allowed by name: --allow-remote-code"
    if (folder := Path(spec.variant or "").expanduser()).is_dir():
        files = sorted(folder.iterdir())
        for file in files:
            if file.name in _SETTINGS and file.is_file() and (wrong := _read(file)[1]):
                return f"{file} {wrong}"
        names = ", ".join(file.name for file in files[:8])
        holds = f"holds {names}" if names else "is empty"
        return f"{message} (the folder {holds}; a missing class can be named with tokenizer_class=…)"
    if context.offline:
        return f"{message} ({context.offline_because})"
    return message


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The files behind a spec, for checksums: the `tokenizer.json`, or where a class reads all but weights."""
    if not spec.variant:
        return []
    path = Path(spec.variant).expanduser()
    found = json_file(spec, context)
    by_classes = spec.get("backend", "auto") != "auto" or spec.get("tokenizer_class") is not None
    if found is not None and (path.is_file() or not by_classes):
        return [found]
    folder = path if path.is_dir() else snapshot(spec.variant, spec.get("revision"))
    if folder is None:
        return []
    return sorted(file for file in folder.iterdir() if file.is_file() and file.suffix not in WEIGHTS)


def recognises(path: Path, head: bytes) -> bool:
    """Whether `load` may open it: a folder that says which tokenizer it holds, or a `tokenizer.json`.

    A `tokenizer.json` is distinguished from other JSON by the beginning of the file.
    """
    if path.is_dir():
        return any((path / name).is_file() for name in (FILE, "tokenizer_config.json", "config.json"))
    return _BEGINNING.match(head) is not None


TRANSFORMERS = TokenizerFamily(
    name="transformers",
    summary="Hugging Face: hub names, folders and tokenizer.json files, or trained by tokenizers",
    load=load,
    train=train,
    files=files,
    recognises=recognises,
    endings=(".json",),
    options=(
        Option("revision", "str", None, "Branch, tag or commit of the hub repository."),
        Option("special", "str", "text", "Text of special tokens.", choices=("text", "match")),
        Option(
            "backend",
            "str",
            "auto",
            "auto: tokenizers where there is a tokenizer.json; transformers: always its own classes.",
            choices=("auto", "transformers"),
        ),
        Option(
            "tokenizer_class", "str", None, "A class of transformers, where it cannot tell (LlamaTokenizer …)."
        ),
        *TRAINING_OPTIONS,
    ),
    variant="owner/name on the hub, a folder or a tokenizer.json; none: trained",
    libraries=("tokenizers", "transformers", "huggingface-hub"),
    examples=(
        "transformers:Qwen/Qwen3-8B,revision=main",
        "transformers:path/to/tokenizer.json",
        "transformers:model_type=wordpiece,vocab_size=8k",
    ),
)
