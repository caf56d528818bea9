"""Global hooks as plain module globals.

A pluggy call costs 600–900 ns, a ``None`` check 4 ns: so the registrations of all plugins are compiled into these globals
whenever plugins change (`_plugins.compile_hooks`), and the rest of the library only reads them. Before the first use they hold
nothing; :func:`ensure_loaded` finds the installed plugins once per process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock

Action = Callable[[], object]

#: Called with every pipeline a face builds; returns the pipeline to use instead (usually the same).
on_assembly: Callable[[object], object] | None = None
#: Called with (source, subscriber) before a subscription; returns the subscriber to use.
on_subscribe: Callable[[object, object], object] | None = None
#: Called with every action a scheduler accepts; returns the action to run.
on_schedule: Callable[[Action], Action] | None = None
#: Called with (error, pipeline, late) for errors that have nowhere to go. None: logged.
on_error: Callable[[Exception, object, bool], object] | None = None
#: Called with a Single, Maybe or Completable that is awaited; returns an awaitable, or None when no async library it knows runs.
awaitable: Callable[[object], object] | None = None
#: Called on a thread that is about to wait for a stream; returns why it must not, and what to write instead, or None.
waiting_refused: Callable[[], object] | None = None
#: Returns the scheduler of the event loop that runs on the calling thread, or None.
current_scheduler: Callable[[], object] | None = None
#: What a source has done, for who explains it; None until runs are counted.
counts_of: Callable[[object], object] | None = None
#: The macro-fusion rules of all plugins; replaced as a whole when plugins change.
fusion_rules: tuple[object, ...] = ()

loaded = False
_find_plugins: Callable[[], bool] | None = None

#: The hook of the plugins, and whether ``on_assembly`` is to be there without one: see :func:`watch_assembly`.
_plugged_on_assembly: Callable[[object], object] | None = None
_watched = False
#: The hook of the plugins, and what is called behind it while runs are counted: see :func:`watch_subscribing`.
_plugged_on_subscribe: Callable[[object, object], object] | None = None
_counting: Callable[[object, object], object] | None = None
_setting = Lock()


def set_find_plugins(find: Callable[[], bool]) -> None:
    """What finds the installed plugins, and gives False to a plugin that is being loaded. The package says it, for the manager of
    plugins is built on this module."""
    global _find_plugins
    _find_plugins = find


def set_on_assembly(hook: Callable[[object], object] | None) -> None:
    """What the plugins want to be called."""
    global _plugged_on_assembly, on_assembly
    with _setting:
        _plugged_on_assembly = hook
        on_assembly = _as_it_is if hook is None and _watched else hook


def watch_assembly(watched: bool) -> None:
    """Who assembles looks whether ``on_assembly`` is there, and nowhere else: from now on it is, whatever plugins there are."""
    global _watched, on_assembly
    with _setting:
        _watched = watched
        on_assembly = _as_it_is if _plugged_on_assembly is None and watched else _plugged_on_assembly


def set_on_subscribe(hook: Callable[[object, object], object] | None) -> None:
    """What the plugins want to be called."""
    global _plugged_on_subscribe
    with _setting:
        _plugged_on_subscribe = hook
        _compose_on_subscribe()


def watch_subscribing(counting: Callable[[object, object], object] | None, told: Callable[[object], object]) -> None:
    """From now on ``counting`` is called with each source and what the plugins make of its subscriber. None: no more.
    ``told`` gives what was counted of a source, or None."""
    global _counting, counts_of
    with _setting:
        _counting = counting
        counts_of = told
        _compose_on_subscribe()


def _compose_on_subscribe() -> None:
    global on_subscribe
    plugged, counting = _plugged_on_subscribe, _counting
    if plugged is None or counting is None:
        on_subscribe = plugged or counting
        return
    plugins, counts = plugged, counting

    def both(source: object, subscriber: object) -> object:
        return counts(source, plugins(source, subscriber))

    on_subscribe = both


def _as_it_is(pipeline: object) -> object:
    return pipeline


def ensure_loaded() -> None:
    """Find the installed plugins, once. ``RX_DISABLE_PLUGINS=1`` leaves them alone."""
    global loaded
    if loaded:
        return
    if os.environ.get("RX_DISABLE_PLUGINS", "") not in ("", "0"):
        loaded = True
        return
    # Waits for another thread that is loading; returns at once when a plugin that is being loaded got here.
    loaded = _find_plugins is None or _find_plugins()


def dropped(error: Exception, origin: object = None, /) -> None:
    """The one way for an error that has nowhere to go: the ``rx_on_error`` hooks, or the log, exactly once.

    ``origin`` is the pipeline the error comes from; its repr is part of the message. Never raises: a hook that fails is
    logged together with the error it was given.
    """
    if not _taken(error, origin, False):
        log(error, origin, "error with nowhere to go")


def dropped_late(error: Exception, origin: object = None, /) -> None:
    """The same for an error that its stream does not wait for any more: the subscriber has left, or another end came first.

    It is mostly what was interrupted by that, so where no hook takes it, it is one line at DEBUG.
    """
    if not _taken(error, origin, True):
        import logging

        logger = logging.getLogger("rx.core")
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("error behind the end%s: %r", _where(origin), error)


def _taken(error: Exception, origin: object, late: bool) -> bool:
    hook = on_error
    if hook is None:
        return False
    try:
        hook(error, origin, late)
    except Exception as failure:  # a broken hook must not hide the error it was called with
        log(failure, origin, "an rx_on_error hook failed")
        return False
    return True


def log(error: Exception, origin: object, what: str) -> None:
    """Write ``error`` to the log at ERROR, with the repr of where it comes from, however that repr behaves."""
    import logging

    logging.getLogger("rx.core").error("%s%s: %r", what, _where(origin), error, exc_info=error)


def _where(origin: object) -> str:
    try:
        return "" if origin is None else f" in {origin!r}"
    except Exception as failure:  # a user's __repr__
        return f" in <{type(origin).__name__}, its repr failed: {failure}>"
