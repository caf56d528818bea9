"""Sources made of items of sources made of items: walking trees and graphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from rx_core import Items, Run, Side, Source
from rx_fusion import operator
from rx_ops.coordination._flatten import inner_source
from rx_ops.coordination._known import known_items

T = TypeVar("T")

#: After so many sources in a row without an item the loop lets others have their turn.
_GIVE_WAY: Final = 128


@operator(eager="none")
def expand(run: Run, source: Source[T], expander: Callable[[T], Any]) -> Items[T]:
    """The source's items, then those of what each of them expands to, and so on: one source after another."""
    side: Side[T] = Side(run)
    known = known_items(source.publisher)
    if known is None:
        side.start(source)
    return _level_by_level(run, side, known, expander)


def _level_by_level(run: Run, side: Side[T], known: Sequence[T] | None, expander: Callable[[T], Any]) -> Items[T]:
    waiting: deque[T] = deque()  # emitted and not expanded yet; items, not their sources, which would hold more
    barren = 0
    try:
        while True:
            if known is None:
                for item in side.items:
                    if item is not None:
                        waiting.append(item)
                        barren = 0
                    yield item
                side.close()
            else:
                left = len(known)
                for item in known:
                    while not run.demand:
                        yield None
                    waiting.append(item)
                    barren = 0
                    left -= 1
                    # Most nodes of a tree are leaves, and what they expand to is empty(). Behind the last item of a known source
                    # there may be nothing but leaves, and the end needs no demand: so the loop is to go on without it.
                    if not left and run.demand == 1:
                        run.poke()
                    yield item
            if not waiting or run.is_cancelled:
                return
            made = inner_source("expand", expander, waiting.popleft())
            barren += 1
            if not barren % _GIVE_WAY:
                run.poke()
                yield None
            known = known_items(made)
            if known is None:
                side.start(made)
    finally:
        side.dispose()
