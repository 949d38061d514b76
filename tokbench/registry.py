"""`Registry`: what the plugins offer, by name; it loads the tokenizers and datasets that specs name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from tokbench.collecting import uncollected
from tokbench.corpus import Dataset, DatasetFamily
from tokbench.errors import CorpusError, TokbenchError, TokenizerError, UnknownNameError
from tokbench.extension import Command, Engine, Plot, ReportWriter, misfit, uncallable
from tokbench.family import LoadContext, TokenizerFamily
from tokbench.lint.check import Check
from tokbench.manager import PROJECT, Host, build_host, told
from tokbench.metrics import Metric
from tokbench.resolving import Named, dataset_spec, recognising, tokenizer_spec
from tokbench.spec import NAME, Spec
from tokbench.tokenizer import Tokenizer, check_facts

CACHE_VARIABLE = "TOKBENCH_CACHE_DIR"
OFFLINE_VARIABLES = ("TOKBENCH_OFFLINE", "HF_HUB_OFFLINE")

T = TypeVar("T")
_OF_DATASETS = ("name", "languages", "parallel", "shards", "read", "digest")
OFFERS = (
    *("tokenizers", "datasets", "metrics", "plots", "report_writers", "engines"),
    *("checks", "commands", "suites", "prices", "aliases"),
)
"""The kinds of things that a plugin may offer: the hook ``tokbench_NAME``, and its property of `Registry`."""


def cache_dir() -> Path:
    """The folder for tallies and trained tokenizers: ``$TOKBENCH_CACHE_DIR``, or one in the user's cache."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "tokbench"


def default_context(*, allow_remote_code: bool = False) -> LoadContext:
    """The context that the environment variables set."""
    offline = any(os.environ.get(name, "") not in ("", "0", "false") for name in OFFLINE_VARIABLES)
    return LoadContext(cache_dir(), offline, allow_remote_code)


_of_this_process: dict[LoadContext, Registry] = {}


def registry_of(context: LoadContext) -> Registry:
    """The registry of a context's plugins, built once per process; the coordinator uses the run's own."""
    known = _of_this_process.get(context)
    files = dict(zip(context.plugins, context.named_by, strict=True)) if context.named_by else context.plugins
    return known or build_registry(disable=context.disable, plugin_files=files, context=context)


def adopt(registry: Registry) -> None:
    """Make `registry` the registry of this process."""
    _of_this_process.clear()
    _of_this_process[registry.context] = registry


def _offered(hook: str, kind: str, expected: type[T]) -> cached_property[Mapping[str, T]]:
    """A property of `Registry`: what the plugins return from `hook`, by name."""

    def named(registry: Registry) -> Mapping[str, T]:
        return registry._named(hook, kind, expected)

    return cached_property(named)


