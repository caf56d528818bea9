"""Going on after an error, or after nothing: one last item, another source; what each is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException, MissingBackpressureError
from rx_ops import Flowable, PublishProcessor
from rx_testing import ManualPublisher, TestSubscriber

OOPS = ValueError("oops")
Flow = Flowable[Any]


def watch(flow: Flow, request: int = 0) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request)
    flow.subscribe(got)
    return got


def wrapped() -> tuple[ManualPublisher[int], Flow]:
    source = ManualPublisher[int]()
    return source, Flowable.wrap(source)


def test_the_last_item_is_made_at_once_and_given_when_it_is_wanted() -> None:
    source, flow = wrapped()
    made: list[Exception] = []

    def handler(error: Exception) -> int:
        made.append(error)
        return 7

    got = watch(flow.on_error_return(handler), 1)
    source.next(1)
    source.error(OOPS)
    assert made == [OOPS]
    got.assert_values(1).assert_not_terminated()
    got.request(1)
    got.assert_result(1, 7)


def test_the_last_item_is_not_given_to_a_subscriber_that_left_meanwhile() -> None:
    source, flow = wrapped()
    got = watch(flow.on_error_return(lambda _error: 7), 0)
    source.error(OOPS)
    got.cancel()
    got.request(1)
    got.assert_empty()


@pytest.mark.parametrize("name", ["on_error_return", "on_error_resume_next"])
def test_a_handler_that_fails_joins_its_error(name: str) -> None:
    def handler(_error: Exception) -> Any:
        raise StopIteration("handler")

    got = watch(getattr(Flowable.error(OOPS), name)(handler))
    (error,) = got.errors
    assert isinstance(error, CompositeException)
    assert [type(each) for each in error.exceptions] == [ValueError, StopIteration]
    assert any(f"in {name}(" in note for note in error.exceptions[1].__notes__)


FALLBACKS: dict[str, Callable[[Flow, Flow], Flow]] = {
    "on_error_resume_next": lambda flow, other: flow.on_error_resume_next(lambda _error: other),
    "switch_if_empty": lambda flow, other: flow.switch_if_empty(other),
}


def end(name: str, source: ManualPublisher[int]) -> None:
    source.error(OOPS) if name == "on_error_resume_next" else source.complete()


@pytest.mark.parametrize("name", FALLBACKS)
def test_the_other_source_is_subscribed_with_the_end_of_the_first_and_asked_for_what_is_wanted(name: str) -> None:
    (source, flow), (other, fallback) = wrapped(), wrapped()
    got = watch(FALLBACKS[name](flow, fallback))
    assert other.subscribers == 0
    end(name, source)
    assert other.subscribers == 1
    assert other.requested == 0
    got.request(2)
    got.request(1)
    assert other.requested == 3
    other.next(1, 2)
    other.complete()
    got.assert_result(1, 2)


def test_what_the_failed_source_gave_is_taken_off_the_demand() -> None:
    (source, flow), (other, fallback) = wrapped(), wrapped()
    got = watch(flow.on_error_resume_next(lambda _error: fallback), 3)
    source.next(1, 2)
    source.error(OOPS)
    assert other.requested == 1
    other.next(3)
    got.assert_values(1, 2, 3)


@pytest.mark.parametrize("name", FALLBACKS)
def test_a_hot_source_is_heard_from_the_end_of_the_first_on(name: str) -> None:
    (source, flow), hot = wrapped(), PublishProcessor[int]()
    got = watch(FALLBACKS[name](flow, hot))
    end(name, source)
    hot.on_next(1)  # nothing was requested
    got.assert_failure(MissingBackpressureError)


@pytest.mark.parametrize("name", FALLBACKS)
def test_a_source_that_has_ended_is_neither_cancelled_nor_asked(name: str) -> None:
    (source, flow), (other, fallback) = wrapped(), wrapped()
    got = watch(FALLBACKS[name](flow, fallback), 1)
    end(name, source)
    got.request(5)
    got.cancel()
    assert not source.cancelled
    assert source.requested == 1
    assert other.cancelled


def test_the_error_of_the_fallback_is_the_end() -> None:
    handled: list[Exception] = []

    def handler(error: Exception) -> Flow:
        handled.append(error)
        return Flowable.error(KeyError("fallback"))

    watch(Flowable.error(OOPS).on_error_resume_next(handler)).assert_failure(KeyError)
    assert handled == [OOPS]


def test_a_source_with_an_item_is_not_followed_by_another() -> None:
    source, flow = wrapped()
    other, fallback = wrapped()
    got = watch(flow.switch_if_empty(fallback), 5)
    source.next(1)
    source.complete()
    got.assert_result(1)
    assert other.subscribers == 0


@pytest.mark.parametrize("name", FALLBACKS)
def test_a_wrong_request_is_answered_whichever_source_runs(name: str) -> None:
    over: Flow = Flowable.error(OOPS) if name == "on_error_resume_next" else Flowable.empty()
    for first in (Flowable.never(), over):
        got = watch(FALLBACKS[name](first, Flowable.never()))
        assert got.subscription is not None
        got.subscription.request(-1)
        got.assert_failure(ValueError, match=r"3\.9")
