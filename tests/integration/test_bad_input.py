"""What users get wrong: each mistake gives an error that names the operator and says what to do, and nothing hangs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rx_schedulers
from rx_core import CompositeException, OperatorNotFoundError, WorkerInterruptedError, hooks
from rx_ops import Completable, Flowable, Maybe, Single, call, it
from rx_testing import ManualPublisher, TestSubscriber
from tests.plugins.cold import cold

FLOW: Any = Flowable.of(1, 2, 3)

ASSEMBLY: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "just None": (lambda: Flowable.just(None), TypeError, r"just\(None\)"),
    "of None": (lambda: Flowable.of(1, None), TypeError, "of"),
    "single None": (lambda: Single.just(None), TypeError, r"just\(None\)"),
    "no iterable": (lambda: Flowable.from_iterable(5), TypeError, r"Flowable\.just\(5\)"),  # type: ignore[arg-type]  # the mistake
    "no publisher": (lambda: Flowable.wrap(5), TypeError, r"wrap\(\)"),  # type: ignore[arg-type]  # the mistake
    "map of no function": (lambda: FLOW.map(5), TypeError, r"map\(\) expected a function"),
    "filter of no function": (lambda: FLOW.filter(None), TypeError, r"filter\(\) expected a function"),
    "take of text": (lambda: FLOW.take("3"), TypeError, r"take\(count='3'\)"),
    "take of a bool": (lambda: FLOW.take(True), TypeError, r"take\(count=True\)"),
    "take less than nothing": (lambda: FLOW.take(-1), ValueError, r"take\(count=-1\)"),
    "buffer 0": (lambda: FLOW.buffer(0), ValueError, r"buffer\(count=0\)"),
    "buffer skip 0": (lambda: FLOW.buffer(1, 0), ValueError, r"buffer\(skip=0\)"),
    "prefetch 0": (lambda: FLOW.flat_map(Flowable.just, prefetch=0), ValueError, r"flat_map\(prefetch=0\)"),
    "no concurrency": (lambda: FLOW.flat_map(Flowable.just, max_concurrency=0), ValueError, "max_concurrency=0"),
    "time as text": (lambda: FLOW.delay("1s"), TypeError, r"delay\(seconds='1s'\)"),
    "negative time": (lambda: FLOW.timeout(-1), ValueError, r"timeout\(seconds=-1\)"),
    "not a time": (lambda: Flowable.timer(float("nan")), ValueError, r"timer\(seconds=nan\)"),
    "concat of a list": (lambda: Flowable.concat(FLOW, [1]), TypeError, r"concat\(\)(.|\n)*from_iterable\(\[1\]\)"),  # type: ignore[call-overload]  # the mistake
    "merge of a value": (lambda: Flowable.merge(FLOW, 5), TypeError, r"merge\(\)(.|\n)*just\(5\)"),  # type: ignore[call-overload]  # the mistake
    "zip of a value": (lambda: FLOW.zip_with(5), TypeError, "zip"),
    "unknown operator": (lambda: FLOW.mapp(str), OperatorNotFoundError, r"no operator 'mapp'(.|\n)*\.map"),
    "error of no error": (lambda: Flowable.error("text"), TypeError, r"error\(\)"),  # type: ignore[arg-type]  # the mistake
    "create by no strategy": (lambda: Flowable.create(print, "buffer"), TypeError, "BackpressureStrategy"),  # type: ignore[arg-type]  # the mistake
}


@pytest.mark.parametrize(("build", "error", "match"), ASSEMBLY.values(), ids=list(ASSEMBLY))
def test_a_bad_argument_raises_at_assembly(build: Callable[[], object], error: type[Exception], match: str) -> None:
    with cold(), pytest.raises(error, match=match):
        build()


@pytest.mark.parametrize("source", [Flowable.just(1), Single.just(1), Maybe.just(1), Completable.complete()])
def test_subscribe_none_raises(source: Any) -> None:
    with pytest.raises(TypeError, match=r"subscribe\(None\)"):
        source.subscribe(None)


def test_an_unusable_subscriber_raises() -> None:
    with pytest.raises(TypeError, match="on_next must be a function"):
        FLOW.subscribe(5)
    with pytest.raises(TypeError, match="brings its own"):
        FLOW.subscribe(TestSubscriber(), on_error=print)


@pytest.mark.parametrize("name", ["flat_map", "concat_map"])
@pytest.mark.parametrize(
    ("returned", "hint"), [(5, r"\.map\("), ([1], r"\.flat_map_iterable\("), (None, r"\.map\("), ("ab", r"\.flat_map_iterable")]
)
def test_a_mapper_that_returns_no_source_is_told_what_to_write(name: str, returned: object, hint: str) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    getattr(FLOW, name)(lambda _x: returned).subscribe(got)
    got.assert_failure(TypeError, match=rf"{name}\(\) expected a function returning a publisher(.|\n)*{hint}")


@pytest.mark.parametrize("returned", [None, 5, [1]])
def test_a_supplier_or_handler_that_returns_no_source_is_named(returned: Any) -> None:
    got: TestSubscriber[Any] = TestSubscriber()
    Flowable.defer(lambda: returned).subscribe(got)
    got.assert_failure(TypeError, match=r"defer\(\)")
    second: TestSubscriber[Any] = TestSubscriber()
    Flowable.error(OSError()).on_error_resume_next(lambda _e: returned).subscribe(second)
    second.assert_failure(CompositeException)
    assert any("on_error_resume_next()" in str(error) for error in second.errors[0].exceptions)  # type: ignore[attr-defined]  # it is the group


def test_none_from_an_iterable_is_an_error_for_every_consumer() -> None:
    flow: Any = Flowable.from_iterable([1, None, 2])
    for consume in (list, lambda f: f.blocking_list(), lambda f: f.blocking_last(), lambda f: f.count().blocking_get()):
        with pytest.raises(TypeError, match="from_iterable produced None"):
            consume(flow)
    with pytest.raises(TypeError, match="from_iterable produced None"):
        flow.map(str).hide().blocking_list()


def test_a_generator_as_source_raises_when_it_is_subscribed_again() -> None:
    flow = Flowable.from_iterable(x for x in range(3))
    assert flow.blocking_list() == [0, 1, 2]
    for again in (flow, flow.map(str), flow.hide(), flow.merge_with(Flowable.never())):
        got: TestSubscriber[Any] = TestSubscriber()
        again.subscribe(got)
        got.assert_failure(RuntimeError, match=r"was used by an earlier subscription(.|\n)*defer")
    with pytest.raises(RuntimeError, match="earlier subscription"):
        list(flow)


def test_leaving_a_loop_closes_the_users_generator_at_once() -> None:
    events: list[str] = []

    def items() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            events.append("closed")

    builds: list[Callable[[Any], Any]]
    builds = [lambda f: f, lambda f: f.map(str), lambda f: f.hide(), lambda f: f.merge_with(Flowable.never())]
    for build in builds:
        events.clear()
        flow: Any = build(Flowable.defer(lambda: Flowable.from_iterable(items())))
        for _item in flow:
            break
        assert events == ["closed"], repr(flow)
    events.clear()
    assert Flowable.from_iterable(items()).blocking_first() == 0
    assert events == ["closed"]


def test_an_error_after_the_end_reaches_the_hook_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[Exception] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: dropped.append(error))
    late = OSError("late")
    builds: list[Callable[[Any], Any]]
    builds = [lambda f: f, lambda f: f.map(str), lambda f: f.take(1), lambda f: f.merge_with(Flowable.empty())]
    for build in builds:
        source: ManualPublisher[int] = ManualPublisher(unchecked=True)
        got: TestSubscriber[Any] = TestSubscriber()
        build(Flowable.wrap(source)).subscribe(got)
        source.next(1)
        source.complete()
        source.error(late)
        got.assert_complete()
        assert dropped == [late]
        dropped.clear()


def test_without_a_hook_a_lost_error_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        Flowable.error(OSError("nobody listens")).subscribe(lambda _item: None)
    assert "nobody listens" in caplog.text


def test_a_system_exit_on_another_thread_does_not_leave_the_waiting_one_hanging(no_leaks: None) -> None:
    def leave(_item: int) -> int:
        raise SystemExit(3)

    scheduler = rx_schedulers.new_thread()
    for flow in (
        Flowable.just(1).subscribe_on(scheduler).map(leave),
        Flowable.just(1).map(leave).subscribe_on(scheduler),
        Flowable.just(1).observe_on(scheduler).map(leave),
    ):
        with pytest.raises((WorkerInterruptedError, SystemExit)):
            flow.first_element().blocking_get(seconds=5)


def leave_for_first(leave: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda item, _other: leave(item)


@pytest.mark.parametrize(
    "build",
    [
        lambda flow, leave: flow.map(leave),
        lambda flow, leave: flow.map(leave).hide().map(str),
        lambda flow, leave: flow.do_on_next(leave).take(3),
        lambda flow, leave: flow.buffer(1).map(leave),
        lambda flow, leave: flow.merge_with(Flowable.never()).map(leave),
        lambda flow, leave: flow.merge_with(Flowable.never()).map(leave).take(3),
        lambda flow, leave: flow.flat_map(lambda item: Flowable.from_iterable(leave(item))),
        lambda flow, leave: flow.flat_map_iterable(leave),
        lambda flow, leave: flow.concat_map(lambda item: Flowable.from_iterable(leave(item))),
        lambda flow, leave: flow.switch_map(lambda item: Flowable.from_iterable(leave(item))),
        lambda flow, leave: flow.group_by(leave).flat_map(lambda group: group),
        lambda flow, leave: flow.zip_with(flow, leave_for_first(leave)),
        lambda flow, leave: flow.with_latest_from(Flowable.just(0), combiner=leave_for_first(leave)),
        lambda flow, leave: Flowable.combine_latest(flow, Flowable.just(0), combiner=leave_for_first(leave)),
        lambda flow, leave: flow.scan(lambda _total, item: leave(item)),
        lambda flow, leave: flow.take_until(predicate=lambda item: not leave(item)).distinct(lambda _item: 0),
        lambda flow, leave: flow.publish(lambda shared: shared.map(leave)),
        lambda flow, leave: flow.delay(selector=lambda item: Flowable.from_iterable(leave(item))),
        lambda flow, leave: flow.debounce(selector=lambda item: Flowable.from_iterable(leave(item))),
        lambda flow, leave: flow.skip(1).timeout(selector=lambda item: Flowable.never().start_with(*leave(item))),
    ],
)
def test_an_exit_in_a_function_that_another_thread_pushes_through_ends_the_stream(build: Callable[[Any, Any], Any]) -> None:
    def leave(item: object) -> Any:
        if item in (2, [2]):  # not the first: by then some go past the queue
            raise SystemExit(3)
        return (item,)

    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber()
    build(Flowable.wrap(source), leave).subscribe(got)
    left: list[BaseException] = []

    def push() -> None:
        source.next(1)
        try:
            source.next(2)
        except SystemExit as exit:
            left.append(exit)

    thread = threading.Thread(target=push)
    thread.start()
    thread.join(10.0)
    assert [str(each) for each in left] == ["3"]  # it is not swallowed: it belongs to the thread
    assert isinstance(got.error, WorkerInterruptedError), got
    assert len(got.values) == 1
    assert source.cancelled


def test_an_interrupt_in_a_function_passes_and_ends_the_run() -> None:
    def interrupt(item: int) -> int:
        if item == 1:
            raise KeyboardInterrupt
        return item

    got: TestSubscriber[int] = TestSubscriber(request=1)
    Flowable.range(5).map(interrupt).subscribe(got)
    with pytest.raises(KeyboardInterrupt):
        got.request(1)
    got.request(5)  # must not find a dead generator and complete
    got.assert_values(0).assert_not_terminated()


def test_blocking_with_a_time_limit_says_what_did_not_end() -> None:
    with pytest.raises(TimeoutError, match="never"):
        Single.never().blocking_get(seconds=0.01)


def test_a_cancel_that_fails_does_not_reach_the_caller(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise OSError("no")

    with caplog.at_level(logging.ERROR):
        got: TestSubscriber[Any] = TestSubscriber()
        Flowable.create(lambda emitter: emitter.set_cancellable(fail)).subscribe(got)
        got.cancel()  # RS 3.15
    assert "OSError('no')" in caplog.text


class Silent:
    """A function that cannot show itself."""

    def __call__(self, item: int) -> int:
        return 6 // item

    def __repr__(self) -> str:
        raise ValueError("not to be shown")


def test_a_function_that_cannot_show_itself_is_used_all_the_same() -> None:
    flow = Flowable.of(2, 0).map(Silent())
    assert flow.take(1).blocking_list() == [3]
    with pytest.raises(ZeroDivisionError):
        flow.blocking_list()
    assert "Silent object at" in repr(flow)
    assert "Silent object at" in flow.explain()


def test_a_constant_that_cannot_show_itself_is_used_all_the_same() -> None:
    flow = Flowable.of(2, 0).map(call(Silent(), it))
    assert flow.take(1).blocking_list() == [3]
    with pytest.raises(ZeroDivisionError):
        flow.blocking_list()
    assert "Silent object at" in repr(flow)
