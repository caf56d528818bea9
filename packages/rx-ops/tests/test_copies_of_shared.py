"""A stream that is shared is a description as well: what is copied or pickled is how it shares, not the run that it has."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, Final

import pytest

from rx_ops import Flowable, Observable
from rx_testing import TestObserver, TestSubscriber

SHARED: Final[dict[str, Callable[[Any], Any]]] = {
    "publish": lambda flow: flow.publish(),
    "replay": lambda flow: flow.replay(2),
    "ref_count": lambda flow: flow.publish().ref_count(),
    "auto_connect": lambda flow: flow.replay().auto_connect(1),
    "share": lambda flow: flow.share(),
    "cache": lambda flow: flow.cache(),
}
COPIED: Final[dict[str, Callable[[Any], Any]]] = {
    "pickle": lambda flow: pickle.loads(pickle.dumps(flow)),
    "deepcopy": copy.deepcopy,
}
STARTED: list[int] = []


def started(item: int) -> int:
    STARTED.append(item)
    return item


def run(flow: Any) -> Any:
    subscriber: Any = TestSubscriber(request=1) if isinstance(flow, Flowable) else TestObserver()
    flow.subscribe(subscriber)
    if hasattr(flow, "connect"):
        flow.connect()
    return subscriber


def finish(subscriber: Any) -> None:
    if isinstance(subscriber, TestSubscriber):
        subscriber.request(5)
    subscriber.assert_values(1, 2, 3).assert_complete()


@pytest.mark.parametrize("share", SHARED.values(), ids=list(SHARED))
@pytest.mark.parametrize("copied", COPIED.values(), ids=list(COPIED))
@pytest.mark.parametrize("face", [Flowable, Observable])
def test_a_copy_has_a_run_of_its_own(face: Any, share: Callable[[Any], Any], copied: Callable[[Any], Any]) -> None:
    STARTED.clear()
    flow = share(face.of(1, 2, 3).map(started))
    before = copied(flow)
    first = run(flow)
    while_it_runs = copied(flow)
    assert first.values
    once = len(STARTED)
    for made in (before, while_it_runs):
        assert type(made) is type(flow)
        assert repr(made) == repr(flow)
        finish(run(made))
    assert len(STARTED) == once + 6  # neither took an item of the first, nor of the other
    finish(first)


def test_a_shallow_copy_shares_the_run() -> None:
    flow = Flowable.of(1, 2).publish()
    subscriber: TestSubscriber[int] = TestSubscriber()
    copy.copy(flow).subscribe(subscriber)
    flow.connect()
    subscriber.assert_values(1, 2).assert_complete()
