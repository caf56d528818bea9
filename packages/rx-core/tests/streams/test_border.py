"""The border in front of a foreign source: what it is sent, and how a wrong request is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rx_core.gate
import rx_core.streams
from rx_core import UNBOUNDED, MissingBackpressureError, hooks
from rx_core.streams import Border, Entry, subscribe
from rx_testing import TestSubscriber
from rx_testing.racing import interrupted

WATCHED = [rx_core.streams.__path__[0], rx_core.gate.__file__, __file__]
OOPS = ValueError("oops")


class Source:
    """Records what it is sent. ``answer`` is called inside each request."""

    def __init__(self, answer: Callable[[int], object] | None = None) -> None:
        self.calls: list[Any] = []
        self.inside = 0
        self.most = 0
        self.down: Any = None
        self.answer = answer

    def subscribe(self, subscriber: Any, /) -> None:
        self.down = subscriber
        subscriber.on_subscribe(self)

    def request(self, n: int, /) -> None:
        self.calls.append(n)
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.answer is not None:
            self.answer(n)
        self.inside -= 1

    def cancel(self) -> None:
        self.calls.append("cancel")


class Told:
    """A subscriber that does something inside a signal, and notes whether signals are inside one another."""

    def __init__(self, request: int = 0) -> None:
        self.signals: list[Any] = []
        self.nested = False
        self.up: Any = None
        self.inside: dict[str, Callable[[], object]] = {}
        self._request = request
        self._depth = 0

    def _tell(self, name: str, signal: Any) -> None:
        self.nested |= self._depth > 0
        self._depth += 1
        self.signals.append(signal)
        self.inside.get(name, lambda: None)()
        self._depth -= 1

    def on_subscribe(self, up: Any, /) -> None:
        self.up = up
        self._tell("on_subscribe", "subscribed")
        if self._request:
            up.request(self._request)

    def on_next(self, item: Any, /) -> None:
        self._tell("on_next", item)

    def on_error(self, error: Exception, /) -> None:
        self._tell("on_error", type(error))

    def on_complete(self) -> None:
        self._tell("on_complete", "end")


def watched(request: int = 0, answer: Callable[[int], object] | None = None) -> tuple[Source, Told]:
    source, got = Source(answer), Told(request)
    subscribe(source, got)
    return source, got


# -- the end ----------------------------------------


@pytest.mark.parametrize("end", ["complete", "fail"])
def test_nothing_is_sent_to_a_source_inside_its_end_or_after_it(end: str) -> None:
    source, got = watched(2)

    def call() -> None:
        got.up.request(1)
        got.up.request(0)
        got.up.cancel()

    got.inside["on_complete"] = got.inside["on_error"] = call
    if end == "complete":
        source.down.on_complete()
    else:
        source.down.on_error(OOPS)
    call()
    assert source.calls == [2]
    assert got.signals == ["subscribed", "end" if end == "complete" else ValueError]


def test_a_cancel_is_sent_once() -> None:
    source, got = watched(2)
    got.up.cancel()
    got.up.cancel()
    got.up.request(1)
    assert source.calls == [2, "cancel"]


# -- requests ----------------------------------------


def test_what_is_requested_from_inside_a_request_is_sent_behind_it_in_one() -> None:
    source, got = watched()

    def answer(_n: int) -> None:
        if len(source.calls) == 1:
            source.down.on_next(1)

    def ask() -> None:
        got.up.request(2)
        got.up.request(3)

    source.answer = answer
    got.inside["on_next"] = ask
    got.up.request(1)
    assert source.calls == [1, 5]
    assert source.most == 1


def test_a_sum_of_requests_is_never_more_than_everything() -> None:
    source, got = watched()
    source.answer = lambda _n: source.down.on_next(1) if len(source.calls) == 1 else None
    got.inside["on_next"] = lambda: [got.up.request(UNBOUNDED), got.up.request(UNBOUNDED)]
    got.up.request(1)
    assert source.calls == [1, UNBOUNDED]


def test_requests_of_two_threads_are_sent_one_after_the_other_and_none_is_lost() -> None:
    """The second one comes at each instruction of the first."""
    at, instructions = 0, 1
    while at <= instructions:
        source, got = watched()
        up = got.up
        instructions = interrupted(lambda: up.request(2), (at, lambda: up.request(3)), watch=WATCHED)  # noqa: B023  # called now
        assert source.most == 1
        assert sum(source.calls) == 5
        up.request(1)
        assert sum(source.calls) == 6
        at += 1
    assert instructions > 10


def test_control_a_request_that_does_not_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Any, n: int) -> None:
        try:
            self.token.pop()
        except IndexError:
            self.pending.append(n)
        else:
            self.pass_on(n)
            self.token.append(0)

    monkeypatch.setattr(Border, "ask", forgetful)
    with pytest.raises(AssertionError):
        test_requests_of_two_threads_are_sent_one_after_the_other_and_none_is_lost()


def test_a_request_that_the_source_raises_for_ends_the_stream() -> None:
    def fail(_n: int) -> None:
        raise OOPS

    source, got = watched(0, fail)
    got.up.request(1)
    assert got.signals == ["subscribed", ValueError]
    assert source.calls == [1, "cancel"]


# -- wrong requests ----------------------------------------


@pytest.mark.parametrize(
    ("n", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (None, TypeError), (True, TypeError)]
)
def test_a_wrong_request_is_an_error_and_not_sent(n: Any, error: type[Exception]) -> None:
    source, got = watched(2)
    source.down.on_next(1)
    got.up.request(n)
    got.up.request(n)
    source.down.on_next(2)
    source.down.on_complete()
    assert got.signals == ["subscribed", 1, error]
    assert source.calls == [2, "cancel"]


@pytest.mark.parametrize("where", ["on_subscribe", "on_next"])
def test_a_wrong_request_inside_a_signal_is_answered_behind_it(where: str) -> None:
    source, got = Source(), Told(2)
    got.inside[where] = lambda: got.up.request(0)
    subscribe(source, got)
    if where == "on_next":
        source.down.on_next(1)
    assert got.signals == (["subscribed", ValueError] if where == "on_subscribe" else ["subscribed", 1, ValueError])
    assert not got.nested


def test_a_wrong_request_behind_which_the_subscriber_leaves_is_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Exception] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: reported.append(error))
    source, got = watched(2)

    def leave() -> None:
        got.up.request(0)
        got.up.cancel()

    got.inside["on_next"] = leave
    source.down.on_next(1)
    assert got.signals == ["subscribed", 1]
    assert source.calls == [2, "cancel"]
    assert not reported


def test_an_item_that_comes_inside_another_one_does_not_let_the_answer_out() -> None:
    source, got = watched(5)

    def again() -> None:
        del got.inside["on_next"]
        source.down.on_next(2)
        got.nested = False  # that was the source's
        got.up.request(0)

    got.inside["on_next"] = again
    source.down.on_next(1)
    assert got.signals == ["subscribed", 1, 2, ValueError]
    assert not got.nested


SIGNALS: dict[str, Callable[[Source], object]] = {
    "item": lambda source: source.down.on_next(1),
    "completion": lambda source: source.down.on_complete(),
    "error": lambda source: source.down.on_error(OOPS),
}


def races(name: str) -> set[tuple[Any, ...]]:
    """A signal and a wrong request, one completely at each instruction of the other. Nothing is nested, and there is one end."""
    signal_once = SIGNALS[name]
    outcomes: set[tuple[Any, ...]] = set()
    for first in (True, False):
        at, instructions = 0, 1
        while at <= instructions:
            source, got = watched(2)

            def wrong(up: Any = got.up) -> None:
                up.request(0)

            def send(source: Source = source) -> None:
                signal_once(source)

            one, other = (send, wrong) if first else (wrong, send)
            instructions = interrupted(one, (at, other), watch=WATCHED)
            source.down.on_next(2)
            assert not got.nested
            assert sum(signal in (ValueError, "end") for signal in got.signals) == 1
            outcomes.add(tuple(got.signals[1:]))
            at += 1
        assert instructions > 10
    return outcomes


@pytest.mark.parametrize("name", SIGNALS)
def test_a_wrong_request_while_the_source_signals(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda _error, _origin, _late: None)
    expected = {"item": {(1, ValueError), (ValueError,)}, "completion": {("end",), (ValueError,)}, "error": {(ValueError,)}}
    assert races(name) == expected[name]


def test_control_an_answer_that_does_not_wait_for_the_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(self: Any, n: object) -> None:
        self.wrong = OOPS
        self.done = True
        self.stop_source()
        self.answer()

    monkeypatch.setattr(Border, "reject", hasty)
    with pytest.raises(AssertionError):
        races("item")


def test_control_a_signal_that_does_not_look_behind_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_next(self: Any, item: Any) -> None:
        self.busy = True
        if not self.done:
            self.down.on_next(item)
        self.busy = False

    monkeypatch.setattr(Entry, "on_next", on_next)
    with pytest.raises(AssertionError):
        races("item")


def test_a_wrong_request_behind_an_end_that_is_ours_is_ignored() -> None:
    source = Source()
    got: TestSubscriber[int] = TestSubscriber(1)
    subscribe(source, got)
    with pytest.raises(TypeError):
        source.down.on_next(None)
    got.request(0)
    got.assert_failure(TypeError)


def test_an_item_that_comes_before_the_subscription_is_more_than_was_requested() -> None:
    got = Told(2)
    entry: Entry[int] = Entry(got, "source")
    entry.on_next(1)
    assert got.signals == ["subscribed", MissingBackpressureError]
