"""Finds plugins and keeps the broken ones from breaking the rest.

Each entry point of the group ``tokbench`` is loaded, registered and validated on its own; whatever goes
wrong becomes the error of that plugin's row in `tokbench plugins list`.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import inspect
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, MappingProxyType, ModuleType
from typing import Any, Literal

import pluggy

from tokbench import hookspecs
from tokbench.errors import PluginError, PluginFileError, UnknownNameError, described, nearest

PROJECT = GROUP = "tokbench"
DISABLE_VARIABLE = "TOKBENCH_DISABLE_PLUGINS"


PATIENCE = 60.0
"""Seconds that the import of a plugin, or a hook, may take."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in the block after some seconds; only in the main thread of a system with timers."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer within {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(slots=True)
class PluginStatus:
    """One plugin's row: what it is, which hooks it implements, and whether it works."""

    name: str
    distribution: str
    version: str
    status: Literal["loaded", "failed", "disabled"]
    hooks: tuple[str, ...] = ()
    error: str = ""
    named: bool = False
    """Whether the user named its file, in which case it must work."""


@dataclass(slots=True)
class Host:
    """The pluggy manager, and the status of every plugin that it found."""

    manager: pluggy.PluginManager
    plugins: dict[str, PluginStatus] = field(default_factory=dict)
    named_by: dict[str, str] = field(default_factory=dict)
    """Where the user named the file of a plugin (an option, or a key of a suite), for messages about it."""

    def collect(self, hook: str) -> list[tuple[str, Any]]:
        """What every plugin returns from `hook`, as (plugin, thing); one that raises is marked failed."""
        things: list[tuple[str, Any]] = []
        for implementation in self.implementations(hook):
            name = implementation.plugin_name
            asked, answer = self.ask(name, hook, implementation.function)
            if asked and (isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable)):
                kind = "None" if answer is None else type(answer).__name__
                remedy = "return a list, even for one item or none"
                self.refuse(name, f"{hook}: returned {kind}; {remedy}")
            elif asked:
                asked, listed = self.ask(name, hook, lambda answer=answer: list(answer))
                things += [(name, thing) for thing in listed or ()]
        return things

    def implementations(self, hook: str) -> list[pluggy.HookImpl]:
        """The implementations of a hook, in the order in which they are called.

        tokbench's own plugins come first, so that no plugin takes the name of something built in; then the
        installed ones by name, then the files of ``--plugin`` in their order. Within each group, ``tryfirst``
        comes before and ``trylast`` after the others.
        """
        met = list(self.plugins)

        def place(implementation: pluggy.HookImpl) -> tuple[bool, int, int]:
            name = implementation.plugin_name
            own = self.plugins[name].distribution == PROJECT
            wish = 0 if implementation.tryfirst else 2 if implementation.trylast else 1
            return (not own, wish, -met.index(name) if own else met.index(name))

        return sorted(getattr(self.manager.hook, hook).get_hookimpls(), key=place)

    def ask(self, plugin: str, hook: str, function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
        """Call a plugin's code; returns whether it succeeded, and its result. An error marks the plugin as
        failed.
        """
        try:
            with within(PATIENCE):
                return True, function(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, and what Rust panics with, too
            self.refuse(plugin, f"{hook}: {told(error, self.source(plugin))}")
            return False, None

    def fail(self, plugin: str, error: str) -> None:
        """Mark a plugin as failed, keeping the first error."""
        status = self.plugins[plugin]
        status.status = "failed"
        status.error = status.error or error

    def refuse(self, plugin: str, error: str) -> None:
        """Mark a plugin as failed; raises `PluginError` if the user named its file, which must work."""
        self.fail(plugin, error)
        if self.plugins[plugin].named:
            raise PluginError(f"{self.named_by[plugin]} {self.plugins[plugin].distribution}: {error}")

    def source(self, plugin: str) -> Path | None:
        """The file of a plugin's code: its module, or the ``__init__.py`` of its package."""
        module = self.manager.get_plugin(plugin)
        package = sys.modules.get(str(getattr(module, "__name__", "")).partition(".")[0], module)
        file = getattr(package, "__file__", None) or getattr(module, "__file__", None)
        return None if file is None else Path(file)

    def at_fault(self, error: BaseException) -> PluginError | None:
        """The error to report for an exception from the code of a plugin that is not tokbench's own."""
        for plugin in self.plugins.values():
            source = self.source(plugin.name) if plugin.distribution != PROJECT else None
            if source is not None and _place(error, source):
                return PluginError(f"the plugin {plugin.name!r} failed: {told(error, source)}")
        return None

    def explained(self, unknown: str) -> str:
        """The message that something is `unknown`, with the plugins that may offer it: those that failed, and
        those that were left out. Failed plugins come first, unless the message already suggests a similar name.
        """
        named = [(f"plugin {plugin.name!r}", plugin.error) for plugin in self.failures()]
        failed = [f"the {name} failed: {error.removeprefix(f'{name}: ')}" for name, error in named]
        off = [plugin.name for plugin in self.plugins.values() if plugin.status == "disabled"]
        if failed and "; did you mean " in unknown:
            unknown = f"{unknown}. Or for another reason: {'; '.join(failed)}"
        elif failed:
            unknown = f"{'; '.join(failed)}; perhaps for that reason: {unknown}"
        return unknown + (f". Left out were the plugins {', '.join(off)}" if off else "")

    def failures(self) -> list[PluginStatus]:
        """The plugins that failed, for error messages."""
        return [plugin for plugin in self.plugins.values() if plugin.status == "failed"]


def told(error: BaseException, source: Path | None) -> str:
    """An exception, and where in a plugin's code it came from."""
    place = _place(error, source) if source is not None else ""
    return described(error) + (f" ({place})" if place else "")


def _place(error: BaseException, source: Path) -> str:
    """The last line of a plugin's own code in an exception's traceback; empty if there is none."""
    own = source.parent if source.name == "__init__.py" else source
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    inside = [(file, line) for file, line in frames if file.is_relative_to(own)]
    return f"{inside[-1][0]}, line {inside[-1][1]}" if inside else ""


def build_host(*, disable: Sequence[str] = (), plugin_files: Mapping[str, str] = MappingProxyType({})) -> Host:
    """A host with every installed plugin and the modules in `plugin_files`, but the `disable`d.

    `plugin_files` maps each file to where the user named it. The environment variable
    ``TOKBENCH_DISABLE_PLUGINS`` names more plugins to leave out, separated by commas; they need not exist. A
    file that the user named must work: otherwise raises `PluginError`. Raises `UnknownNameError` for a name in
    `disable` that no plugin has.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    host = Host(manager)
    blocked = {name.strip() for name in [*disable, *os.environ.get(DISABLE_VARIABLE, "").split(",")]} - {""}
    for entry, distribution, version in _in_house_first():
        status = PluginStatus(entry.name, distribution, version, "loaded")
        if entry.name in host.plugins:
            first = host.plugins[entry.name].distribution
            if first != distribution:
                name = f"{entry.name} ({distribution})"
                host.plugins[name] = PluginStatus(name, distribution, version, "loaded")
                host.fail(name, f"{first} has a plugin named {entry.name!r} already; uninstall one")
            continue
        host.plugins[entry.name] = status
        if entry.name in blocked:
            status.status = "disabled"
            continue
        imported, plugin = host.ask(entry.name, "import", entry.load)
        if imported:
            _register(host, plugin, entry.name)
    for path, named_by in plugin_files.items():
        file = Path(path)
        name = _name_of(file)
        if name in blocked and name not in host.plugins:
            host.plugins[name] = PluginStatus(name, str(file), "-", "disabled")
        else:
            _register_file(host, file, named_by)
    for name in disable:
        if name not in host.plugins:
            raise UnknownNameError.of("plugin", name, host.plugins)
    return host


def _in_house_first() -> list[tuple[importlib.metadata.EntryPoint, str, str]]:
    """The installed plugins, with the name and version of their distributions."""
    told: dict[Any, tuple[str, str]] = {None: ("?", "?")}
    found = []
    for entry in importlib.metadata.entry_points(group=GROUP):
        if entry.dist is not None and entry.dist not in told:
            told[entry.dist] = entry.dist.name, entry.dist.version
        found.append((entry, *told[entry.dist]))
    return sorted(found, key=lambda each: (each[1] != PROJECT, each[0].name != "core", each[0].name))


def _register(host: Host, plugin: object, name: str) -> None:
    """Register and validate one plugin; a bad one is unregistered again, and its error kept."""
    status = host.plugins[name]
    try:
        _check_contract(plugin)
        host.manager.register(plugin, name)
        host.manager.check_pending()
    except PluginError as error:
        host.fail(name, f"plugin {name!r}: {error}")
    except pluggy.PluginValidationError as error:
        host.fail(name, _validation_message(plugin, name, error))
    except Exception as error:
        host.fail(name, described(error))
    if status.status == "failed":
        if host.manager.has_plugin(name):
            host.manager.unregister(name=name)
        return
    status.hooks = tuple(sorted(caller.name for caller in host.manager.get_hookcallers(plugin) or ()))


def _check_contract(plugin: object) -> None:
    """Raise `PluginError` for a plugin made for another version of the hooks, or with a hook wrapper."""
    made_for, here = getattr(plugin, "TOKBENCH_HOOKS_VERSION", None), hookspecs.HOOKS_VERSION
    if made_for is not None and made_for != here:
        newer = isinstance(made_for, int) and made_for > here
        remedy = "upgrade tokbench" if newer else "upgrade the plugin"
        raise PluginError(f"made for version {made_for} of the hooks; here they are {here}: {remedy}")
    for hook, implementation in vars(plugin).items():
        marked = getattr(implementation, f"{hookspecs.PROJECT}_impl", None) or {}
        if marked.get("wrapper") or marked.get("hookwrapper"):
            raise PluginError(
                f"{hook} is a hook wrapper, which tokbench does not support; it calls each hook by itself"
            )


def _validation_message(plugin: object, name: str, error: pluggy.PluginValidationError) -> str:
    """Which hook of which plugin is wrong, how it is defined, and how it should be."""
    wrong = []
    for hook, implementation in vars(plugin).items():
        if not hasattr(implementation, f"{hookspecs.PROJECT}_impl"):
            continue
        expected = getattr(hookspecs, hook, None)
        if expected is None:
            near = nearest(hook, [known for known in vars(hookspecs) if known.startswith("tokbench_")])
            guess = f"; did you mean {near[0]!r}?" if near else ""
            wrong.append(f"unknown hook {hook!r}{guess}")
        elif not _parameters(implementation) <= _parameters(expected):
            signature = inspect.signature(expected)
            wrong.append(f"{hook}{inspect.signature(implementation)} should be {hook}{signature}")
    return f"plugin {name!r}: {'; '.join(wrong) or error}"


def _parameters(function: object) -> set[str]:
    return set(inspect.signature(function).parameters) if callable(function) else set()


def _name_of(path: Path) -> str:
    """The name of a plugin from a file: the file's name, or the package's for an ``__init__.py``."""
    return path.absolute().parent.name if path.stem == "__init__" else path.stem


def _register_file(host: Host, path: Path, named_by: str) -> None:
    where = f"{named_by} {path}"
    module = _import_file(path, where)
    name = _name_of(path)
    if name in host.plugins:
        raise PluginError(f"{where}: a plugin named {name!r} is there already; rename the file")
    host.plugins[name] = PluginStatus(name, str(path), "-", "loaded", named=True)
    host.named_by[name] = named_by
    _register(host, module, name)
    status = host.plugins[name]
    if status.status == "failed":
        raise PluginError(f"{where}: {status.error}")
    if not status.hooks:
        raise PluginError(f"{where}: no function in it carries @tokbench.hookimpl")


def _import_file(path: Path, where: str) -> ModuleType:
    if path.is_dir():
        raise PluginFileError(f"{where}: a folder; name a file, or install the package: pip install -e")
    if not path.is_file():
        raise PluginFileError(f"{where}: no such file")
    name = f"tokbench_plugin_{_name_of(path)}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginFileError(f"{where}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent.absolute()) not in sys.path:
        sys.path.append(str(path.parent.absolute()))  # for modules beside it; last, so that it hides no others
    try:
        with within(PATIENCE):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, and what Rust panics with, too
        sys.modules.pop(name, None)
        raise PluginError(f"{where}: {told(error, path.absolute())}") from error
    return module
