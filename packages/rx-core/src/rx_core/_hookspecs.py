"""What a plugin may provide, and the markers for it.

A plugin is a module (or any object) with functions of these names marked ``@hookimpl``; the entry-point group ``rx`` of
its distribution names it::

    from rx_core import hookimpl

    @hookimpl
    def rx_schedulers():
        return {"mine": MyScheduler}

A function may leave out arguments it does not need. When several plugins are there, the one registered last is called
first, ``tryfirst`` and ``trylast`` change that; wrappers are refused, because hooks are compiled into plain functions.

What a hook raises is raised where it was called, with a note that names the plugin, and nothing has been done yet: no pipeline
is built, no subscription made, no action scheduled. Only ``rx_on_error`` is called where nothing can be raised. Hooks are called
on any thread, several at a time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pluggy import HookimplMarker, HookspecMarker

if TYPE_CHECKING:
    from rx_core._schedulers import Scheduler

#: The name that connects markers and manager; also the entry-point group.
PROJECT: Final = "rx"

hookspec = HookspecMarker(PROJECT)
hookimpl = HookimplMarker(PROJECT)


@hookspec
def rx_schedulers() -> Mapping[str, Callable[[], Scheduler]]:  # type: ignore[empty-body]  # a specification
    """Schedulers by name: functions that make one, called once, at its first use. Called when the plugin is registered.

    A name that several plugins provide is taken from the one registered last.
    """


@hookspec
def rx_fusion_rules() -> Sequence[object]:  # type: ignore[empty-body]  # a specification
    """Rules for macro-fusion, in the order in which they are tried. Called when the plugin is registered."""


@hookspec
def rx_on_assembly(pipeline: object) -> object:
    """Called with every pipeline that is built, on that thread; returns the one to use, or None to keep it.

    Every operator that is applied builds one: a Flowable, Observable, Single, Maybe or Completable, which was not used yet. The
    hook of the next plugin gets what this one returned.
    """


@hookspec
def rx_on_subscribe(source: object, subscriber: object) -> object:
    """Called before every subscription, on that thread; returns the subscriber to use, or None to keep it.

    ``source`` is what is subscribed, inner streams and foreign publishers included, and ``subscriber`` a Reactive Streams
    subscriber, or an observer with ``on_success``. What is fused with its source is not subscribed apart from it. While there
    is such a hook loops and ``blocking_*`` calls subscribe, too, where they would read a synchronous source themselves.
    """


@hookspec
def rx_on_schedule(action: Callable[[], object]) -> Callable[[], object] | None:
    """Called with every action a scheduler accepts, on that thread; returns the one to run, or None to keep it.

    A repeated action is one action. What it raises on its worker goes to ``rx_on_error``.
    """


@hookspec
def rx_on_error(error: Exception, pipeline: object, late: bool) -> object:
    """Called once with every error that has nowhere to go, instead of logging it.

    Every plugin is called, also after another one has failed. ``pipeline`` is where it comes from, or None. ``late``: the stream
    did not wait for it any more, because its subscriber had left or another end came first; the log has that at DEBUG.
    """


@hookspec
def rx_awaitable(source: object) -> Awaitable[object] | None:
    """Called with a Single, Maybe or Completable that is awaited; returns what gives its result, None when there is none.

    Returns None when the async library of the plugin does not run here: the first plugin whose library does is taken.
    """


@hookspec
def rx_current_scheduler() -> Scheduler | None:
    """Called when a time operator without ``scheduler=`` is subscribed; returns the scheduler of the event loop that runs on this
    thread, or None when no loop of the plugin's library does. The first plugin that has one is taken.
    """


@hookspec
def rx_waiting_refused() -> str | None:
    """Called on a thread that is about to sleep until a stream signals: in a ``blocking_*`` call, a loop, ``handle.wait()``.

    Returns why it must not, and what to write instead, as the end of a message ("an event loop runs on it. Right: ..."); None
    where it may. The first plugin that has an answer is taken. Not called for what is computed without waiting.
    """
