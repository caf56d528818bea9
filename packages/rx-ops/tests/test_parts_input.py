"""Parts that wait in the queue of concat_map."""

from __future__ import annotations

from typing import Any

import rx_core.streams.inputs
from rx_fusion import PlainFlow
from rx_ops import Flowable, PublishProcessor
from rx_ops.operators import _part
from rx_ops.operators._part import Holders, Part, PartHead
from rx_testing import TestSubscriber
from rx_testing.racing import interrupted

WATCHED = [rx_core.streams.inputs.__file__, _part.__file__]


def test_a_part_that_comes_while_the_queue_is_given_up_is_given_up_too() -> None:
    """The source emits one before each instruction of the cancel in turn."""
    at, more = 0, True
    while more:
        parts = [Part(Holders(lambda: None), "test") for _ in range(3)]
        streams: list[PlainFlow[Any]] = [PlainFlow(PartHead(part)) for part in parts]
        source: PublishProcessor[Any] = PublishProcessor()
        got: TestSubscriber[Any] = TestSubscriber()
        source.concat_map(lambda inner: inner, prefetch=8).subscribe(got)
        source.on_next(Flowable.never())
        source.on_next(streams[0])
        source.on_next(streams[1])
        more = interrupted(got.cancel, (at, lambda source=source, late=streams[2]: source.on_next(late)), watch=WATCHED) > at  # type: ignore[misc]  # mypy does not infer the defaults
        for part in parts:
            assert part.stopped or not part.reserved, f"interrupted before instruction {at}"
        assert parts[0].stopped
        assert parts[1].stopped
        at += 1
    assert at > 10
