"""The table of operators over two sources that are not ours: one line for each way in which an operator meets a second one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rx_ops import Flowable, Maybe
from rx_testing import RecordingPublisher
from tests.conformance.harness import Flow, Kit

Second = RecordingPublisher[int]


@dataclass(frozen=True)
class TwoSources:
    """An operator over a stream and another publisher."""

    name: str
    build: Callable[[Flow, Second, Kit], Flow]
    #: Subscribes to one of them again when it has ended, on purpose.
    resubscribes: bool = False


def _lists(windows: Flow) -> Flow:
    return windows.flat_map(lambda window: window.to_list())


def _never(_item: object) -> Flow:
    return Flowable.never()


def _thrice(b: Second) -> Callable[[], Flow]:
    """``b`` three times: one that ends at once would be subscribed for ever."""
    flows = iter([Flowable.wrap(b)] * 3)
    return lambda: next(flows, Flowable.never())


def _once(b: Second) -> Callable[[object], Flow]:
    """``b`` for the first item."""
    flows = iter([Flowable.wrap(b)])
    return lambda _item: next(flows, Flowable.empty())


# fmt: off
# ruff: noqa: E501  # one line per operator, whatever its length
TWO_SOURCES: Final = (
    TwoSources("merge", lambda a, b, k: Flowable.merge(a, b)),
    TwoSources("merge late", lambda a, b, k: Flowable.merge(a, b, delay_error=True)),
    TwoSources("merge_with", lambda a, b, k: a.merge_with(b)),
    TwoSources("merge_ordered", lambda a, b, k: Flowable.merge_ordered(a, b)),
    TwoSources("merge_ordered late", lambda a, b, k: Flowable.merge_ordered(a, b, delay_error=True)),
    TwoSources("merge_priority", lambda a, b, k: Flowable.merge_priority(a, b)),
    TwoSources("merge_priority late", lambda a, b, k: Flowable.merge_priority(a, b, delay_error=True)),
    TwoSources("join", lambda a, b, k: a.join(b, _never, _never)),
    TwoSources("join lifetimes", lambda a, b, k: a.join(Flowable.of(1, 2), lambda x: b, _never), resubscribes=True),
    TwoSources("group_join", lambda a, b, k: a.group_join(b, _never, _never, lambda x, window: window).flat_map(lambda w: w)),
    TwoSources("merge behind stages", lambda a, b, k: a.filter(lambda x: x % 2).merge_with(Flowable.wrap(b).map(lambda x: x + 1))),
    TwoSources("concat", lambda a, b, k: Flowable.concat(a, b)),
    TwoSources("concat late", lambda a, b, k: Flowable.concat(a, b, delay_error=True)),
    TwoSources("concat_eager", lambda a, b, k: Flowable.concat_eager(a, b)),
    TwoSources("concat_eager late", lambda a, b, k: Flowable.concat_eager(a, b, delay_error=True)),
    TwoSources("concat_eager later", lambda a, b, k: Flowable.concat_eager(a, b, delay_error=True, till_the_end=False)),
    TwoSources("concat_with", lambda a, b, k: a.concat_with(b)),
    TwoSources("flat_map", lambda a, b, k: a.flat_map(lambda x: b)),
    TwoSources("flat_map narrow", lambda a, b, k: a.flat_map(lambda x: b, max_concurrency=1), resubscribes=True),
    TwoSources("flat_map late", lambda a, b, k: a.flat_map(lambda x: b, delay_error=True)),
    TwoSources("concat_map", lambda a, b, k: a.concat_map(lambda x: b), resubscribes=True),
    TwoSources("concat_map late", lambda a, b, k: a.concat_map(lambda x: b, delay_error=True), resubscribes=True),
    TwoSources("concat_map_eager", lambda a, b, k: a.concat_map_eager(lambda x: b)),
    TwoSources("concat_map_eager narrow", lambda a, b, k: a.concat_map_eager(lambda x: b, max_concurrency=1), resubscribes=True),
    TwoSources("concat_map_eager late", lambda a, b, k: a.concat_map_eager(lambda x: b, delay_error=True)),
    TwoSources("concat_map_eager later", lambda a, b, k: a.concat_map_eager(lambda x: b, delay_error=True, till_the_end=False)),
    TwoSources("concat_map hidden", lambda a, b, k: a.concat_map(lambda x: Flowable.just(x).hide()).concat_with(b)),
    TwoSources("switch_map", lambda a, b, k: a.switch_map(lambda x: b)),
    TwoSources("switch_map late", lambda a, b, k: a.switch_map(lambda x: b, delay_error=True)),
    TwoSources("exhaust_map", lambda a, b, k: a.exhaust_map(lambda x: b), resubscribes=True),
    TwoSources("exhaust_map late", lambda a, b, k: a.exhaust_map(lambda x: b, delay_error=True), resubscribes=True),
    TwoSources("using_when resource", lambda a, b, k: Flowable.using_when(a, lambda r: b, lambda r: Flowable.empty())),
    TwoSources("switch_on_first", lambda a, b, k: a.switch_on_first(lambda first, flow: flow.merge_with(b))),
    TwoSources("switch_on_first other", lambda a, b, k: a.switch_on_first(lambda first, flow: b)),
    TwoSources("switch_on_first late", lambda a, b, k: a.switch_on_first(lambda first, flow: Flowable.concat(b, flow, delay_error=True))),
    TwoSources("expand", lambda a, b, k: a.expand(_once(b))),
    TwoSources("expand depth first", lambda a, b, k: a.expand(_once(b), depth_first=True)),
    TwoSources("filter_when", lambda a, b, k: a.filter_when(_once(b))),
    TwoSources("flat_map_completable", lambda a, b, k: a.flat_map_completable(lambda x: Flowable.wrap(b).ignore_elements()).to_flowable()),
    TwoSources("concat_map_completable", lambda a, b, k: a.concat_map_completable(lambda x: Flowable.wrap(b).ignore_elements()).to_flowable(), resubscribes=True),
    TwoSources("switch_map_completable", lambda a, b, k: a.switch_map_completable(lambda x: Flowable.wrap(b).ignore_elements()).to_flowable()),
    TwoSources("zip", lambda a, b, k: Flowable.zip(a, b)),
    TwoSources("zip late", lambda a, b, k: Flowable.zip(a, b, delay_error=True)),
    TwoSources("zip of one late", lambda a, b, k: Maybe.zip(a.first_element(), Flowable.wrap(b).first_element(), delay_error=True).to_flowable()),
    TwoSources("zip_latest", lambda a, b, k: Flowable.zip_latest(a, b)),
    TwoSources("fork_join", lambda a, b, k: Flowable.fork_join(a, b).to_flowable()),
    TwoSources("zip_with", lambda a, b, k: a.zip_with(b, lambda x, y: x + y)),
    TwoSources("combine_latest", lambda a, b, k: Flowable.combine_latest(a, b)),
    TwoSources("combine_latest late", lambda a, b, k: Flowable.combine_latest(a, b, delay_error=True)),
    TwoSources("with_latest_from", lambda a, b, k: a.with_latest_from(b)),
    TwoSources("sequence_equal", lambda a, b, k: Flowable.sequence_equal(a, b).to_flowable()),
    TwoSources("amb", lambda a, b, k: Flowable.amb(a, b)),
    TwoSources("first_with_value", lambda a, b, k: Flowable.first_with_value(a, b)),
    TwoSources("amb_with", lambda a, b, k: a.amb_with(b)),
    TwoSources("take_until", lambda a, b, k: a.take_until(b)),
    TwoSources("skip_until", lambda a, b, k: a.skip_until(b)),
    TwoSources("switch_if_empty", lambda a, b, k: a.filter(lambda x: x > 3).switch_if_empty(b)),
    TwoSources("on_error_resume_next", lambda a, b, k: a.on_error_resume_next(lambda e: b)),
    TwoSources("retry_when", lambda a, b, k: a.retry_when(lambda errors: Flowable.wrap(b).take(3)), resubscribes=True),
    TwoSources("repeat_when", lambda a, b, k: a.repeat_when(lambda ends: Flowable.wrap(b).take(3)), resubscribes=True),
    TwoSources("sample", lambda a, b, k: a.sample(sampler=b)),
    TwoSources("sample last", lambda a, b, k: a.sample(sampler=b, emit_last=True)),
    TwoSources("debounce", lambda a, b, k: a.debounce(selector=lambda x: b)),
    TwoSources("buffer boundary", lambda a, b, k: a.buffer(boundary=b)),
    TwoSources("buffer closing", lambda a, b, k: a.buffer(closing=_thrice(b)), resubscribes=True),
    TwoSources("buffer opening", lambda a, b, k: a.buffer(opening=b, closing=_never)),
    TwoSources("buffer closing of an opening", lambda a, b, k: a.buffer(opening=Flowable.of(1, 2), closing=lambda x: b)),
    TwoSources("window boundary", lambda a, b, k: _lists(a.window(boundary=b))),
    TwoSources("window closing", lambda a, b, k: _lists(a.window(closing=_thrice(b))), resubscribes=True),
    TwoSources("window opening", lambda a, b, k: _lists(a.window(opening=b, closing=_never))),
    TwoSources("window closing of an opening", lambda a, b, k: _lists(a.window(opening=Flowable.of(1, 2), closing=lambda x: b))),
    TwoSources("group_by_until", lambda a, b, k: a.group_by_until(lambda x: 1, _once(b)).flat_map(lambda group: group)),
    TwoSources("group_by until", lambda a, b, k: a.group_by(lambda x: x % 2).flat_map(lambda group: group.take_until(b))),
    TwoSources("delay", lambda a, b, k: a.delay(selector=lambda x: b)),
    TwoSources("delay subscription", lambda a, b, k: a.delay(selector=Flowable.just, subscription=b)),
    TwoSources("delay_subscription", lambda a, b, k: a.delay_subscription(until=b)),
    TwoSources("timeout selector", lambda a, b, k: a.timeout(selector=lambda x: b)),
    TwoSources("timeout first", lambda a, b, k: a.timeout(selector=_never, first=b)),
    TwoSources("timeout fallback", lambda a, b, k: a.timeout(1.0, fallback=b, scheduler=k.clock)),
    TwoSources("timeout selector fallback", lambda a, b, k: a.timeout(selector=Flowable.just, fallback=b)),
    TwoSources("publish", lambda a, b, k: a.publish(lambda shared: shared.merge_with(b))),
    TwoSources("observe_on both", lambda a, b, k: a.observe_on(k.clock).merge_with(Flowable.wrap(b).observe_on(k.clock))),
)
# fmt: on
