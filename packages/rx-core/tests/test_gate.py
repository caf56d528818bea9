"""The gate by itself: one thread at a time, nothing forgotten, also when what it does raises."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

import rx_core
from rx_core.gate import Gate
from rx_core.streams import NULL_SUBSCRIBER, Op
from rx_testing.racing import caught, race, rounds

WATCHED = [str(Path(rx_core.__file__).parent / "gate.py"), __file__]


class Adding(Gate):
    """The token carries the sum of what was put."""

    __slots__ = ("answers", "inside", "overlaps", "waiting")

    def __init__(self) -> None:
        super().__init__()
        self.waiting: deque[int] = deque()
        self.answers: list[BaseException] = []
        self.inside = False
        self.overlaps = 0

    def put(self, number: int) -> None:
        self.waiting.append(number)
        self.drain()

    def look(self, held: int, /) -> int:
        if self.inside:
            self.overlaps += 1
        self.inside = True
        while self.waiting:
            held += self.waiting.popleft()
        self.inside = False
        return held


class Raising(Adding):
    """One number is one too many."""

    __slots__ = ("replacement",)

    def __init__(self, replacement: BaseException | None = None) -> None:
        super().__init__()
        self.replacement = replacement

    def look(self, held: int, /) -> int:
        while self.waiting:
            number = self.waiting.popleft()
            if number == 13:
                raise LookupError(number)
            held += number
        return held

    def look_failed(self, error: BaseException, /) -> BaseException | None:
        self.answers.append(error)
        if len(self.answers) == 1:
            self.put(5)  # as another thread might do just now
        return self.replacement


def test_the_token_carries_a_number() -> None:
    gate = Adding()
    gate.put(1)
    gate.put(2)
    assert gate.token == [3]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a list gives its room back with its last entry")
@pytest.mark.parametrize("made", [Gate, lambda: Op(NULL_SUBSCRIBER)], ids=["gate", "operator, which is held at first"])
def test_the_token_keeps_its_room(made: Callable[[], Gate]) -> None:
    token = made().token
    for _ in range(3):
        if not token:
            token.append(0)
        assert sys.getsizeof(token) == sys.getsizeof([0])
        token.pop()
        assert sys.getsizeof(token) == sys.getsizeof([0])


def test_a_gate_that_is_held_from_the_start_looks_once_the_token_is_there() -> None:
    gate = Adding()
    gate.token.clear()
    gate.put(1)
    assert gate.waiting == deque([1])
    gate.token.append(10)
    gate.drain()
    assert gate.token == [11]


def test_after_an_error_the_token_is_back_and_what_was_published_meanwhile_was_looked_at() -> None:
    gate = Raising()
    gate.put(1)
    with pytest.raises(LookupError) as caught_error:
        gate.put(13)
    assert gate.answers == [caught_error.value]
    assert gate.token == [5]
    assert not gate.waiting


def test_the_publishing_thread_may_see_another_error() -> None:
    gate = Raising(KeyError("the subscriber's own"))
    with pytest.raises(KeyError) as caught_error:
        gate.put(13)
    assert caught_error.value.__context__ is None
    assert gate.token == [5]


def test_the_token_is_back_when_dealing_with_an_error_fails_too() -> None:
    class Failing(Raising):
        __slots__ = ()

        def look_failed(self, error: BaseException, /) -> BaseException | None:
            raise OSError("again") from error

    gate = Failing()
    with pytest.raises(OSError, match="again"):
        gate.put(13)
    gate.put(1)
    assert gate.token == [1]


def test_what_is_put_off_finds_the_gate_free() -> None:
    class Later(Adding):
        __slots__ = ()

        def look(self, held: int, /) -> int:
            held = super().look(held)
            if held < 3:
                self.later.append((self.put, 1))
            return held

    gate = Later()
    gate.later = []
    gate.put(1)
    assert gate.token == [3]


class Unguarded(Adding):
    """The control: the token is looked at and taken in two steps."""

    __slots__ = ()

    def drain(self) -> None:
        self.dirty = True
        while self.dirty:
            if not self.token:
                return
            self.dirty = False
            held = self.look(self.token[0])
            self.token[0] = held


def added(kind: type[Adding]) -> None:
    gate = kind()

    def put() -> None:
        for _ in range(30):
            gate.put(1)

    try:
        race(put, put, put, watch=WATCHED)
    except IndexError as error:  # two threads took the same number
        raise AssertionError(error) from error
    assert not gate.overlaps
    assert gate.token == [90]


@pytest.mark.stress
def test_nothing_is_lost_or_counted_twice() -> None:
    for _ in rounds():
        added(Adding)


@pytest.mark.stress
def test_the_race_can_fail() -> None:
    assert caught(lambda _number: added(Unguarded))
