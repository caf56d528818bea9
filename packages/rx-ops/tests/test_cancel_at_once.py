"""A cancel reaches the sources before the end is signalled, also from inside an item: what runs next finds them released."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from rx_core.streams import Op
from rx_fusion import fusion_off
from rx_ops import Flowable, operators
from rx_testing import ManualPublisher, VirtualScheduler

Flow = Flowable[Any]
Build = Callable[[Flow, VirtualScheduler], Flow]


def _just(_item: object) -> Flow:
    return Flowable.just(7).hide()


def _never(_item: object) -> Flow:
    return Flowable.never()


OPERATORS: dict[str, Build] = {
    "buffer": lambda s, c: s.buffer(boundary=Flowable.timer(1.0, scheduler=c).concat_with(Flowable.never())),
    "buffer of a time": lambda s, c: s.buffer(seconds=1.0, scheduler=c),
    "combine_latest": lambda s, c: Flowable.combine_latest(s, Flowable.just(1)),
    "concat": lambda s, c: Flowable.concat(s, Flowable.just(1)),
    "concat_eager": lambda s, c: Flowable.concat_eager(s, Flowable.just(1)),
    "concat_map": lambda s, c: s.concat_map(_just),
    "concat_map_eager": lambda s, c: s.concat_map_eager(_just),
    "debounce": lambda s, c: s.debounce(1.0, scheduler=c),
    "debounce by": lambda s, c: s.debounce(selector=lambda _item: Flowable.just(1)),
    "delay": lambda s, c: s.delay(1.0, scheduler=c),
    "delay by": lambda s, c: s.delay(selector=_just),
    "exhaust_map": lambda s, c: s.exhaust_map(_just),
    "expand": lambda s, c: s.expand(_never),
    "flat_map": lambda s, c: s.flat_map(_just),
    "flat_map_iterable": lambda s, c: s.flat_map_iterable(lambda item: (item, item)),
    "group_join": lambda s, c: s.group_join(Flowable.just(1), _never, _never, lambda item, _window: item),
    "join": lambda s, c: Flowable.just(1).join(s, _never, _never),
    "merge_ordered": lambda s, c: Flowable.merge_ordered(s, Flowable.just(1).concat_with(Flowable.never())),
    "merge_priority": lambda s, c: Flowable.merge_priority(s, Flowable.never()),
    "merge": lambda s, c: s.merge_with(Flowable.never()),
    "observe_on": lambda s, c: s.observe_on(c),
    "on_backpressure_buffer": lambda s, c: s.on_backpressure_buffer(),
    "on_backpressure_latest": lambda s, c: s.on_backpressure_latest(),
    "on_error_return": lambda s, c: s.on_error_return(lambda error: 1),
    "parallel": lambda s, c: s.parallel(2).sequential(),
    "parallel ordered": lambda s, c: s.parallel(2).filter(lambda item: True).sequential(ordered=True),
    "retry": lambda s, c: s.retry(2),
    "sample": lambda s, c: s.sample(1.0, scheduler=c),
    "skip_until": lambda s, c: s.skip_until(Flowable.just(1)),
    "skip_last": lambda s, c: s.skip_last(seconds=1.0, scheduler=c),
    "start_with": lambda s, c: Flowable.concat(Flowable.empty(), s),
    "switch_map": lambda s, c: s.switch_map(_just),
    "switch_on_first": lambda s, c: s.switch_on_first(lambda _first, whole: whole),
    "take_until": lambda s, c: s.take_until(Flowable.never()),
    "throttle_first": lambda s, c: s.throttle_first(1.0, scheduler=c),
    "throttle_latest": lambda s, c: s.throttle_latest(1.0, scheduler=c),
    "timeout": lambda s, c: s.timeout(5.0, scheduler=c),
    "using_when": lambda s, c: Flowable.using_when(Flowable.just(1), lambda _r: s, lambda _r: Flowable.empty()),
    "with_latest_from": lambda s, c: s.with_latest_from(Flowable.just(1)),
    "zip_latest": lambda s, c: Flowable.zip_latest(s, Flowable.just(1).concat_with(Flowable.never())),
    "zip": lambda s, c: Flowable.zip(s, Flowable.just(1).concat_with(Flowable.never())),
}


def _fail(_item: object) -> Any:
    raise ValueError("of the map")


ENDINGS: dict[str, Callable[[Flow], Flow]] = {
    "take": lambda flow: flow.take(1),
    "a map that fails": lambda flow: flow.map(_fail),
    "flat_map that fails": lambda flow: flow.flat_map(_fail),
    "take behind another": lambda flow: flow.flat_map(_just).take(1),
}


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("build", OPERATORS.values(), ids=OPERATORS)
def test_the_source_is_cancelled_before_the_end_is_signalled(build: Build, ending: Callable[[Flow], Flow], fused: bool) -> None:
    clock = VirtualScheduler()
    events: list[str] = []
    source = ManualPublisher[int](on_cancel=lambda _subscription: events.append("cancel"))
    with nullcontext() if fused else fusion_off():
        ending(build(Flowable.wrap(source), clock)).subscribe(
            lambda _item: None, on_error=lambda _error: events.append("end"), on_complete=lambda: events.append("end")
        )
    for _ in range(2):  # skip_last gives an item when there is another one
        source.next(1)
        clock.advance_by(3.0)
    assert events == ["cancel", "end"]


#: What holds inputs, by the names of operators' attributes.
HOLDING = {"columns", "current", "inputs", "main", "outer", "rivals", "trigger"}
#: Their source goes on for the groups and windows that are out.
SUBSTREAMS = {"GroupBy", "GroupByUntil", "WindowByCount", "WindowCut", "WindowUntil", "WindowUntilChanged", "WindowWhile"}


def test_each_operator_with_inputs_names_them() -> None:
    found = {name: getattr(operators, name) for name in operators.__all__}
    kinds = {name: kind for name, kind in found.items() if isinstance(kind, type) and issubclass(kind, Op)}
    slots = {name: {slot for base in kind.__mro__ for slot in getattr(base, "__slots__", ())} for name, kind in kinds.items()}
    silent = {name for name, kind in kinds.items() if HOLDING & slots[name] and kind.listening is Op.listening}
    assert len(kinds) > 30
    assert silent == SUBSTREAMS
