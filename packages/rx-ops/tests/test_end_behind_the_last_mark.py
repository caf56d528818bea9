"""What stages do at the end is done when an earlier one says that its item is the last, and nothing more is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import hooks
from rx_fusion import fusion_off
from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber

Flow = Flowable[Any]
SOURCES: dict[str, Callable[[], Flow]] = {
    "list": lambda: Flowable.from_iterable([1, 2, 3]),
    "running": lambda: Flowable.concat(Flowable.from_iterable([1, 2, 3])),
    "hidden": lambda: Flowable.of(1, 2, 3).hide(),
}


@pytest.mark.parametrize("off", [False, True], ids=["fused", "off"])
@pytest.mark.parametrize("kind", SOURCES)
def test_do_on_complete_behind_take_is_called_with_the_last_item_requested(kind: str, off: bool) -> None:
    log: list[str] = []
    subscriber: TestSubscriber[Any] = TestSubscriber(request=2, on_value=lambda x: log.append(f"next {x}"))
    flow = SOURCES[kind]().take(2).do_on_complete(lambda: log.append("end"))
    if off:
        with fusion_off():
            flow.subscribe(subscriber)
    else:
        flow.subscribe(subscriber)
    subscriber.assert_result(1, 2)
    assert log == ["next 1", "next 2", "end"]


def test_what_it_raises_is_the_error_of_the_stream() -> None:
    def fail() -> None:
        raise ValueError("at the end")

    subscriber: TestSubscriber[Any] = TestSubscriber(request=2)
    Flowable.from_iterable([1, 2, 3]).take(2).do_on_complete(fail).subscribe(subscriber)
    subscriber.assert_failure(ValueError, 1, 2)


def test_one_that_cancels_ends_without_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    lost: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: lost.append(error))
    subscriber: TestSubscriber[Any] = TestSubscriber(request=2)
    Flowable.from_iterable([1, 2, 3]).take(2).do_on_complete(subscriber.cancel).subscribe(subscriber)
    subscriber.assert_values(1, 2).assert_not_terminated()
    assert lost == []


def test_the_source_is_cancelled_as_before() -> None:
    source: ManualPublisher[int] = ManualPublisher()
    ends: list[str] = []
    subscriber: TestSubscriber[Any] = TestSubscriber(request=1)
    Flowable.concat(source).take(1).do_on_complete(lambda: ends.append("end")).subscribe(subscriber)
    source.next(1)
    subscriber.assert_result(1)
    assert source.cancelled
    assert ends == ["end"]
