"""PassThrough: both directions go straight through, and nothing goes up or down after an end or a cancel."""

from __future__ import annotations

from typing import Any

import pytest

from rx_core import hooks
from rx_core.streams import PassThrough, Stream
from rx_testing import TestSubscriber

OOPS = ValueError("oops")


class Source(Stream[Any]):
    """Writes down what it is asked for; its subscriber can be told anything."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.down: Any = None
        self.raises: BaseException | None = None

    def _subscribe_items(self, subscriber: Any, /) -> None:
        self.down = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.calls.append(n)
        if self.raises is not None:
            raise self.raises

    def cancel(self) -> None:
        self.calls.append("cancel")


def watched(request: int = 3, **options: Any) -> tuple[Source, TestSubscriber[Any], PassThrough[Any]]:
    source = Source()
    got: TestSubscriber[Any] = TestSubscriber(request, **options)
    through: PassThrough[Any] = PassThrough(got, source)  # type: ignore[arg-type]  # a Stream is no Publisher by its type
    assert through.start()
    return source, got, through


def test_signals_and_requests_pass_and_the_subscriber_gets_its_own_subscription() -> None:
    source, got, through = watched()
    assert got.subscription is through
    source.down.on_next(1)
    got.request(2)
    source.down.on_complete()
    got.assert_result(1)
    assert source.calls == [3, 2]


def test_a_wrong_request_is_for_the_source_to_answer() -> None:
    source, got, _ = watched()
    assert got.subscription is not None
    got.subscription.request(0)
    assert source.calls == [3, 0]


@pytest.mark.parametrize("error", [None, OOPS])
def test_nothing_goes_up_after_the_end(error: Exception | None) -> None:
    source, got, through = watched()
    source.down.on_complete() if error is None else source.down.on_error(error)
    got.request(1)
    got.cancel()
    assert source.calls == [3]
    assert through.is_disposed


def test_nothing_goes_down_after_a_cancel_but_an_error_goes_to_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    errors: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: errors.append(error))
    source, got, through = watched()
    got.cancel()
    got.cancel()
    got.request(1)
    source.down.on_next(1)
    source.down.on_error(OOPS)
    got.assert_empty()
    assert source.calls == [3, "cancel"]
    assert errors == [OOPS]
    assert through.down is not got


def test_a_second_subscription_is_refused() -> None:
    source, got, through = watched()
    second = Source()
    source.down.on_subscribe(second)
    assert second.calls == ["cancel"]
    assert got.subscription is through


def test_a_subscriber_that_raises_counts_as_cancelled() -> None:
    def fail(_item: Any) -> None:
        raise OOPS

    source, _, through = watched(on_value=fail)
    with pytest.raises(ValueError, match="oops"):
        source.down.on_next(1)
    assert source.calls == [3, "cancel"]
    assert through.is_disposed


def test_an_interrupt_that_a_request_lets_out_counts_as_a_cancel() -> None:
    source, got, through = watched(0)
    source.raises = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        got.request(1)
    assert source.calls == [1, "cancel"]
    assert through.is_disposed
