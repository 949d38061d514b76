"""`TokenizerFamily`: what a plugin offers under one name: to load, train, save and recognise tokenizers."""

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
"""Called with the fraction done, 0..1, and a word or two on what is being done."""


HEAD_BYTES = 65_536
"""How many bytes of a file `TokenizerFamily.recognises` gets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFamily:
    """A kind of tokenizer that a plugin offers under one name.

    `load(spec, context)` builds the tokenizer in the process that uses it.

    A family that can be trained has `train(corpus, options, progress)`. It gets every declared option, defaults
    filled in, and returns a tokenizer that is `Savable`. `train_sizes` returns the tokenizers for several
    values of ``vocab_size`` from one training, each equal to what `train` returns, without the sizes that are
    impossible. A spec without a variant is trained on the suite's training corpus, saved with the suffix
    `trained_suffix`, and loaded from that file, together with those of its options that `loads_with` names
    because the file cannot store them. `saved_as` are the suffixes that a tokenizer can be saved with, "" for a
    folder; without it, a trained tokenizer is saved with `trained_suffix` only, and a loaded one with any
    suffix that its `save` accepts. `check(options)` raises a `TokbenchError`, before any work, for options that
    no training can satisfy. A family with `counting` can also be trained from counted pre-tokens, which `train`
    finds in ``corpus.source``.

    `files(spec, context)` lists what `load` will read, for checksums (default: the file that the variant
    names), and `training_files(spec)` what `train` reads besides the text. `libraries` are the distributions
    whose versions matter. `builds_on(spec, context)` is the tokenizer of another family that `load` loads in
    turn, if any; its code and libraries then matter, too. `unsaid(spec, context)` are the options that another
    family needs to open the same files.

    `recognises(path, head)` tells, by content, whether `load` opens the file or folder at `path`. `head` is the
    first `HEAD_BYTES` of a file (it may read more), empty for a folder. A `TokbenchError` or an `OSError` says
    what is wrong with a file of its kind. A bare path given as a spec is opened by a family that recognises it;
    families that list its ending (in lower case), or that of a file in the folder, in `endings` are asked
    first. A family without `recognises` opens the files with its endings.

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
        """What `load` will read: the result of `files`, else the file that the variant names, if any."""
        if self.files is not None:
            return [Path(path) for path in self.files(spec, context)]
        return [path for path in variant_file(spec, context) if path.is_file()]

    def unwritable(self, path: Path, *, trained: bool = False) -> str:
        """Why its tokenizers, or those that it has `trained`, cannot be saved as `path`; empty if they can.

        Example:
            >>> family = TokenizerFamily(name="mine", summary="", load=print, saved_as=(".json", ""))
            >>> family.unwritable(Path("a.json")), family.unwritable(Path("a.txt"))
            ('', "cannot be written as 'a.txt'; name FILE.json or a folder")
        """
        endings = self.saved_as or ((self.trained_suffix,) if trained else ())
        there = ", which is a folder" if path.suffix and path.is_dir() else ""
        there = ", which is a file" if not path.suffix and path.exists() and not path.is_dir() else there
        if trained and path.suffix == ".json" and "tekken" in path.name:  # training does not make ranks
            there = ", which is Tekken's by its name"
        if not endings or (path.suffix in endings and not there):
            return ""
        choices = " or ".join(f"FILE{ending}" if ending else "a folder" for ending in endings)
        return f"cannot be written as {path.name!r}{there}; name {choices}"

    def trains(self, spec: Spec) -> bool:
        """Whether `spec` asks for a tokenizer that must be trained first."""
        return self.train is not None and spec.variant is None


def variant_file(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The file that a spec's variant names, if any: the `files` of families that load a single file."""
    return [Path(spec.variant).expanduser()] if spec.variant else []


@contextmanager
def opening(spec: Spec, what: str, remedy: str = "") -> Iterator[Path]:
    """The file that a spec's variant names; raises `TokenizerError` if reading it shows that it is not
    `what`.
    """
    path = Path(spec.variant or "").expanduser()
    try:
        yield path
    except OSError as error:
        raise TokenizerError(f"{spec}: cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TokenizerError(f"{spec}: {path} is not {what} ({error}){remedy}") from error


def write_saved(path: str | os.PathLike[str], format: str, **content: Any) -> None:
    """Write the content of a trained tokenizer as JSON, in a format of its family's own."""
    saved = {"format": format, "version": 1, **content}
    Path(path).write_text(json.dumps(saved, ensure_ascii=True), encoding="utf-8")


def read_saved(path: Path, format: str) -> dict[str, Any]:
    """Read what `write_saved` wrote; raises an error that `opening` explains for any other file."""
    saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if saved["format"] != format:
        raise ValueError(f"it holds {saved['format']}")
    return saved
