"""using_when: a resource from a source, and a cleanup that is a source."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException, EmptyStreamError, hooks
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, Single
from rx_ops.operators import UsingWhen
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

OOPS = ValueError("oops")
SECOND = KeyError("second")
#: For functions that are no ones for a type checker.
ANY: Any = Flowable


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Errors that reach the error hook."""
    hooks.ensure_loaded()
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
    return errors


class Connection:
    """A resource that writes down what is done with it; its cleanups take four seconds."""

    def __init__(self) -> None:
        self.clock = VirtualScheduler()
        self.log: list[str] = []

    def did(self, what: str) -> Completable:
        self.log.append(f"{what} begins at {self.clock.now():g}")
        return Completable.timer(4.0, scheduler=self.clock).do_on_complete(
            lambda: self.log.append(f"{what} ends at {self.clock.now():g}")
        )

    def commit(self) -> Completable:
        return self.did("commit")

    def rollback(self, error: Exception) -> Completable:
        return self.did(f"rollback of {error!r}")

    def close(self) -> Completable:
        return self.did("close")


def opened(connection: Connection) -> Single[Connection]:
    return Single.just(connection).delay(1.0, scheduler=connection.clock)


def transaction(connection: Connection, work: Flowable[int]) -> TestSubscriber[int]:
    subscriber = TestSubscriber[int]()
    Flowable.using_when(
        opened(connection), lambda _it: work, Connection.commit, on_error=Connection.rollback, on_cancel=Connection.close
    ).subscribe(subscriber)
    return subscriber


@pytest.mark.parametrize("hidden", [False, True])
def test_the_end_waits_for_the_cleanup(hidden: bool) -> None:
    connection = Connection()
    work = Flowable.of(1, 2).hide() if hidden else Flowable.of(1, 2)
    subscriber = transaction(connection, work)
    subscriber.assert_values()
    connection.clock.advance_by(1.0)
    subscriber.assert_values(1, 2).assert_not_terminated()
    connection.clock.advance_by(3.9)
    subscriber.assert_not_terminated()
    connection.clock.advance_by(0.1)
    subscriber.assert_values(1, 2).assert_complete()
    assert connection.log == ["commit begins at 1", "commit ends at 5"]


def test_after_an_error_it_is_told_and_signalled_behind_the_cleanup() -> None:
    connection = Connection()
    subscriber = transaction(connection, Flowable.of(1).concat_with(Flowable.error(OOPS)))
    connection.clock.advance_by(4.9)
    subscriber.assert_values(1).assert_not_terminated()
    connection.clock.advance_by(0.1)
    assert subscriber.error is OOPS
    assert connection.log == ["rollback of ValueError('oops') begins at 1", "rollback of ValueError('oops') ends at 5"]


def test_a_cancel_begins_the_cleanup_behind_that_of_the_stream_and_waits_for_nothing() -> None:
    connection = Connection()
    left: list[str] = []
    subscriber = transaction(connection, Flowable.never().do_on_cancel(lambda: connection.log.append("left")))
    connection.clock.advance_by(1.0)
    subscriber.cancel()
    assert connection.log == ["left", "close begins at 1"]
    connection.clock.advance_by(4.0)
    assert connection.log[2:] == ["close ends at 5"]
    assert left == []


def test_downstream_that_takes_enough_cancels() -> None:
    connection = Connection()
    subscriber = TestSubscriber[int]()
    Flowable.using_when(opened(connection), lambda _it: Flowable.range(9), Connection.commit, on_cancel=Connection.close).take(
        2
    ).subscribe(subscriber)
    connection.clock.advance_by(1.0)
    subscriber.assert_values(0, 1).assert_complete()
    connection.clock.advance_by(9.0)
    assert connection.log == ["close begins at 1", "close ends at 5"]


