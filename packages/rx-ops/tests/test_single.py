"""Single, Maybe and Completable: streams of at most one item."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException, EmptyStreamError, SingleBase
from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Maybe, Single
from rx_testing import ManualPublisher, TestMaybeObserver, VirtualScheduler

OOPS = OSError("oops")


def observed(source: Any) -> TestMaybeObserver[Any]:
    got: TestMaybeObserver[Any] = TestMaybeObserver()
    source.subscribe(got)
    return got


class Foreign(SingleBase[int]):
    """Somebody's Single that answers at once."""

    def subscribe_actual(self, observer: Any, /) -> None:
        from rx_core import FlagDisposable

        observer.on_subscribe(FlagDisposable())
        observer.on_success(5)


RESULTS: dict[str, tuple[Callable[[], Any], tuple[Any, ...]]] = {
    "just": (lambda: Single.just(1), (1,)),
    "from_callable": (lambda: Single.from_callable(lambda: 1), (1,)),
    "defer": (lambda: Single.defer(lambda: Single.just(1)), (1,)),
    "wrap": (lambda: Single.wrap(Foreign()).map(str), ("5",)),
    "map": (lambda: Single.just(1).map(str), ("1",)),
    "starmap": (lambda: Single.just((2, 3)).starmap(max), (3,)),
    "maybe starmap": (lambda: Maybe.just((2, 3)).starmap(max), (3,)),
    "flat_map": (lambda: Single.just(1).flat_map(lambda x: Single.just(x + 1)), (2,)),
    "flat_map foreign": (lambda: Single.just(1).flat_map(lambda _x: Foreign()), (5,)),
    "filter": (lambda: Single.just(1).filter(lambda x: x > 1), ()),
    "zip": (lambda: Single.zip(Single.just(1), Foreign()), ((1, 5),)),
    "zip_with": (lambda: Single.just(1).zip_with(Single.just(2), lambda a, b: a + b), (3,)),
    "hide": (lambda: Single.just(1).hide().map(str), ("1",)),
    "on_error_return": (lambda: Single.error(OOPS).on_error_return(lambda error: 7), (7,)),
    "on_error_resume_next": (lambda: Single.error(OOPS).on_error_resume_next(lambda error: Single.just(8)), (8,)),
    "to_maybe": (lambda: Single.just(1).to_maybe(), (1,)),
    "ignore_element": (lambda: Single.just(1).ignore_element(), ()),
    "maybe empty": (lambda: Maybe.empty(), ()),
    "maybe from None": (lambda: Maybe.from_callable(lambda: None), ()),
    "maybe map": (lambda: Maybe.just(1).map(str), ("1",)),
    "maybe map empty": (lambda: Maybe.empty().map(str), ()),
    "maybe zip empty": (lambda: Maybe.zip(Maybe.just(1), Maybe.empty()), ()),
    "complete": (lambda: Completable.complete(), ()),
    "from_action": (lambda: Completable.from_action(list), ()),
    "and_then": (lambda: Completable.complete().and_then(Single.just(3)), (3,)),
    "to_single_default": (lambda: Completable.complete().to_single_default(4), (4,)),
    "of a stream": (lambda: Flowable.range(5).sum(), (10,)),
}


@pytest.mark.parametrize(("build", "expected"), RESULTS.values(), ids=list(RESULTS))
def test_the_result(build: Callable[[], Any], expected: tuple[Any, ...]) -> None:
    source = build()
    observed(source).assert_result(*expected)
    observed(source).assert_result(*expected)  # again, from the start
    if isinstance(source, Completable):
        source.blocking_await()
    elif expected:
        assert source.blocking_get() == expected[0]


FAILURES: dict[str, Callable[[], Any]] = {
    "error": lambda: Single.error(OOPS),
    "map": lambda: Single.just(1).map(_fail),
    "flat_map": lambda: Single.just(1).flat_map(_fail),
    "filter": lambda: Single.just(1).filter(_fail),
    "zip": lambda: Single.zip(Single.just(1), Single.error(OOPS)),
    "from_callable": lambda: Single.from_callable(_fail),
    "maybe": lambda: Maybe.error(OOPS).map(str),
    "action": lambda: Completable.from_action(_fail),
    "and_then": lambda: Completable.error(OOPS).and_then(Single.just(1)),
    "hide": lambda: Single.error(OOPS).hide(),
}


