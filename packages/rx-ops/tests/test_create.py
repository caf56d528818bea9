"""create: what an emitter sends goes on as it is wanted, and a strategy decides about the rest."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import rx_core
import rx_ops
from rx_core import UNBOUNDED, FlagDisposable, MissingBackpressureError, hooks
from rx_fusion import fusion_off
from rx_ops import BackpressureStrategy, Emitter, Flowable, Observable, OverflowStrategy, PublishProcessor
from rx_testing import ManualPublisher, TestSubscriber
from rx_testing.racing import race, rounds

BUFFER, DROP, LATEST, ERROR, MISSING = (
    BackpressureStrategy.BUFFER,
    BackpressureStrategy.DROP,
    BackpressureStrategy.LATEST,
    BackpressureStrategy.ERROR,
    BackpressureStrategy.MISSING,
)
OOPS = ValueError("oops")


def made(request: int, strategy: BackpressureStrategy = BUFFER, **options: Any) -> tuple[Emitter[Any], TestSubscriber[Any]]:
    """The emitter of a stream, and its subscriber, which requested so many items."""
    emitters: list[Emitter[Any]] = []
    got: TestSubscriber[Any] = TestSubscriber(request)
    Flowable.create(emitters.append, strategy, **options).subscribe(got)
    return emitters[0], got


def errors_of_the_hook(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    hooks.ensure_loaded()
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
    return errors


# -- strategies ------------------------------------------------------------------------------------------------------------------


def test_buffered_items_wait_until_they_are_requested_and_the_end_waits_behind_them() -> None:
    emitter, got = made(1)
    for item in range(4):
        emitter.on_next(item)
    emitter.on_complete()
    got.assert_values(0).assert_not_terminated()
    got.request(2)
    got.assert_values(0, 1, 2).assert_not_terminated()
    got.request(1)
    got.assert_result(0, 1, 2, 3)


@pytest.mark.parametrize("strategy", [BUFFER, LATEST])
def test_an_error_waits_behind_the_item_that_waits(strategy: BackpressureStrategy) -> None:
    emitter, got = made(0, strategy)
    emitter.on_next(1)
    emitter.on_error(OOPS)
    got.assert_not_terminated()
    got.request(1)
    got.assert_failure(ValueError, 1)


def test_a_full_buffer_fails_behind_its_items_and_gives_up_what_came_too_late() -> None:
    dropped: list[int] = []
    emitter, got = made(0, capacity=2, on_drop=dropped.append)
    for item in range(4):
        emitter.on_next(item)
    assert dropped == [2]
    assert emitter.is_cancelled
    got.assert_empty()
    got.request(5)
    got.assert_failure(MissingBackpressureError, 0, 1, match="2 items wait")


def test_dropping_and_keeping_the_latest_tell_what_is_given_up_in_order() -> None:
    for strategy, values, given_up in ((DROP, [0], [1, 2, 3]), (LATEST, [0, 3], [1, 2])):
        dropped: list[int] = []
        emitter, got = made(1, strategy, on_drop=dropped.append)
        for item in range(4):
            emitter.on_next(item)
        got.request(1)
        emitter.on_complete()
        got.assert_result(*values)
        assert dropped == given_up


def test_an_item_that_was_not_requested_fails_a_stream_that_may_not_keep_it() -> None:
    emitter, got = made(1, ERROR)
    cleanup = FlagDisposable()
    emitter.set_disposable(cleanup)
    emitter.on_next(1)
    emitter.on_next(2)
    got.assert_failure(MissingBackpressureError, 1)
    assert cleanup.is_disposed


@pytest.mark.parametrize("strategy", [DROP, LATEST, BUFFER])
def test_what_on_drop_raises_ends_the_stream(strategy: BackpressureStrategy) -> None:
    def refuse(item: int) -> None:
        raise OSError(item)

    options: dict[str, Any] = {"capacity": 1} if strategy is BUFFER else {}
    emitter, got = made(0, strategy, on_drop=refuse, **options)
    cleanup = FlagDisposable()
    emitter.set_disposable(cleanup)
    emitter.on_next(1)
    emitter.on_next(2)
    assert emitter.is_cancelled
    got.request(1)
    assert got.errors
    assert isinstance(got.errors[0], OSError)
    assert "in create(" in str(got.errors[0].__notes__)
    assert cleanup.is_disposed


def test_a_request_made_while_an_item_is_sent_counts_for_the_next_one() -> None:
    emitters: list[Emitter[int]] = []
    got: TestSubscriber[int] = TestSubscriber(1, request_in_on_next=1)
    Flowable.create(emitters.append, DROP).subscribe(got)
    for item in range(5):
        emitters[0].on_next(item)
    got.assert_values(0, 1, 2, 3, 4)


def test_an_item_sent_from_inside_on_next_comes_behind_the_one_that_is_being_sent() -> None:
    emitters: list[Emitter[int]] = []

    def answer(item: int) -> None:
        if item < 3:
            emitters[0].on_next(item + 1)

    for request in (2, UNBOUNDED):
        got = TestSubscriber[int](request, on_value=answer)
        Flowable.create(emitters.append).subscribe(got)
        emitters[-1].on_next(0)
        got.request(2)
        got.assert_values(0, 1, 2, 3)  # the subscriber checks that no signals overlap
        emitters.clear()


# -- the emitter -----------------------------------------------------------------------------------------------------------------


def test_an_emitter_knows_what_is_wanted() -> None:
    emitter, got = made(3)
    assert emitter.requested == 3
    emitter.on_next(1)
    assert emitter.requested == 2
    got.request(4)
    assert emitter.requested == 6
    got.request(UNBOUNDED)
    assert emitter.requested == UNBOUNDED
    emitter.on_next(1)
    assert emitter.requested == UNBOUNDED


def test_an_emitter_knows_what_is_wanted_while_an_item_is_sent() -> None:
    emitters: list[Emitter[int]] = []
    seen: list[int] = []
    got = TestSubscriber[int](3, on_value=lambda _item: seen.append(emitters[0].requested))
    Flowable.create(emitters.append).subscribe(got)
    emitters[0].on_next(1)
    emitters[0].on_next(2)
    assert seen == [3, 2]  # as in RxJava, the item on its way is not taken off yet


@pytest.mark.parametrize("strategy", list(BackpressureStrategy))
def test_cleaning_up_follows_the_end_and_comes_at_once_with_a_cancel(strategy: BackpressureStrategy) -> None:
    log: list[str] = []

    class Logging(TestSubscriber[Any]):
        def on_complete(self) -> None:
            log.append("complete")

        def on_error(self, error: Exception, /) -> None:
            log.append("error")

    def run(act: Callable[[Emitter[Any], Logging], object]) -> list[str]:
        log.clear()
        emitters: list[Emitter[Any]] = []
        got = Logging()
        Flowable.create(emitters.append, strategy).subscribe(got)
        emitters[0].set_cancellable(lambda: log.append("cleaned"))
        act(emitters[0], got)
        return list(log)

    assert run(lambda emitter, _got: emitter.on_complete()) == ["complete", "cleaned"]
    assert run(lambda emitter, _got: emitter.on_error(OOPS)) == ["error", "cleaned"]
    assert run(lambda _emitter, got: got.cancel()) == ["cleaned"]


def test_a_cancel_in_the_middle_of_an_item_cleans_up_at_once() -> None:
    log: list[str] = []

    def take(item: int) -> None:
        log.append("item")
        got.cancel()
        log.append("returned")

    emitters: list[Emitter[int]] = []
    got = TestSubscriber[int](on_value=take)
    Flowable.create(emitters.append).subscribe(got)
    emitters[0].set_cancellable(lambda: log.append("cleaned"))
    emitters[0].on_next(1)
    emitters[0].on_next(2)
    assert log == ["item", "cleaned", "returned"]


@pytest.mark.parametrize("subscribe", [lambda flow, f: flow.subscribe(f), lambda flow, f: flow.map(str).subscribe(f)])
def test_nothing_is_heard_after_the_end_but_errors_by_the_hook(
    subscribe: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = errors_of_the_hook(monkeypatch)
    emitters: list[Emitter[int]] = []
    got: list[Any] = []
    subscribe(Flowable.create(emitters.append), got.append)
    (emitter,) = emitters
    emitter.on_next(1)
    emitter.on_complete()
    emitter.on_next(2)
    emitter.on_complete()
    assert not emitter.try_on_error(OOPS)
    assert errors == []
    emitter.on_error(OOPS)
    assert (len(got), errors) == (1, [OOPS])
    cleanup = FlagDisposable()
    emitter.set_disposable(cleanup)
    assert cleanup.is_disposed


@pytest.mark.parametrize("wanted", [0, UNBOUNDED])
def test_what_the_function_raises_is_the_error_of_the_stream(wanted: int) -> None:
    def fail(emitter: Emitter[int]) -> None:
        emitter.on_next(1)
        raise StopIteration("of the user")

    got = TestSubscriber[int](wanted)
    Flowable.create(fail).subscribe(got)
    got.request(1)
    got.assert_failure(StopIteration, 1)


@pytest.mark.parametrize("subscriber", [lambda: TestSubscriber[int](), lambda: lambda _item: None])
def test_an_interrupt_in_the_function_closes_the_stream(subscriber: Callable[[], Any]) -> None:
    cleanup = FlagDisposable()

    def interrupted(emitter: Emitter[int]) -> None:
        emitter.set_disposable(cleanup)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Flowable.create(interrupted).subscribe(subscriber())
    assert cleanup.is_disposed


@pytest.mark.parametrize("strategy", [BUFFER, MISSING])
def test_a_subscriber_that_raises_is_cancelled_and_the_emitter_told(strategy: BackpressureStrategy) -> None:
    emitters: list[Emitter[int]] = []

    def fail(_item: int) -> None:
        raise OOPS

    Flowable.create(emitters.append, strategy).subscribe(TestSubscriber(on_value=fail))
    (emitter,) = emitters
    cleanup = FlagDisposable()
    emitter.set_disposable(cleanup)
    with pytest.raises(ValueError, match="oops"):
        emitter.on_next(1)
    assert emitter.is_cancelled
    assert cleanup.is_disposed


@pytest.mark.parametrize("kind", [Flowable, Observable])
def test_a_callback_that_raises_ends_the_stream_and_the_emitter_goes_on(kind: Any) -> None:
    emitters: list[Emitter[int]] = []
    errors: list[Exception] = []

    def fail(_item: int) -> None:
        raise OOPS

    kind.create(emitters.append).subscribe(fail, on_error=errors.append)
    (emitter,) = emitters
    cleanup = FlagDisposable()
    emitter.set_disposable(cleanup)
    emitter.on_next(1)
    emitter.on_next(2)
    assert errors == [OOPS]
    assert emitter.is_cancelled
    assert cleanup.is_disposed


@pytest.mark.parametrize("kind", [Flowable, Observable])
def test_between_the_emitter_and_a_callback_there_is_no_other_call(kind: Any) -> None:
    emitters: list[Emitter[int]] = []
    depth: list[int] = []

    def callback(_item: int) -> None:
        frame, above = sys._getframe().f_back, 0
        while frame is not None and frame.f_code is not test_between_the_emitter_and_a_callback_there_is_no_other_call.__code__:
            frame, above = frame.f_back, above + 1
        depth.append(above)

    kind.create(emitters.append).subscribe(callback)
    emitters[0].on_next(1)
    assert depth == [1]  # that of on_next


# -- operators that say what may wait --------------------------------------------------------------------------------------------


def test_an_error_overtakes_what_waits_unless_it_is_delayed() -> None:
    for build, values in (
        (lambda flow: flow.on_backpressure_latest(), []),
        (lambda flow: flow.on_backpressure_buffer(), []),
        (lambda flow: flow.to_observable().to_flowable(BackpressureStrategy.BUFFER), []),
        (lambda flow: flow.on_backpressure_buffer(delay_error=True), [1, 2]),
    ):
        source = ManualPublisher[int]()
        got: TestSubscriber[int] = TestSubscriber(0)
        build(Flowable.wrap(source)).subscribe(got)  # type: ignore[no-untyped-call]  # a lambda of a table
        source.next(1, 2)
        source.error(OOPS)
        got.request(5)
        got.assert_failure(ValueError, *values)


@pytest.mark.parametrize(
    ("overflow", "values", "given_up"),
    [(OverflowStrategy.DROP_OLDEST, [3, 4], [0, 1, 2]), (OverflowStrategy.DROP_LATEST, [0, 4], [1, 2, 3])],
)
def test_a_full_buffer_gives_up_the_oldest_item_or_the_one_before_the_newest(
    overflow: OverflowStrategy, values: list[int], given_up: list[int]
) -> None:
    source, dropped = ManualPublisher[int](), list[int]()
    got: TestSubscriber[int] = TestSubscriber(0)
    Flowable.wrap(source).on_backpressure_buffer(2, overflow=overflow, on_drop=dropped.append).subscribe(got)
    source.next(*range(5))
    source.complete()
    got.request(5)
    got.assert_result(*values)
    assert dropped == given_up


@pytest.mark.parametrize(("delay_error", "values"), [(False, []), (True, [1])])
def test_a_source_is_cancelled_when_its_buffer_is_full_and_not_asked_again(delay_error: bool, values: list[int]) -> None:
    source = ManualPublisher[int]()
    got: TestSubscriber[int] = TestSubscriber(0)
    Flowable.wrap(source).on_backpressure_buffer(1, delay_error=delay_error).subscribe(got)
    assert source.requested == UNBOUNDED
    source.next(1, 2)
    assert source.cancelled
    got.request(1)
    got.assert_failure(MissingBackpressureError, *values)


@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
def test_dropping_follows_what_the_consumer_requested_and_not_what_is_wanted_behind_it(off: bool) -> None:
    hot, dropped = PublishProcessor[int](), list[int]()
    flow = hot.on_backpressure_drop(dropped.append).concat_map(lambda _item: Flowable.never())
    if off:
        with fusion_off():
            flow.subscribe(lambda _item: None)
    else:
        flow.subscribe(lambda _item: None)
    for item in range(10):
        hot.on_next(item)
    assert dropped == list(range(2, 10))  # concat_map requests two


# -- threads ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.stress
@pytest.mark.parametrize("strategy", [BUFFER, DROP, LATEST])
def test_requests_from_another_thread_neither_lose_nor_double_nor_disorder(strategy: BackpressureStrategy) -> None:
    for _ in rounds():
        dropped: list[int] = []
        emitter, got = made(0, strategy, on_drop=dropped.append)

        def emit(emitter: Emitter[Any] = emitter) -> None:
            for item in range(50):
                emitter.on_next(item)
            emitter.on_complete()

        def ask(got: TestSubscriber[Any] = got) -> None:
            for _ in range(50):
                got.request(1)

        race(emit, ask, watch=[*rx_core.__path__, *rx_ops.__path__])
        got.request(50)
        got.assert_complete()
        assert got.values == sorted(got.values)
        assert sorted(got.values + dropped) == list(range(50))
        if strategy is BUFFER:
            assert dropped == []


@pytest.mark.stress
def test_a_cancel_from_another_thread_cleans_up_once() -> None:
    for _ in rounds():
        cleaned: list[int] = []
        emitter, got = made(UNBOUNDED)
        emitter.set_cancellable(partial(cleaned.append, 1))

        def emit(emitter: Emitter[Any] = emitter) -> None:
            for item in range(20):
                emitter.on_next(item)
            emitter.on_complete()

        race(emit, got.cancel, watch=[*rx_core.__path__, *rx_ops.__path__])
        assert cleaned == [1]
        assert got.values == list(range(len(got.values)))


def test_what_is_sent_after_the_end_does_not_join_what_waits() -> None:
    emitter, got = made(0)
    emitter.on_next(1)
    emitter.on_complete()
    emitter.on_next(2)
    got.request(5)
    got.assert_values(1).assert_complete()
