"""The forms in which one pipeline can run, and running a description in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest

from rx_core import hooks
from rx_fusion import Feed, Form, fusion_off
from rx_fusion import _shapes as shapes
from rx_testing import TestObserver
from tests.invisible.building import World
from tests.invisible.describe import Pipeline, frozen, key_of
from tests.invisible.recording import Ended, Got, Probe, Recording, Script, act


@dataclass(frozen=True)
class Mode:
    """How operators run; ``apart``: each by itself, talking to its neighbours through the protocol."""

    name: str
    apart: bool = False
    #: Whether take and its like say with their last item that it was the last: not where stages are stacked by force.
    marks: bool = True

    def __str__(self) -> str:
        return self.name


#: As the library decides; cold: what a process sees of a shape for the first time; hot: everything compiled; stacked: the stage
#: functions around one another, wherever the source can be iterated; off: fusion switched off; walls: ``hide()`` between all.
FUSED: Final = Mode("fused")
COLD: Final = Mode("cold")
HOT: Final = Mode("hot")
STACKED: Final = Mode("stacked", marks=False)
OFF: Final = Mode("off", apart=True)
WALLS: Final = Mode("walls", apart=True)

MODES: Final = (COLD, HOT, STACKED, OFF, WALLS)
TOGETHER: Final = (COLD, HOT, STACKED)

_pull = shapes.Shape.pull
_form = shapes.Shape.form


class _Unseen(dict[Form, Any]):
    """Forms that are there and do not say so."""

    def __contains__(self, _form: object) -> bool:
        return False


def _cold_pull(shape: Any, items: Any, run: Any, origin: Any, args: Any, form: Form) -> Iterator[Any]:
    """The library's own policy, for a shape that nothing was compiled for so far."""
    kept = shape._forms
    shape._forms = unseen = _Unseen(kept)
    try:
        return _pull(shape, items, run, origin, args, form)
    finally:
        kept.update(unseen)
        shape._forms = kept


def _stacked_form(shape: Any, form: Form) -> Callable[..., Any] | None:
    return None if form.kind == "value" or (form.kind == "pull" and form.feed is not Feed.RUNNING) else _form(shape, form)


def _uncompiled_pull(shape: Any, items: Any, run: Any, origin: Any, args: Any, form: Form) -> Iterator[Any]:
    if shape.stages:
        return shapes.Shape.stacked(shape, items, run, origin, args, form)
    return _pull(shape, items, run, origin, args, form)


@contextmanager
def switched(mode: Mode) -> Iterator[None]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        if mode is OFF:
            stack.enter_context(fusion_off())
        elif mode is HOT:
            patch.setattr(shapes, "HOT_RUNS", -1)
        elif mode is COLD:
            patch.setattr(shapes.Shape, "pull", _cold_pull)
            patch.setattr(shapes.Shape, "is_hot", lambda _shape, _source: False)
        elif mode is STACKED:
            patch.setattr(shapes.Shape, "pull", _uncompiled_pull)
            patch.setattr(shapes.Shape, "form", _stacked_form)
        yield


@contextmanager
def errors_of(recording: Recording) -> Iterator[None]:
    hooks.ensure_loaded()  # or loading them later would undo the patch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hooks, "on_error", lambda error, _origin, _late: recording.dropped.append(key_of(error)))
        yield


Insert = Callable[[Any], Any]


def run(pipeline: Pipeline, mode: Mode, script: Script) -> Recording:
    """A subscriber that follows ``script``; whatever is not over at the end of it is cancelled."""
    recording = Recording()
    world = World(recording.log)
    if mode is WALLS:
        world.between = lambda flow: flow.hide()
    probe = Probe(recording, script)

    def mark() -> None:
        world.settle()
        recording.marks.append(len(recording.log.entries))

    def subscribe() -> None:
        flow.subscribe(probe)
        mark()

    with switched(mode), errors_of(recording):
        flow = world.build(pipeline)
        subscribe()
        for number, step in enumerate(script.steps, 1):
            if script.cancel_after is not None and script.cancel_after < number:
                break

            def ask(n: int = step.n) -> None:
                if not probe.cancelled:
                    probe.subscription.request(n)
                mark()

            act(step.elsewhere, ask)
        before = len(recording.log.entries)
        probe.cancel()
        world.settle()
    if len(recording.log.entries) > before:
        recording.violations.append(f"after cancel: {recording.log.entries[before:]}")
    recording.left = left_open(world)
    return recording


def left_open(world: World) -> list[str]:
    log = world.log
    left = [f"{name}: made {n} times, given back {log.closes.get(name, 0)} times" for name, n in log.opens.items()
            if name != "finally" and log.closes.get(name, 0) != n]  # fmt: skip
    if world.open_iterators:
        left.append(f"{world.open_iterators} iterators not closed")
    return left


def iterate(pipeline: Pipeline, mode: Mode, leave_after: int | None = None) -> Recording:
    """``for x in flow``, left after so many items."""
    recording = Recording()
    world = World(recording.log)
    entries = recording.log.entries
    with switched(mode), errors_of(recording):
        flow = world.build(pipeline)
        items = iter(flow)
        try:
            for item in items:
                entries.append(Got(frozen(item)))
                if leave_after is not None and sum(isinstance(entry, Got) for entry in entries) >= leave_after:
                    break
            else:
                entries.append(Ended(None))
        except Exception as error:
            entries.append(Ended(key_of(error)))
        finally:
            items.close()  # type: ignore[attr-defined]  # what a break does as soon as nobody holds it
    recording.marks = [0, len(entries)]
    recording.left = left_open(world)
    return recording


def blocking_list(pipeline: Pipeline, mode: Mode) -> Recording:
    recording = Recording()
    world = World(recording.log)
    entries = recording.log.entries
    with switched(mode), errors_of(recording):
        flow = world.build(pipeline)
        try:
            for item in flow.blocking_list():
                entries.append(Got(frozen(item)))
            entries.append(Ended(None))
        except Exception as error:
            entries.append(Ended(key_of(error)))
    recording.marks = [0, len(entries)]
    recording.left = left_open(world)
    return recording


def first(pipeline: Pipeline, mode: Mode) -> Recording:
    """Only the first item: the value form."""
    recording = Recording()
    world = World(recording.log)
    entries = recording.log.entries
    with switched(mode), errors_of(recording):
        flow = world.build(pipeline)
        try:
            item = flow.first_element().blocking_get()
            entries.append(Ended(None) if item is None else Got(frozen(item)))
        except Exception as error:
            entries.append(Ended(key_of(error)))
    recording.marks = [0, len(entries)]
    recording.left = left_open(world)
    return recording


def observe(pipeline: Pipeline, mode: Mode, leave_after: int | None = None) -> Recording:
    """As an Observable."""
    recording = Recording()
    world = World(recording.log)
    entries = recording.log.entries
    observer: TestObserver[Any] = TestObserver(cancel_after=leave_after, on_value=lambda item: entries.append(Got(frozen(item))))
    with switched(mode), errors_of(recording):
        world.build(pipeline).to_observable().subscribe(observer)
        world.settle()
        if observer.is_terminated:
            entries.append(Ended(None if observer.error is None else key_of(observer.error)))
        recording.violations += observer.violations
        observer.cancel()
    recording.marks = [0, len(entries)]
    recording.left = left_open(world)
    return recording
