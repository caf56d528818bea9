"""The queue-drain: one thread at a time, in order, without waiting."""

from __future__ import annotations

import threading

import pytest

from rx_core.blocks import QueueDrain

from .racing import caught, every_round, race, rounds


def test_it_hands_over_at_once_when_nobody_is_there() -> None:
    got: list[int] = []
    drain = QueueDrain(got.append)
    drain.offer(1)
    drain.offer(2)
    assert got == [1, 2]


def test_what_is_offered_from_inside_comes_afterwards_and_does_not_deepen_the_stack() -> None:
    got: list[int] = []

    def handle(item: int) -> None:
        if item < 100_000:
            drain.offer(item + 1)
        got.append(item)

    drain = QueueDrain(handle)
    drain.offer(1)
    assert got == list(range(1, 100_001))


def test_a_thread_that_finds_it_busy_does_not_wait() -> None:
    got: list[tuple[int, str]] = []
    inside, go_on = threading.Event(), threading.Event()

    def handle(item: int) -> None:
        if item == 1:
            inside.set()
            assert go_on.wait(20)
        got.append((item, threading.current_thread().name))

    drain = QueueDrain(handle)
    busy = threading.Thread(target=drain.offer, args=(1,), name="busy")
    busy.start()
    assert inside.wait(20)
    drain.offer(2)  # returns although the other one is in the middle of handle
    assert got == []
    go_on.set()
    busy.join(20)
    assert got == [(1, "busy"), (2, "busy")]


@pytest.mark.parametrize(("ahead", "expected"), [(False, [1, 2, 3, "end"]), (True, [1, "end"])])
def test_the_end_comes_after_what_waits_or_ahead_of_it(ahead: bool, expected: list[object]) -> None:
    got: list[object] = []
    ended: list[bool] = []

    def handle(item: int) -> None:
        got.append(item)
        if item == 1:
            drain.offer(2)
            drain.offer(3)
            ended.append(drain.end(lambda: got.append("end"), ahead=ahead))
            ended.append(drain.end(lambda: got.append("again")))
            drain.offer(4)

    drain = QueueDrain(handle)
    drain.offer(1)
    drain.offer(5)
    assert got == expected
    assert ended == [True, False]
    assert drain.is_closed
    assert drain.is_ending


def test_closing_drops_what_waits() -> None:
    got: list[int] = []

    def handle(item: int) -> None:
        got.append(item)
        drain.offer(2)
        drain.end(lambda: got.append(3))
        drain.close()

    drain = QueueDrain(handle)
    drain.offer(1)
    drain.offer(4)
    assert got == [1]
    assert not drain.end(lambda: got.append(5))


def test_a_failing_handle_closes_and_its_error_goes_to_the_thread_it_was_raised_on() -> None:
    got: list[int] = []

    def handle(item: int) -> None:
        got.append(item)
        drain.offer(item + 1)
        raise ZeroDivisionError

    drain = QueueDrain(handle)
    with pytest.raises(ZeroDivisionError):
        drain.offer(1)
    drain.offer(7)
    assert got == [1]
    assert drain.is_closed


def test_none_is_refused() -> None:
    drain = QueueDrain[int](print)
    with pytest.raises(TypeError, match=r"RS 2\.13"):
        drain.offer(None)  # type: ignore[arg-type]  # what a source that is not typed may do


class Unserialized:
    """The control."""

    def __init__(self, handle: object) -> None:
        self.offer = handle


def one_at_a_time(make: type[QueueDrain[tuple[int, int]]] | type[Unserialized], threads: int) -> None:
    got: list[tuple[int, int]] = []
    inside: list[int] = []
    overlaps: list[int] = []

    def handle(item: tuple[int, int]) -> None:
        if inside:
            overlaps.append(1)
        inside.append(1)
        for _ in range(3):
            pass
        got.append(item)
        inside.pop()

    drain = make(handle)

    def work(who: int) -> None:
        for number in range(12):
            drain.offer((who, number))  # type: ignore[operator]  # the control's is an object

    race(*[lambda who=who: work(who) for who in range(threads)])
    assert not overlaps
    for who in range(threads):
        assert [number for one, number in got if one == who] == list(range(12))


@pytest.mark.stress
def test_items_are_handled_one_at_a_time_and_each_threads_in_order() -> None:
    for number in rounds():
        one_at_a_time(QueueDrain, 2 + number % 7)


@pytest.mark.stress
def test_the_control_overlaps() -> None:
    assert caught(lambda _: one_at_a_time(Unserialized, 4))


@pytest.mark.stress
def test_everything_before_the_end_is_handled_and_nothing_after_it() -> None:
    def once(_: int) -> None:
        got: list[int] = []
        ends: list[int] = []

        def handle(item: int, got: list[int] = got, ends: list[int] = ends) -> None:
            assert not ends
            got.append(item)

        drain = QueueDrain(handle)
        before = list(range(20))

        def work(drain: QueueDrain[int] = drain, ends: list[int] = ends) -> None:
            for item in before:
                drain.offer(item)
            drain.end(lambda: ends.append(1))

        race(work, work, work)
        assert ends == [1]
        assert len(got) >= 20
        assert sum(1 for item in got if item == 0) >= 1

    every_round(once)
