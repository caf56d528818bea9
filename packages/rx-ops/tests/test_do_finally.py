"""do_finally: its action is called once, however the stream ends, also when it never began."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from rx_core import Subscription, hooks
from rx_fusion import fusion_off
from rx_ops import Completable, Flowable, Single
from rx_testing import ManualPublisher, TestSubscriber


class Leaving:
    """Cancels while it is given its Subscription."""

    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.cancel()

    def on_next(self, item: object, /) -> None:
        raise AssertionError(item)

    def on_error(self, error: Exception, /) -> None:
        raise AssertionError(error)

    def on_complete(self) -> None:
        raise AssertionError("complete")


BUILD: dict[str, Callable[[Flowable[int], Callable[[], None]], Flowable[Any]]] = {
    "last": lambda flow, action: flow.do_finally(action),
    "before stages": lambda flow, action: flow.do_finally(action).map(str).take(3),
    "behind a stage": lambda flow, action: flow.map(str).do_finally(action),
    "behind a wall": lambda flow, action: flow.do_finally(action).hide(),
    "before another operator": lambda flow, action: flow.do_finally(action).concat_map(Flowable.just),
    "of one item": lambda flow, action: flow.count().do_finally(action).to_flowable(),
}


@pytest.mark.parametrize("build", BUILD.values(), ids=list(BUILD))
@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
def test_it_is_called_when_the_subscriber_leaves_at_once(build: Callable[..., Flowable[Any]], off: bool) -> None:
    calls: list[str] = []
    flow = build(Flowable.range(3), lambda: calls.append("left"))
    if off:
        with fusion_off():
            flow.subscribe(Leaving())
    else:
        flow.subscribe(Leaving())
    assert calls == ["left"]


def test_behind_somebody_elses_publisher_as_well() -> None:
    calls: list[str] = []
    Flowable.wrap(ManualPublisher[int]()).do_finally(lambda: calls.append("left")).subscribe(Leaving())
    assert calls == ["left"]


def test_each_of_several_is_called_once_as_after_a_cancel_later_on() -> None:
    calls: list[int] = []
    flow = Flowable.never().do_finally(lambda: calls.append(1)).do_finally(lambda: calls.append(2))
    flow.subscribe(Leaving())
    at_once, calls[:] = list(calls), []
    flow.subscribe(lambda _item: None).dispose()
    assert sorted(at_once) == sorted(calls) == [1, 2]


def test_what_it_raises_then_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    errors: list[BaseException] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))

    def broken() -> None:
        raise OSError(1)

    Flowable.range(3).do_finally(broken).subscribe(Leaving())
    assert [type(error) for error in errors] == [OSError]


def test_singles_and_completables_call_theirs() -> None:
    calls: list[str] = []
    Single.just(1).do_finally(lambda: calls.append("single")).subscribe(lambda _: None).dispose()
    Completable.never().do_finally(lambda: calls.append("completable")).subscribe(lambda: None).dispose()
    assert calls == ["single", "completable"]


def test_at_the_end_the_last_of_several_comes_first_and_at_a_cancel_the_first() -> None:
    log: list[str] = []
    source = ManualPublisher[int]()
    flow = Flowable.wrap(source).do_finally(lambda: log.append("first")).do_finally(lambda: log.append("last"))
    flow.subscribe(lambda _item: None, on_complete=lambda: log.append("complete"))
    source.complete()
    assert log == ["complete", "last", "first"]
    log.clear()
    flow.do_on_cancel(lambda: log.append("cancel")).subscribe(lambda _item: None).dispose()
    assert log == ["cancel", "first", "last"]


def test_it_is_called_when_a_subscriber_raises_and_when_an_interrupt_passes() -> None:
    for error in (ValueError("subscriber"), KeyboardInterrupt()):
        calls: list[str] = []

        def fail(_item: int, error: BaseException = error) -> None:
            raise error

        flow = Flowable.range(3).do_finally(partial(calls.append, "left"))
        with pytest.raises(type(error)):
            flow.subscribe(TestSubscriber(on_value=fail))
        assert calls == ["left"]


def test_it_is_called_when_an_interrupt_stops_what_is_before_it() -> None:
    calls: list[str] = []

    def interrupted(_item: int) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Flowable.range(3).map(interrupted).do_finally(lambda: calls.append("left")).subscribe(lambda _item: None)
    assert calls == ["left"]
