"""A subscriber that asks for the next few with the last item it got: window after window in one loop, and no item too many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_core.streams import Pump, close


class Asking:
    """Asks for three, and does something with every third item."""

    def __init__(self, act: Callable[[Any, int], object]) -> None:
        self.got: list[Any] = []
        self.act = act
        self.handle: Any = None

    def on_subscribe(self, handle: Any, /) -> None:
        self.handle = handle
        handle.request(3)

    def on_next(self, item: int, /) -> None:
        self.got.append(item)
        if item % 3 == 2:
            self.act(self.handle, item)

    def on_error(self, error: Exception, /) -> None:
        self.got.append(type(error))

    def on_complete(self) -> None:
        self.got.append("|")


def emitted(items: Iterator[int], pump: Pump[int]) -> Iterator[Any]:
    """As compiled stages give their items to a pump."""
    emit = pump.emit
    left = pump.left
    try:
        for item in items:
            try:
                emit(item)
            except BaseException as error:
                pump.emit_failed(error)
            left -= 1
            if not left or pump.dirty:
                pump.left = left
                yield
                left = pump.left
    finally:
        close(items)


def pump_over(down: Any, items: Iterator[int], emits: bool) -> Pump[int]:
    pump: Pump[int] = Pump(down)
    pump.items = emitted(items, pump) if emits else items
    pump.emits = emits
    return pump


def run(act: Callable[[Any, int], object], emits: bool, size: int = 12) -> tuple[Asking, list[int]]:
    """What the subscriber got, and what was computed for it."""
    computed: list[int] = []

    def items() -> Iterator[int]:
        for item in range(size):
            computed.append(item)
            yield item

    down = Asking(act)
    pump_over(down, items(), emits).start()
    return down, computed


def _twice(handle: Any, _item: int) -> None:
    handle.request(1)
    handle.request(2)


ACTS: dict[str, tuple[Callable[[Any, int], object], list[Any], int]] = {
    "three": (lambda handle, _item: handle.request(3), [*range(12), "|"], 12),
    "three in two": (_twice, [*range(12), "|"], 12),
    "nothing any more": (lambda handle, item: item < 6 and handle.request(3), [*range(9)], 9),
    "all": (lambda handle, item: handle.request(UNBOUNDED if item == 5 else 3), [*range(12), "|"], 12),
    "one less": (lambda handle, item: handle.request(2 if item == 5 else 3), [*range(8)], 8),
    "wrongly": (lambda handle, item: handle.request(0 if item == 5 else 3), [*range(6), ValueError], 6),
    "true": (lambda handle, item: handle.request(True if item == 5 else 3), [*range(6), TypeError], 6),
    "cancels": (lambda handle, item: handle.cancel() if item == 5 else handle.request(3), [*range(6)], 6),
    "asks, cancels": (lambda handle, item: [handle.request(3), item == 5 and handle.cancel()], [*range(6)], 6),
}


either = pytest.mark.parametrize("emits", [False, True], ids=["iterated", "emitted"])


@either
@pytest.mark.parametrize(("act", "got", "computed"), ACTS.values(), ids=ACTS)
def test_it_gets_what_it_asks_for(act: Callable[[Any, int], object], got: list[Any], computed: int, emits: bool) -> None:
    down, seen = run(act, emits)
    assert down.got == got
    assert seen == list(range(computed))


@either
@pytest.mark.parametrize("size", range(8))
def test_it_ends_where_the_source_does(size: int, emits: bool) -> None:
    down, _ = run(lambda handle, _item: handle.request(3), emits, size)
    assert [item for item in down.got if item != "|"] == list(range(size))
    assert down.got.count("|") == 1


@either
def test_what_was_left_is_still_wanted(emits: bool) -> None:
    """Demand is added up: what is asked for early comes on top of what is open."""
    down, seen = run(lambda handle, _item: None, emits)
    down.handle.request(2)
    assert down.got == [0, 1, 2, 3, 4]
    down.handle.request(1)
    assert seen == down.got == [0, 1, 2, 3, 4, 5]


@either
def test_a_subscriber_that_raises_in_a_later_window_is_cancelled(emits: bool) -> None:
    def act(handle: Any, item: int) -> None:
        if item == 5:
            raise ValueError("of the subscriber")
        handle.request(3)

    closed: list[bool] = []

    def items() -> Iterator[int]:
        try:
            yield from range(12)
        finally:
            closed.append(True)

    down = Asking(act)
    with pytest.raises(ValueError, match="of the subscriber"):
        pump_over(down, items(), emits).start()
    assert down.got == [*range(6)]
    assert closed
    down.handle.request(5)
    assert down.got == [*range(6)]
