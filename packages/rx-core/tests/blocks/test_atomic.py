"""AtomicReference: no update is lost, whoever comes in between."""

from __future__ import annotations

import gc
import weakref

import pytest

from rx_core.blocks import AtomicReference

from .racing import caught, every_round, race, rounds

THREADS = 4
TIMES = 30


class Value:
    pass


def test_it_is_compared_by_identity() -> None:
    first, second = Value(), Value()
    reference = AtomicReference[Value](first)
    assert reference.get() is first
    assert not reference.compare_and_set(second, second)
    assert reference.compare_and_set(first, second)
    assert reference.get() is second
    assert reference.get_and_set(first) is second
    reference.set(second)
    assert reference.get() is second


def test_an_update_returns_what_was_before_and_may_change_nothing() -> None:
    reference = AtomicReference[tuple[int, ...]]((1,))
    assert reference.get_and_update(lambda value: (*value, 2)) == (1,)
    assert reference.get() == (1, 2)
    assert reference.get_and_update(lambda value: value) == (1, 2)
    assert repr(reference) == "<AtomicReference (1, 2)>"


def test_an_update_in_the_middle_of_an_update_is_seen() -> None:
    """What a finalizer or a signal handler may do; with a lock it would wait for itself."""
    reference = AtomicReference(0)
    interruptions = [10]

    def add_one(value: int) -> int:
        if interruptions:
            reference.set(interruptions.pop())
        return value + 1

    reference.get_and_update(add_one)
    assert reference.get() == 11


def test_replaced_values_are_let_go() -> None:
    first = Value()
    watch = weakref.ref(first)
    reference = AtomicReference[Value | None](first)
    reference.set(None)
    del first
    gc.collect()
    assert watch() is None


class Racy:
    """The control: reads, then writes."""

    def __init__(self) -> None:
        self.value = 0

    def add_one(self) -> None:
        value = self.value
        for _ in range(2):
            pass
        self.value = value + 1


class Counted(Racy):
    def __init__(self) -> None:
        self.reference = AtomicReference(0)

    def add_one(self) -> None:
        self.reference.get_and_update(lambda value: value + 1)

    @property
    def value(self) -> int:  # type: ignore[override]  # only read
        return self.reference.get()


def count_together(counter: Racy) -> None:
    def work() -> None:
        for _ in range(TIMES):
            counter.add_one()

    race(*[work] * THREADS)
    assert counter.value == THREADS * TIMES


@pytest.mark.stress
def test_no_update_is_lost() -> None:
    for _ in rounds():
        count_together(Counted())


@pytest.mark.stress
def test_the_control_loses_updates() -> None:
    assert caught(lambda _: count_together(Racy()))


@pytest.mark.stress
def test_after_a_race_only_the_last_value_is_held() -> None:
    def once(_: int) -> None:
        watches: list[weakref.ref[Value]] = []
        reference = AtomicReference(Value())

        def work(reference: AtomicReference[Value] = reference, watches: list[weakref.ref[Value]] = watches) -> None:
            for _ in range(20):
                value = Value()
                watches.append(weakref.ref(value))
                reference.set(value)

        race(work, work, work)
        assert [watch() for watch in watches if watch() is not None] == [reference.get()]

    every_round(once)
