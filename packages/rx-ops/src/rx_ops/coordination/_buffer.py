"""buffer by time and by other sources: lists of what came between two cuts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import OPERATOR_CODES, CompositeDisposable, Disposable, Items, Publisher, Run, Scheduler, Source, close
from rx_fusion import operator
from rx_ops.coordination._arrivals import Beat, arrivals, giving_back, own_worker, wanted
from rx_ops.coordination._cutters import Cutter

T = TypeVar("T")

_END: Any = object()
_CUT: Any = object()


@operator(eager="none")
def buffer_time(run: Run, source: Source[T], seconds: float, size: int | None, scheduler: Scheduler) -> Items[list[T]]:
    events: deque[Any] = deque()  # items and cuts in the order in which they came
    worker = own_worker(run, scheduler)
    Beat(worker, seconds, seconds, _cutting(run, events))
    signals = arrivals(run, source.publisher, _filling(run, events, size))
    lists = _lists(run, signals, None, events, size)
    return giving_back(run, worker, lists)


@operator(eager="none")
def buffer_boundary(run: Run, source: Source[T], boundary: Publisher[Any]) -> Items[list[T]]:
    events: deque[Any] = deque()
    cut = _cutting(run, events)
    cuts = arrivals(run, boundary, lambda _item: cut())  # first: it may cut what the source sends while it is subscribed
    return _lists(run, arrivals(run, source.publisher, events.append), cuts, events, None)


def _cutting(run: Run, events: deque[Any]) -> Callable[[], None]:
    def cut() -> None:
        events.append(_CUT)
        run.poke()

    return cut


def _filling(run: Run, events: deque[Any], size: int | None) -> Callable[[Any], None]:
    if size is None:
        return events.append

    def fill(item: Any) -> None:
        events.append(item)
        run.poke()  # it may be the one that fills a list

    return fill


def _lists(run: Run, signals: Items[Any], cuts: Items[Any] | None, events: deque[Any], size: int | None) -> Items[list[Any]]:
    batch: list[Any] = []
    try:
        while True:
            failure: Exception | None = None
            try:
                ended = next(signals, _END) is _END or (cuts is not None and next(cuts, _END) is _END)
            except Exception as error:
                failure = error
            while events and not run.is_cancelled:
                event = events.popleft()
                if event is not _CUT:
                    batch.append(event)
                if event is _CUT or len(batch) == size:
                    full, batch = batch, []
                    yield wanted(run, "buffer", full)
            if failure is not None:
                raise failure
            if ended:
                break
            yield None
        run.poke()  # the end follows and needs no demand
        yield wanted(run, "buffer", batch)
    finally:
        close(signals)
        close(cuts)


# -- lists that begin and end by themselves ------------------------------------------------------------------------------------


@operator(eager="none")
def buffer_cut(run: Run, source: Source[T], cutter: Cutter, size: int | None) -> Items[list[T]]:
    """Lists that may overlap; ``cutter`` says where they begin and end."""
    lists: _Pieces = _Pieces(run, size)
    run.own(lists.kept)
    lists.filled = cutter.start(lists)  # first: it may cut what the source sends while it is subscribed
    signals = arrivals(run, source.publisher, lists.add)
    return giving_back(run, lists.kept, lists.stream(signals))


class _Do:
    __slots__ = ("action",)

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action


class _Pieces:
    """One run of buffer: the target of its cutter. All but ``do`` and ``add`` belong to the run's owner."""

    __slots__ = ("_error", "_events", "_is_over", "_live", "_number", "_ready", "_run", "_size", "filled", "kept")

    def __init__(self, run: Run, size: int | None) -> None:
        self._run = run
        self._size = size
        self._events: deque[Any] = deque()  # items and cuts in the order in which they came
        self._live: dict[int, list[Any]] = {}
        self._ready: deque[list[Any]] = deque()
        self._number = 0
        self._is_over = False
        self._error: Exception | None = None
        self.kept = CompositeDisposable()
        self.filled: Callable[[], object] | None = None

    @property
    def origin(self) -> object:
        return self._run.origin

    def add(self, item: Any) -> None:
        self._events.append(item)
        if self._size is not None:
            self._run.poke()  # it may be the one that fills a list

    def do(self, action: Callable[[], object], /) -> None:
        self._events.append(_Do(action))
        self._run.poke()

    def begin(self) -> int | None:
        if self._is_over:
            return None
        self._number += 1
        self._live[self._number] = []
        return self._number

    def end(self, piece: Any, /) -> None:
        batch = self._live.pop(piece, None)
        if batch is not None:
            self._ready.append(batch)

    def over(self, error: Exception | None, /) -> None:
        if not self._is_over:
            self._is_over, self._error = True, error

    def keep(self, disposable: Disposable, /) -> object:
        return self.kept.add(disposable)

    def let_go(self, disposable: Disposable, /) -> object:
        return self.kept.remove(disposable)

    def stream(self, signals: Items[Any]) -> Items[list[Any]]:
        run, events, ready = self._run, self._events, self._ready
        try:
            while True:
                failure: Exception | None = None
                ended = False
                try:
                    ended = next(signals, _END) is _END
                except Exception as error:
                    failure = error
                while not run.is_cancelled:
                    if ready:
                        yield wanted(run, "buffer", ready.popleft())
                    elif self._is_over or not events:
                        break
                    else:
                        self._take(events.popleft())
                if self._is_over:
                    if self._error is not None:
                        raise self._error
                    return
                if failure is not None:
                    raise failure
                if ended:
                    break
                yield None
            ready.extend(self._live.values())
            self._live.clear()
            while ready:
                batch = ready.popleft()
                if not ready:
                    run.poke()  # the end follows and needs no demand
                yield wanted(run, "buffer", batch)
        finally:
            close(signals)

    def _take(self, event: Any) -> None:
        if type(event) is _Do:
            event.action()
            return
        full = False
        for piece, batch in tuple(self._live.items()):
            batch.append(event)
            if len(batch) == self._size:
                self.end(piece)
                full = True
        if full and self.filled is not None:
            self.filled()


OPERATOR_CODES.add(_Pieces.stream.__code__)  # it raises what ended the cutter
