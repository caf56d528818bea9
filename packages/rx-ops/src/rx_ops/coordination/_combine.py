"""Several sources as one: all at once, row by row. One after another is in `_concat`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from rx_core import (
    OPERATOR_CODES,
    UNBOUNDED,
    Items,
    Lane,
    Lanes,
    Run,
    Side,
    Source,
    close,
    composite,
    has_ended,
    none_produced,
    traced_as_before,
    user_call,
    user_error,
)
from rx_fusion import Feed, Pipeline, at_hand, fusion_enabled, operator
from rx_ops.coordination._known import known_items
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


class _Column(Side[T]):
    """A source of zip, which notes when it said something that needs no demand: its end, most likely."""

    __slots__ = ("_at", "_said")

    in_step = True

    def __init__(self, run: Run, at: int, said: set[int]) -> None:
        super().__init__(run)
        self._at = at
        self._said = said

    def poke(self) -> None:
        self._said.add(self._at)  # published first
        super().poke()


@operator(eager="none")
def zip_(run: Run, sources: Sequence[Source[Any]], combiner: Callable[..., R]) -> Items[R]:
    """One item of each source makes a row; the end of any of them is the end."""
    said: set[int] = set()
    columns = [_Column[Any](run, at, said) for at in range(len(sources))]
    for column, source in zip(columns, sources, strict=True):
        column.start(source)
    together: list[Any] = [as_it_is(column, source) for column, source in zip(columns, sources, strict=True)]
    return _rows(run, columns, said, combiner, None if None in together else zip(*together, strict=False))


def row_of(*items: Any) -> tuple[Any, ...]:
    """The combiner of a zip that was given none."""
    return items


def as_it_is(column: Side[Any], source: Source[Any]) -> Iterator[Any] | None:
    """What to iterate where ``source`` never has to wait; None where it may."""
    publisher = source.publisher
    if not isinstance(publisher, Pipeline) or publisher._head.feed is Feed.RUNNING or not fusion_enabled():
        return None
    if publisher._resolve()[0].feed is Feed.RUNNING or not hasattr(column.items, "gi_frame"):
        return None
    # An iterator that runs nobody's code need not be kept from being asked for one more after a cancel.
    known = column.announced is not None and known_items(publisher) is not None
    return column.announced if known else column.items


def _rows(
    run: Run, columns: list[_Column[Any]], said: set[int], combiner: Callable[..., R], together: Iterator[Any] | None
) -> Items[R]:
    sides = [column.items for column in columns]
    counts = [column.left for column in columns]
    #: After so many rows one of the sources that say how many items they have is at its end.
    left = min((count for count in counts if count is not None), default=-1)
    everybody = range(len(sides))
    row: list[Any] = [None] * len(sides)
    plain = combiner is row_of
    try:
        if together is not None and not said:  # nobody is near the end, and nobody has to wait
            for items in together:
                try:  # user_call without its frame
                    value = items if plain else combiner(*items)
                except (StopIteration, GeneratorExit) as error:
                    raise user_error("zip", combiner, error) from error
                except Exception as error:
                    user_error("zip", combiner, error)
                    raise
                if value is None:
                    raise none_produced("zip", combiner)
                left -= 1
                if not left:
                    said.update(at for at, count in enumerate(counts) if count is not None and not columns[at].left)
                    run.poke()
                yield value
                if said:
                    break
            else:
                return
        while True:
            waiting = False
            at_once: Sequence[int] = everybody
            if said:
                # Those that may be at their end first: nobody is asked for an item of a row that does not come.
                waiting = not run.demand
                at_once = sorted(said) if waiting else sorted(everybody, key=lambda at: at not in said)
            for at in at_once:
                if row[at] is None:
                    said.discard(at)  # before polling: what comes from here on is either polled now or notes it again
                    item = next(sides[at], _END)
                    if item is _END:
                        return
                    if item is None:
                        waiting = True
                    else:
                        row[at] = item
            if waiting:
                yield None
                continue
            value = user_call("zip", combiner, *row)
            if value is None:
                raise none_produced("zip", combiner)
            row = [None] * len(sides)
            left -= 1
            if not left:
                said.update(at for at, count in enumerate(counts) if count is not None and not columns[at].left)
            if said:
                run.poke()  # the end is known, or as good as known: it needs no demand
            yield value
    finally:
        for column in columns:
            column.dispose()


OPERATOR_CODES.add(_rows.__code__)
