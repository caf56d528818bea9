"""Buffers, windows and groups of recorded pipelines, and what is made of each window or group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rx_ops import Flowable, GroupedFlowable
from tests.recorded.building import Flow, Node, Stream
from tests.recorded.functions import remainder
from tests.recorded.signals import as_number


def _fold(a: Any, b: Any) -> int:
    return remainder(as_number(a) * 2 + as_number(b))


def _flattened(parts: Flowable[Any], at: Node) -> Flow:
    """A stream of windows or of groups, flattened in one of many ways."""
    match at["fl"]:
        case "flat":
            return parts.flat_map(lambda part: part)
        case "concat":
            return parts.concat_map(lambda part: part)
        case "switch":
            return parts.switch_map(lambda part: part)
        case "flat_list":
            return parts.flat_map(lambda part: part.to_list())
        case "concat_list":
            return parts.concat_map(lambda part: part.to_list())
        case "take":
            return parts.flat_map(lambda part: part.take(at["n"]))
        case "reduce":
            return parts.flat_map(lambda part: part.reduce(_fold))
        case "scan":
            return parts.flat_map(lambda part: part.scan(_fold))
        case "only":
            return parts.take(at["n"]).flat_map(lambda part: part)
    raise ValueError(f"no way to flatten a recorded pipeline: {at['fl']!r}")


def _windows(make: Callable[[Flow, Node], Flow]) -> Callable[[Flow, Node], Flow]:
    def made(flow: Flow, at: Node) -> Flow:
        return _flattened(make(flow, at), at)

    return made


def _group_by(flow: Flow, at: Node) -> Stream:
    return _of_groups(flow.group_by(*at.functions("f", "vf")), at)


def _of_groups(groups: Flowable[GroupedFlowable[Any, Any]], at: Node) -> Stream:
    match at["fl"]:
        case "tag":
            return groups.flat_map(lambda group: group.map(lambda item: as_number(group.key) * 1000 + as_number(item)))
        case "tag_list":
            return groups.flat_map(lambda group: group.to_list().map(lambda items: [group.key, items]))
        case "count":
            return groups.flat_map(lambda group: group.count())
    return _flattened(groups, at)


GROUPED: Final[dict[str, Callable[[Flow, Node], Stream]]] = {
    "buffer": lambda flow, at: flow.buffer(at["n"], *at.present("k")),
    "buffer_time": lambda flow, at: flow.buffer(seconds=at.seconds(), scheduler=at.clock),
    "buffer_time_count": lambda flow, at: flow.buffer(seconds=at.seconds(), count=at["n"], scheduler=at.clock),
    "buffer_restart": lambda flow, at: flow.buffer(seconds=at.seconds(), count=at["n"], restart=True, scheduler=at.clock),
    "buffer_every": lambda flow, at: flow.buffer(seconds=at.seconds(), every=at.seconds("every"), scheduler=at.clock),
    "buffer_boundary": lambda flow, at: flow.buffer(boundary=at.source("b")),
    "buffer_toggle": lambda flow, at: flow.buffer(opening=at.source("b"), closing=at.selector()),
    "window": _windows(lambda flow, at: flow.window(at["size"], *at.present("k"))),
    "window_time": _windows(lambda flow, at: flow.window(seconds=at.seconds(), scheduler=at.clock)),
    "window_time_count": _windows(lambda flow, at: flow.window(seconds=at.seconds(), count=at["size"], scheduler=at.clock)),
    "window_restart": _windows(
        lambda flow, at: flow.window(seconds=at.seconds(), count=at["size"], restart=True, scheduler=at.clock)
    ),
    "window_every": _windows(lambda flow, at: flow.window(seconds=at.seconds(), every=at.seconds("every"), scheduler=at.clock)),
    "window_boundary": _windows(lambda flow, at: flow.window(boundary=at.source("b"))),
    "window_toggle": _windows(lambda flow, at: flow.window(opening=at.source("b"), closing=at.selector())),
    "window_until": _windows(lambda flow, at: flow.window_until(at.predicate(), cut_before=bool(at.get("before")))),
    "window_while": _windows(lambda flow, at: flow.window_while(at.predicate())),
    "window_until_changed": _windows(lambda flow, at: flow.window_until_changed(*at.functions("f"))),
    "group_join": _windows(
        lambda flow, at: flow.group_join(at.source("b"), at.selector(), at.selector("h"), lambda _item, window: window)
    ),
    "group_by": _group_by,
    "group_by_until": lambda flow, at: _of_groups(flow.group_by_until(at.function(), at.selector()), at),
}
