"""The plugin manager: finds plugins, keeps their registrations, and compiles them into the plain globals of ``_hooks``.

This module imports pluggy and the standard library's metadata, which together cost 19 ms: it is itself imported on
first use only.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Final, final

import pluggy

from rx_core import _hooks, _hookspecs
from rx_core._schedulers import SchedulerRegistry, registry

if TYPE_CHECKING:
    from rx_core._schedulers import Scheduler

GROUP: Final = _hookspecs.PROJECT
OPERATOR_GROUP: Final = "rx.operators"
_LOCAL: Final = "(this process)"

Function = Callable[..., Any]


@dataclass(frozen=True)
class PluginInfo:
    """One line of what :meth:`PluginManager.describe` knows."""

    distribution: str
    version: str
    entry_point: str
    #: What it provides, for example ``("schedulers: io, single", "hooks: rx_on_error")``.
    provides: tuple[str, ...] = ()
    #: Why it was not loaded; None when it was.
    failure: str | None = None


@dataclass
class _Registration:
    """One registered plugin with what its providing hooks returned; those are not called again."""

    plugin: object
    name: str
    distribution: str = _LOCAL
    version: str = ""
    entry_point: str = ""
    schedulers: Mapping[str, Callable[[], Scheduler]] = field(default_factory=dict)
    fusion_rules: tuple[object, ...] = ()
    hooks: tuple[str, ...] = ()
    uses: int = 1


def plugins_disabled() -> bool:
    """Whether ``RX_DISABLE_PLUGINS`` keeps installed plugins from being loaded."""
    return os.environ.get("RX_DISABLE_PLUGINS", "") not in ("", "0")


@final
class PluginManager:
    """Finds and keeps plugins. Thread-safe; use the one that :func:`manager` returns.

    ::

        with manager().enable(plugin):     # for a block
            ...
        manager().register(plugin)         # for the process

    A registration counts for the whole process, whichever thread makes it, from the next pipeline, subscription or
    action on.
    """

    def __init__(self, schedulers: SchedulerRegistry = registry) -> None:
        self._pluggy = pluggy.PluginManager(GROUP)
        self._pluggy.add_hookspecs(_hookspecs)
        self._lock = threading.RLock()  # held while plugins are imported and asked what they provide
        self._schedulers = schedulers
        self._registrations: dict[str, _Registration] = {}
        self._failures: list[PluginInfo] = []
        self._offered: dict[str, Callable[[], Scheduler]] = {}
        self._loading = False
        self._loaded = False

    # installed plugins ----------------------------------------------------------------------------

    def load_entry_points(self) -> bool:
        """Load every plugin of the entry-point group ``rx``, once. Returns whether that is done.

        One that fails is recorded and becomes a RuntimeWarning that says which distribution it is and what to do; the
        others load.
        """
        with self._lock:
            if self._loaded or self._loading:  # the second: a plugin that is being imported asks for plugins
                return self._loaded
            self._loading = True
            try:
                for distribution, version, entry_point in _found(GROUP):
                    self._load(distribution, version, entry_point)
                self._compile()
                self._loaded = True
            finally:
                self._loading = False
            failures = list(self._failures)
        problem: Warning | None = None
        for failure in failures:  # last, because a program may have turned warnings into exceptions
            try:
                warnings.warn(_warning(failure), RuntimeWarning, stacklevel=2)
            except RuntimeWarning as raised:
                problem = problem or raised
        if problem is not None:
            raise problem
        return True

    def _load(self, distribution: str, version: str, entry_point: EntryPoint) -> None:
        registration = _Registration(None, f"{distribution}:{entry_point.name}", distribution, version, entry_point.name)
        try:
            registration.plugin = entry_point.load()
            self._admit(registration)
        except (Exception, SystemExit) as error:
            self._failures.append(PluginInfo(distribution, version, entry_point.name, failure=_reason(error)))

    # this process's plugins -----------------------------------------------------------------------

    def register(self, plugin: object, name: str | None = None) -> None:
        """Use ``plugin``, a module or any object with hooks marked ``@hookimpl``, until it is unregistered as often.

        Raises ValueError when a hook is unknown or has unknown arguments, TypeError when it provides something that is
        not what its specification says; an exception of the plugin comes out as it is. In all these cases nothing has
        changed.
        """
        _hooks.ensure_loaded()  # installed plugins come first in every order
        with self._lock:
            known = self._find(plugin)
            if known is not None:
                known.uses += 1
                return
            shown = name or _name(plugin)
            self._admit(_Registration(plugin, name or f"{shown}#{id(plugin):x}", entry_point=shown))
            self._compile()

    def unregister(self, plugin: object) -> None:
        """Take back one :meth:`register` of ``plugin``. Raises ValueError when it is not registered."""
        with self._lock:
            known = self._find(plugin)
            if known is None:
                raise ValueError(f"{plugin!r} is not registered")
            known.uses -= 1
            if not known.uses:
                self._remove(known)
                self._compile()

    @contextmanager
    def enable(self, plugin: object) -> Iterator[None]:
        """Use ``plugin`` for the time of a ``with`` block. Blocks may nest, overlap and end in any order."""
        self.register(plugin)
        try:
            yield
        finally:
            self.unregister(plugin)

    def _find(self, plugin: object) -> _Registration | None:
        return next((known for known in self._registrations.values() if known.plugin is plugin), None)

    # admission ------------------------------------------------------------------------------------

    def _admit(self, new: _Registration) -> None:
        try:
            self._pluggy.register(new.plugin, new.name)
            self._pluggy.check_pending()  # or a misspelt hook would never be called and never be missed
            self._registrations[new.name] = new
            self._ask(new)
        except BaseException as error:
            self._remove(new)
            if isinstance(error, pluggy.PluginValidationError):
                raise ValueError(f"{error}\n  The hooks are:  {', '.join(sorted(_specifications()))}") from None
            raise

    def _ask(self, new: _Registration) -> None:
        hooks: list[str] = []
        for name in sorted(_specifications()):
            for implementation in getattr(self._pluggy.hook, name).get_hookimpls():
                if implementation.plugin is not new.plugin:
                    continue
                if implementation.wrapper or implementation.hookwrapper:
                    raise ValueError(f"{name}: a wrapper cannot be compiled, write a plain @hookimpl")
                if name == "rx_schedulers":
                    new.schedulers = _checked_schedulers(implementation.function())
                elif name == "rx_fusion_rules":
                    new.fusion_rules = _checked_rules(implementation.function())
                else:
                    hooks.append(name)
        new.hooks = tuple(hooks)

    def _remove(self, registration: _Registration) -> None:
        self._registrations.pop(registration.name, None)
        if self._pluggy.is_registered(registration.plugin) and self._find(registration.plugin) is None:
            self._pluggy.unregister(registration.plugin)

    # compilation ----------------------------------------------------------------------------------

    def _compile(self) -> None:
        """Turn all registrations into the plain globals that the rest of the library reads."""
        _hooks.set_on_assembly(_chain(self._functions("rx_on_assembly", "pipeline")))
        _hooks.on_schedule = _chain(self._functions("rx_on_schedule", "action"))
        _hooks.on_subscribe = _chain_second(self._functions("rx_on_subscribe", "source", "subscriber"))
        _hooks.awaitable = _first(self._functions("rx_awaitable", "source"))
        _hooks.on_error = _all(self._functions("rx_on_error", "error", "pipeline"))
        _hooks.fusion_rules = tuple(rule for known in self._registrations.values() for rule in known.fusion_rules)
        offered: dict[str, Callable[[], Scheduler]] = {}
        for known in self._registrations.values():
            offered.update(known.schedulers)
        for name in self._offered.keys() - offered.keys():
            self._schedulers.unregister(name)
        for name, factory in offered.items():
            if self._offered.get(name) is not factory:
                self._schedulers.register(name, factory)
        self._offered = offered

    def _functions(self, hook: str, *arguments: str) -> list[Function]:
        """The implementations of a hook in the order of their calls, each taking all ``arguments`` by position."""
        implementations = getattr(self._pluggy.hook, hook).get_hookimpls()
        return [
            _adapt(each.function, each.argnames, arguments, f"the {hook} hook of the plugin {each.plugin_name}")
            for each in reversed(implementations)
        ]

    # description ----------------------------------------------------------------------------------

    def describe(self, *, check_operators: bool = False) -> list[PluginInfo]:
        """What is installed or registered, what it provides, what failed, in a stable order. Loads installed plugins.

        Operators are listed by the distributions that declare them; ``check_operators`` imports each to see that it is
        there.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the failures are in the answer
            _hooks.ensure_loaded()
        with self._lock:
            infos = [_describe(known) for known in self._registrations.values()]
            infos += self._failures
        infos += _operators(check_operators)
        return sorted(infos, key=lambda info: (info.distribution, info.entry_point))


