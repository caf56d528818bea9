"""Several sources as one, all at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from rx_core import (
    OPERATOR_CODES,
    UNBOUNDED,
    Items,
    Lane,
    Lanes,
    Run,
    close,
    composite,
    has_ended,
    traced_as_before,
)
from rx_fusion import at_hand
from rx_ops.coordination._outer import NO_OUTER, Outer

T = TypeVar("T")
R = TypeVar("R")

_END: Any = object()
_SIZED = (tuple, range)


def interleave(
    run: Run,
    sources: Iterator[Any],
    lanes: Lanes[T],
    prefetch: int,
    delay_error: bool,
    limit: int = 0,
    outer: Outer = NO_OUTER,
) -> Items[T]:
    """The loop of merge and flat_map: ``sources`` are opened in at most ``limit`` lanes, ready lanes take turns.

    Between two items of a turn it looks for what needs no demand, of other lanes and of the ``outer`` source: an item more would
    be computed ahead of demand, and an error would wait behind it.
    """
    heard = outer.is_heard
    errors: list[Exception] = []
    more = limit > 0
    root: Any = run.root
    endless = run.demand == UNBOUNDED  # then it stays so
    opened, ready, urgent = lanes.open_lanes, lanes.ready, lanes.urgent
    #: A source that is iterated without a lane.
    rest: Iterator[Any] | None = None
    #: The lane whose turn was interrupted, and how often it was.
    waits: Lane[T] | None = None
    again = 0
    try:
        while True:
            if heard and outer.failed:
                outer.fail()
                heard = False
            waiting = False
            # The last is run.puts_off without its calls: this is gone through for each inner source.
            while more and len(opened) < limit and not ready and not getattr(root, "_later", None):
                try:
                    source = next(sources, _END)
                except Exception as error:
                    if not delay_error:
                        raise
                    errors.append(error)
                    source = _END
                if source is None:
                    waiting = True
                    break
                if source is _END:
                    more = False
                    break
                if urgent or root.cancelled or not (endless or run.demand):
                    lanes.open(source, prefetch)
                    continue
                try:
                    items = at_hand(source, run)
                    if items is None:
                        lanes.open(source, prefetch)
                        continue
                    alone = endless or not (heard or lanes.open_lanes)  # nobody else can have anything urgent to say
                    if alone and type(items) in _SIZED and len(items) < prefetch:  # type: ignore[arg-type]  # then it has a length
                        yield from items
                        continue
                    rest = iter(items)
                    left = prefetch
                    for item in rest:
                        yield item
                        left -= 1
                        if not left or urgent or (heard and outer.failed):  # its turn is over
                            lanes.take(rest, prefetch)
                            break
                except Exception as error:
                    if not delay_error:
                        run.after(traced_as_before(error))
                        raise
                    errors.append(error)
                rest = None
            moved = False
            while not (heard and outer.failed) and (lane := lanes.next()) is not None:
                moved = True
                try:
                    for item in islice(lane.items, prefetch):  # a turn: no lane keeps the others waiting for ever
                        if item is None:
                            break
                        yield item
                        if urgent or (heard and outer.failed):
                            again = again + 1 if lane is waits else 0
                            waits = lane
                            if again < prefetch:
                                ready.appendleft(lane)  # it goes on when that was looked at
                            else:
                                waits = None
                                lane.requeue()
                            break
                    else:
                        _next_turn(lane)
                except Exception as error:
                    lane.stop()
                    if not delay_error:
                        run.after(traced_as_before(error))
                        raise
                    errors.append(error)
            if not more and not len(lanes):
                break
            if moved:
                continue  # while its items were taken the source of sources may have come to its end
            # Nothing to do now: no demand, or all lanes are waiting and no further one can be opened.
            if lanes.ready or waiting or not more or len(lanes) >= limit or run.puts_off:
                yield None
        if errors:
            failure = composite(errors)
            run.after(traced_as_before(failure))
            raise failure
    finally:
        close(rest)
        close(sources)
        outer.close()
        lanes.close()


OPERATOR_CODES.add(interleave.__code__)  # functions of inner sources without a lane run in it


def _next_turn(lane: Lane[Any]) -> None:
    """The lane gave a whole turn of items, or came to its end."""
    if has_ended(lane.items):
        lane.stop()
        return
    lane.requeue()
