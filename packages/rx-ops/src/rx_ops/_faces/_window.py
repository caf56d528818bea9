"""Streams of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import Publisher, Scheduler
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._buffer import form_of
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableWindow(FlowableCore[T_co]):
    """Streams of items."""

    __slots__ = ()

    @overload
    def window(self, count: int, skip: int | None = None) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(
        self, *, seconds: float, count: int | None = None, restart: bool = False, scheduler: Scheduler | None = None
    ) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, *, seconds: float, every: float, scheduler: Scheduler | None = None) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, *, boundary: Publisher[object]) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, *, closing: Callable[[], Publisher[object]]) -> Flowable[Flowable[T_co]]: ...
    @overload
    def window(self, *, opening: Publisher[T], closing: Callable[[T], Publisher[object]]) -> Flowable[Flowable[T_co]]: ...
    def window(
        self,
        count: int | None = None,
        skip: int | None = None,
        *,
        seconds: float | None = None,
        every: float | None = None,
        restart: bool = False,
        boundary: Publisher[object] | None = None,
        opening: Publisher[Any] | None = None,
        closing: Callable[..., Any] | None = None,
        scheduler: Scheduler | None = None,
    ) -> Flowable[Flowable[T_co]]:
        """As :meth:`buffer`, with a stream in place of each list.

        A window is given when its first item comes; by time or other sources when it begins.

        ::  --1-2-3-|  -->  --a---b-|      (count=2: a has 1 and 2, b has 3)

        Demand:  request(n) asks for the items of n windows, gaps and overlaps counted. By time or other sources everything is
                 taken; MissingBackpressureError when a window begins and is not requested.
        Errors:  go to the stream of windows and to every open window; ValueError or TypeError at assembly for bad arguments.
        Memory:  items wait in their windows until they are taken: at most ``count`` in each, else what comes between two cuts. A
                 window that is not subscribed while it is emitted is abandoned: it keeps what it has and completes. One that
                 waits for its turn in :meth:`concat_map` counts as subscribed; in any other queue, behind :meth:`observe_on` say,
                 it does not.
        Thread:  that of the source; windows end on a worker of ``scheduler`` (default: the running loop's, or computation), or
                 on that of what cuts.
        Fusion:  coordinating; a queue for each window, empty where its subscriber keeps up.
        Source:  RxJava ``window``. Each window allows one subscriber. The source is cancelled when the stream of windows and all
                 windows are.
        """
        size, count = (count, None) if seconds is None else (None, count)
        form = form_of("window", size, skip, seconds, every, count, restart, boundary, opening, closing, scheduler)
        if form is not None:
            said = operators.window_notes(count)
            return self._coordinate(
                operators.WindowCut, _results.Flowable, count, form.cutter, *form.args, shown=form.text, said=said
            )
        assert size is not None
        text = f"window({size})" if skip is None else f"window({size}, {skip})"
        said = operators.window_notes(size)
        return self._coordinate(operators.WindowByCount, size, skip or size, _results.Flowable, shown=text, said=said)
