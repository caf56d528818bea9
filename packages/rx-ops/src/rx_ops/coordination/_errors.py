"""What happens when a stream fails, and when it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import Items, Run, Side, Source, composite, none_produced, unwrap_stop, user_call
from rx_fusion import operator
from rx_ops.coordination._flatten import inner_source

T = TypeVar("T")


@operator
def on_error_return(run: Run, source: Source[T], handler: Callable[[Exception], T]) -> Items[T]:
    try:
        yield from source
        return
    except Exception as raised:
        error = user_error(raised)
    value = _recovered(handler, error)
    run.poke()  # the end follows and needs no demand
    yield value


def _recovered(handler: Callable[[Exception], T], error: Exception) -> T:
    try:
        value = user_call("on_error_return", handler, error)
    except Exception as second:
        raise composite([error, user_error(second)]) from None
    if value is None:
        raise composite([error, none_produced("on_error_return", handler)])
    return value


@operator(eager="none")
def on_error_resume_next(run: Run, source: Source[T], handler: Callable[[Exception], Any]) -> Items[T]:
    side: Side[T] = Side(run)
    side.start(source)
    return _resumed(side, handler)


def _resumed(side: Side[T], handler: Callable[[Exception], Any]) -> Items[T]:
    try:
        try:
            yield from side.items
            return
        except Exception as raised:
            error = user_error(raised)
        try:
            fallback = inner_source("on_error_resume_next", handler, error)
        except Exception as second:
            raise composite([error, user_error(second)]) from None
        side.close()
        side.start(fallback)
        yield from side.items
    finally:
        side.dispose()


@operator
def do_on_error(_run: Run, source: Source[T], action: Callable[[Exception], object]) -> Items[T]:
    try:
        yield from source
        return
    except Exception as raised:
        error = user_error(raised)
    try:
        user_call("do_on_error", action, error)
    except Exception as second:
        raise composite([error, user_error(second)]) from None
    raise error


def _at_once(action: Callable[[], object]) -> None:
    action()


@operator(unstarted=_at_once)
def do_finally(run: Run, source: Source[T], action: Callable[[], object]) -> Items[T]:
    run.after(action)
    return iter(source)


def user_error(error: Exception) -> Exception:
    """What the user's function raised, its StopIteration included."""
    original = unwrap_stop(error)
    return original if isinstance(original, Exception) else error
