"""request(0) is answered also when the source has ended and its result still waits for a request (RS 3.9)."""

from __future__ import annotations

from typing import Any

import pytest

from rx_ops import Flowable
from rx_testing import ManualPublisher, TestSubscriber


@pytest.mark.parametrize("n", [0, -1])
@pytest.mark.parametrize(
    "build",
    [
        lambda s: s.to_list().to_flowable(),
        lambda s: s.sum().to_flowable(),
        lambda s: s.first(7).to_flowable(),
        lambda s: s.map(lambda x: x).count().to_flowable(),
    ],
    ids=["to_list", "sum", "first", "map count"],
)
def test_the_result_of_an_ended_source_waits(build: Any, n: int) -> None:
    source = ManualPublisher[int]()
    subscriber = TestSubscriber[Any](request=0)
    build(Flowable.wrap(source)).subscribe(subscriber)
    source.complete()
    subscriber.assert_empty()
    subscriber.request(n).assert_failure(ValueError, match="3\\.9")
    subscriber.request(1).assert_no_values()