@pytest.mark.parametrize("work", [Flowable.error(OOPS), Flowable.empty()])
def test_one_cleanup_is_enough_for_all_ends(work: Flowable[int]) -> None:
    connection = Connection()
    subscriber = TestSubscriber[int]()
    Flowable.using_when(opened(connection), lambda _it: work, Connection.close).subscribe(subscriber)
    connection.clock.advance_by(9.0)
    assert connection.log == ["close begins at 1", "close ends at 5"]
    assert subscriber.is_terminated


def test_one_cleanup_is_enough_for_a_cancel_too() -> None:
    connection = Connection()
    subscriber = TestSubscriber[int]()
    Flowable.using_when(opened(connection), lambda _it: Flowable.never(), Connection.close).subscribe(subscriber)
    connection.clock.advance_by(1.0)
    subscriber.cancel()
    assert connection.log == ["close begins at 1"]


# -- the resource --------------------------------------------------------------------------------------------------------


def test_only_the_first_item_of_the_resource_is_asked_for_and_the_rest_is_left() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int]()
    Flowable.using_when(source, lambda it: Flowable.just(it), lambda _it: Flowable.empty()).subscribe(subscriber)
    assert source.requested == 1
    source.next(7)
    assert source.cancelled
    subscriber.assert_values(7).assert_complete()


def test_a_single_that_gives_the_resource_is_not_disposed() -> None:
    log: list[str] = []
    resource = Single.just(1).do_on_dispose(lambda: log.append("disposed")).do_finally(lambda: log.append("over"))
    assert Flowable.using_when(resource, lambda it: Flowable.just(it), lambda _it: Flowable.empty()).blocking_list() == [1]
    assert log == ["over"]


def test_an_empty_resource_is_an_empty_stream_without_cleanup() -> None:
    used: list[object] = []
    assert ANY.using_when(Maybe.empty(), used.append, used.append).blocking_list() == []
    assert used == []


def test_a_resource_that_fails_needs_no_cleanup() -> None:
    used: list[object] = []
    subscriber = TestSubscriber[Any]()
    ANY.using_when(Flowable.error(OOPS), used.append, used.append).subscribe(subscriber)
    assert subscriber.error is OOPS
    assert used == []


def test_a_cancel_before_the_resource_is_there_leaves_its_source() -> None:
    connection = Connection()
    subscriber = transaction(connection, Flowable.of(1))
    subscriber.cancel()
    connection.clock.advance_by(9.0)
    assert connection.log == []


def test_a_resource_that_crosses_the_cancel_is_given_back() -> None:
    log: list[str] = []
    subscriber = TestSubscriber[int]()

    def close(it: str) -> Completable:
        return Completable.from_action(lambda: log.append(f"closed {it}"))

    run = UsingWhen(subscriber, Flowable.never(), lambda _it: Flowable.of(1), close, None, None)
    run.start()
    subscriber.cancel()
    run.resource.on_next("late")  # as another thread does that is inside of on_next already (RS 2.8)
    run.resource.on_next("second")
    assert log == ["closed late"]
    subscriber.assert_values().assert_not_terminated()


# -- what goes wrong -----------------------------------------------------------------------------------------------------


def failing(*_: object) -> Any:
    raise SECOND


FAILED: dict[str, Callable[..., Any]] = {
    "its source fails": lambda *_: Completable.error(SECOND),
    "making it fails": failing,
}


@pytest.mark.parametrize("name", FAILED)
def test_a_cleanup_that_fails_is_the_error_in_place_of_the_completion(name: str) -> None:
    subscriber = TestSubscriber[int]()
    Flowable.using_when(Single.just(0), lambda _it: Flowable.of(1), FAILED[name]).subscribe(subscriber)
    subscriber.assert_values(1)
    assert subscriber.error is SECOND


@pytest.mark.parametrize("name", FAILED)
def test_a_cleanup_that_fails_after_an_error_is_told_with_it(name: str) -> None:
    subscriber = TestSubscriber[int]()
    Flowable.using_when(Single.just(0), lambda _it: Flowable.error(OOPS), FAILED[name]).subscribe(subscriber)
    assert isinstance(subscriber.error, CompositeException)
    assert subscriber.error.exceptions == (OOPS, SECOND)


