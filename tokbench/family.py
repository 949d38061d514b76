"""What a plugin offers under one name: how tokenizers of a kind are loaded, trained, saved and recognised."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench.counts import Counting
from tokbench.errors import PluginError, TokenizerError
from tokbench.spec import LoadContext as LoadContext
from tokbench.spec import Option, Spec
from tokbench.tokenizer import Tokenizer
from tokbench.training_corpus import TrainingCorpus

Progress = Callable[[float, str], None]
"""Called with a fraction in 0..1 and a short word on what is going on."""


HEAD_BYTES = 65_536
"""How much of a file `TokenizerFamily.recognises` is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFamily:
    """A kind of tokenizer that a plugin offers under one name.

    `load(spec, context)` builds the tokenizer in the process that uses it. `train(corpus, options, progress)`
    is there where it can be trained; it gets every declared option with its default filled in and returns
    a tokenizer that is `Savable`; `train_sizes` gives those of several values of ``vocab_size`` by one
    training, each as `train` gives it, less the sizes that cannot be. A spec of such a family without a variant
    is trained on the suite's training corpus, saved with the suffix `trained_suffix`, and loaded from there as
    the variant, with those of its options that `loads_with` names: what no file holds. `saved_as` are the
    suffixes it can be saved with, "" for a folder; without it, what is trained is saved with `trained_suffix`
    alone, and what is loaded with any that its `save` takes.
    `check(options)` raises a `TokbenchError` for options with which no text can be trained on: before any work.
    `counting` is there where it can be trained from counted pre-tokens as well: `train` asks ``corpus.source``.
    `files(spec, context)` names what `load` will read, for checksums (left out: the file that the variant is);
    `training_files(spec)` what `train` reads beside the text; `libraries` the distributions whose versions
    matter; `builds_on(spec, context)` the tokenizer of another family that `load` loads in turn, if any, whose
    code and libraries then matter too; `unsaid(spec, context)` what its files leave to be said, as options, for
    another family that opens them.

    `recognises(path, head)` says whether `load` opens the file or folder at `path`, by its content: `head`
    is the first `HEAD_BYTES` of a file (it may read on), empty for a folder; a `TokbenchError` or an
    `OSError` says what is wrong with a file of its kind. A bare path given as a spec is opened by a family
    that recognises it, first of all by one that has its ending (in lower case), or that of a file in the
    folder, among its `endings`. A family without `recognises` is believed by its endings alone.

    Example:
        >>> family = TokenizerFamily(name="bytes", summary="UTF-8 bytes", load=lambda spec, context: None)
        >>> family.trainable
        False
    """

    name: str
    summary: str
    load: Callable[[Spec, LoadContext], Tokenizer]
    options: tuple[Option, ...] = ()
    variant: str = ""
    train: Callable[[TrainingCorpus, Mapping[str, Any], Progress], Tokenizer] | None = None
    train_sizes: (
        Callable[[TrainingCorpus, Mapping[str, Any], Sequence[int], Progress], Mapping[int, Tokenizer]] | None
    ) = None
    check: Callable[[Mapping[str, Any]], None] | None = None
    trained_suffix: str = ".json"
    loads_with: tuple[str, ...] = ()
    saved_as: tuple[str, ...] = ()
    counting: Counting | None = None
    files: Callable[[Spec, LoadContext], Sequence[Path]] | None = None
    training_files: Callable[[Spec], Sequence[Path]] | None = None
    recognises: Callable[[Path, bytes], bool] | None = None
    endings: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    builds_on: Callable[[Spec, LoadContext], Spec] | None = None
    unsaid: Callable[[Spec, LoadContext], Mapping[str, str]] | None = None
    examples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [option.name for option in self.options if isinstance(option, Option)]
        if len(names) < len(tuple(self.options)) or len({*names}) < len(names):
            raise PluginError(f"{self.name}: options must be tokbench.Option, each of another name")
        if self.train is not None and (why := self.unwritable(Path(f"FILE{self.trained_suffix}"))):
            raise PluginError(f"{self.name}: what is trained {why}, of its saved_as, as its trained_suffix")

    @property
    def trainable(self) -> bool:
        """Whether the family can be trained."""
        return self.train is not None

    def files_of(self, spec: Spec, context: LoadContext) -> list[Path]:
        """What `load` will read: as `files` names it, else the file that the variant is the path of, if any."""
        if self.files is not None:
            return [Path(path) for path in self.files(spec, context)]
        return [path for path in variant_file(spec, context) if path.is_file()]

    def unwritable(self, path: Path, *, trained: bool = False) -> str:
        """Why its tokenizers, or those that it has `trained`, cannot be saved as `path`; empty where they can.

        Example:
            >>> family = TokenizerFamily(name="mine", summary="", load=print, saved_as=(".json", ""))
            >>> family.unwritable(Path("a.json")), family.unwritable(Path("a.txt"))
            ('', "cannot be written as 'a.txt'; name FILE.json or a folder")
        """
        endings = self.saved_as or ((self.trained_suffix,) if trained else ())
        there = ", which is a folder" if path.suffix and path.is_dir() else ""
        there = ", which is a file" if not path.suffix and path.exists() and not path.is_dir() else there
        if trained and path.suffix == ".json" and "tekken" in path.name:  # training makes no ranks
            there = ", which is Tekken's by its name"
        if not endings or (path.suffix in endings and not there):
            return ""
        choices = " or ".join(f"FILE{ending}" if ending else "a folder" for ending in endings)
        return f"cannot be written as {path.name!r}{there}; name {choices}"

    def trains(self, spec: Spec) -> bool:
        """Whether `spec` asks for a tokenizer that must be trained first."""
        return self.train is not None and spec.variant is None


def variant_file(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The file that a spec's variant names, where it has one: the `files` of families that load one file."""
    return [Path(spec.variant).expanduser()] if spec.variant else []


@contextmanager
def opening(spec: Spec, what: str, remedy: str = "") -> Iterator[Path]:
    """The file that a spec's variant names; raises `TokenizerError` where reading it shows it is not `what`."""
    path = Path(spec.variant or "").expanduser()
    try:
        yield path
    except OSError as error:
        raise TokenizerError(f"{spec}: cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TokenizerError(f"{spec}: {path} is not {what} ({error}){remedy}") from error


def write_saved(path: str | os.PathLike[str], format: str, **content: Any) -> None:
    """Write what a trained tokenizer is made of as JSON, in a format of its family's own."""
    saved = {"format": format, "version": 1, **content}
    Path(path).write_text(json.dumps(saved, ensure_ascii=True), encoding="utf-8")


def read_saved(path: Path, format: str) -> dict[str, Any]:
    """What `write_saved` wrote; raises one of the errors that `opening` tells for anything else."""
    saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if saved["format"] != format:
        raise ValueError(f"it holds {saved['format']}")
    return saved
