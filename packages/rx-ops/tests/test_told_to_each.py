"""Ctrl-C in one subscriber, and the words for a function that returned no source."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import Subscription, hooks
from rx_ops import (
    AsyncProcessor,
    BehaviorProcessor,
    Flowable,
    PublishProcessor,
    ReplayProcessor,
    Single,
)
from rx_testing import TestSubscriber


class Loud:
    """Ctrl-C comes while it is told of the end."""

    def on_subscribe(self, subscription: Subscription, /) -> None:
        subscription.request(10)

    def on_next(self, item: Any, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        raise KeyboardInterrupt

    def on_complete(self) -> None:
        raise KeyboardInterrupt


FED: dict[str, Callable[[], Any]] = {
    "publish": PublishProcessor,
    "replay": ReplayProcessor,
    "behavior": lambda: BehaviorProcessor(0),
    "async": AsyncProcessor,
}


@pytest.mark.parametrize("name", FED)
def test_ctrl_c_at_the_end_of_one_subscriber_leaves_none_of_the_others_without_it(name: str) -> None:
    processor = FED[name]()
    ends: list[str] = []
    processor.subscribe(Loud())
    processor.subscribe(Loud())
    for turn in range(3):
        processor.subscribe(on_complete=lambda turn=turn: ends.append(f"complete {turn}"))
    with pytest.raises(KeyboardInterrupt):
        processor.on_complete()
    assert ends == ["complete 0", "complete 1", "complete 2"]


@pytest.mark.parametrize("share", [lambda flow: flow.publish(), lambda flow: flow.replay()])
def test_so_it_is_behind_publish_and_replay(share: Callable[[Flowable[int]], Any]) -> None:
    processor = PublishProcessor[int]()
    shared = share(processor)
    errors: list[Exception] = []
    shared.subscribe(Loud())
    shared.subscribe(on_error=errors.append)
    shared.connect()
    with pytest.raises(KeyboardInterrupt):
        processor.on_error(failure := OSError())
    assert errors == [failure]


@pytest.mark.parametrize("name", ["debounce", "delay", "timeout", "expand", "filter_when", "switch_on_first"])
def test_an_operator_that_does_not_map_items_says_that_it_needs_a_source(name: str) -> None:
    def nothing(*_args: object) -> Any:
        return None

    flow = Flowable.of(1)
    made: dict[str, Callable[[], Flowable[Any]]] = {
        "debounce": lambda: flow.debounce(selector=nothing),
        "delay": lambda: flow.delay(selector=nothing),
        "timeout": lambda: flow.timeout(selector=nothing),
        "expand": lambda: flow.expand(nothing),
        "filter_when": lambda: flow.filter_when(nothing),
        "switch_on_first": lambda: flow.switch_on_first(nothing),
    }
    with pytest.raises(TypeError, match=rf"Right:  \.{name}\(lambda \.\.\.: Flowable\.just"):
        made[name]().blocking_list()


def test_one_that_maps_items_says_map() -> None:
    with pytest.raises(TypeError, match=r"Right:  \.map\("):
        Flowable.of(1).flat_map(lambda _: None).blocking_list()  # type: ignore[arg-type, return-value]  # on purpose


@pytest.mark.parametrize("seconds", [math.inf, 1e300])
def test_a_wait_may_be_as_long_as_it_takes(seconds: float) -> None:
    assert Single.timer(0.001).blocking_get(seconds=seconds) == 0
    assert Flowable.timer(0.001).subscribe().wait(seconds)


@pytest.mark.parametrize("kind", [PublishProcessor, ReplayProcessor])
@pytest.mark.parametrize("others", [0, 2])
def test_a_subscriber_whose_stack_is_used_up_hears_of_it_at_once_and_the_others_go_on(
    kind: Callable[[], Any], others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deep(_item: int) -> object:
        return deep(_item)

    dropped: list[Exception] = []
    hooks.ensure_loaded()
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: dropped.append(error))
    processor = kind()
    exhausted = TestSubscriber[int](on_value=deep)
    processor.subscribe(exhausted)
    rest = [TestSubscriber[int]() for _ in range(others)]
    for each in rest:
        processor.subscribe(each)
    processor.on_next(1)
    assert [type(error) for error in exhausted.errors] == [RecursionError]
    assert dropped == []
    processor.on_next(2)
    assert [each.values for each in rest] == [[1, 2]] * others
