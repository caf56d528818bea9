"""A resource for each run of a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rx_core import ActionDisposable, Items, Run, Side, composite, user_call
from rx_fusion import operator
from rx_ops.coordination._errors import user_error
from rx_ops.coordination._flatten import inner_source

R = TypeVar("R")


@operator
def using(
    run: Run, supplier: Callable[[], R], factory: Callable[[R], Any], cleanup: Callable[[R], object], eager: bool
) -> Items[Any]:
    """The resource is made at subscription and given back once, whatever happens."""
    resource = user_call("using", supplier)
    given_back = ActionDisposable(lambda: user_call("using", cleanup, resource))
    try:
        source = inner_source("using", factory, resource)
    except Exception as raised:
        _clean_after(raised, given_back)
        raise
    if eager:
        run.own(given_back)  # for a run that is cancelled, or never started
    else:
        run.after(given_back.dispose)
    side: Side[Any] = Side(run)
    side.start(source)
    return _eagerly_cleaned(run, side, given_back) if eager else _closed_after(side)


def _closed_after(side: Side[Any]) -> Items[Any]:
    try:
        yield from side.items
    finally:
        side.dispose()


def _eagerly_cleaned(run: Run, side: Side[Any], given_back: ActionDisposable) -> Items[Any]:
    try:
        try:
            yield from side.items
        except Exception as raised:
            _clean_after(raised, given_back)
            raise
        given_back.dispose()
    finally:
        side.dispose()
        run.disown(given_back)
        given_back.dispose()


def _clean_after(raised: Exception, given_back: ActionDisposable) -> None:
    """Clean up after a failure; when that fails as well, both are raised."""
    try:
        given_back.dispose()
    except Exception as second:
        raise composite([user_error(raised), user_error(second)]) from None
