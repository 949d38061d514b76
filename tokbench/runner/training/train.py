"""Training one tokenizer, and keeping it: the same spec on the same text is trained once and loaded afterwards.

Models are kept by content: the key covers the spec, the training text, the trainer's libraries and code.
Beside each lies ``info.json`` with what the training took.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokbench.capabilities import Savable
from tokbench.errors import SpecError, StorageError, TokbenchError, TokenizerError, described
from tokbench.family import Progress, TokenizerFamily
from tokbench.inspection.facts import file_digests
from tokbench.manager import PATIENCE, within
from tokbench.registry import CACHE_VARIABLE, Registry
from tokbench.resolving import Named
from tokbench.runner.fingerprint import digest_of, fingerprint
from tokbench.spec import Spec, with_defaults
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus
from tokbench.workers.memory import peak_memory


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained tokenizer on disk: the spec that loads it, what training took, whether it was kept.

    `fingerprint` covers how it was trained, and the content of its files.
    """

    spec: Spec
    fingerprint: str
    path: Path
    info: dict[str, Any]
    reused: bool


def train(
    registry: Registry,
    spec: Named,
    train_on: str | os.PathLike[str] | Sequence[str],
    *,
    progress: Progress | None = None,
) -> Tokenizer:
    """The tokenizer that `spec` asks for, trained on a dataset (specs joined by " + ") or on texts; it is kept.

    A spec that needs no training is simply loaded. Raises `SpecError` for a family that cannot be trained.
    """
    wanted = registry.tokenizer_spec(spec)
    family = registry.tokenizers[wanted.family]
    if isinstance(train_on, str | os.PathLike):  # a wrong name is told, though nothing may have to be trained
        corpus_specs(registry, os.fspath(train_on))
    if not family.trains(wanted):
        return registry.load(wanted)
    if isinstance(train_on, str | os.PathLike):
        corpus = training_corpus(registry, os.fspath(train_on))
    else:
        texts = list(train_on)
        if texts and all(_names_dataset(registry, str(text)) for text in texts):
            raise SpecError(
                'train_on: a list is of texts, and these name datasets; join those by " + ": '
                f"{' + '.join(map(str, texts))!r}"
            )
        corpus = TrainingCorpus.of_texts(texts)
    folder = registry.context.cache_dir / "trained"
    trained = ensure_trained(registry, wanted, corpus, corpus_digest(corpus), folder, progress=progress)
    return registry.load(replace(trained.spec, asked_as=str(wanted)))


def _names_dataset(registry: Registry, text: str) -> bool:
    """Whether a text looks like the spec of a dataset rather than like something to train on."""
    family, _, rest = text.partition(":")
    return family in registry.datasets and rest.split() == [rest]


def corpus_specs(registry: Registry, datasets: str) -> list[Spec]:
    """The specs of one dataset, or of several joined by " + "; raises `SpecError` for what names none."""
    return [registry.dataset_spec(spec.strip()) for spec in datasets.split(" + ")]


def training_corpus(registry: Registry, datasets: str) -> TrainingCorpus:
    """All languages of a dataset, or of several joined by " + ", as text to train on."""
    return TrainingCorpus.of(*(registry.dataset(spec) for spec in corpus_specs(registry, datasets)))


def corpus_digest(corpus: TrainingCorpus) -> str:
    """A hash of the text of a training corpus, in order."""
    return digest_of([corpus.dataset.digest(shard) for shard in corpus.shards()])


def ensure_trained(
    registry: Registry,
    spec: Spec,
    corpus: TrainingCorpus,
    digest: str,
    folder: Path,
    *,
    progress: Progress | None = None,
    sizes: Mapping[int, Spec] | None = None,
) -> Trained:
    """The trained tokenizer for `spec`, from `folder` where it is there already, else trained now.

    With `sizes`, specs that differ from it in a smaller ``vocab_size``, one training makes them all.

    Several processes may do this at once: each writes aside, and one rename wins.
    """
    family = registry.tokenizers[spec.family]
    if family.train is None:
        raise SpecError(f"{spec.family} cannot be trained; name what to load: {spec.family}:{family.variant}")
    known = find_trained(registry, spec, digest, folder)
    if known is not None:
        return known
    options = check_training(registry, spec)
    key, model = _place(registry, spec, digest, folder)
    tell = progress or (lambda fraction, doing: None)
    begun, cpu = time.perf_counter(), time.process_time()
    with naming(spec):
        tokenizer, smaller = _made(family, corpus, options, sizes or {}, tell)
    if not isinstance(tokenizer, Savable):
        raise TokenizerError(
            f"{spec}: what training returned has no save(path), so no other process can load it"
        )
    took = _took(begun, cpu)
    text_bytes = dict(corpus.sizes)
    for size, other in smaller.items():
        nested = (sizes or {})[size]
        named = {"spec": str(nested), "vocab_size": int(other.vocab_size), "nested_in": str(spec)}
        if isinstance(other, Savable):
            told = {"corpus": digest, "text_bytes": text_bytes, **named}
            _store(other, _place(registry, nested, digest, folder)[1], told)
    own = {"spec": str(spec), "corpus": digest, "vocab_size": int(tokenizer.vocab_size)}
    info = {**own, **took, "text_bytes": text_bytes}
    return _trained(registry, spec, key, model, _store(tokenizer, model, info), reused=False)


