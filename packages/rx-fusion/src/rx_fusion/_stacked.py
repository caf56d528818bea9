"""Stages that are not compiled: their generators around one another, and what has to stand between and around these.

A compiled form has its checks in the one loop: that no item is None, that the run goes on, that the source is closed. Stacked
stages get them as generators of ours. What both give is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rx_core import close, none_produced
from rx_core.streams import Stopping, left_behind
from rx_fusion._forms import Feed, Form
from rx_fusion._notes import note_stacked
from rx_fusion._stage import Stage
from rx_fusion._stages import closing_of


def stacked(
    stages: tuple[Stage, ...],
    items: Iterator[Any],
    run: Stopping | None,
    origin: Any,
    args: tuple[Any, ...],
    form: Form,
    ends_with_source: bool,
) -> Iterator[Any]:
    """``stages`` over ``items``. ``ends_with_source`` says that none gives more than one item for one, or any behind the last."""
    made: Iterator[Any] = items
    if form.feed is Feed.CHECKED:
        made = _checked(made, origin)
    if form.cancel:
        assert run is not None
        made = _until_cancelled(made, run)
    at = 0
    closed: tuple[Iterator[Any], ...] = ()
    for stage in stages:
        size = len(stage.parameters)
        closing = closing_of(stage.function)
        if closing is None:
            made = stage.function(made, *args[at : at + size])
        else:
            made = closing(made, *args[at : at + size])
            closed = (made, *closed)
        at += size
    if form.cancel and not ends_with_source:
        assert run is not None
        made = _between_items(made, run)
    made = _noted(made, (*closed, items), origin, stages, args)
    return _emitting(made, run, origin, of_source=False) if form.kind == "emit" else made


def bare(items: Iterator[Any], run: Stopping | None, origin: Any, form: Form) -> Iterator[Any]:
    """The items of a source without stages."""
    if form.kind == "emit":
        return _emitting(items, run, origin, of_source=True)
    made = items
    if form.feed is Feed.CHECKED:
        made = _checked(made, origin)
    if form.cancel:
        assert run is not None
        return _while_wanted(made, run, items)
    return _closing(made, items)


def first_of(items: Iterator[Any]) -> Any:
    """The first item, or None where there is none."""
    try:
        return next(items, None)
    finally:
        close(items)


def _checked(items: Iterator[Any], origin: Any) -> Iterator[Any]:
    for item in items:
        if item is None:
            raise none_produced(origin.name)
        yield item


def _while_wanted(made: Iterator[Any], run: Stopping, items: Iterator[Any]) -> Iterator[Any]:
    try:
        for item in made:
            if run.stopped:
                left_behind(run, item)
                return
            yield item
            if run.stopped:
                return  # type: ignore[unreachable]  # set meanwhile: a user's iterator is not asked for one more
    finally:
        close(items)


def _emitting(items: Iterator[Any], run: Any, origin: Any, *, of_source: bool) -> Iterator[None]:
    """``items`` in the form ``emit``, with its checks: see :mod:`rx_core.streams.pump`.

    What a source gives while the stream is cancelled is left behind; what a stage makes of an item meanwhile is emitted."""
    emit = run.emit
    left = run.left
    try:
        for item in items:
            if item is None:
                raise none_produced(origin.name)
            if of_source and run.stopped:
                left_behind(run, item)
                return
            try:
                emit(item)
            except BaseException as error:
                run.emit_failed(error)
            left -= 1
            if not left or run.dirty:
                run.left = left
                yield
                if run.stopped:
                    return
                left = run.left
    finally:
        close(items)


class _Cancelled(BaseException):
    """Leaves stacked stages without running their ends, which a cancelled stream does not reach."""


def _until_cancelled(items: Iterator[Any], run: Stopping) -> Iterator[Any]:
    for item in items:
        if run.stopped:
            left_behind(run, item)
            raise _Cancelled
        yield item
        if run.stopped:
            raise _Cancelled
    if run.stopped:
        raise _Cancelled


def _between_items(items: Iterator[Any], run: Stopping) -> Iterator[Any]:
    """What one item of the source, or its end, expands to must not outlive a cancel."""
    try:
        for item in items:
            yield item
            if run.stopped:
                return
    finally:
        close(items)


def _closing(made: Iterator[Any], items: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from made
    finally:
        close(items)


def _noted(
    made: Iterator[Any], closed: tuple[Iterator[Any], ...], origin: Any, stages: tuple[Stage, ...], args: tuple[Any, ...]
) -> Iterator[Any]:
    try:
        yield from made
    except _Cancelled:
        return
    except (Exception, GeneratorExit) as error:
        note_stacked(error, origin, stages, args)
        raise
    finally:
        close(made)
        for each in closed:  # a stage behind it that failed has ended, and is kept by the error's traceback with what it iterates
            close(each)
