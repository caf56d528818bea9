"""What a test waits for is published last: a thread that sees it finds everything recorded that belongs to it.

Each method is interrupted before every one of its instructions in turn, and a reader on another thread could look there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

import rx_testing
from rx_testing import PublisherVerification, TestMaybeObserver, TestSubscriber
from rx_testing._tck_env import Probe
from rx_testing.racing import interrupted

WATCHED: Final = [rx_testing.__path__[0]]
ERROR: Final = ValueError("the end")


class Nothing:
    """A subscription that does nothing."""

    def request(self, n: int, /) -> None: ...

    def cancel(self) -> None: ...

    def dispose(self) -> None: ...

    is_disposed = False


class Unused(PublisherVerification[Any]):
    def create_publisher(self, elements: int, /) -> Any:
        raise NotImplementedError


Look = Callable[[], object]


def at_every_instruction(prepare: Callable[[], tuple[Callable[[], object], Look]]) -> int:
    """Make the call that ``prepare`` gives again and again, each time looking before another instruction of it."""
    call, look = prepare()
    total = interrupted(call, watch=WATCHED)
    for number in range(total + 1):
        call, look = prepare()
        interrupted(call, (number, look), watch=WATCHED)
    return total


# -- the probe of the TCK ----------------------------------------------------------------------------------------------


def subscribed(**reactions: Any) -> Probe[int]:
    probe = Probe[int](Unused().env, **reactions)
    probe.on_subscribe(Nothing())
    return probe


@pytest.mark.parametrize("kind", ["on_complete", "on_error"])
def test_a_terminal_signal_is_recorded_before_the_probe_is_terminated(kind: str) -> None:
    seen: list[bool] = []

    def prepare() -> tuple[Callable[[], object], Look]:
        probe = subscribed()

        def look() -> None:
            seen.append(probe.terminated)
            if probe.terminated:
                assert [name for name, _ in probe.signals] == ["on_subscribe", kind]
                assert probe.terminal == kind
                assert probe.error is (ERROR if kind == "on_error" else None)

        return (lambda: probe.on_error(ERROR)) if kind == "on_error" else probe.on_complete, look

    assert at_every_instruction(prepare) > 20
    assert {True, False} <= {*seen}


def test_an_element_is_recorded_with_its_depth_before_it_is_among_the_values() -> None:
    class Recursive(Nothing):
        """Answers each request with an element before it returns, which RS 3.3 bounds."""

        def request(self, n: int, /) -> None:
            if len(probes[-1].values) < 2:
                probes[-1].on_next(7)

    probes: list[Probe[int]] = []

    def prepare() -> tuple[Callable[[], object], Look]:
        probe = Probe[int](Unused().env, on_next=lambda probe: probe.request(1))
        probes.append(probe)
        probe.on_subscribe(Recursive())

        def look() -> None:
            assert [name for name, _ in probe.signals].count("on_next") >= len(probe.values)
            if len(probe.values) == 2:
                assert probe.max_recursion == 1

        return lambda: probe.on_next(6), look

    assert at_every_instruction(prepare) > 50


def test_the_subscription_is_published_behind_its_signal_and_announced() -> None:
    announced: list[bool] = []

    def prepare() -> tuple[Callable[[], object], Look]:
        env = Unused().env
        probe = Probe[int](env)
        env.notify = lambda: announced.append(probe.subscription is not None)  # type: ignore[method-assign]  # to listen

        def look() -> None:
            if probe.subscription is not None:
                assert probe.signals == [("on_subscribe", None)]

        return lambda: probe.on_subscribe(Nothing()), look

    at_every_instruction(prepare)
    assert announced  # a waiter that is woken earlier would not be woken again
    assert all(announced)


# -- the test subscribers ----------------------------------------------------------------------------------------------


def test_a_violation_is_noted_before_the_element_that_commits_it() -> None:
    def prepare() -> tuple[Callable[[], object], Look]:
        subscriber = TestSubscriber[int](request=0)
        subscriber.on_subscribe(Nothing())

        def look() -> None:
            if subscriber.values:
                assert [text[:4] for text in subscriber.violations] == ["§1.1"]
                assert len(subscriber.value_threads) == 1

        return lambda: subscriber.on_next(1), look

    at_every_instruction(prepare)


@pytest.mark.parametrize("kind", ["on_complete", "on_error"])
def test_a_test_subscriber_is_terminated_when_everything_about_the_end_is_recorded(kind: str) -> None:
    def prepare() -> tuple[Callable[[], object], Look]:
        subscriber = TestSubscriber[int]()  # without on_subscribe: a violation of RS 1.9

        def look() -> None:
            if subscriber.is_terminated:
                assert subscriber.terminal_thread is not None
                assert len(subscriber.violations) == 1

        return (lambda: subscriber.on_error(ERROR)) if kind == "on_error" else subscriber.on_complete, look

    at_every_instruction(prepare)


def test_a_success_is_a_value_before_it_is_the_end() -> None:
    def prepare() -> tuple[Callable[[], object], Look]:
        observer = TestMaybeObserver[int]()
        observer.on_subscribe(Nothing())

        def look() -> None:
            if observer.is_terminated:
                assert observer.values == [1]
                assert observer.terminal_thread is not None

        return lambda: observer.on_success(1), look

    at_every_instruction(prepare)
