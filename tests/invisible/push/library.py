"""The same cases on the library: as it fuses them, with walls between, without fusion, with Observables for Flowables, for
callbacks, and in a for loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

from rx_core import UNBOUNDED, CallbackObserver
from rx_fusion import _shapes, fusion_off
from rx_ops import Completable, Flowable
from rx_testing import VirtualScheduler
from tests.invisible.push.observables import ABOUT_DEMAND, OBSERVABLE_OPERATORS, OBSERVABLE_SOURCES, SUBJECTS, ObservableBuilder
from tests.invisible.push.publishers import PUBLISHERS
from tests.invisible.push.reading import names
from tests.invisible.push.running import MOST, Endless, Watcher, demanding, play, steps
from tests.recorded.building import Builder, MakeOperator, MakeSource, Stream
from tests.recorded.cases import Answer, Spec, Subscriber, Trace
from tests.recorded.operators import OPERATORS
from tests.recorded.running import PROCESSORS, errors_ignored, time_limit
from tests.recorded.running import Endless as TooLong
from tests.recorded.signals import AppError, as_text, error_text, milliseconds
from tests.recorded.sources import SOURCES

#: What an answer says that is none.
FAILED: Final = "failed"
MOST_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Form:
    """A way in which the library can run a case."""

    name: str
    fused: bool = True
    walls: bool = False
    observable: bool = False
    callbacks: bool = False
    iterated: bool = False

    def __str__(self) -> str:
        return self.name


FUSED: Final = Form("fused")
OFF: Final = Form("without fusion", fused=False)
WALLS: Final = Form("walls between", walls=True)
OBSERVABLE: Final = Form("observable", observable=True)
CALLBACKS: Final = Form("callbacks", callbacks=True)
ITERATED: Final = Form("a for loop", iterated=True)
FORMS: Final = (FUSED, OFF, WALLS, OBSERVABLE, CALLBACKS, ITERATED)


def possible_forms(case: Trace) -> list[Form]:
    """An Observable has no demand, and callbacks want everything. A loop asks for items as it comes to them, from the start to
    the end: that is what it does with a case, if that ends at once (see ``judging.py``)."""
    asks = demanding(case)
    about_demand = asks or not ABOUT_DEMAND.isdisjoint(names((case.source, case.operators)))
    alone = case.subscribers == (Subscriber("d0", 0, None, None),)
    impossible = {OBSERVABLE: about_demand, CALLBACKS: asks, ITERATED: about_demand or not alone}
    return [form for form in FORMS if not impossible.get(form)]


@contextmanager
def switched(form: Form) -> Iterator[None]:
    # Loops are for what runs often, so to callbacks everything does.
    often = patch.object(_shapes, "HOT_RUNS", -1) if form.callbacks else nullcontext()
    with often, nullcontext() if form.fused else fusion_off():
        yield


class WalledBuilder(Builder):
    """Puts a wall behind every source and operator: through it only the protocol goes."""

    def source(self, spec: Spec, item: Any = None) -> Any:
        return behind_a_wall(super().source(spec, item))

    def operator(self, stream: Stream, spec: Spec, item: Any = None) -> Stream:
        return behind_a_wall(super().operator(stream, spec, item))


def behind_a_wall(stream: Stream) -> Stream:
    """A completable has no hide: nothing of it is fused."""
    return stream if isinstance(stream, Completable) else stream.hide()


FLOWABLE_SOURCES: Final[Mapping[str, MakeSource]] = {**SOURCES, **PUBLISHERS}


def builder(form: Form, clock: VirtualScheduler, hot: Mapping[str, Any]) -> Builder:
    if form.observable:
        return ObservableBuilder(clock, hot, OBSERVABLE_SOURCES, OBSERVABLE_OPERATORS)
    operators: Mapping[type, Mapping[str, MakeOperator]] = OPERATORS
    return (WalledBuilder if form.walls else Builder)(clock, hot, FLOWABLE_SOURCES, operators)


def _text(x: Any) -> str:
    return error_text(x) if isinstance(x, Exception) else as_text(x)


def respond(case: Trace, form: Form) -> Answer:
    """What the library answers."""
    with errors_ignored(), switched(form):
        try:
            with time_limit(MOST_SECONDS):
                return _run(case, form)
        except (Endless, TooLong):
            return {FAILED: [[0, "it does not end"]]}
        except Exception as error:  # it came out of a call that a program would have made
            return {FAILED: [[0, f"raised {error_text(error)}"]]}


class CallbackWatcher(Watcher):
    """One whose methods are callbacks."""

    def subscribe_to(self, stream: Any) -> None:
        self.observer: CallbackObserver[Any] = CallbackObserver(stream, self.on_next, self.on_error, self.on_complete)
        self.requested = self.unbounded
        stream.subscribe(self.observer)

    def request(self, n: Any) -> None:
        up: Any = self.observer.up
        if up is not None:
            up.request(n)

    def cancel(self) -> None:
        self.left = True
        self.observer.dispose()


def _iterated(stream: Flowable[Any]) -> list[list[Any]]:
    """Nothing but the loop makes the stream go on: the clock stands. On a thread, because it may wait for ever: that takes no
    processor time."""
    got: list[list[Any]] = []

    def loop() -> None:
        try:
            for item in stream:
                got.append([0, f"next {_text(item)}"])
                if len(got) > MOST:
                    return
        except Exception as error:
            got.append([0, f"error {_text(error)}"])
        else:
            got.append([0, "complete"])

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    thread.join(MOST_SECONDS)
    if thread.is_alive() or len(got) > MOST:
        raise Endless
    return got


def _run(case: Trace, form: Form) -> Answer:
    clock = VirtualScheduler()
    kinds: Mapping[str, Callable[[], Any]] = SUBJECTS if form.observable else PROCESSORS
    hot = {source.name: kinds[source.kind]() for source in case.hot}
    stream = builder(form, clock, hot).pipeline(case.source, case.operators)
    unbounded = UNBOUNDED if isinstance(stream, Flowable) else 0
    if form.iterated:
        assert isinstance(stream, Flowable)
        return {"d0": _iterated(stream)}
    kind = CallbackWatcher if form.callbacks and isinstance(stream, Flowable) else Watcher
    watchers = [kind(plan, lambda: milliseconds(clock.now()), _text, unbounded, unbounded) for plan in case.subscribers]
    made = steps(case, watchers, lambda watcher: watcher.subscribe_to(stream), hot, AppError)

    def advance_to(time: int) -> None:
        clock.advance_to(time / 1000)
        clock.run_due()

    answer = play(case, watchers, made, advance_to)
    for watcher in watchers:
        watcher.got = []  # a stream may still signal when it is garbage-collected
    return answer
