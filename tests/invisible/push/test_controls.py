"""The comparison finds mistakes: each of these, made in the reference on purpose, is seen within a few dozen pipelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from tests.invisible.push import (
    again,
    buffers,
    clock,
    combining,
    hot,
    items,
    looking_on,
    lossy,
    sources,
    streams,
    timeouts,
    timing,
)
from tests.invisible.push.drawing import Drawing
from tests.invisible.push.judging import Judge
from tests.invisible.push.library import FUSED

#: So many pipelines are tried at most.
MOST: Final = 200

Mistake = Callable[[pytest.MonkeyPatch], None]


def instead(owner: Any, name: str, method: Any) -> Mistake:
    return lambda patch: patch.setattr(owner, name, method)


def first(owner: Any, name: str, change: Callable[[Any], object]) -> Mistake:
    """Something is changed before the method does its work."""
    method = getattr(owner, name)

    def changed(self: Any, *arguments: Any, **options: Any) -> Any:
        change(self)
        return method(self, *arguments, **options)

    return instead(owner, name, changed)


def then(owner: Any, name: str, change: Callable[[Any], object]) -> Mistake:
    """Something is changed afterwards."""
    method = getattr(owner, name)

    def changed(self: Any, *arguments: Any, **options: Any) -> Any:
        made = method(self, *arguments, **options)
        change(self)
        return made

    return instead(owner, name, changed)


def setting(**attributes: Any) -> Callable[[Any], None]:
    def change(self: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    return change


def one_more(name: str) -> Callable[[Any], None]:
    return lambda self: setattr(self, name, getattr(self, name) + 1)


def swallow(self: Any, item: Any) -> None:
    looking_on.ignoring(self.action, item)
    self.down.on_next(item)


def drop_silently(self: Any, item: Any) -> None:
    if self.keeps(item):
        self.down.on_next(item)


def keep_the_oldest(self: Any, item: Any) -> None:
    if not self.items:
        self.put(item)


_every = clock.Clock.every

#: The source or operator that is drawn, and the mistake.
MISTAKES: Final[dict[str, tuple[str, Mistake]]] = {
    "take gives one more": ("take", then(items.Take, "__init__", one_more("left"))),
    "scan begins again with each item": ("scan", first(items.Scan, "next", setting(total=None))),
    "skip_while goes on dropping": ("skip_while", first(items.SkipWhile, "keeps", setting(begun=False))),
    "distinct_until_changed forgets": ("distinct_until_changed", first(items.DistinctUntilChanged, "keeps", setting(last=[]))),
    "do_on_next swallows a failure": ("do_on_next", instead(looking_on.DoOnNext, "next", swallow)),
    "retry tries once more": ("retry", then(again.Retry, "__init__", one_more("times"))),
    "repeat stops early": ("repeat", first(again.Repeat, "complete", setting(times=1))),
    "on_error_resume_next resumes nothing": (
        "on_error_resume_next",
        instead(again.OnErrorResumeNext, "error", streams.Stage.error),
    ),
    "concat goes on behind an error": ("concat_with", instead(again.Concat, "error", lambda self, _: self.gate.run())),
    "debounce does not begin anew": ("debounce", instead(timing.DebounceTimed, "cancel_tasks", lambda _: None)),
    "sample always gives the last item": ("sample", first(timing.Sample, "complete", setting(emit_last=True))),
    "throttle_first never opens again": ("throttle_first", instead(timing.ThrottleFirst, "open", lambda _: None)),
    "timeout does not stop its timer": ("timeout", instead(timeouts.Timeout, "stop_waiting", lambda _: None)),
    "buffer loses its last list": ("buffer_time", instead(buffers.BufferTimed, "complete", streams.Stage.complete)),
    "skip(seconds) is open from the start": ("skip_time", instead(combining.SkipUntil, "open", True)),
    "an interval drifts": (
        "ticks",
        instead(clock.Clock, "every", lambda self, at, period, action: _every(self, at, period + 1, action)),
    ),
    "a replaying source replays nothing": ("hot", instead(hot.Replay, "on_next", hot.Hot.on_next)),
    "a delayed subscription is not delayed": ("delay_sub", first(again.DelaySubscription, "begin", lambda self: self.gate.run())),
}

#: With subscribers that do not request everything.
MISTAKES_OF_DEMAND: Final[dict[str, tuple[str, Mistake]]] = {
    "filter asks for nothing in the place of what it drops": ("filter", instead(items.Dropping, "next", drop_silently)),
    "on_backpressure_drop drops nothing": ("bp_drop", first(lossy.OnBackpressureDrop, "next", setting(wanted=9))),
    "on_backpressure_latest keeps the oldest": ("bp_latest", instead(lossy.OnBackpressureLatest, "next", keep_the_oldest)),
    "an emitter drops nothing": ("create", then(sources.Emitter, "__init__", setting(strategy="BUFFER"))),
    "a hot source gives what nobody requested": ("hot", first(hot.Seat, "next", setting(wanted=9))),
    "a publisher sends too much": ("paced", first(sources.Listed, "request", setting(wanted=9))),
}


def found(drawing: Drawing, name: str, make: Mistake, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a pipeline with this source or operator differs with the mistake, and does not without it."""
    judge = Judge()
    for number in range(MOST):
        case = drawing.case_with(name, number)
        with monkeypatch.context() as patch:
            make(patch)
            differs = judge.differences(case, [FUSED])
        if differs and not judge.differences(case, [FUSED]):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, make = MISTAKES[mistake]
    assert found(Drawing(), name, make, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES_OF_DEMAND)
def test_a_mistake_about_demand_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, make = MISTAKES_OF_DEMAND[mistake]
    assert found(Drawing(demanding=True), name, make, monkeypatch)
