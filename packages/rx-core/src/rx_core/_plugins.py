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
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Final, final

import pluggy

from rx_core import _hooks, _hookspecs
from rx_core._plugin_infos import PluginInfo, Registration, described, installed, name_of_plugin, operators, reason, warning
from rx_core._schedulers import SchedulerRegistry, registry

if TYPE_CHECKING:
    from rx_core._schedulers import Scheduler

GROUP: Final = _hookspecs.PROJECT

Function = Callable[..., Any]


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
        self._registrations: dict[str, Registration] = {}
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
                for distribution, version, entry_point in installed(GROUP):
                    self._load(distribution, version, entry_point)
                self._compile()
                self._loaded = True
            finally:
                self._loading = False
            failures = list(self._failures)
        problem: Warning | None = None
        for failure in failures:  # last, because a program may have turned warnings into exceptions
            try:
                warnings.warn(warning(failure), RuntimeWarning, stacklevel=2)
            except RuntimeWarning as raised:
                problem = problem or raised
        if problem is not None:
            raise problem
        return True

    def _load(self, distribution: str, version: str, entry_point: EntryPoint) -> None:
        registration = Registration(None, f"{distribution}:{entry_point.name}", distribution, version, entry_point.name)
        try:
            registration.plugin = entry_point.load()
            self._admit(registration)
        except (Exception, SystemExit) as error:
            self._failures.append(PluginInfo(distribution, version, entry_point.name, failure=reason(error)))

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
            shown = name or name_of_plugin(plugin)
            self._admit(Registration(plugin, name or f"{shown}#{id(plugin):x}", entry_point=shown))
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

    def _find(self, plugin: object) -> Registration | None:
        return next((known for known in self._registrations.values() if known.plugin is plugin), None)

    # admission ------------------------------------------------------------------------------------

    def _admit(self, new: Registration) -> None:
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

    def _ask(self, new: Registration) -> None:
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

    def _remove(self, registration: Registration) -> None:
        self._registrations.pop(registration.name, None)
        if self._pluggy.is_registered(registration.plugin) and self._find(registration.plugin) is None:
            self._pluggy.unregister(registration.plugin)

    # compilation ----------------------------------------------------------------------------------

    def _compile(self) -> None:
        """Turn all registrations into the plain globals that the rest of the library reads."""
        _hooks.set_on_assembly(_chain(self._functions("rx_on_assembly", "pipeline")))
        _hooks.on_schedule = _chain(self._functions("rx_on_schedule", "action"))
        _hooks.set_on_subscribe(_chain_second(self._functions("rx_on_subscribe", "source", "subscriber")))
        _hooks.awaitable = _first(self._functions("rx_awaitable", "source"))
        _hooks.waiting_refused = _first(self._functions("rx_waiting_refused"))
        _hooks.current_scheduler = _first(self._functions("rx_current_scheduler"))
        _hooks.on_error = _all(self._functions("rx_on_error", "error", "pipeline", "late"))
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
            infos = [described(known) for known in self._registrations.values()]
            infos += self._failures
        infos += operators(check_operators)
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

    def first(*arguments: object) -> object:
        return next((result for function in functions if (result := function(*arguments)) is not None), None)

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

    def tell(error: Exception, origin: object, late: bool) -> None:
        failures: list[Exception] = []
        for function in functions:
            try:
                function(error, origin, late)
            except Exception as failure:
                failures.append(failure)
        unheard = failures.pop() if len(failures) == len(functions) else None
        for each in failures:
            _hooks.log(each, origin, "an rx_on_error hook failed")
        if unheard is not None:
            raise unheard  # the caller logs it together with the error

    return tell


# The process's manager ------------------------------------------------------------------------------------------------

_manager = PluginManager()


def manager() -> PluginManager:
    """The plugin manager of this process. Getting it loads nothing yet."""
    return _manager


def fusion_rules() -> tuple[object, ...]:
    """The rules of all plugins in order of registration; the same object until plugins change."""
    _hooks.ensure_loaded()
    return _hooks.fusion_rules
