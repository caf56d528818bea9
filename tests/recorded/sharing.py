"""Streams of recorded pipelines that several subscribers share, and what is made of a stream that is read twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rx_ops import Flowable
from tests.recorded.building import Flow, Node, Stream
from tests.recorded.signals import as_number


def share(flow: Flow, at: Node) -> Flow:
    subscribers: int = at.get("subs", 1)
    match at["how"]:
        case "share":
            return flow.share()
        case "cache":
            return flow.cache()
        case "cache_ttl":
            return flow.cache_ttl(at.seconds(), scheduler=at.clock)
        case "publish_auto":
            return flow.publish().auto_connect(subscribers)
        case "publish_ref":
            return flow.publish().ref_count(subscribers)
        case "ref_time":
            return flow.publish().ref_count(subscribers, at.seconds(), scheduler=at.clock)
        case "replay_auto":
            return flow.replay().auto_connect(subscribers)
        case "replay_ref":
            return flow.replay().ref_count(subscribers)
        case "replay_n_auto":
            return flow.replay(at["size"]).auto_connect(subscribers)
        case "replay_n_ref":
            return flow.replay(at["size"]).ref_count()
        case "replay_t_auto":
            return flow.replay(seconds=at.seconds(), scheduler=at.clock).auto_connect(subscribers)
    raise ValueError(f"no way to share a recorded pipeline: {at['how']!r}")


def twice(flow: Any, at: Node, kind: Any = Flowable) -> Any:
    """The stream, which is of ``kind``, beside a copy of itself, whose items can be told apart."""
    copy = flow.map(lambda item: as_number(item) + 100)
    if "n" in at:
        copy = copy.take(at["n"])
    match at["mode"]:
        case "merge":
            return kind.merge(flow, copy)
        case "merge_r":
            return kind.merge(copy, flow)
        case "concat":
            return kind.concat(flow, copy)
        case "zip":
            return kind.zip(flow, copy, combiner=_pair)
        case "with":
            return flow.with_latest_from(copy, combiner=_pair)
        case "until":
            return flow.take_until(copy.skip(1))
    raise ValueError(f"no way to read a recorded pipeline twice: {at['mode']!r}")


def _pair(first: Any, second: Any) -> list[Any]:
    return [first, second]


SHARED: Final[dict[str, Callable[[Flow, Node], Stream]]] = {
    "multicast": share,
    "twice": lambda flow, at: twice(share(flow, at), at),
    "publish_sel": lambda flow, at: flow.publish(lambda shared: twice(shared, at)),
    "replay_sel": lambda flow, at: flow.replay(selector=lambda shared: twice(shared, at)),
}
