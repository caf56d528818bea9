"""using, materialize and dematerialize."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from rx_core import CompositeException, hooks
from rx_ops import Completable, Flowable, Maybe, Notification, Observable, OnComplete, OnError, OnNext, Single
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")
SECOND = KeyError("second")


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Errors that reach the error hook."""
    hooks.ensure_loaded()
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
    return errors


def fail(error: Exception) -> Any:
    def failing(*_: object) -> Any:
        raise error

    return failing


# -- using -------------------------------------------------------------------------------------------------------------------


class Resource:
    """Writes down what happens to it and beside it."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def flow(self, source: Any, *, eager: bool = True) -> Flowable[Any]:
        def make() -> str:
            self.log.append("made")
            return "it"

        return Flowable.using(make, lambda _it: source, lambda it: self.log.append(f"cleaned {it}"), eager=eager)

    def run(self, source: Any, *, eager: bool = True) -> list[Any]:
        self.flow(source, eager=eager).subscribe(
            self.log.append, on_error=self.log.append, on_complete=lambda: self.log.append("end")
        )
        return self.log


@pytest.mark.parametrize("hidden", [False, True])
def test_the_resource_is_given_back_before_the_end_or_after_it(hidden: bool) -> None:
    source: Flowable[Any] = Flowable.of(1).hide() if hidden else Flowable.of(1)
    failing = Flowable.error(OOPS)
    assert Resource().run(source) == ["made", 1, "cleaned it", "end"]
    assert Resource().run(source, eager=False) == ["made", 1, "end", "cleaned it"]
    assert Resource().run(failing.hide() if hidden else failing) == ["made", "cleaned it", OOPS]
    assert Resource().run(failing.hide() if hidden else failing, eager=False) == ["made", OOPS, "cleaned it"]


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize("request_first", [0, 1])
def test_cancelling_gives_it_back_once(eager: bool, request_first: int) -> None:
    resource = Resource()
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=request_first)
    resource.flow(source, eager=eager).subscribe(subscriber)
    subscriber.cancel()
    subscriber.cancel()
    assert resource.log == ["made", "cleaned it"]
    assert source.cancelled


def test_each_run_has_its_own() -> None:
    resource = Resource()
    flow = resource.flow(Flowable.of(1))
    assert resource.log == []
    flow.repeat(2).blocking_list()
    assert resource.log == ["made", "cleaned it"] * 2


@pytest.mark.parametrize("eager", [True, False])
def test_of_one_round_it_is_given_back_before_the_next(eager: bool) -> None:
    resource = Resource()
    resource.flow(Flowable.of(1), eager=eager).repeat(2).do_on_next(resource.log.append).blocking_list()
    assert resource.log == ["made", 1, "cleaned it", "made", 1, "cleaned it"]


@pytest.mark.parametrize("eager", [True, False])
def test_a_factory_that_fails_gives_it_back(eager: bool) -> None:
    cleaned: list[str] = []
    subscriber = TestSubscriber[int]()
    Flowable.using(lambda: "it", fail(OOPS), cleaned.append, eager=eager).subscribe(subscriber)
    subscriber.assert_failure(OOPS)
    assert cleaned == ["it"]
    subscriber = TestSubscriber[int]()
    Flowable.using(lambda: "it", fail(OOPS), fail(SECOND), eager=eager).subscribe(subscriber)
    assert isinstance(subscriber.error, CompositeException)
    assert subscriber.error.exceptions == (OOPS, SECOND)


def test_a_cleanup_that_fails_takes_the_place_of_the_end_or_joins_the_error(lost: list[Exception]) -> None:
    subscriber = TestSubscriber[int]()
    Flowable.using(list, lambda _it: Flowable.of(1), fail(SECOND)).subscribe(subscriber)
    subscriber.assert_failure(SECOND, 1)
    subscriber = TestSubscriber[int]()
    Flowable.using(list, lambda _it: Flowable.error(OOPS), fail(SECOND)).subscribe(subscriber)
    assert isinstance(subscriber.error, CompositeException)
    assert subscriber.error.exceptions == (OOPS, SECOND)
    assert lost == []


def test_a_cleanup_that_fails_where_nobody_listens_goes_to_the_hook(lost: list[Exception]) -> None:
    subscriber = TestSubscriber[int]()
    Flowable.using(list, lambda _it: Flowable.of(1), fail(SECOND), eager=False).subscribe(subscriber)
    subscriber.assert_result(1)
    assert lost == [SECOND]
    for request in (0, 1):
        lost.clear()
        subscriber = TestSubscriber[int](request=request)
        Flowable.using(list, lambda _it: Flowable.never(), fail(SECOND)).subscribe(subscriber)
        subscriber.cancel()
        assert lost == [SECOND]


def test_the_error_of_a_stream_keeps_its_cause() -> None:
    error = ValueError("outer")
    error.__cause__ = OOPS
    subscriber = TestSubscriber[int]()
    Flowable.using(list, lambda _it: Flowable.error(error), len).subscribe(subscriber)
    assert subscriber.error is error
    assert error.__cause__ is OOPS


def test_other_types_use_resources() -> None:
    log: list[str] = []
    assert Single.using(lambda: "it", lambda it: Single.just(it + "!"), log.append).blocking_get() == "it!"
    assert Maybe.using(lambda: "it", lambda _it: Maybe.empty(), log.append).blocking_get() is None
    Completable.using(lambda: "it", lambda _it: Completable.complete(), log.append).blocking_await()
    assert Observable.using(lambda: "it", lambda it: Observable.of(it), log.append).blocking_list() == ["it"]
    assert log == ["it"] * 4


@pytest.mark.parametrize("at", [0, 1, 2])
def test_what_is_no_function_is_refused_at_assembly(at: int) -> None:
    functions: list[Any] = [list, lambda _it: Flowable.empty(), len]
    functions[at] = 5
    for face in (Flowable, Observable, Single, Maybe, Completable):
        with pytest.raises(TypeError, match="using"):
            face.using(*functions)


# -- notifications -----------------------------------------------------------------------------------------------------------


def test_signals_become_items_and_items_signals() -> None:
    failing = Flowable.of(1).concat_with(Flowable.error(OOPS))
    assert Flowable.of(1, 2).materialize().blocking_list() == [OnNext(1), OnNext(2), OnComplete()]
    assert failing.materialize().blocking_list() == [OnNext(1), OnError(OOPS)]
    subscriber = TestSubscriber[int]()
    failing.materialize().dematerialize().subscribe(subscriber)
    subscriber.assert_failure(OOPS, 1)


def test_the_last_notification_waits_until_it_is_wanted() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[Any](request=1)
    Flowable.wrap(source).materialize().subscribe(subscriber)
    source.next(1)
    source.error(OOPS)
    subscriber.assert_values(OnNext(1)).assert_not_terminated()
    subscriber.request(1)
    subscriber.assert_result(OnNext(1), OnError(OOPS))


def test_completion_follows_the_last_notification_at_once_whatever_comes_after() -> None:
    subscriber = TestSubscriber[Any](request=2)
    Flowable.empty().materialize().flat_map_iterable(lambda each: (each, each)).subscribe(subscriber)
    # Whether one more comes of the notification is not known without asking for it, and nothing is computed ahead of demand.
    subscriber.assert_values(OnComplete(), OnComplete())
    subscriber.request(1)
    subscriber.assert_result(OnComplete(), OnComplete())
    both = Flowable.concat(Flowable.empty().materialize(), Flowable.of(1))
    subscriber = TestSubscriber[Any](request=1)
    both.subscribe(subscriber)
    subscriber.assert_values(OnComplete()).assert_not_terminated()
    subscriber.request(1)
    subscriber.assert_values(OnComplete(), 1)


def test_an_end_among_notifications_ends_the_source() -> None:
    source = ManualPublisher[Any]()
    subscriber = TestSubscriber[Any]()
    Flowable.wrap(source).dematerialize().subscribe(subscriber)
    source.next(OnNext(1), OnComplete())
    subscriber.assert_result(1)
    assert source.cancelled
    source, subscriber = ManualPublisher(), TestSubscriber()
    Flowable.wrap(source).dematerialize(lambda pair: pair[0]).subscribe(subscriber)
    source.next((OnNext(1), 2), (OnError(OOPS), 3))
    subscriber.assert_failure(OOPS, 1)
    assert source.cancelled


def test_what_is_no_notification_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"dematerialize\(\) needs notifications, got 5"):
        Flowable.of(5).dematerialize().blocking_list()  # type: ignore[call-arg]  # the mistake
    with pytest.raises(TypeError, match=r"dematerialize\(str\) needs notifications, got '5'"):
        Flowable.of(5).dematerialize(str).blocking_list()  # type: ignore[arg-type]  # the mistake


def test_a_stop_iteration_is_told_as_it_is() -> None:
    def stop(_x: int) -> int:
        raise StopIteration("mine")

    (told,) = Flowable.of(1).map(stop).materialize().blocking_list()
    match told:
        case OnError(StopIteration() as error):
            assert str(error) == "mine"
        case _:
            pytest.fail(repr(told))


def test_notifications_are_values() -> None:
    def text(signal: OnNext[int] | OnError | OnComplete) -> str:
        match signal:
            case OnNext(item):
                return f"item {item}"
            case OnError(error):
                return f"error {error}"
            case OnComplete():
                return "end"

    signals: list[Notification[int]] = [OnNext(1), OnError(OOPS), OnComplete()]
    assert [text(signal) for signal in signals] == ["item 1", "error oops", "end"]
    assert {OnNext(1), OnNext(1), OnComplete(), OnComplete()} == {OnNext(1), OnComplete()}
    assert pickle.loads(pickle.dumps(OnNext([1]))) == copy.copy(OnNext([1]))  # our own
    assert repr(OnNext(1)) == "OnNext(item=1)"
    with pytest.raises(TypeError, match="None"):
        OnNext(None)
    with pytest.raises(TypeError, match="exception"):
        OnError("oops")  # type: ignore[arg-type]  # the mistake


def test_at_most_one_item_makes_one_notification() -> None:
    assert Single.just(1).materialize().blocking_get() == OnNext(1)
    assert Single.error(OOPS).materialize().blocking_get() == OnError(OOPS)
    assert Maybe.empty().materialize().blocking_get() == OnComplete()
    assert Completable.complete().materialize().blocking_get() == OnComplete()
    assert Completable.error(OOPS).materialize().blocking_get() == OnError(OOPS)
    assert Flowable.of(1, 2).ignore_elements().materialize().blocking_get() == OnComplete()
    assert Single.just(1).materialize().dematerialize().blocking_get() == 1
    assert Maybe.empty().materialize().dematerialize().blocking_get() is None
    with pytest.raises(ValueError, match="oops"):
        Maybe.error(OOPS).materialize().dematerialize().blocking_get()