@pytest.mark.parametrize("name", FAILED)
def test_a_cleanup_that_fails_after_a_cancel_reaches_the_error_hook_once(name: str, lost: list[Exception]) -> None:
    subscriber = TestSubscriber[int]()
    Flowable.using_when(Single.just(0), lambda _it: Flowable.never(), FAILED[name]).subscribe(subscriber)
    subscriber.cancel()
    assert lost == [SECOND]


def test_a_cancel_does_not_stop_a_cleanup_and_nothing_is_lost(lost: list[Exception]) -> None:
    connection = Connection()
    subscriber = TestSubscriber[int]()

    def fails(it: Connection) -> Completable:
        return it.did("rollback").and_then(Completable.error(SECOND))

    Flowable.using_when(Single.just(connection), lambda _it: Flowable.error(OOPS), fails).subscribe(subscriber)
    connection.clock.advance_by(1.0)
    subscriber.cancel()
    assert lost == [OOPS]
    connection.clock.advance_by(9.0)
    assert connection.log == ["rollback begins at 0", "rollback ends at 4"]
    assert lost == [OOPS, SECOND]
    subscriber.assert_not_terminated()


def test_what_use_raises_is_an_error_of_the_stream() -> None:
    connection = Connection()
    subscriber = TestSubscriber[int]()
    Flowable.using_when(opened(connection), failing, Connection.commit, on_error=Connection.rollback).subscribe(subscriber)
    connection.clock.advance_by(9.0)
    assert subscriber.error is SECOND
    assert connection.log[0] == "rollback of KeyError('second') begins at 1"


def test_a_function_that_makes_no_source_is_told_what_to_write() -> None:
    closed: list[object] = []
    with pytest.raises(TypeError, match=r"using_when\(use=\.\.\.\) expected a function returning a source") as raised:
        ANY.using_when(
            Single.just(3), lambda it: it, lambda it: Completable.from_action(lambda: closed.append(it))
        ).blocking_list()
    assert "use=lambda resource: Flowable.just(resource)" in str(raised.value)
    assert closed == [3]
    with pytest.raises(TypeError, match=r"on_complete=lambda resource: Completable\.from_action\(resource\.close\)"):
        ANY.using_when(Single.just(3), Flowable.just, closed.append).blocking_list()


def test_a_subscriber_that_raises_has_left() -> None:
    connection = Connection()

    def refuses(_item: int) -> None:
        raise OOPS

    flow = Flowable.using_when(
        Single.just(connection), lambda _it: Flowable.of(1, 2), Connection.commit, on_cancel=Connection.close
    )
    with pytest.raises(ValueError, match="oops"):
        flow.subscribe(_Refusing(refuses))
    assert connection.log == ["close begins at 0"]


class _Refusing(TestSubscriber[int]):
    def __init__(self, refuse: Callable[[int], None]) -> None:
        super().__init__()
        self.refuse = refuse

    def on_next(self, item: int, /) -> None:
        self.refuse(item)


@pytest.mark.parametrize(
    "arguments",
    [(5, Flowable.just, Flowable.just), (Single.just(1), 5, Flowable.just), (Single.just(1), Flowable.just, 5)],
)
@pytest.mark.parametrize("face", [Flowable, Observable, Single, Maybe, Completable])
def test_wrong_arguments_are_refused_at_assembly(face: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="using_when"):
        face.using_when(*arguments)
    with pytest.raises(TypeError, match="on_error"):
        face.using_when(Single.just(1), Flowable.just, Flowable.just, on_error=5)
    with pytest.raises(TypeError, match="on_cancel"):
        face.using_when(Single.just(1), Flowable.just, Flowable.just, on_cancel=5)


# -- demand, types, threads ----------------------------------------------------------------------------------------------


def test_what_is_wanted_goes_to_the_stream_and_the_cleanup_needs_none() -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[int](request=2)
    Flowable.using_when(Single.just(0), lambda _it: source, lambda _it: Flowable.of(7, 8)).subscribe(subscriber)
    assert source.requested == 2
    source.next(1, 2)
    source.complete()
    subscriber.assert_values(1, 2).assert_complete()