@dataclass
class Registry:
    """What the plugins of one host offer, by name; asks each hook once, when first needed."""

    host: Host
    context: LoadContext = field(default_factory=default_context)
    tell: Callable[[str], None] = lambda note: None
    """Called with notes for the user, such as a remark about a dataset, or how an ambiguous name was read."""
    _told_of: set[str] = field(default_factory=set)
    _owners: dict[tuple[str, str], str] = field(default_factory=dict)
    """The plugin behind each thing, by hook and name."""

    # Each by name; metrics in the order in which they are shown.
    tokenizers = _offered("tokbench_tokenizers", "tokenizer family", TokenizerFamily)
    datasets = _offered("tokbench_datasets", "dataset family", DatasetFamily)
    metrics = _offered("tokbench_metrics", "metric", Metric)
    plots = _offered("tokbench_plots", "plot", Plot)
    report_writers = _offered("tokbench_report_writers", "report format", ReportWriter)
    engines = _offered("tokbench_engines", "engine", Engine)
    commands = _offered("tokbench_commands", "command", Command)

    def metric(self, text: str) -> Metric:
        """The metric for a name or a spec (``name:option=value``); an error lists the nearest names."""
        if text in self.metrics:
            return self.metrics[text]
        spec = Spec.parse(text)
        metric = self.pick(self.metrics, spec.family, "metric")
        return metric.asked_as(spec) if spec.options or spec.variant is not None else metric

    @property
    def brought_plots(self) -> list[Plot]:
        """The plots that are not tokbench's own."""
        return [plot for name, plot in self.plots.items() if not self.in_house(name, "tokbench_plots")]

    @cached_property
    def checks(self) -> Mapping[str, Check]:
        """Checks for `tokbench lint`, by name."""
        found = self._named("tokbench_checks", "check", Check)
        of_code: dict[str, str] = {}
        for name, check in [*found.items()]:
            first = of_code.setdefault(check.code, name)
            if first != name:  # settings and reports use the codes
                del found[name]
                why = f"the check {name!r} has the code {check.code} of {first!r}; give it another"
                self.host.refuse(self._owners["tokbench_checks", name], why)
        return found

    @cached_property
    def suites(self) -> Mapping[str, Path]:
        """Suites: the TOML file of each by name."""
        return self._files("tokbench_suites", "suite")

    @cached_property
    def prices(self) -> Mapping[str, Path]:
        """Price tables that plugins bring: the TOML file of each by name."""
        return self._files("tokbench_prices", "price table")

    def _files(self, hook: str, kind: str) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for plugin, pair in self.host.collect(hook):
            match pair:
                case (str() as name, str() | os.PathLike() as path) if Path(path).is_file():
                    self._add(hook, kind, plugin, name, Path(path), found)
                case (str() as name, str() | os.PathLike() as path):
                    near = "name one beside the plugin by Path(__file__).parent"
                    self.host.refuse(plugin, f"{hook}: the {kind} {name!r}: no file {path}; {near}")
                case _:
                    self.host.refuse(plugin, f"{hook}: {pair!r} is no pair of name and file")
        return found

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Alias to spec, as the plugins list them."""
        found: dict[str, str] = {}
        for plugin, pair in self.host.collect("tokbench_aliases"):
            if isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
                found.setdefault(*pair)
            else:
                self.host.refuse(plugin, f"tokbench_aliases: {pair!r} is no pair of alias and spec")
        return found

    def _named(self, hook: str, kind: str, expected: type[T]) -> dict[str, T]:
        things: dict[str, T] = {}
        for plugin, thing in self.host.collect(hook):
            if not isinstance(thing, expected):
                self.host.refuse(plugin, f"{hook}: returned {type(thing).__name__}, not {expected.__name__}")
                continue
            name: str = thing.name  # type: ignore[attr-defined]
            if not isinstance(name, str) or not NAME.match(name):
                why = "; a name is letters, digits, - and _, and begins with a letter"
                self.host.refuse(plugin, f"{hook}: {name!r} is no name for a {kind}{why}")
            elif wrong := misfit(thing):
                self.host.refuse(plugin, f"{hook}: the {kind} {name!r}: {wrong}")
            else:
                self._add(hook, kind, plugin, name, thing, things)
        return things

    def _add(self, hook: str, kind: str, plugin: str, name: str, thing: T, things: dict[str, T]) -> None:
        """Add what a plugin offers to the others of its kind, unless the name is taken."""
        owner = self._owners.setdefault((hook, name), plugin)
        if name not in things:
            things[name] = thing
            return
        twice = "it offers" if owner == plugin else f"the plugin {owner!r} offers"
        built_in = self.host.plugins[owner].distribution == PROJECT
        remedy = "rename one" if owner == plugin or built_in else "leave one out with --disable-plugin"
        self.host.refuse(plugin, f"{twice} the {kind} {name!r} already, which stays; {remedy}")

    def owner(self, name: str, hook: str = "tokbench_tokenizers") -> str:
        """The plugin that offers a tokenizer family, or a thing of another `hook`, by name or spec."""
        getattr(self, hook.removeprefix("tokbench_"))  # asks the hook
        return self._owners[hook, name.partition(":")[0]]

    def in_house(self, name: str, hook: str) -> bool:
        """Whether a thing of `hook` is tokbench's own, so that it may run in this process."""
        return self.host.plugins[self.owner(name, hook)].distribution == PROJECT

    def ask_outsiders(self) -> None:
        """Call every hook that a plugin from outside implements, to find all failures now.

        Hooks that only tokbench's own plugins implement are not called, since that would import much.
        """
        if any(plugin.distribution != PROJECT for plugin in self.host.plugins.values()):
            for name in OFFERS:
                getattr(self, name)

    # --- specs ------------------------------------------------------------------------------------

    def tokenizer_spec(self, text: Named) -> Spec:
        """The validated spec for a spec, alias or path of a tokenizer; see `tokbench.resolving`."""
        return tokenizer_spec(self, text)

    def recognising(self, path: str | os.PathLike[str]) -> list[TokenizerFamily]:
        """The families that open the file or folder at `path`; those that list its ending come first."""
        return recognising(self, Path(path))[0]

    def dataset_spec(self, text: Named) -> Spec:
        """The validated spec for a spec or path of a dataset; see `tokbench.resolving`."""
        return dataset_spec(self, text)

    def load(self, text: Named, context: LoadContext | None = None) -> Tokenizer:
        """Load a tokenizer by spec, alias or path; a spec that must be trained first is refused."""
        spec = self.tokenizer_spec(text)
        family = self.tokenizers[spec.family]
        if family.trains(spec):
            file = f"FILE{family.trained_suffix}"
            raise TokenizerError(
                f"{spec} must be trained first: `tokbench train {spec.family} -d TEXT -o {file}`, then name "
                f"the file ({spec.family}:{file}); in Python, tokbench.load has train_on="
            )
        try:
            with uncollected():
                tokenizer = family.load(spec, context or self.context)
        except TokbenchError as error:
            if spec.variant and spec.variant not in str(error):  # the message does not name the file
                error.args = (f"{spec}: {error}",)
            raise
        except (Exception, SystemExit) as error:
            raise TokenizerError(self._told(spec, error, "tokbench_tokenizers")) from error
        self._check(spec, tokenizer)
        return tokenizer

    def _told(self, spec: Spec, error: BaseException, hook: str) -> str:
        """The message for an error in a plugin's code, with its line."""
        return f"{spec}: {told(error, self.host.source(self.owner(spec.family, hook)))}"

    def _check(self, spec: Spec, tokenizer: Tokenizer) -> None:
        """Raise `TokenizerError` if what a plugin loaded does not look like a tokenizer."""
        if isinstance(tokenizer, type):
            found = f"the class {tokenizer.__name__}"
            raise TokenizerError(f"{spec}: what the plugin loaded is {found}; return an object of it")
        if not isinstance(tokenizer, Tokenizer):
            missing = [
                name for name in ("name", "vocab_size", "encode", "decode") if not hasattr(tokenizer, name)
            ]
            raise TokenizerError(
                f"{spec}: what the plugin loaded is no tokenizer: it lacks {', '.join(missing)}"
            )
        for method, argument in (("encode", "text"), ("decode", "ids")):
            if why := uncallable(method, getattr(tokenizer, method), [argument]):
                raise TokenizerError(f"{spec}: {why}")
        try:
            check_facts(tokenizer)
        except TokenizerError as error:
            raise TokenizerError(f"{spec}: {error}") from None
        except Exception as error:  # raised by a property of the plugin's object
            raise TokenizerError(self._told(spec, error, "tokbench_tokenizers")) from error

    def load_matching(self, text: Named, context: LoadContext | None = None) -> Tokenizer | None:
        """Load the tokenizer so that it matches the text of special tokens, by an option of its family.

        None if the family has no such option, or the option does not apply to this file.
        """
        spec = self.tokenizer_spec(text)
        for option in self.tokenizers[spec.family].options:
            value = {"match_special": "true", "special": "match"}.get(option.name)
            if value is not None and (not option.choices or value in option.choices):
                try:
                    return self.load(replace(spec, options={option.name: value, **spec.options}), context)
                except TokbenchError:
                    return None
        return None

    def dataset(self, text: Named) -> Dataset:
        """Load a dataset by spec."""
        spec = self.dataset_spec(text)
        try:
            dataset = self.datasets[spec.family].load(spec, self.context)
        except TokbenchError:
            raise
        except (Exception, SystemExit) as error:
            raise CorpusError(self._told(spec, error, "tokbench_datasets")) from error
        there = {*dir(dataset)}  # does not evaluate properties, which may read all of the text
        if missing := [name for name in _OF_DATASETS if name not in there and not hasattr(dataset, name)]:
            raise CorpusError(f"{spec}: what the plugin loaded is no dataset: it lacks {', '.join(missing)}")
        if "note" in there and (note := getattr(dataset, "note", "")):
            self.tell_once(note)
        return dataset

    def tell_once(self, note: str) -> None:
        """Give the user a note, once."""
        if note not in self._told_of:
            self._told_of.add(note)
            self.tell(note)

    def pick(self, things: Mapping[str, T], name: str, kind: str, hint: str = "") -> T:
        """`things[name]`; the error for an unknown name lists failed plugins, the nearest names and the
        `hint`.
        """
        if isinstance(name, str) and name in things:
            return things[name]
        raise UnknownNameError(self.host.explained(str(UnknownNameError.of(kind, name, things, hint=hint))))


def build_registry(
    *,
    disable: Iterable[str] = (),
    plugin_files: Sequence[str] | Mapping[str, str] = (),
    context: LoadContext | None = None,
) -> Registry:
    """A registry over every installed plugin and those of files; see `tokbench.manager.build_host`.

    `named_by` tells where the user named a file; files that it lacks were given from Python, as ``plugins=``.
    """
    if isinstance(plugin_files, str | os.PathLike):
        plugin_files = [os.fspath(plugin_files)]
    disable = [disable] if isinstance(disable, str) else disable
    named = plugin_files if isinstance(plugin_files, Mapping) else dict.fromkeys(plugin_files, "plugins:")
    files = {str(Path(file).absolute()): named_by for file, named_by in named.items()}
    given = context or default_context()
    context = replace(given, plugins=tuple(files), named_by=tuple(files.values()), disable=tuple(disable))
    registry = Registry(build_host(disable=context.disable, plugin_files=files), context)
    _of_this_process[context] = registry
    return registry