def _fail(*_items: object) -> Any:
    raise OOPS


@pytest.mark.parametrize("build", FAILURES.values(), ids=list(FAILURES))
def test_the_failure(build: Callable[[], Any]) -> None:
    source = build()
    observed(source).assert_error(OOPS)
    with pytest.raises(OSError, match="oops"):
        source.blocking_await() if isinstance(source, Completable) else source.blocking_get()


_nothing: Any = lambda _item: None  # noqa: E731  # untyped on purpose: a type checker would refuse the mistake
_itself: Any = lambda item: item  # noqa: E731


@pytest.mark.parametrize(
    "build",
    [
        lambda: Single.from_callable(lambda: None),
        lambda: Single.just(1).map(lambda _x: None),
        lambda: Single.just(1).flat_map(_nothing),
        lambda: Single.just(1).flat_map(_itself),
    ],
)
def test_none_and_no_source_are_type_errors(build: Callable[[], Any]) -> None:
    observed(build()).assert_error(TypeError)


def test_an_empty_stream_is_no_single() -> None:
    nothing: Flowable[int] = Flowable.empty()
    observed(nothing.first()).assert_error(EmptyStreamError)
    observed(nothing.first(3)).assert_result(3)
    observed(nothing.first_element()).assert_result()
    assert nothing.first_element().blocking_get() is None
    with pytest.raises(EmptyStreamError):
        nothing.first().blocking_get()


def test_a_maybe_waits_for_the_end_of_its_source() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got = observed(Flowable.wrap(source).reduce(lambda a, b: a + b))
    source.next(1, 2)
    got.assert_empty()
    source.complete()
    got.assert_result(3)


def test_disposing_reaches_the_source() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got = observed(Flowable.wrap(source).first())
    got.dispose()
    assert source.cancelled
    got.assert_not_terminated()


def test_handlers_that_fail_give_both_errors() -> None:
    got = observed(Single.error(OOPS).on_error_return(lambda _error: 1 // 0))
    assert isinstance(got.errors[0], CompositeException)
    assert [type(error) for error in got.errors[0].exceptions] == [OSError, ZeroDivisionError]


def test_do_on_success_error_and_finally_are_called_once() -> None:
    events: list[str] = []
    Single.just("a").do_on_success(events.append).do_finally(lambda: events.append("end")).subscribe(lambda _item: None)
    assert events == ["a", "end"]
    events.clear()
    observed(Single.error(OOPS).do_on_error(lambda error: events.append(str(error))))
    assert events == ["oops"]


def test_retry_subscribes_again() -> None:
    attempts: list[int] = []

    def attempt() -> int:
        attempts.append(1)
        if len(attempts) < 3:
            raise OOPS
        return len(attempts)

    observed(Single.from_callable(attempt).retry()).assert_result(3)
    attempts.clear()
    observed(Single.from_callable(attempt).retry(1)).assert_error(OOPS)


def test_threads_change_with_observe_on_and_subscribe_on() -> None:
    clock = VirtualScheduler()
    got = observed(Single.just(1).observe_on(clock))
    got.assert_empty()
    clock.run_due()
    got.assert_result(1)
    second = observed(Single.just(1).subscribe_on(clock).map(str))
    second.assert_empty()
    clock.run_due()
    second.assert_result("1")


def test_time_limits_of_blocking_ends() -> None:
    with pytest.raises(TimeoutError):
        Maybe.never().blocking_get(seconds=0.01)
    with pytest.raises(TimeoutError):
        Completable.never().blocking_await(seconds=0.01)
    with pytest.raises(ValueError, match="negative"):
        Single.just(1).blocking_get(seconds=-1)


def test_without_fusion_a_completable_before_a_single_is_no_single_without_an_item() -> None:
    with fusion_off():
        assert Completable.complete().and_then(Single.just(3)).blocking_get() == 3
        assert Completable.complete().to_single_default(4).blocking_get() == 4
