"""A cancel reaches the sources before the end is signalled, also from inside an item: what runs next finds them released."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from rx_core.streams import Op
from rx_fusion import fusion_off
from rx_ops import Flowable, operators
from rx_testing import ManualPublisher, TestSubscriber, VirtualScheduler

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


class Generated:
    def __init__(self, events: list[str]) -> None:
        self.events = events

    def __iter__(self) -> Iterator[int]:
        self.events.append("opened")
        try:
            yield from (1, 2, 3)
        finally:
            self.events.append("closed")


#: They iterate a generator themselves and may be giving an item of another source, which another thread may send: what they
#: iterate is closed by the holder of the token, behind that item.
ITERATING = {
    *("concat_map_eager", "flat_map", "merge_ordered", "merge_priority", "observe_on", "zip"),
    "take behind another",
}
PASSING: dict[str, Build] = {
    "hide": lambda s, c: s.hide(),
    "map": lambda s, c: s.map(str),
    "repeat": lambda s, c: s.repeat(2),
}


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "unfused"])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("operator", [*OPERATORS, *PASSING])
def test_a_generator_is_closed_before_the_end_is_signalled(operator: str, ending: str, fused: bool) -> None:
    clock = VirtualScheduler()
    events: list[str] = []

    build: Build = {**OPERATORS, **PASSING}[operator]
    with nullcontext() if fused else fusion_off():
        ENDINGS[ending](build(Flowable.from_iterable(Generated(events)), clock)).subscribe(
            lambda _item: None, on_error=lambda _error: events.append("end"), on_complete=lambda: events.append("end")
        )
    for _ in range(2):
        clock.advance_by(3.0)
    if fused and {operator, ending} & ITERATING:
        assert sorted(events) == ["closed", "end", "opened"]
    else:
        assert events == ["opened", "closed", "end"]


@pytest.mark.parametrize(
    "between",
    [
        lambda s: s,
        lambda s: s.hide(),
        lambda s: s.take_until(Flowable.never()),
        lambda s: s.start_with(0),
        lambda s: s.concat_map(lambda item: Flowable.of(item, item)).hide(),
        lambda s: Flowable.zip(s, Flowable.range(9), combiner=lambda item, _at: item).hide(),
        lambda s: Flowable.merge(s, Flowable.of(9)).hide(),
    ],
    ids=["nothing", "hide", "take_until", "start_with", "concat_map", "zip", "merge"],
)
def test_a_generator_is_closed_before_the_next_attempt_opens_another(between: Callable[[Flow], Flow]) -> None:
    events: list[str] = []

    def fails_once(item: int) -> int:
        if item == 2 and events.count("opened") == 1:
            raise ValueError
        return item

    between(Flowable.from_iterable(Generated(events))).map(fails_once).retry(1).subscribe(lambda _item: None)
    assert events == ["opened", "closed"] * 2


@pytest.mark.parametrize("between", [lambda s: s, lambda s: s.hide(), lambda s: s.take_until(Flowable.never())])
def test_a_file_is_closed_before_the_next_attempt_opens_it_again(between: Callable[[Flow], Flow], tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("1\n2\n3\n", encoding="utf-8")
    files: list[TextIOWrapper] = []
    before: list[bool] = []

    def lines() -> Flowable[str]:
        before.extend(file.closed for file in files)
        files.append(path.open(encoding="utf-8"))
        return Flowable.from_iterable(files[-1])

    def fails_once(line: str) -> int:
        if line == "2\n" and len(files) == 1:
            raise ValueError
        return int(line)

    assert between(Flowable.defer(lines)).map(fails_once).retry(1).to_list().blocking_get() == [1, 1, 2, 3]
    assert before == [True]
    assert all(file.closed for file in files)


@pytest.mark.parametrize("inside", [True, False], ids=["inside of the generator", "behind it"])
def test_a_generator_that_is_running_is_not_closed(inside: bool, caplog: pytest.LogCaptureFixture) -> None:
    got = TestSubscriber[int]()

    def items() -> Iterator[int]:
        yield 1
        if inside:
            got.cancel()
        yield 2

    def leaves(item: int) -> int:
        if item == 2:
            got.cancel()
        return item

    Flowable.from_iterable(items()).map(leaves).subscribe(got)
    got.assert_values(*([1] if inside else [1, 2])).assert_not_terminated()
    assert not caplog.records


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
