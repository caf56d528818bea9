"""Operators that cut a stream into pieces: lists of items, and streams of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import Publisher, Scheduler
from rx_ops import coordination, stages
from rx_ops._faces._core import FlowableCore, check_callable, check_count, check_source, default_scheduler
from rx_ops._faces._time import check_period, naming
from rx_ops.coordination._cutters import Closing, Cutter, Opening, Overlapping, Restarting

if TYPE_CHECKING:
    from rx_ops._faces import Flowable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableWindow(FlowableCore[T_co]):
    """Operators that cut a stream into pieces."""

    __slots__ = ()

    @overload
    def buffer(self, count: int, skip: int | None = None, /) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(
        self, /, *, seconds: float, count: int | None = None, restart: bool = False, scheduler: Scheduler | None = None
    ) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, /, *, seconds: float, every: float, scheduler: Scheduler | None = None) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, /, *, boundary: Publisher[object]) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, /, *, closing: Callable[[], Publisher[object]]) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, /, *, opening: Publisher[T], closing: Callable[[T], Publisher[object]]) -> Flowable[list[T_co]]: ...
    def buffer(
        self,
        size: int | None = None,
        skip: int | None = None,
        /,
        *,
        seconds: float | None = None,
        every: float | None = None,
        count: int | None = None,
        restart: bool = False,
        boundary: Publisher[object] | None = None,
        opening: Publisher[Any] | None = None,
        closing: Callable[..., Any] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[list[T_co]]:
        """Lists of ``count`` items, a new one every ``skip`` items (default: ``count``); or by time, or by another source.

        With ``seconds`` a list is given every so often, and when it has ``count`` items; with ``restart`` the one after that
        has its whole time. ``every`` is the time from the beginning of one list to the beginning of the next. With ``boundary`` a
        list is given whenever that gives something; with ``closing`` when the source that was made for the list does, and with
        ``opening`` each of its items begins a list, for which ``closing`` makes a source of that item.

        ::  --1-2-3-|  -->  ----a---b|      (count=2: a=[1, 2], b=[3])

        Demand:  request(n) asks a foreign source for what n lists need, gaps and overlaps counted. By time or ``boundary``:
                 everything is taken from upstream; MissingBackpressureError when a list is due and nobody has requested it.
        Errors:  pass at once and drop the partial lists; ValueError or TypeError at assembly for bad arguments.
        Memory:  at most ``count`` items, ``count / skip`` lists when they overlap; else what comes between two cuts.
        Thread:  the one that requests; by time a worker of ``scheduler`` (default: computation), else that of ``boundary``.
        Fusion:  stage with an end; by time or ``boundary`` coordinating, subscribes on its own.
        Source:  RxJava ``buffer``. The last list may be shorter; by time or ``boundary`` lists may be empty, and the end of
                 ``boundary`` is the end.
        """
        cutter = cutter_of("buffer", size, skip, seconds, every, count, restart, boundary, opening, closing, scheduler)
        if cutter is not None:
            return self._coordinate(coordination.buffer_cut, cutter, count, shown=cutter.text)
        form = check_form("buffer", size, skip, seconds, count, boundary, scheduler)
        if form == "boundary":
            return self._coordinate(coordination.buffer_boundary, boundary, shown=naming("buffer(boundary={!r})", boundary))
        if form == "seconds":
            args = (seconds, count, default_scheduler(scheduler, "buffer"))
            return self._coordinate(coordination.buffer_time, *args, shown=shown("buffer", seconds, count))
        assert size is not None
        if skip is None or skip == size:
            return self._then(stages.buffer, size)
        return self._then(stages.buffer_gaps if skip > size else stages.buffer_overlap, size, skip)

    @overload
    def window(self, count: int, skip: int | None = None, /) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(
        self, /, *, seconds: float, count: int | None = None, restart: bool = False, scheduler: Scheduler | None = None
    ) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, /, *, seconds: float, every: float, scheduler: Scheduler | None = None) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, /, *, boundary: Publisher[object]) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, /, *, closing: Callable[[], Publisher[object]]) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, /, *, opening: Publisher[T], closing: Callable[[T], Publisher[object]]) -> Flowable[Flowable[T_co]]: ...
    def window(
        self,
        size: int | None = None,
        skip: int | None = None,
        /,
        *,
        seconds: float | None = None,
        every: float | None = None,
        count: int | None = None,
        restart: bool = False,
        boundary: Publisher[object] | None = None,
        opening: Publisher[Any] | None = None,
        closing: Callable[..., Any] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[Flowable[T_co]]:
        """As :meth:`buffer`, with a stream in place of each list.

        A window is given when its first item comes; by time or other sources when it begins.

        ::  --1-2-3-|  -->  --a---b-|      (count=2: a has 1 and 2, b has 3)

        Demand:  request(n) asks for what n windows need, gaps and overlaps counted; without a bound, for one window after the
                 other. By time or ``boundary`` everything is taken; MissingBackpressureError when a window begins and nobody
                 takes it.
        Errors:  go to the stream of windows and to every open window; ValueError or TypeError at assembly for bad arguments.
        Memory:  items wait in their windows until they are taken: at most ``count`` in each, else what comes between two cuts. A
                 window that nobody subscribes to while it is emitted is abandoned: it keeps what it has and completes.
        Thread:  that of the source; windows end on a worker of ``scheduler`` (default: computation), or on that of ``boundary``.
        Fusion:  coordinating; subscribes on its own, because windows may outlive the stream of windows.
        Source:  RxJava ``window``. Each window allows one subscriber. The source is cancelled when the stream of windows and all
                 windows are.
        """
        from rx_ops._faces import GroupedFlowable

        cutter = cutter_of("window", size, skip, seconds, every, count, restart, boundary, opening, closing, scheduler)
        if cutter is not None:
            return self._from(coordination.WindowHead(self, GroupedFlowable, cutter.text, size=count, cutter=cutter))
        form = check_form("window", size, skip, seconds, count, boundary, scheduler)
        # A window is a group whose key is its number: that is how a queue can say that it holds it for somebody.
        if form == "boundary":
            called = naming("window(boundary={!r})", boundary)
            return self._from(coordination.WindowHead(self, GroupedFlowable, called, boundary=boundary))
        if form == "seconds":
            text, clock = shown("window", seconds, count), default_scheduler(scheduler, "window")
            head: Any = coordination.WindowHead(self, GroupedFlowable, text, size=count, seconds=seconds, scheduler=clock)
            return self._from(head)
        text = f"window({size})" if skip is None else f"window({size}, {skip})"
        return self._from(coordination.WindowHead(self, GroupedFlowable, text, size=size, skip=skip or size))


def shown(operator: str, seconds: float | None, count: int | None) -> str:
    return f"{operator}({seconds=})" if count is None else f"{operator}({seconds=}, {count=})"


def cutter_of(
    operator: str,
    size: object,
    skip: object,
    seconds: Any,
    every: Any,
    count: Any,
    restart: bool,
    boundary: object,
    opening: Any,
    closing: Any,
    scheduler: Any,
) -> Cutter | None:
    """The cutter of the forms in which pieces begin and end by themselves; None for another form."""
    if closing is None and opening is None and every is None and not restart:
        return None
    clock = (seconds, every, count, scheduler)
    if closing is not None:
        if restart or any(given is not None for given in (size, skip, boundary, *clock)):
            raise TypeError(_usage(operator, "takes closing=... alone or with opening=..."))
        check_callable(operator, "closing", closing)
        if opening is None:
            return Closing(operator, closing)
        check_source(operator, opening)
        return Opening(operator, opening, closing)
    if opening is not None:
        raise TypeError(_usage(operator, "needs closing=... with opening=..."))
    if size is not None or skip is not None or boundary is not None or seconds is None:
        raise TypeError(_usage(operator, "takes every=... and restart=... with seconds=... only"))
    check_period(operator, seconds)
    if restart:
        if every is not None or count is None:
            raise TypeError(_usage(operator, "takes restart=True with seconds=... and count=..."))
        check_count(operator, count, 1)
        return Restarting(operator, seconds, count, default_scheduler(scheduler, operator))
    if count is not None:
        raise TypeError(_usage(operator, "takes count=... or every=..., not both"))
    check_period(operator, every, "every")
    return Overlapping(operator, seconds, every, default_scheduler(scheduler, operator))


def check_form(
    operator: str,
    size: object,
    skip: object,
    seconds: object,
    count: object,
    boundary: object,
    scheduler: object,
) -> str:
    """Raise at assembly unless the arguments belong to one form; returns which one."""
    forms = [name for name, value in (("count", size), ("seconds", seconds), ("boundary", boundary)) if value is not None]
    if len(forms) > 1 or (skip is not None and size is None) or (count is not None and seconds is None):
        raise TypeError(_usage(operator, "takes a number of items, or seconds=..., or boundary=..., and one of them only"))
    if scheduler is not None and seconds is None:
        raise TypeError(_usage(operator, "needs a scheduler only with seconds=..."))
    if boundary is not None:
        check_source(operator, boundary)
        return "boundary"
    if seconds is not None:
        check_period(operator, seconds)
        if count is not None:
            check_count(operator, count, 1)
        return "seconds"
    check_count(operator, size, 1)
    if skip is not None:
        check_count(operator, skip, 1, "skip")
    return "count"


def _usage(operator: str, problem: str) -> str:
    return (
        f"{operator}() {problem}.\n  Right:  {operator}(10)   {operator}(10, 5)   {operator}(seconds=0.5)   "
        f"{operator}(seconds=0.5, count=10)   {operator}(boundary=source)\n"
        f"          {operator}(seconds=2.0, every=0.5)   {operator}(closing=lambda: source)   "
        f"{operator}(opening=source, closing=lambda item: other)"
    )
