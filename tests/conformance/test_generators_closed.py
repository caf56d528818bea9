"""A generator under a stream is closed when the stream is over, whatever ended it and whoever listened; not when it is collected.

Over all lines of the table, each alone and in front of operators that have inner sources which push: a loop over the generator
ends at the first of them, and what is left of it is iterated on.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from rx_ops import Flowable
from rx_testing import TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import Case, Flow, Kit, dropped_errors, switched
from tests.conformance.table import TABLE
from tests.tck.cases import moves


class Generated:
    """The items from a generator, which counts how many are open."""

    def __init__(self, items: Any) -> None:
        self._items = items
        self.opened = 0
        self.open = 0

    def __iter__(self) -> Iterator[Any]:
        self.opened += 1
        self.open += 1
        try:
            yield from self._items
        finally:
            self.open -= 1


def _pushed(item: Any) -> Flow:
    return Flowable.just(item).hide()


BEHIND: Final[dict[str, Callable[[Flow], Flow]]] = {
    "nothing": lambda flow: flow,
    "hide": lambda flow: flow.hide(),
    "concat_map": lambda flow: flow.concat_map(_pushed),
    "flat_map": lambda flow: flow.flat_map(_pushed),
    "concat_map_eager": lambda flow: flow.concat_map_eager(_pushed),
    "concat_map of items": lambda flow: flow.concat_map(Flowable.just),
    "concat": lambda flow: flow.concat_with(_pushed(0)),
}


def _failing(_item: Any) -> Any:
    raise ValueError("of the function")


def _failing_second() -> Callable[[Any], Any]:
    calls: list[None] = []

    def function(item: Any) -> Any:
        calls.append(None)
        return _failing(item) if len(calls) == 2 else item

    return function


ENDINGS: Final[dict[str, Callable[[Flow], Flow]]] = {
    "left": lambda flow: flow,
    "take(1)": lambda flow: flow.take(1),
    "a map that fails": lambda flow: flow.map(_failing),
    "a map that fails later": lambda flow: flow.map(_failing_second()),
    "a flat_map that fails": lambda flow: flow.flat_map(_failing),
}


@contextmanager
def _uncollected() -> Iterator[None]:
    """What is closed is closed by us, or when nothing refers to it any more, which a traceback or a circle would prevent."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _into_callbacks(flow: Flow, settle: Callable[[], object]) -> None:
    handle = flow.subscribe(lambda _item: None, on_error=lambda _error: None)
    settle()
    handle.dispose()


def _one_by_one(flow: Flow, settle: Callable[[], object]) -> None:
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    flow.subscribe(got)
    settle()
    got.request(1)
    settle()
    got.cancel()


@pytest.mark.parametrize("case", [case for case in TABLE if not case.has("source")], ids=str)
@each(("mode", "listen"), [(mode, listen) for mode in ("fused", "off") for listen in (_into_callbacks, _one_by_one)])
def test_a_generator_is_closed_when_the_stream_is_over(
    case: Case, mode: str, listen: Callable[[Flow, Callable[[], object]], None]
) -> None:
    left: list[str] = []
    with _uncollected(), dropped_errors(), switched(mode):
        for behind, build in BEHIND.items():
            for ending, end in ENDINGS.items():
                kit = Kit()
                source = Generated(case.items)
                flow = case.build(Flowable.from_iterable(source), kit)

                def settle(clock: Any = kit.clock) -> None:
                    for _ in range(50):
                        if not moves(clock):
                            return

                listen(end(build(flow)), settle)
                settle()
                if source.open:
                    left.append(f"{behind}, {ending}: {source.open} of {source.opened}")
    assert not left, left