# Checks of what plugins return ----------------------------------------------------------------------------------------


def _specifications() -> list[str]:
    return [name for name in vars(_hookspecs) if name.startswith("rx_")]


def _checked_schedulers(value: object) -> Mapping[str, Callable[[], Scheduler]]:
    if not isinstance(value, Mapping) or not all(isinstance(k, str) and callable(v) for k, v in value.items()):
        raise TypeError(
            f"rx_schedulers() has to return a mapping of names to functions, not {value!r}.\n"
            f'  For example:  {{"mine": MyScheduler}}'
        )
    return dict(value)


def _checked_rules(value: object) -> tuple[object, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(f"rx_fusion_rules() has to return a sequence of rules, not {value!r}")
    return tuple(value)


# Compiled hooks: closures over plain functions ------------------------------------------------------------------------


def _adapt(function: Function, takes: Sequence[str], gets: tuple[str, ...], who: str) -> Function:
    """A function that gets all arguments by position, calls ``function`` with those it takes; names it in errors."""
    picked = [gets.index(name) for name in takes]
    direct = picked == list(range(len(gets)))

    def call(*arguments: object) -> object:
        try:
            return function(*arguments) if direct else function(*[arguments[i] for i in picked])
        except Exception as error:
            error.add_note(f"raised by {who}")
            raise

    return call


def _chain(functions: list[Function]) -> Function | None:
    """Each function gets the result of the one before; None keeps what there was."""
    if not functions:
        return None

    def chain(value: object) -> object:
        for function in functions:
            result = function(value)
            if result is not None:
                value = result
        return value

    return chain


def _first(functions: list[Function]) -> Function | None:
    """The first result that is not None."""
    if not functions:
        return None

    def first(value: object) -> object:
        return next((result for function in functions if (result := function(value)) is not None), None)

    return first


def _chain_second(functions: list[Function]) -> Function | None:
    """Like ``_chain`` for the second of two arguments."""
    if not functions:
        return None

    def chain(first: object, value: object) -> object:
        for function in functions:
            result = function(first, value)
            if result is not None:
                value = result
        return value

    return chain


def _all(functions: list[Function]) -> Function | None:
    """Call all; a failure is logged and hides the error from no other hook. Raises when not one has taken the error."""
    if not functions:
        return None

    def tell(error: Exception, origin: object) -> None:
        failures: list[Exception] = []
        for function in functions:
            try:
                function(error, origin)
            except Exception as failure:
                failures.append(failure)
        unheard = failures.pop() if len(failures) == len(functions) else None
        for each in failures:
            _hooks.log(each, origin, "an rx_on_error hook failed")
        if unheard is not None:
            raise unheard  # the caller logs it together with the error

    return tell


# Texts ----------------------------------------------------------------------------------------------------------------


def _found(group: str) -> list[tuple[str, str, EntryPoint]]:
    """The distribution, its version and the entry point, sorted, so that the order does not depend on the file system."""
    found = [(*_origin(entry_point), entry_point) for entry_point in metadata.entry_points(group=group)]
    return sorted(found, key=lambda each: (each[0], each[1], each[2].name))


def _origin(entry_point: EntryPoint) -> tuple[str, str]:
    if entry_point.dist is None:
        return "(unknown distribution)", ""
    fields = entry_point.dist.metadata  # a file is read and parsed each time: name and version from one reading
    return fields["Name"], fields["Version"]


def _name(plugin: object) -> str:
    name = getattr(plugin, "__name__", None)
    return name if isinstance(name, str) else type(plugin).__qualname__


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _warning(failure: PluginInfo) -> str:
    return (
        f"the plugin {failure.entry_point!r} of {failure.distribution} {failure.version} was not loaded: "
        f"{failure.failure}\n"
        f"  To get one that works:     pip install --upgrade {failure.distribution}\n"
        f"  To do without:             pip uninstall {failure.distribution}   or set RX_DISABLE_PLUGINS=1\n"
        f"  To see all plugins:        python -m rx_core plugins"
    )


def _describe(known: _Registration) -> PluginInfo:
    provides = []
    if known.schedulers:
        provides.append("schedulers: " + ", ".join(sorted(known.schedulers)))
    if known.hooks:
        provides.append("hooks: " + ", ".join(known.hooks))
    if known.fusion_rules:
        provides.append("fusion rules: " + ", ".join(sorted(map(_rule_name, known.fusion_rules))))
    provides = provides or ["nothing marked with @hookimpl"]
    return PluginInfo(known.distribution, known.version, known.entry_point, tuple(provides))


def _rule_name(rule: object) -> str:
    name = getattr(rule, "name", None)
    return name if isinstance(name, str) else _name(rule)


def _operators(check: bool) -> list[PluginInfo]:
    """One line for the operators of each distribution, and one for each that cannot be imported."""
    names: dict[tuple[str, str], list[str]] = {}
    infos: list[PluginInfo] = []
    for distribution, version, entry_point in _found(OPERATOR_GROUP):
        try:
            if check:
                entry_point.load()
        except (Exception, SystemExit) as error:
            infos.append(PluginInfo(distribution, version, entry_point.name, failure=_reason(error)))
        else:
            names.setdefault((distribution, version), []).append(entry_point.name)
    for (distribution, version), found in names.items():
        infos.append(PluginInfo(distribution, version, OPERATOR_GROUP, ("operators: " + ", ".join(found),)))
    return infos


# The process's manager ------------------------------------------------------------------------------------------------

_manager = PluginManager()


def manager() -> PluginManager:
    """The plugin manager of this process. Getting it loads nothing yet."""
    return _manager


def fusion_rules() -> tuple[object, ...]:
    """The rules of all plugins in order of registration; the same object until plugins change."""
    _hooks.ensure_loaded()
    return _hooks.fusion_rules