def _made(
    family: TokenizerFamily,
    corpus: TrainingCorpus,
    options: dict[str, Any],
    sizes: Mapping[int, Spec],
    progress: Progress,
) -> tuple[Tokenizer, dict[int, Tokenizer]]:
    """The tokenizer that a training makes, and those of smaller `sizes` where it makes them as well."""
    assert family.train is not None
    smaller: dict[int, Tokenizer] = {}
    if sizes and family.train_sizes is not None:
        smaller = dict(family.train_sizes(corpus, options, [*sizes], progress))
    own = smaller.pop(options["vocab_size"], None) if smaller else None
    return own or family.train(corpus, options, progress), smaller


def _took(begun: float, cpu: float) -> dict[str, Any]:
    """Seconds since two clocks were read, but for those of compiling; memory, unless compiling took some."""
    took = {"seconds": time.perf_counter() - begun, "cpu_seconds": time.process_time() - cpu}
    memory = peak_memory()
    # Where this is not loaded yet, no kernel was compiled; loading it before would take memory.
    from tokbench.kernels.compiling import seconds_compiling

    wall, compiling = seconds_compiling(begun)
    if not wall:
        return took | {"peak_memory_bytes": memory}
    took = {"seconds": took["seconds"] - wall, "cpu_seconds": took["cpu_seconds"] - compiling}
    return took | {"compiling_seconds": wall}


@contextlib.contextmanager
def naming(spec: Spec) -> Iterator[None]:
    """Have what a trainer raises say which training it was."""
    try:
        yield
    except TokbenchError:
        raise
    except Exception as error:
        raise TokenizerError(f"training {spec}: {described(error)}") from error


def check_training(registry: Registry, spec: Spec) -> dict[str, Any]:
    """All options of a training, with defaults; raises `TokenizerError` where no text could be trained on."""
    family = registry.tokenizers[spec.family]
    options = with_defaults(family.options, spec.options)
    if family.check is not None:
        try:
            with within(PATIENCE):
                family.check(options)
        except TokbenchError as error:
            raise TokenizerError(f"{spec}: {str(error).removeprefix(f'{spec.family}: ')}") from error
        except Exception as error:
            raise TokenizerError(f"{spec}: its options cannot be checked: {described(error)}") from error
    return options


def find_trained(registry: Registry, spec: Spec, digest: str, folder: Path) -> Trained | None:
    """The tokenizer for `spec` as it was trained before on the text of that digest, or None.

    None also where its files are not what training wrote: it is trained anew.
    """
    key, model = _place(registry, spec, digest, folder)
    info = _read_info(model)
    return None if info is None else _trained(registry, spec, key, model, info, reused=True)


def _place(registry: Registry, spec: Spec, digest: str, folder: Path) -> tuple[str, Path]:
    """The key of a trained tokenizer, and its file."""
    family = registry.tokenizers[spec.family]
    files = file_digests(family.training_files(spec)) if family.training_files is not None else []
    key = fingerprint(registry, spec, files, digest)
    return key, folder / key[:32] / f"{spec.family}{family.trained_suffix}"


def _trained(
    registry: Registry, spec: Spec, key: str, model: Path, info: dict[str, Any], *, reused: bool
) -> Trained:
    again = registry.tokenizers[spec.family].loads_with
    options = {name: value for name, value in spec.options.items() if name in again}
    loads = Spec(spec.family, str(model.absolute()), options)
    return Trained(loads, digest_of(key, info["files"]), model, info, reused)


def _store(tokenizer: Savable, model: Path, info: dict[str, Any]) -> dict[str, Any]:
    """Save a tokenizer and its `info` aside, then rename; returns the info that is then on disk."""
    home, aside = model.parent, None
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{home.name}.", dir=home.parent))
        tokenizer.save(aside / model.name)
        info = {**info, "files": _content(aside / model.name)}
        (aside / "info.json").write_text(json.dumps(info, indent=1), encoding="utf-8")
        try:
            aside.rename(home)
        except OSError:
            # Somebody else was first, and theirs is as good; unless what lies there was damaged since.
            if (theirs := _read_info(model)) is not None:
                return theirs
            shutil.rmtree(home, ignore_errors=True)
            with contextlib.suppress(OSError):
                aside.rename(home)
    except OSError as error:
        raise StorageError(
            f"cannot keep the trained tokenizer in {home.parent}: {error.strerror or error}; name a folder "
            f"that can be written to with {CACHE_VARIABLE}, or train once with `tokbench train -o FILE` and "
            "load the file"
        ) from error
    finally:
        if aside is not None:
            shutil.rmtree(aside, ignore_errors=True)
    return info


def _content(model: Path) -> list[str]:
    """SHA-256 of the file of a model, or of each file of its folder, by name."""
    return [entry["sha256"] for entry in file_digests([model])]


def _read_info(model: Path) -> dict[str, Any] | None:
    """What was written beside a model when it was trained; None where the model is not that one any more."""
    try:
        found: dict[str, Any] = json.loads((model.parent / "info.json").read_text(encoding="utf-8"))
        return found if found["files"] and found["files"] == _content(model) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
