"""Operators that let an item through when its time has come, and drop what comes in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from rx_core import CallbackObserver, Items, PolicyInbox, Publisher, Run, Scheduler, SerialDisposable, Source, close, user_call
from rx_fusion import operator
from rx_ops.coordination._arrivals import Bell, Held, Newest, admitted, giving_back, own_worker, wanted
from rx_ops.coordination._flatten import inner_source

T = TypeVar("T")
Drop = Callable[[T], object] | None

#: Seconds by which differences of floats may miss the length of a window.
_ROUNDING = 1e-9


@operator(eager="none")
def debounce(run: Run, source: Source[T], seconds: float, scheduler: Scheduler, on_drop: Drop[T]) -> Items[T]:
    """Each item has an alarm. The next item takes it away, or it rings and the item is due."""
    worker = own_worker(run, scheduler)
    newest = Newest("debounce", on_drop)
    alarm = SerialDisposable()

    def arrived(inbox: PolicyInbox[T], item: T) -> None:
        held = newest.put(item, inbox.error)  # what is due is given, or it is an error
        alarm.set(worker.schedule(partial(_due, run, held), seconds))

    items = admitted(run, PolicyInbox(run, arrived), source.publisher)
    made = _when_due(run, items, newest, deque())
    return giving_back(run, worker, made)


def _due(run: Run, held: Held[Any], _signal: object = None) -> None:
    held.due = True
    run.poke()


def _when_due(run: Run, items: Items[T], newest: Newest[T], failures: deque[Exception]) -> Items[T]:
    try:
        for overtaken in items:
            if failures:
                raise failures.popleft()
            if overtaken is not None:
                yield overtaken
                continue
            held = newest.held
            item = held.take() if held is not None and held.due else None
            if item is None:
                yield None
                continue
            while (earlier := next(items, None)) is not None:  # it became due before, and was replaced a moment ago
                yield earlier
            yield wanted(run, "debounce", item)
        last = newest.take()
        if last is not None:
            run.poke()  # the end follows and needs no demand
            yield wanted(run, "debounce", last)
    finally:
        close(items)


@operator(eager="none")
def debounce_by(run: Run, source: Source[T], selector: Callable[[T], Publisher[Any]], on_drop: Drop[T]) -> Items[T]:
    """The same with a source for each item: its first signal says that the item is due."""
    newest = Newest("debounce", on_drop)
    latest = SerialDisposable()
    run.own(latest)
    failures: deque[Exception] = deque()

    def failed(error: Exception) -> None:
        failures.append(error)
        run.poke()

    def arrived(inbox: PolicyInbox[T], item: T) -> None:
        due = partial(_due, run, newest.put(item, inbox.error))
        indicator: Any = inner_source("debounce", selector, item)
        # Not through an inbox: it is subscribed on the thread of the item and has nothing to poll but an error.
        told: CallbackObserver[Any] = CallbackObserver(run.origin, due, failed, due)
        latest.set(told)
        indicator.subscribe(told)

    items = admitted(run, PolicyInbox(run, arrived), source.publisher)
    made = _when_due(run, items, newest, failures)
    return giving_back(run, latest, made)


@operator(eager="none")
def throttle_first(run: Run, source: Source[T], seconds: float, scheduler: Scheduler, on_drop: Drop[T]) -> Items[T]:
    """Whether an item passes is decided where it arrives, by the clock alone: nothing has to ring."""
    worker = own_worker(run, scheduler)
    now = worker.now
    opens = float("-inf")

    def let_through(inbox: PolicyInbox[T], item: T) -> None:
        nonlocal opens
        arrived = now()
        if arrived + _ROUNDING < opens:
            inbox.give_up(item)
        else:
            opens = arrived + seconds
            inbox.error(item)  # it is an error when nobody wants it

    def dropped(item: T) -> None:
        if on_drop is not None:
            user_call("throttle_first", on_drop, item)

    made = admitted(run, PolicyInbox(run, let_through, on_drop=dropped), source.publisher)
    return giving_back(run, worker, made)


@operator(eager="none")
def throttle_latest(
    run: Run, source: Source[T], seconds: float, scheduler: Scheduler, emit_last: bool, on_drop: Drop[T]
) -> Items[T]:
    """While no window runs, an item passes and begins one; the newest of those that come meanwhile passes at its end."""
    worker = own_worker(run, scheduler)
    newest = Newest("throttle_latest", on_drop)
    bell = Bell(run)
    idle = {0: True}  # who pops the entry begins a window

    def pass_or_hold(inbox: PolicyInbox[T], item: T) -> None:
        newest.put(item)  # publish first, look afterwards: the end of a window finds it, or it finds no window
        if idle.pop(0, None):
            mine = newest.take()
            begin()
            if mine is not None:
                inbox.error(mine)  # it is an error when nobody wants it

    def begin() -> None:
        worker.schedule(bell.ring, seconds)

    items = admitted(run, PolicyInbox(run, pass_or_hold), source.publisher)
    made = _latest(run, items, newest, bell, idle, begin, emit_last)
    return giving_back(run, worker, made)


def _latest(
    run: Run,
    items: Items[T],
    newest: Newest[T],
    bell: Bell,
    idle: dict[int, bool],
    begin: Callable[[], object],
    emit_last: bool,
) -> Items[T]:
    try:
        for item in items:
            if item is not None:
                yield item
                continue
            held = _end_of_window(newest, idle) if bell.answer() else None
            if held is None:
                yield None
            else:
                begin()
                yield wanted(run, "throttle_latest", held)
        last = newest.take() if emit_last or bell else None
        if last is not None:
            run.poke()  # the end follows and needs no demand
            yield wanted(run, "throttle_latest", last)
    finally:
        close(items)


def _end_of_window(newest: Newest[T], idle: dict[int, bool]) -> T | None:
    """What was held and begins the next window, or None: then the next item does."""
    held = newest.take()
    while held is None:
        idle[0] = True
        if not newest.waits or idle.pop(0, None) is None:  # look again, now that an item that comes begins a window itself
            return None
        held = newest.take()
    return held
