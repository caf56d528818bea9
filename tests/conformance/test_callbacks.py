"""Callbacks behind every operator: one that raises, disposes or is interrupted is heard of as if each item had passed the guard.

Operators call a function of callbacks themselves where they can, without CallbackObserver.on_next between (decision 0057).
They do not where the observer is of another class, which is what they are compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_core import CallbackObserver
from rx_core.streams import Op
from rx_ops import Flowable
from tests.conformance.each import each
from tests.conformance.harness import Case, Flow, Kit, bench, dropped_errors
from tests.conformance.table import TABLE


class Guarded(CallbackObserver[Any]):
    __slots__ = ()


BEHIND: Final[dict[str, Callable[[Flow, Kit], Flow]]] = {
    "nothing": lambda flow, _: flow,
    "merge": lambda flow, _: Flowable.merge(flow, Flowable.never()),
    "share": lambda flow, _: flow.share(),
    "retry": lambda flow, _: flow.retry(1),
    "unsubscribe_on": lambda flow, kit: flow.unsubscribe_on(kit.clock),
}

Act = Callable[[CallbackObserver[Any]], None]


def _raise(_handle: CallbackObserver[Any]) -> None:
    raise ValueError("mine")


def _dispose(handle: CallbackObserver[Any]) -> None:
    handle.dispose()


def _dispose_and_raise(handle: CallbackObserver[Any]) -> None:
    handle.dispose()
    raise ValueError("mine")


def _interrupt(_handle: CallbackObserver[Any]) -> None:
    raise KeyboardInterrupt


ACTS: Final = {"raises": _raise, "disposes": _dispose, "disposes and raises": _dispose_and_raise, "is interrupted": _interrupt}


def seen(case: Case, kind: str, behind: str, act: Act, observer: type[CallbackObserver[Any]]) -> list[object]:
    """Everything that a program hears whose callback does that at the second item, and what is left of the source."""
    heard: list[object] = []
    with dropped_errors() as dropped:
        made = bench(case, kind)
        flow = BEHIND[behind](made.flow, made.kit)

        def on_next(item: Any) -> None:
            heard.append(repr(item))
            if len(heard) == 2:
                act(handle)

        handle = observer(flow, on_next, lambda error: heard.append(repr(error)), lambda: heard.append("the end"))
        for step in (lambda: flow.subscribe(handle), made.settle, made.settle):
            try:
                step()
            except KeyboardInterrupt:
                heard.append("interrupted")
        active = made.source.active
        heard += [handle.is_disposed, None if active is None else active(), list(map(repr, dropped))]
        handle.dispose()
    return heard


@each("act", ACTS.values(), ids=ACTS)
@each("behind", BEHIND)
@each("kind", ("manual", "foreign"))
@pytest.mark.parametrize("case", TABLE, ids=str)
def test_past_its_guard_is_as_through_it(case: Case, kind: str, behind: str, act: Act) -> None:
    assert seen(case, kind, behind, act, CallbackObserver) == seen(case, kind, behind, act, Guarded)


def test_control_an_operator_that_does_not_tell_the_callbacks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Op, "unguarded_raised", lambda _op, _error: True)
    found = [
        str(case)
        for case in TABLE
        if seen(case, "manual", "merge", _raise, CallbackObserver) != seen(case, "manual", "merge", _raise, Guarded)
    ]
    assert len(found) > 100
