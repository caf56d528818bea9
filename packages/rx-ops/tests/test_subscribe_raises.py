"""Sources whose subscribe raises (RS 1.9): that is their error, wherever they are subscribed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import FlowableBase, Subscriber, hooks
from rx_ops import Flowable, PublishProcessor, Single
from rx_testing import TestSubscriber

Flow = Flowable[Any]


class NoRoute(OSError):
    pass


class Broken:
    def __init__(self) -> None:
        self.tries = 0

    def subscribe(self, _subscriber: Subscriber[Any], /) -> None:
        self.tries += 1
        raise NoRoute


class BrokenBase(FlowableBase[Any]):
    def __init__(self) -> None:
        self.tries = 0

    def subscribe_actual(self, _subscriber: Subscriber[Any], /) -> None:
        self.tries += 1
        raise NoRoute


BEHIND: dict[str, Callable[[Flow, Any], Flow]] = {
    "concat_with": lambda first, broken: first.concat_with(Flowable.wrap(broken)),
    "switch_if_empty": lambda first, broken: first.skip(1).switch_if_empty(Flowable.wrap(broken)),
    "filter_when": lambda first, broken: first.filter_when(lambda _: broken),
    "delay_subscription": lambda first, broken: Flowable.wrap(broken).delay_subscription(until=first),
    "flat_map": lambda first, broken: first.flat_map(lambda _: broken),
    "concat_map": lambda first, broken: first.concat_map(lambda _: Flowable.wrap(broken).map(str)),
    "on_error_resume_next": lambda first, broken: first.map(lambda n: n // 0).on_error_resume_next(lambda _: broken),
}


@pytest.mark.parametrize("broken", [Broken, BrokenBase])
@pytest.mark.parametrize("name", BEHIND)
def test_behind_a_source_that_pushes_it_is_signalled(name: str, broken: Callable[[], Any]) -> None:
    processor = PublishProcessor[int]()
    subscriber = TestSubscriber[Any]()
    BEHIND[name](processor, broken()).subscribe(subscriber)
    processor.on_next(1)
    processor.on_complete()
    (error,) = subscriber.errors
    assert isinstance(error, NoRoute)


@pytest.mark.parametrize("broken", [Broken, BrokenBase])
@pytest.mark.parametrize("stages", [lambda flow: flow, lambda flow: flow.map(str), lambda flow: flow.hide()])
def test_it_is_an_error_that_can_be_handled(broken: Callable[[], Any], stages: Callable[[Flow], Flow]) -> None:
    source = broken()
    subscriber = TestSubscriber[Any]()
    stages(Flowable.wrap(source)).retry(2).on_error_return(repr).subscribe(subscriber)
    subscriber.assert_values("NoRoute()").assert_complete()
    assert source.tries == 3
    with pytest.raises(NoRoute):
        Single.wrap(Flowable.wrap(broken()).first()).blocking_get()


def test_what_the_subscriber_raises_in_its_on_subscribe_goes_to_the_caller_and_the_source_is_left() -> None:
    class Raising(TestSubscriber[int]):
        def on_subscribe(self, subscription: Any, /) -> None:
            raise ZeroDivisionError

    class Sending:
        cancelled = False

        def subscribe(self, subscriber: Subscriber[int], /) -> None:
            subscriber.on_subscribe(self)

        def request(self, _n: int, /) -> None:
            pass

        def cancel(self) -> None:
            self.cancelled = True

    source = Sending()
    raising = Raising()
    with pytest.raises(ZeroDivisionError):
        Flowable.wrap(source).map(str).subscribe(raising)  # type: ignore[arg-type]  # it takes what comes
    assert source.cancelled
    assert raising.errors == []


def test_a_hook_that_raises_for_a_later_source_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(source: object, subscriber: Any) -> Any:
        if repr(source).startswith("just(9)"):
            raise NoRoute
        return subscriber

    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_subscribe", refused)
    processor = PublishProcessor[int]()
    subscriber = TestSubscriber[int]()
    processor.concat_with(Flowable.just(9).hide()).subscribe(subscriber)
    processor.on_complete()
    (error,) = subscriber.errors
    assert isinstance(error, NoRoute)