def test_the_item_of_a_single_comes_behind_the_cleanup() -> None:
    connection = Connection()
    log: list[Any] = []
    Single.using_when(opened(connection), lambda _it: Single.just(5), Connection.commit).subscribe(log.append)
    connection.clock.advance_by(4.9)
    assert log == []
    connection.clock.advance_by(0.1)
    assert log == [5]


@pytest.mark.parametrize("face", [Single, Maybe])
def test_who_wants_only_the_item_does_not_cancel_before_the_cleanup(face: Any) -> None:
    connection = Connection()
    log: list[Any] = []
    made = face.using_when(opened(connection), lambda _it: face.just(5).hide(), Connection.commit, on_cancel=Connection.close)
    made.to_flowable().first_element().flat_map(lambda x: Maybe.just(x + 1)).subscribe(log.append)
    connection.clock.advance_by(5.0)
    assert log == [6]
    assert connection.log == ["commit begins at 1", "commit ends at 5"]


def test_an_observer_that_disposes_while_the_item_waits_for_the_cleanup_gets_none() -> None:
    connection = Connection()
    log: list[Any] = []
    handle = Single.using_when(opened(connection), lambda _it: Single.just(5), Connection.commit).subscribe(log.append)
    connection.clock.advance_by(2.0)
    handle.dispose()
    connection.clock.advance_by(9.0)
    assert log == []
    assert connection.log == ["commit begins at 1", "commit ends at 5"]


def test_the_other_types() -> None:
    log: list[str] = []

    def close(it: str) -> Completable:
        return Completable.from_action(lambda: log.append(f"closed {it}"))

    assert Maybe.using_when(Single.just("m"), lambda _it: Maybe.empty(), close).blocking_get() is None
    Completable.using_when(Single.just("c"), lambda _it: Completable.complete(), close).blocking_await()
    assert Observable.using_when(Observable.of("o", "p"), lambda it: Observable.of(it, it), close).blocking_list() == ["o", "o"]
    assert log == ["closed m", "closed c", "closed o"]
    with pytest.raises(EmptyStreamError):
        Single.using_when(Maybe.empty(), lambda it: Single.just(it), close).blocking_get()
    with pytest.raises(KeyError):
        Single.using_when(Single.just("s"), lambda it: Single.just(it), lambda _it: Completable.error(SECOND)).blocking_get()


def test_each_subscriber_has_a_resource_of_its_own() -> None:
    numbers = iter(range(9))
    closed: list[int] = []
    flow = Flowable.using_when(
        Single.from_callable(lambda: next(numbers)),
        lambda it: Flowable.of(it),
        lambda it: Completable.from_action(lambda: closed.append(it)),
    )
    assert (flow.blocking_list(), flow.blocking_list(), closed) == ([0], [1], [0, 1])


class _Race:
    """A stream that one thread ends and another one leaves."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.source = PublishProcessor[int]()
        self.subscriber = TestSubscriber[int]()
        Flowable.using_when(Single.just(0), self.used, self.committed, on_cancel=self.closed).subscribe(self.subscriber)

    def used(self, _it: int) -> Flowable[int]:
        return Flowable.wrap(self.source)

    def committed(self, _it: int) -> Completable:
        return Completable.from_action(lambda: self.calls.append("commit"))

    def closed(self, _it: int) -> Completable:
        return Completable.from_action(lambda: self.calls.append("close"))


@pytest.mark.stress
def test_an_end_and_a_cancel_at_the_same_time_are_one_cleanup() -> None:
    for _ in range(200):
        race = _Race()
        start = threading.Barrier(2)

        def ends(race: _Race = race, start: threading.Barrier = start) -> None:
            start.wait(10)
            race.source.on_complete()

        thread = threading.Thread(target=ends)
        thread.start()
        start.wait(10)
        race.subscriber.cancel()
        thread.join(10)
        assert race.calls in (["commit"], ["close"])
