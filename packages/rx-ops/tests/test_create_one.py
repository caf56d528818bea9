"""create of a Single, Maybe and Completable: what the emitter is told, by whom, and when; futures as sources and as results."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, InvalidStateError, ThreadPoolExecutor, as_completed
from concurrent.futures import wait as wait_for
from typing import Any

import pytest

from rx_core import name_of
from rx_ops import (
    Completable,
    CompletableEmitter,
    Flowable,
    Maybe,
    MaybeEmitter,
    Observable,
    Single,
    SingleEmitter,
)
from rx_ops._stream_future import StreamFuture
from rx_ops.operators._create_one import OneRun
from rx_testing import TestSubscriber
from rx_testing.racing import caught, race, rounds

LIMIT = 30.0  # seconds, for what comes at once
FACES: list[Any] = [Single, Maybe, Completable]


def file_of(kind: type) -> str:
    return str(sys.modules[kind.__module__].__file__)


def ends(emitter: Any) -> None:
    if isinstance(emitter, CompletableEmitter):
        emitter.on_complete()
    else:
        emitter.on_success(1)


def watched(source: Any) -> tuple[list[object], Any]:
    """What callbacks are told, and the handle."""
    told: list[object] = []
    if isinstance(source, Completable):
        return told, source.subscribe(lambda: told.append("complete"), told.append)
    return told, source.subscribe(told.append, told.append)


# -- create ---------------------------------------------------------------------------------------------------------------------


def test_the_function_is_called_for_each_subscription() -> None:
    calls: list[int] = []

    def source(emitter: SingleEmitter[int]) -> None:
        calls.append(1)
        emitter.on_success(len(calls))

    single = Single.create(source)
    assert [single.blocking_get(), single.blocking_get()] == [1, 2]
    assert repr(single) == f"create({name_of(source)})"


def test_a_maybe_may_end_without_an_item() -> None:
    def three(emitter: MaybeEmitter[int]) -> None:
        emitter.on_success(3)

    assert Maybe.create(lambda emitter: emitter.on_complete()).blocking_get() is None
    assert Maybe.create(three).blocking_get() == 3


def test_stages_behind_it_are_applied() -> None:
    def three(emitter: SingleEmitter[int]) -> None:
        emitter.on_success(3)

    assert Single.create(three).map(lambda n: n + 1).filter(lambda n: n > 3).blocking_get() == 4


def test_another_thread_may_answer_later() -> None:
    emitters: list[SingleEmitter[str]] = []
    told, _ = watched(Single.create(emitters.append))
    assert told == []
    thread = threading.Thread(target=lambda: emitters[0].on_success("late"))
    thread.start()
    thread.join()
    assert told == ["late"]


def test_the_item_waits_until_it_is_requested() -> None:
    def three(emitter: SingleEmitter[int]) -> None:
        emitter.on_success(3)

    subscriber = TestSubscriber[int](request=0)
    Single.create(three).to_flowable().subscribe(subscriber)
    subscriber.assert_values().assert_not_terminated()
    subscriber.request(1)
    subscriber.assert_result(3)


@pytest.mark.parametrize("face", FACES)
def test_only_the_first_end_counts(face: Any, caplog: pytest.LogCaptureFixture) -> None:
    def source(emitter: Any) -> None:
        ends(emitter)
        assert emitter.is_cancelled
        ends(emitter)
        assert not emitter.try_on_error(ValueError("not told"))
        emitter.on_error(KeyError("late"))

    with caplog.at_level(logging.ERROR):
        told, handle = watched(face.create(source))
    assert len(told) == 1
    assert handle.is_disposed
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [KeyError]


@pytest.mark.parametrize("face", FACES)
def test_what_the_function_raises_is_the_error(face: Any) -> None:
    def source(_emitter: Any) -> None:
        raise KeyError("no")

    told, _ = watched(face.create(source))
    assert [type(each) for each in told] == [KeyError]


def test_what_the_function_raises_behind_the_end_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    def source(emitter: SingleEmitter[int]) -> None:
        emitter.on_success(1)
        raise KeyError("late")

    with caplog.at_level(logging.ERROR):
        assert Single.create(source).blocking_get() == 1
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [KeyError]


def test_a_keyboard_interrupt_leaves_and_nothing_is_signalled() -> None:
    def source(_emitter: SingleEmitter[int]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Single.create(source).subscribe(lambda _item: None)


@pytest.mark.parametrize("face", [Single, Maybe])
def test_none_is_an_error(face: Any) -> None:
    told, _ = watched(face.create(lambda emitter: emitter.on_success(None)))
    assert [type(each) for each in told] == [TypeError]
    assert "create" in str(told[0])


@pytest.mark.parametrize("face", FACES)
def test_the_cleanup_runs_behind_the_end(face: Any) -> None:
    told: list[object] = []

    def source(emitter: Any) -> None:
        emitter.set_cancellable(lambda: told.append("clean"))
        ends(emitter)

    made = face.create(source)
    if face is Completable:
        made.subscribe(lambda: told.append("end"))
    else:
        made.subscribe(lambda _item: told.append("end"))
    assert told == ["end", "clean"]


@pytest.mark.parametrize("face", FACES)
def test_the_cleanup_runs_at_a_dispose(face: Any) -> None:
    told: list[str] = []
    emitters: list[Any] = []
    _, handle = watched(face.create(emitters.append))
    emitters[0].set_cancellable(lambda: told.append("first"))
    emitters[0].set_cancellable(lambda: told.append("second"))
    assert told == ["first"]  # it was replaced
    assert not emitters[0].is_cancelled
    handle.dispose()
    assert told == ["first", "second"]
    assert emitters[0].is_cancelled
    emitters[0].set_cancellable(lambda: told.append("late"))
    assert told == ["first", "second", "late"]


def test_a_cleanup_that_fails_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    emitters: list[CompletableEmitter] = []
    _, handle = watched(Completable.create(emitters.append))
    emitters[0].set_cancellable(lambda: 1 // 0)
    with caplog.at_level(logging.ERROR):
        handle.dispose()
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError]


@pytest.mark.parametrize("face", FACES)
def test_an_observer_that_raises_has_left(face: Any) -> None:
    cleaned: list[bool] = []

    class Raising:
        def on_subscribe(self, disposable: object, /) -> None: ...
        def on_success(self, item: object, /) -> None:
            raise ValueError("observer")

        def on_error(self, error: Exception, /) -> None: ...
        def on_complete(self) -> None:
            raise ValueError("observer")

    emitters: list[Any] = []
    face.create(emitters.append).subscribe(Raising())
    emitters[0].set_cancellable(lambda: cleaned.append(True))
    with pytest.raises(ValueError, match="observer"):
        ends(emitters[0])
    assert cleaned == [True]
    assert emitters[0].is_cancelled


@pytest.mark.parametrize("face", FACES)
def test_what_is_no_function_is_refused(face: Any) -> None:
    with pytest.raises(TypeError, match=rf"{face.__name__}\."):
        face.create(3)


class Careless(OneRun):
    """Decides with a look and a write in place of one step."""

    def _decide(self, outcome: Any) -> bool:
        if self.cancelled or not self._undecided:
            return False
        self._outcome = outcome
        self._undecided.clear()
        self.drain()
        return True


def raced(kind: type[OneRun]) -> None:
    """Two threads end it and one disposes: one end at most, and each thread knows whether it was its."""
    seen: list[object] = []
    won: list[bool] = []

    class Observer(TestSubscriber[int]):
        def on_next(self, item: int, /) -> None:
            seen.append(item)

    run = kind(Observer(), "race")
    run.start()
    race(
        lambda: won.append(run.complete(1)),
        lambda: won.append(run.complete(2)),
        watch=[__file__, *map(file_of, OneRun.__mro__[:3])],
    )
    assert sorted(won) == [False, True]
    assert len(seen) == 1


@pytest.mark.stress
def test_two_threads_end_it_once() -> None:
    for _ in rounds():
        raced(OneRun)


@pytest.mark.stress
def test_the_race_can_fail() -> None:
    assert caught(lambda _number: raced(Careless))


# -- futures as sources --------------------------------------------------------------------------------------------------------


FROM: list[tuple[Callable[[Future[int]], Any], Callable[[Any], object]]] = [
    (Flowable.from_future, lambda made: made.blocking_list()),
    (Observable.from_future, lambda made: made.to_list().blocking_get()),
    (Single.from_future, lambda made: [made.blocking_get()]),
    (Maybe.from_future, lambda made: [made.blocking_get()]),
]


@pytest.mark.parametrize(("make", "ask"), FROM)
@pytest.mark.parametrize("done", [False, True])
def test_the_result_of_a_future_is_the_item(make: Any, ask: Any, done: bool) -> None:
    future: Future[int] = Future()
    made = make(future).map(lambda n: n + 1)
    if done:
        future.set_result(3)
    else:
        threading.Timer(0.0, future.set_result, (3,)).start()
    assert ask(made) == [4]
    assert ask(made) == [4]


def test_the_result_of_a_future_is_the_end_of_a_completable() -> None:
    future: Future[None] = Future()
    told, _ = watched(Completable.from_future(future))
    assert told == []
    future.set_result(None)
    assert told == ["complete"]


@pytest.mark.parametrize("face", [Flowable, Observable, *FACES])
def test_what_a_future_failed_with_is_the_error(face: Any) -> None:
    future: Future[int] = Future()
    told, _ = watched(face.from_future(future))
    future.set_exception(KeyError("no"))
    assert [type(each) for each in told] == [KeyError]


@pytest.mark.parametrize("face", [Flowable, Observable, *FACES])
def test_a_future_that_was_cancelled_is_an_error(face: Any) -> None:
    future: Future[int] = Future()
    future.cancel()
    told, _ = watched(face.from_future(future))
    assert [type(each) for each in told] == [CancelledError]


def test_what_is_no_exception_is_the_cause_of_one() -> None:
    future: Future[int] = Future()
    future.set_exception(SystemExit(3))
    told, _ = watched(Single.from_future(future))
    assert isinstance(told[0], RuntimeError)
    assert isinstance(told[0].__cause__, SystemExit)


@pytest.mark.parametrize("face", [Flowable, Observable, Single])
def test_a_result_of_none_is_an_error_where_there_has_to_be_an_item(face: Any) -> None:
    future: Future[None] = Future()
    future.set_result(None)
    told, _ = watched(face.from_future(future))
    assert [type(each) for each in told] == [TypeError]
    assert "from_future" in str(told[0])


def test_a_result_of_none_is_no_item_of_a_maybe() -> None:
    future: Future[int | None] = Future()
    future.set_result(None)
    assert Maybe.from_future(future).blocking_get() is None


def test_a_dispose_leaves_the_future_alone() -> None:
    future: Future[int] = Future()
    told, handle = watched(Single.from_future(future))
    handle.dispose()
    assert not future.cancelled()
    future.set_result(1)
    assert told == []


@pytest.mark.parametrize("face", [Flowable, Observable, *FACES])
def test_a_future_of_an_event_loop_is_refused_with_the_call_that_takes_it(face: Any) -> None:
    import asyncio

    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(TypeError, match=rf"{face.__name__}.*rx_asyncio"):
            face.from_future(loop.create_future())
    finally:
        loop.close()
    with pytest.raises(TypeError, match=r"executor\.submit"):
        face.from_future(3)


# -- futures as results ----------------------------------------------------------------------------------------------------------


def test_the_item_is_the_result() -> None:
    assert Single.just(3).to_future().result(0) == 3
    assert Maybe.just(3).to_future().result(0) == 3
    assert Maybe.empty().to_future().result(0) is None
    assert Completable.complete().to_future().result(0) is None


@pytest.mark.parametrize("face", FACES)
def test_the_error_is_that_of_the_future(face: Any) -> None:
    error = KeyError("no")
    assert face.error(error).to_future().exception(0) is error


def test_several_are_waited_for_together() -> None:
    with ThreadPoolExecutor(2) as pool:
        emitters: list[SingleEmitter[int]] = []
        single = Single.create(emitters.append).to_future()
        pooled = pool.submit(int, "7")
        pool.submit(emitters[0].on_success, 8)
        assert sorted(each.result() for each in as_completed([single, pooled], LIMIT)) == [7, 8]


def test_cancelling_disposes_and_wakes_who_waits() -> None:
    emitters: list[MaybeEmitter[int]] = []
    future = Maybe.create(emitters.append).to_future()
    done: list[int] = []
    waiting = threading.Thread(target=lambda: done.append(len(wait_for([future], LIMIT).done)))
    waiting.start()
    assert future.cancel()
    assert future.cancel()
    waiting.join()
    assert done == [1]
    assert emitters[0].is_cancelled
    assert future.cancelled()
    with pytest.raises(CancelledError):
        future.result(0)


def test_what_has_ended_cannot_be_cancelled() -> None:
    future = Single.just(1).to_future()
    assert not future.cancel()
    assert future.result(0) == 1


def test_an_error_behind_a_cancel_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    emitters: list[SingleEmitter[int]] = []
    future = Single.create(emitters.append).to_future()
    future.cancel()
    with caplog.at_level(logging.DEBUG, logger="rx.core"):
        emitters[0].on_error(KeyError("late"))
    assert ["KeyError('late')" in record.getMessage() for record in caplog.records] == [True]


def cancelled_and_ended(claim: Callable[[Any], None]) -> None:
    emitters: list[SingleEmitter[int]] = []
    future = Single.create(emitters.append).to_future()
    claim(future)
    answers: list[bool] = []
    race(lambda: emitters[0].on_success(1), lambda: answers.append(future.cancel()), watch=[__file__, file_of(StreamFuture)])
    assert answers == [future.cancelled()]
    assert future.cancelled() or future.result(0) == 1


@pytest.mark.stress
def test_a_cancel_and_the_item_agree_on_who_was_first() -> None:
    for _ in rounds():
        cancelled_and_ended(lambda _future: None)


@pytest.mark.stress
def test_the_race_of_the_two_can_fail() -> None:
    def careless(future: Any) -> None:
        def claimed() -> bool:
            free = bool(future._open)
            future._open.clear()
            return free

        future._claimed = claimed

    def once(_number: int) -> None:
        try:
            cancelled_and_ended(careless)
        except (InvalidStateError, RuntimeError) as error:
            raise AssertionError(error) from error

    assert caught(once)


# -- two become a stream ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", [Single, Maybe])
def test_the_items_of_two_become_a_stream(face: Any) -> None:
    assert face.just(1).concat_with(face.just(2)).blocking_list() == [1, 2]
    assert face.just(1).merge_with(face.just(2)).blocking_list() == [1, 2]
    assert face.just(1).start_with(8, 9).blocking_list() == [8, 9, 1]
    assert Maybe.empty().start_with(8, 9).blocking_list() == [8, 9]


def test_two_completables_become_one() -> None:
    order: list[str] = []

    def noted(name: str) -> Completable:
        return Completable.from_action(lambda: order.append(name))

    noted("a").concat_with(noted("b")).blocking_await()
    noted("c").merge_with(noted("d")).blocking_await()
    assert order == ["a", "b", "c", "d"]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("method", ["concat_with", "merge_with"])
def test_what_is_no_source_is_refused(face: Any, method: str) -> None:
    source = Completable.complete() if face is Completable else face.just(1)
    with pytest.raises(TypeError, match=rf"{method}.*\n.*{face.__name__}"):
        getattr(source, method)(3)


# -- after an error ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", [Flowable, Observable, *FACES])
@pytest.mark.parametrize(("when", "ended"), [(None, True), (lambda error: isinstance(error, KeyError), True), (bool, False)])
def test_an_error_is_the_end_where_that_is_said(face: Any, when: Any, ended: bool) -> None:
    class Falsy(KeyError):
        def __bool__(self) -> bool:
            return False

    told: list[str] = []
    made = face.error(Falsy("no")).on_error_complete(*([] if when is None else [when]))
    callbacks = (lambda error: told.append(type(error).__name__), lambda: told.append("complete"))
    if face is Completable:
        made.subscribe(callbacks[1], callbacks[0])
    else:
        made.subscribe(lambda _item: None, *callbacks)
    assert told == ["complete" if ended else "Falsy"]


def test_a_predicate_that_fails_adds_its_error() -> None:
    def failing(_error: Exception) -> bool:
        raise ValueError("predicate")

    with pytest.raises(ExceptionGroup) as raised:
        Flowable.error(KeyError("first")).on_error_complete(failing).blocking_list()
    assert [type(each) for each in raised.value.exceptions] == [KeyError, ValueError]


def test_a_maybe_and_a_completable_go_on_with_another_one() -> None:
    assert Maybe.error(KeyError("no")).on_error_resume_next(lambda _error: Maybe.just(3)).blocking_get() == 3
    done: list[bool] = []
    other = Completable.from_action(lambda: done.append(True))
    Completable.error(KeyError("no")).on_error_resume_next(lambda _error: other).blocking_await()
    assert done == [True]


# -- the rest ------------------------------------------------------------------------------------------------------------------


def test_a_function_over_the_whole_may_stand_in_the_chain() -> None:
    def plus(source: Single[int], n: int, *, times: int = 1) -> Single[int]:
        return source.map(lambda item: (item + n) * times)

    assert Single.just(1).pipe(plus, 2, times=3).blocking_get() == 9
    assert Single.just(1).compose(lambda single: single.map(str)).blocking_get() == "1"
    assert Maybe.just(1).compose(lambda maybe: maybe.filter(lambda n: n > 1)).blocking_get() is None
    assert Completable.complete().pipe(lambda completable: completable.to_single_default(3)).blocking_get() == 3


def test_types_are_checked_and_chosen() -> None:
    assert Single.just(1).cast(int).blocking_get() == 1
    with pytest.raises(TypeError):
        Single.just(1).cast(str).blocking_get()
    assert Single.just(1).of_type(str).blocking_get() is None
    assert Maybe.just("a").of_type(str).blocking_get() == "a"


def test_a_completable_is_a_maybe_without_an_item() -> None:
    assert Completable.complete().to_maybe().blocking_get() is None
    with pytest.raises(KeyError):
        Completable.error(KeyError("no")).to_maybe().blocking_get()
    assert Completable.complete().hide().to_single_default(1).blocking_get() == 1


ONES: dict[str, Any] = {"Single": Single.just(1), "Maybe": Maybe.just(1)}
MANY: dict[str, Any] = {"Flowable": Flowable.of(1), "Observable": Observable.of(1)}


@pytest.mark.parametrize(
    ("face", "source"),
    [
        *((face, source) for face in (Flowable, Observable) for source in ONES.values()),
        *((face, source) for face in (Single, Maybe) for source in MANY.values()),
    ],
)
def test_wrap_refuses_a_source_of_another_number_of_items_and_says_what_to_write(face: Any, source: Any) -> None:
    with pytest.raises(TypeError, match=r"wrap\(\) expected") as raised:
        face.wrap(source)
    names = {kind.__name__: kind for kind in (Flowable, Observable, Single, Maybe)}
    for line in str(raised.value).splitlines()[1:]:
        made = eval(line.split(":", 1)[1].split("#")[0].strip(), {**names, "source": source})
        assert isinstance(made, face)
