"""The newest items of several sources together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from rx_core import (
    END,
    UNBOUNDED,
    Items,
    Lanes,
    PolicyInbox,
    Publisher,
    Run,
    Side,
    Source,
    composite,
    none_produced,
    user_call,
)
from rx_fusion import operator

T = TypeVar("T")
R = TypeVar("R")


@operator(eager="none")
def combine_latest(
    run: Run, sources: Sequence[Source[Any]], combiner: Callable[..., R], prefetch: int, delay_error: bool
) -> Items[R]:
    """A row of the newest items for each item, once each source has one."""
    lanes: Lanes[Any] = Lanes(run)
    for at, source in enumerate(sources):
        lanes.open(source.publisher, prefetch, at)
    return _rows(run, lanes, len(sources), combiner, prefetch, delay_error)


def _rows(run: Run, lanes: Lanes[Any], size: int, combiner: Callable[..., R], prefetch: int, delay_error: bool) -> Items[R]:
    row: list[Any] = [None] * size
    missing = size
    errors: list[Exception] = []
    try:
        while len(lanes):
            while (lane := lanes.next()) is not None:
                items, at, left = lane.items, lane.key, prefetch
                while True:
                    try:
                        item = next(items, END)
                    except Exception as error:
                        if not delay_error:
                            raise
                        errors.append(error)
                        item = END
                    if item is None:
                        break
                    if item is END:
                        lane.stop()
                        if row[at] is not None:
                            break
                        lanes.close()  # there will never be a row
                        break
                    if row[at] is None:
                        missing -= 1
                    row[at] = item
                    left -= 1
                    if not missing:
                        yield _combined("combine_latest", combiner, row)
                    elif run.is_cancelled:
                        return
                    if not left or not run.demand:
                        lane.requeue()  # it may have more: another turn, behind the others
                        break
            if len(lanes):
                yield None
        if errors:
            raise composite(errors)
    finally:
        lanes.close()


def _combined(name: str, combiner: Callable[..., R], row: Sequence[Any]) -> R:
    value = user_call(name, combiner, *row)
    if value is None:
        raise none_produced(name, combiner)
    return value


@operator(eager="none")
def with_latest_from(run: Run, sources: Sequence[Source[Any]], combiner: Callable[..., R]) -> Items[R]:
    """Each item of the first source together with the newest ones of the others, which are subscribed before it."""
    others = [_newest(run, source.publisher) for source in sources[1:]]
    main: Side[Any] = Side(run)
    main.start(sources[0])
    return _beside_latest(run, main, _Newest(others), combiner)


def _beside_latest(run: Run, main: Side[Any], newest: _Newest, combiner: Callable[..., R]) -> Items[R]:
    try:
        while newest.look():
            item = main.poll() if run.demand or main.urgent else None
            if item is END or run.is_cancelled:
                return
            if item is None:
                yield None
            elif newest.look() and not newest.missing:  # what came while the item was computed counts
                yield _combined("with_latest_from", combiner, [item, *newest.row])
    finally:
        main.dispose()
        newest.dispose()


class _Newest:
    """The newest item of each of some sources."""

    __slots__ = ("_sides", "missing", "row")

    def __init__(self, sides: Sequence[Side[Any]]) -> None:
        self._sides = sides
        self.row: list[Any] = [None] * len(sides)
        #: How many have none yet.
        self.missing = len(sides)

    def look(self) -> bool:
        """Take what is new. False: one of several sources is over and never had an item. Raises what a source failed with."""
        for at, side in enumerate(self._sides):
            while side.stirred and (item := side.poll()) is not None:
                if item is END:
                    if self.row[at] is None and len(self.row) > 1:
                        return False
                    break
                if self.row[at] is None:
                    self.missing -= 1
                self.row[at] = item
                side.stirred = True  # until it says that there is no more
        return True

    def dispose(self) -> None:
        for side in self._sides:
            side.dispose()


def _newest(run: Run, publisher: Publisher[T]) -> Side[T]:
    side: Side[T] = Side(run, UNBOUNDED, quiet=True)
    side.start(_KeepsNewest(publisher))
    return side


class _KeepsNewest(Generic[T]):
    """A source of which only the newest item waits, however fast it sends. It runs for itself, through the protocol."""

    __slots__ = ("_publisher",)

    def __init__(self, publisher: Publisher[T]) -> None:
        self._publisher = publisher

    def _rx_open(self, run: Run, _window: int, /) -> Items[T]:
        def policy(waiting: PolicyInbox[T], item: T) -> None:
            if run.is_cancelled:  # it may be sending without end, on the thread that would have to cancel it
                waiting.dispose()
            else:
                waiting.keep_newest(item)

        inbox: PolicyInbox[T] = PolicyInbox(run, policy, capacity=1, eager_error=True)
        run.own(inbox)
        inbox.subscribe_to(self._publisher)
        return inbox.stream()
