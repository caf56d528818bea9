"""Lists of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from rx_core import Publisher, Scheduler, name_of
from rx_fusion import Text
from rx_ops import operators, stages
from rx_ops._faces._core import FlowableCore, check_callable, check_count, check_source, default_scheduler
from rx_ops._faces._time import check_period, naming

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableBuffer(FlowableCore[T_co]):
    """Lists of items."""

    __slots__ = ()

    @overload
    def buffer(self, count: int, skip: int | None = None) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(
        self, *, seconds: float, count: int | None = None, restart: bool = False, scheduler: Scheduler | None = None
    ) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, *, seconds: float, every: float, scheduler: Scheduler | None = None) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, *, boundary: Publisher[object]) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, *, closing: Callable[[], Publisher[object]]) -> Flowable[list[T_co]]: ...
    @overload
    def buffer(self, *, opening: Publisher[T], closing: Callable[[T], Publisher[object]]) -> Flowable[list[T_co]]: ...
    def buffer(
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
    ) -> Flowable[list[T_co]]:
        """Lists of ``count`` items, a new one every ``skip`` items (default: ``count``); or by time, or by another source.

        With ``seconds`` a list is given every so often, and when it has ``count`` items; with ``restart`` the one after that
        has its whole time. ``every`` is the time from the beginning of one list to the beginning of the next. With ``boundary`` a
        list is given whenever that gives something; with ``closing`` when the source that was made for the list does, and with
        ``opening`` each of its items begins a list, for which ``closing`` makes a source of that item.

        ::  --1-2-3-|  -->  ----a---b|      (count=2: a=[1, 2], b=[3])

        Demand:  request(n) asks for what n lists need, gaps and overlaps counted. By time or other sources everything is taken
                 from upstream; MissingBackpressureError when a list is due and not requested; with ``opening`` it waits.
        Errors:  pass at once and drop the partial lists; ValueError or TypeError at assembly for bad arguments.
        Memory:  at most ``count`` items, ``count / skip`` lists when they overlap; else what comes between two cuts.
        Thread:  the one that requests; by time a worker of ``scheduler`` (default: the running loop's, or computation), else
                 that of what cuts, or of
                 the item that fills a list.
        Fusion:  stage with an end; by time or other sources coordinating, without a queue of items.
        Source:  RxJava ``buffer``. The last list may be shorter; by time or ``boundary`` lists may be empty, and the end of
                 ``boundary`` is the end.
        """
        size, count = (count, None) if seconds is None else (None, count)
        form = form_of("buffer", size, skip, seconds, every, count, restart, boundary, opening, closing, scheduler)
        if form is not None:
            kind = operators.BufferCut if opening is None else operators.BufferToggle
            return self._coordinate(kind, count, form.cutter, *form.args, shown=form.text)
        assert size is not None
        if skip is None or skip == size:
            return self._then(stages.buffer, size)
        return self._then(stages.buffer_gaps if skip > size else stages.buffer_overlap, size, skip)


class Form(NamedTuple):
    """How pieces are cut, and how the user wrote it."""

    cutter: Callable[..., Any]
    args: tuple[Any, ...]
    text: Text


def shown(operator: str, seconds: float | None, count: int | None) -> str:
    return f"{operator}({seconds=})" if count is None else f"{operator}({seconds=}, {count=})"


def form_of(
    operator: str,
    size: object,
    skip: object,
    seconds: Any,
    every: Any,
    count: Any,
    restart: bool,
    boundary: Any,
    opening: Any,
    closing: Any,
    scheduler: Any,
) -> Form | None:
    """The form that the arguments say; None for a number of items. Raises at assembly unless they belong to one form."""
    if closing is not None or opening is not None:
        given = (size, skip, boundary, seconds, every, count, scheduler)
        return _by_selector(operator, opening, closing, alone=not restart and all(each is None for each in given))
    if every is not None or restart:
        return _overlapping(operator, (size, skip, boundary), seconds, every, count, restart, scheduler)
    kind = check_form(operator, size, skip, seconds, count, boundary, scheduler)
    if kind == "boundary":
        cutter = operators.Boundary if operator == "buffer" else operators.BoundaryFirst
        return Form(cutter, (boundary,), naming(f"{operator}(boundary={{!r}})", boundary))
    if kind == "seconds":
        return Form(operators.TimedCutter, (seconds, default_scheduler(scheduler, operator)), shown(operator, seconds, count))
    return None


def _by_selector(operator: str, opening: Any, closing: Any, *, alone: bool) -> Form:
    if closing is None:
        raise TypeError(_usage(operator, "needs closing=... with opening=..."))
    if not alone:
        raise TypeError(_usage(operator, "takes closing=... alone or with opening=..."))
    check_callable(operator, "closing", closing)
    if opening is None:
        return Form(operators.Closing, (operator, closing), f"{operator}(closing={name_of(closing)})")
    check_source(operator, opening, "opening")
    text = naming(f"{operator}(opening={{!r}}, closing={name_of(closing)})", opening)
    return Form(operators.Opening, (operator, opening, closing), text)


def _overlapping(
    operator: str, others: tuple[object, ...], seconds: Any, every: Any, count: Any, restart: bool, scheduler: Any
) -> Form:
    if seconds is None or any(each is not None for each in others):
        raise TypeError(_usage(operator, "takes every=... and restart=... with seconds=... only"))
    check_period(operator, seconds)
    if restart:
        if every is not None or count is None:
            raise TypeError(_usage(operator, "takes restart=True with seconds=... and count=..."))
        check_count(operator, count, 1)
        text = f"{operator}({seconds=}, {count=}, restart=True)"
        return Form(operators.Restarting, (seconds, default_scheduler(scheduler, operator)), text)
    if count is not None:
        raise TypeError(_usage(operator, "takes count=... or every=..., not both"))
    check_period(operator, every, "every")
    clock = default_scheduler(scheduler, operator)
    text = f"{operator}({seconds=}, {every=})"
    if every == seconds:  # one after the other
        return Form(operators.TimedCutter, (seconds, clock), text)
    return Form(operators.Overlapping, (seconds, every, clock), text)


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
        check_source(operator, boundary, "boundary")
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
        f"{operator}() {problem}.\n  Right:  .{operator}(10)   .{operator}(10, 5)   .{operator}(seconds=0.5)   "
        f".{operator}(seconds=0.5, count=10)   .{operator}(boundary=source)\n"
        f"          .{operator}(seconds=2.0, every=0.5)   .{operator}(closing=lambda: source)   "
        f".{operator}(opening=source, closing=lambda item: other)"
    )
