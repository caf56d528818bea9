"""Operators behind which everything is wanted for good: items go past their gates, and all else is as before.

Callbacks settle the demand; a subscriber that requests does not, whatever it requests. So each scene is played with both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_core import Disposable
from rx_ops import BackpressureStrategy, Emitter, Flowable
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")

OPERATORS: dict[str, Callable[[Flowable[Any]], Any]] = {
    "wrap": lambda flow: flow,
    "hide": lambda flow: flow.hide(),
    "hide.map": lambda flow: flow.hide().map(lambda x: x),
    "do_on_error": lambda flow: flow.do_on_error(lambda error: None),
    "do_finally": lambda flow: flow.do_finally(lambda: None),
    "do_finally twice": lambda flow: flow.do_finally(lambda: None).do_finally(lambda: None),
    "do_on_request": lambda flow: flow.do_on_request(lambda n: None),
    "do_after_next": lambda flow: flow.do_after_next(lambda item: None),
    "using": lambda flow: Flowable.using(lambda: 0, lambda resource: flow, lambda resource: None),
    "retry": lambda flow: flow.retry(1),
    "repeat": lambda flow: flow.repeat(1),
    "concat_with": lambda flow: flow.concat_with(Flowable.never()),
    "on_error_resume_next": lambda flow: flow.on_error_resume_next(lambda error: Flowable.error(error)),
    "on_backpressure_buffer": lambda flow: flow.on_backpressure_buffer(),
    "on_backpressure_drop": lambda flow: flow.on_backpressure_drop(),
    "on_backpressure_latest.do_finally": lambda flow: flow.on_backpressure_latest().do_finally(lambda: None),
    "take_until": lambda flow: flow.take_until(Flowable.never()),
    "skip_until": lambda flow: flow.skip_until(Flowable.just(0)),
    "with_latest_from": lambda flow: flow.with_latest_from(Flowable.just(0), combiner=lambda item, _: item),
    "concat_map": lambda flow: Flowable.just(0).hide().concat_map(lambda _: flow),
    "to_observable": lambda flow: flow.to_observable(),
    "MISSING": lambda flow: flow.to_observable().to_flowable(BackpressureStrategy.MISSING),
    "MISSING.on_backpressure_latest": lambda flow: (
        flow.to_observable().to_flowable(BackpressureStrategy.MISSING).on_backpressure_latest()
    ),
}


class Listener:
    """The callbacks, and what they were told."""

    def __init__(self, on_next: Callable[[Any], object] | None = None) -> None:
        self.signals: list[Any] = []
        self.handle: Disposable | None = None
        self._on_next = on_next

    def take(self, item: Any) -> None:
        self.signals.append(item)
        if self._on_next is not None:
            self._on_next(item)

    def listen(self, stream: Any) -> Listener:
        self.handle = stream.subscribe(self.take, on_error=self.signals.append, on_complete=lambda: self.signals.append("end"))
        return self

    def leave(self, _item: object = None) -> None:
        assert self.handle is not None
        self.handle.dispose()


class GoesOn:
    """Breaks no rule: an item may still come after a cancel (RS 2.8)."""

    def __init__(self) -> None:
        self.down: Any = None
        self.cancelled = False

    def subscribe(self, subscriber: Any, /) -> None:
        self.down = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        pass

    def cancel(self) -> None:
        self.cancelled = True


@pytest.mark.parametrize("name", OPERATORS)
def test_items_and_the_end_come_through(name: str) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got = Listener().listen(OPERATORS[name](Flowable.wrap(source)))
    source.next(1, 2)
    assert got.signals == [1, 2]
    source.complete()
    assert got.signals == ([1, 2] if name == "concat_with" else [1, 2, "end"])


@pytest.mark.parametrize("name", OPERATORS)
def test_a_failure_comes_through_once(name: str) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got = Listener().listen(OPERATORS[name](Flowable.wrap(source)))
    source.next(1)
    for _ in range(2 if name == "retry" else 1):
        source.error(OOPS)
    assert got.signals == [1, OOPS]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("inside", [True, False], ids=["inside on_next", "between"])
def test_nothing_comes_after_a_cancel_although_the_source_goes_on(name: str, inside: bool) -> None:
    source = GoesOn()
    got = Listener()
    if inside:
        got._on_next = got.leave
    got.listen(OPERATORS[name](Flowable.wrap(source)))
    source.down.on_next(1)
    if not inside:
        got.leave()
    assert source.cancelled
    source.down.on_next(2)
    source.down.on_complete()
    assert got.signals == [1]


@pytest.mark.parametrize("name", OPERATORS)
def test_what_a_callback_raises_cancels_the_source_and_is_told(name: str) -> None:
    def fail(_item: object) -> None:
        raise OOPS

    source = GoesOn()
    got = Listener(fail).listen(OPERATORS[name](Flowable.wrap(source)))
    source.down.on_next(1)
    assert source.cancelled
    source.down.on_next(2)
    assert got.signals == [1, OOPS]
    late = OSError()
    with errors_of_the_hook() as reported:
        source.down.on_error(late)
    assert reported == [late]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_interrupt_in_a_callback_leaves_through_the_source_which_is_cancelled(name: str) -> None:
    def interrupt(_item: object) -> None:
        raise KeyboardInterrupt

    source = GoesOn()
    Listener(interrupt).listen(OPERATORS[name](Flowable.wrap(source)))
    with pytest.raises(KeyboardInterrupt):
        source.down.on_next(1)
    assert source.cancelled


class Raising(TestSubscriber[Any]):
    """Breaks RS 2.13."""

    def on_next(self, item: Any, /) -> None:
        super().on_next(item)
        raise OOPS


@pytest.mark.parametrize("name", [name for name in OPERATORS if name != "to_observable"])
def test_a_subscriber_that_raises_counts_as_cancelled(name: str) -> None:
    source = GoesOn()
    got = Raising()
    OPERATORS[name](Flowable.wrap(source)).subscribe(got)
    with pytest.raises(ValueError, match="oops"):
        source.down.on_next(1)
    assert source.cancelled
    source.down.on_next(2)
    assert got.values == [1]


@pytest.mark.parametrize("name", [name for name in OPERATORS if name not in ("to_observable", "MISSING")])
def test_everything_that_was_requested_bit_by_bit_is_not_settled(name: str) -> None:
    """A subscriber that requests may still send a wrong request, which is the error of the stream (RS 3.9)."""
    source = GoesOn()  # and answers no wrong request
    got: TestSubscriber[int] = TestSubscriber()
    OPERATORS[name](Flowable.wrap(source)).subscribe(got)
    source.down.on_next(1)
    got.request(0)
    got.assert_failure(ValueError, 1, match="3.9")


# -- create ----------------------------------------


def create(out: list[Emitter[int]]) -> Flowable[int]:
    return Flowable.create(out.append, BackpressureStrategy.BUFFER)


PAST_A_GATE = ["wrap", "do_finally", "retry", "take_until", "skip_until", "with_latest_from", "concat_map"]


@pytest.mark.parametrize("name", PAST_A_GATE[1:])
def test_an_emitter_needs_no_gate_behind_an_operator_of_which_everything_is_wanted(name: str) -> None:
    out: list[Emitter[int]] = []
    Listener().listen(OPERATORS[name](create(out)))
    assert out[0]._straight is not None
    out.clear()
    OPERATORS[name](create(out)).subscribe(TestSubscriber())
    assert out[0]._straight is None


@pytest.mark.parametrize("name", PAST_A_GATE)
def test_an_emitter_that_needs_no_gate_still_drops_and_reports_what_comes_after_the_end(name: str) -> None:
    out: list[Emitter[int]] = []
    got = Listener().listen(OPERATORS[name](create(out)))
    emitter = out[0]
    assert emitter.requested > 10**9
    emitter.on_next(1)
    emitter.on_complete()
    emitter.on_next(2)
    with errors_of_the_hook() as reported:
        emitter.on_error(OOPS)
    assert emitter.is_cancelled
    assert got.signals == [1, "end"]
    assert reported == [OOPS]


@pytest.mark.parametrize("name", PAST_A_GATE)
def test_an_emitter_whose_callbacks_have_left_gives_nothing(name: str) -> None:
    out: list[Emitter[int]] = []
    cleaned: list[int] = []
    got = Listener()
    got._on_next = got.leave
    got.listen(OPERATORS[name](create(out)))
    out[0].set_cancellable(lambda: cleaned.append(1))
    out[0].on_next(1)
    assert out[0].is_cancelled
    out[0].on_next(2)
    assert got.signals == [1]
    assert cleaned == [1]


@pytest.mark.parametrize("name", PAST_A_GATE[1:])
def test_an_item_that_an_emitter_sends_inside_the_end_is_dropped(name: str) -> None:
    out: list[Emitter[int]] = []
    signals: list[Any] = []

    def end() -> None:
        signals.append("end")
        out[0].on_next(2)

    OPERATORS[name](create(out)).subscribe(signals.append, on_complete=end)
    out[0].on_next(1)
    out[0].on_complete()
    assert signals == [1, "end"]
