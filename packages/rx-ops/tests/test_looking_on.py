"""What looks on at ends, signals and disposes, on all types; where a cancel runs; what is kept after the end."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from ops_parties import errors_of_the_hook

from rx_core import CompositeException, Disposable
from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Maybe, Observable, OnComplete, OnError, OnNext, Single
from rx_testing import ManualPublisher, TestMaybeObserver, TestSubscriber, VirtualScheduler

Stream = Any


class Oops(Exception):
    """What a callback raises."""


class Failed(Exception):
    """What a source fails with."""


def fail(*_args: object) -> None:
    raise Oops


#: Of each type a stream that ends well, and one that fails.
GOOD: dict[str, Callable[[], Stream]] = {
    "Flowable": lambda: Flowable.of(1, 2),
    "Flowable, pushed": lambda: Flowable.of(1, 2).hide(),
    "Observable": lambda: Observable.of(1, 2),
    "Single": lambda: Single.just(1),
    "Maybe": lambda: Maybe.just(1),
    "Maybe without an item": lambda: Maybe.empty(),
    "Completable": lambda: Completable.complete(),
}
BAD: dict[str, Callable[[], Stream]] = {
    "Flowable": lambda: Flowable.of(1, 2).concat_with(Flowable.error(Failed())),
    "Observable": lambda: Observable.error(Failed()),
    "Single": lambda: Single.error(Failed()),
    "Maybe": lambda: Maybe.error(Failed()),
    "Completable": lambda: Completable.error(Failed()),
}
NEVER: dict[str, Callable[[], Stream]] = {
    "Flowable": lambda: Flowable.never(),
    "Observable": lambda: Observable.never(),
    "Single": lambda: Single.never(),
    "Maybe": lambda: Maybe.never(),
    "Completable": lambda: Completable.never(),
}
good = pytest.mark.parametrize("make", GOOD.values(), ids=list(GOOD))
bad = pytest.mark.parametrize("make", BAD.values(), ids=list(BAD))
never = pytest.mark.parametrize("make", NEVER.values(), ids=list(NEVER))
all_forms = pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])


class Log(list[str]):
    """A subscriber or observer of any type that writes down what comes."""

    up: Any = None

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up
        if hasattr(up, "request"):
            up.request(2**63 - 1)

    def on_next(self, item: object, /) -> None:
        self.append(f"next {item}")

    def on_success(self, item: object, /) -> None:
        self.append(f"success {item}")

    def on_error(self, error: Exception, /) -> None:
        texts = [type(each).__name__ for each in getattr(error, "exceptions", (error,))]
        self.append(f"error {' and '.join(texts)}")

    def on_complete(self) -> None:
        self.append("complete")

    def note(self, text: str) -> Callable[..., None]:
        return lambda *_args: self.append(text)

    def ends(self) -> list[str]:
        return [each for each in self if not each.startswith("next")]


# -- do_on_terminate, do_after_terminate ---------------------------------------------------------------------------------------


@all_forms
@pytest.mark.parametrize("make", [*GOOD.values(), *BAD.values()])
def test_the_end_is_told_before_it_goes_on_and_after(make: Callable[[], Stream], off: bool) -> None:
    log = Log()
    stream = make().do_on_terminate(log.note("before")).do_after_terminate(log.note("after"))
    if off:
        with fusion_off():
            stream.subscribe(log)
    else:
        stream.subscribe(log)
    first, end, last = log.ends()
    assert (first, last) == ("before", "after")
    assert end.startswith(("success", "error", "complete"))


@never
def test_a_dispose_is_no_end(make: Callable[[], Stream]) -> None:
    log = Log()
    make().do_on_terminate(log.note("before")).do_after_terminate(log.note("after")).subscribe(log)
    getattr(log.up, "cancel", log.up.dispose)()
    assert log == []


@good
def test_do_on_terminate_that_raises_takes_the_place_of_the_end_and_is_called_once(make: Callable[[], Stream]) -> None:
    log, calls = Log(), list[int]()

    def over() -> None:
        calls.append(1)
        raise Oops

    make().do_on_terminate(over).subscribe(log)
    assert log.ends() == ["error Oops"]
    assert calls == [1]


@bad
def test_do_on_terminate_that_raises_for_an_error_gives_both(make: Callable[[], Stream]) -> None:
    log = Log()
    make().do_on_terminate(fail).subscribe(log)
    assert log.ends() == ["error Failed and Oops"]


def test_an_item_that_is_the_end_waits_for_do_on_terminate() -> None:
    log = Log()
    Single.just(1).do_on_terminate(log.note("before")).do_on_success(log.note("item")).subscribe(log)
    assert log == ["before", "item", "success 1"]


def test_an_item_that_do_on_terminate_refused_goes_no_further() -> None:
    log = Log()
    Single.just(1).hide().do_on_terminate(fail).map(log.note("mapped")).to_flowable().subscribe(log)
    assert log == ["error Oops"]


def test_do_on_terminate_may_dispose() -> None:
    source, log = ManualPublisher[int](), Log()
    Flowable.wrap(source).do_on_terminate(lambda: log.up.cancel()).subscribe(log)
    source.next(1)
    source.complete()
    assert log == ["next 1"]


@good
def test_what_do_after_terminate_raises_is_reported(make: Callable[[], Stream]) -> None:
    log = Log()
    with errors_of_the_hook() as errors:
        make().do_after_terminate(fail).subscribe(log)
    assert [type(each) for each in errors] == [Oops]
    assert len(log.ends()) == 1


def test_several_do_after_terminate_run_the_last_one_first() -> None:
    log = Log()
    Flowable.of(1).do_after_terminate(log.note("a")).do_after_terminate(log.note("b")).subscribe(log)
    assert log == ["next 1", "complete", "b", "a"]


# -- do_on_each ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Flowable.of, lambda *xs: Flowable.of(*xs).hide(), Observable.of])
def test_each_signal_is_told_before_it_goes_on(make: Callable[..., Stream]) -> None:
    log = Log()
    make(1, 2).do_on_each(lambda each: log.append(repr(each))).subscribe(log)
    assert log == [repr(OnNext(1)), "next 1", repr(OnNext(2)), "next 2", repr(OnComplete()), "complete"]


def test_an_error_is_told_as_well() -> None:
    told: list[Any] = []
    error = Failed()
    Flowable.of(1).concat_with(Flowable.error(error)).do_on_each(told.append).subscribe(TestSubscriber[int]())
    assert told == [OnNext(1), OnError(error)]


def test_what_do_on_each_raises_for_an_item_ends_the_stream_and_is_told() -> None:
    told: list[Any] = []
    source, got = ManualPublisher[int](), TestSubscriber[int]()

    def tell(signal: Any) -> None:
        told.append(signal)
        if signal == OnNext(2):
            raise Oops

    Flowable.wrap(source).do_on_each(tell).subscribe(got)
    source.next(1, 2)
    got.assert_values(1).assert_error(Oops)
    assert source.cancelled
    assert told == [OnNext(1), OnNext(2), OnError(got.errors[0])]


@pytest.mark.parametrize(("source", "texts"), [(Flowable.empty(), [Oops, Oops]), (Flowable.error(Failed()), [Failed, Oops])])
def test_what_do_on_each_raises_for_an_end_is_the_end(source: Flowable[int], texts: list[type]) -> None:
    got = TestSubscriber[int]()
    source.do_on_each(fail).subscribe(got)
    (error,) = got.errors
    assert isinstance(error, CompositeException)
    assert [type(each) for each in error.exceptions] == texts


def test_do_on_each_may_leave() -> None:
    source, got = ManualPublisher[int](), TestSubscriber[int]()
    Flowable.wrap(source).do_on_each(lambda _each: got.cancel()).subscribe(got)
    source.next(1)
    assert got.values == []
    assert source.cancelled


# -- do_after_success, do_on_complete ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Single.just, Maybe.just, lambda x: Single.just(x).hide()])
def test_do_after_success_comes_when_the_observer_has_the_item(make: Callable[[int], Stream]) -> None:
    log = Log()
    make(7).do_after_success(lambda x: log.append(f"after {x}")).subscribe(log)
    assert log == ["success 7", "after 7"]


@pytest.mark.parametrize("make", [Maybe.empty, lambda: Maybe.error(Failed()), lambda: Single.error(Failed())])
def test_do_after_success_is_not_called_without_an_item(make: Callable[[], Stream]) -> None:
    log = Log()
    make().do_after_success(log.note("after")).subscribe(log)
    assert "after" not in log


def test_what_do_after_success_raises_is_reported() -> None:
    got = TestMaybeObserver[int]()
    with errors_of_the_hook() as errors:
        Maybe.just(1).do_after_success(fail).subscribe(got)
    got.assert_values(1)
    assert [type(each) for each in errors] == [Oops]


@pytest.mark.parametrize(("make", "told"), [(Maybe.empty, ["told", "complete"]), (lambda: Maybe.just(1), ["success 1"])])
def test_do_on_complete_of_a_maybe_is_about_no_item(make: Callable[[], Maybe[int]], told: list[str]) -> None:
    log = Log()
    make().do_on_complete(log.note("told")).subscribe(log)
    assert log == told


# -- subscribing and disposing -------------------------------------------------------------------------------------------------


@never
def test_a_dispose_is_told_once_and_before_it_goes_on(make: Callable[[], Stream]) -> None:
    log = Log()
    told = {"on_cancel" if make is NEVER["Flowable"] else "on_dispose": log.note("left")}
    stream = make().do_finally(log.note("source left")).do_on_lifecycle(on_subscribe=log.note("came"), **told)
    stream.subscribe(log)
    leave = getattr(log.up, "cancel", log.up.dispose)
    leave()
    leave()
    assert log == ["came", "left", "source left"]


@pytest.mark.parametrize("make", [GOOD["Single"], GOOD["Maybe"], GOOD["Completable"], BAD["Single"], BAD["Completable"]])
def test_an_end_is_no_dispose(make: Callable[[], Stream]) -> None:
    log = Log()
    make().do_on_dispose(log.note("left")).subscribe(log)
    log.up.dispose()
    assert "left" not in log


@good
def test_a_subscription_that_is_refused_is_an_error(make: Callable[[], Stream]) -> None:
    log = Log()
    make().do_on_subscribe(fail).subscribe(log)
    assert log == ["error Oops"]


def test_of_a_single_the_callback_may_dispose() -> None:
    log = Log()

    def subscribed(subscription: Disposable) -> None:
        subscription.dispose()

    Single.just(1).do_on_subscribe(subscribed).subscribe(log)
    assert log == []


def test_do_on_lifecycle_takes_what_it_is_given_and_says_what_is_wrong() -> None:
    flow = Flowable.range(3)
    assert flow.do_on_lifecycle() is flow
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"do_on_lifecycle.*on_request"):
        flow.do_on_lifecycle(on_request=wrong)


# -- unsubscribe_on ------------------------------------------------------------------------------------------------------------


def test_a_cancel_goes_on_on_the_worker_and_nothing_is_signalled_meanwhile() -> None:
    clock, source, got = VirtualScheduler(), ManualPublisher[int](unchecked=True), TestSubscriber[int]()
    Flowable.wrap(source).unsubscribe_on(clock).subscribe(got)
    source.next(1)
    got.cancel()
    got.cancel()
    before = source.cancelled
    source.next(2)
    clock.run_due()
    assert (before, source.cancelled) == (False, True)
    assert got.values == [1]


def test_an_end_needs_no_worker() -> None:
    clock = VirtualScheduler()
    assert Flowable.range(3).unsubscribe_on(clock).blocking_list() == [0, 1, 2]
    assert clock.next_due is None


def test_without_a_worker_the_thread_that_cancels_does_it() -> None:
    clock, source, got = VirtualScheduler(), ManualPublisher[int](), TestSubscriber[int]()
    Flowable.wrap(source).unsubscribe_on(clock).subscribe(got)
    clock.shutdown()
    with errors_of_the_hook() as errors:
        got.cancel()
    assert source.cancelled
    assert {type(each) for each in errors} <= {RuntimeError}


@pytest.mark.parametrize("make", [NEVER["Observable"], NEVER["Single"], NEVER["Maybe"], NEVER["Completable"]])
def test_on_other_types_as_well(make: Callable[[], Stream]) -> None:
    clock, log = VirtualScheduler(), Log()
    make().do_on_dispose(log.note("left")).unsubscribe_on(clock).subscribe(log)
    log.up.dispose()
    assert log == []
    clock.run_due()
    assert log == ["left"]


# -- on_terminate_detach -------------------------------------------------------------------------------------------------------


class Held:
    """A subscriber that can be referenced weakly, and its items."""

    def __init__(self) -> None:
        self.up: Any = None
        self.items: list[int] = []

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up
        up.request(10)

    def on_next(self, item: int, /) -> None:
        self.items.append(item)

    def on_error(self, error: Exception, /) -> None: ...

    def on_complete(self) -> None: ...


class Keeping:
    """A source that keeps its subscriber, which the rules forbid."""

    def subscribe(self, subscriber: Any, /) -> None:
        self.subscriber = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None: ...

    def cancel(self) -> None: ...


@pytest.mark.parametrize("how", ["complete", "error", "cancel"])
def test_after_the_end_neither_side_keeps_the_other_alive(how: str) -> None:
    source, held = Keeping(), Held()
    flow = Flowable.wrap(source).on_terminate_detach()
    flow.subscribe(held)
    source.subscriber.on_next(1)
    if how == "cancel":
        held.up.cancel()
    elif how == "complete":
        source.subscriber.on_complete()
    else:
        source.subscriber.on_error(Failed())
    assert held.items == [1]
    subscriber, subscription = source.subscriber, held.up
    upstream, downstream = weakref.ref(source), weakref.ref(held)
    del held
    gc.collect()
    assert downstream() is None, "the source keeps the subscriber"
    del source, flow, subscriber
    gc.collect()
    assert upstream() is None, "the subscription keeps the source"
    subscription.request(1)
    subscription.cancel()
