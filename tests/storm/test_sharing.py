"""Subscribers come to shared streams and leave them, from several threads, while a source is fed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_ops import (
    BehaviorProcessor,
    BehaviorSubject,
    Flowable,
    Observable,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    ReplaySubject,
)
from rx_testing import TestObserver, TestSubscriber
from rx_testing.racing import race, rounds
from tests.storm.feeding import PATIENCE, Feeder
from tests.storm.running import WATCHED

pytestmark = pytest.mark.stress

VISITORS = 5
VISITS = 3


@dataclass(frozen=True)
class Shared:
    """A way to share: ``build`` gets a stream and gives one for all subscribers."""

    name: str
    build: Callable[[Any], Any]
    face: Any = Flowable
    #: Whether the source is left when the last subscriber leaves.
    leaves: bool = True
    #: Whether those that come late get what was before.
    replays: bool = False
    #: Whether a subscriber that requests little holds up the others; else it is failed.
    waits: bool = True

    def __str__(self) -> str:
        return f"{self.name}, {self.face.__name__}"


def fed(made: Callable[[], Any]) -> Callable[[Any], Any]:
    """A processor or subject that is subscribed to the stream."""

    def build(stream: Any) -> Any:
        hub = made()
        stream.subscribe(hub)
        return hub

    return build


SHARED = [
    *(
        Shared(name, build, face, replays="replay" in name)
        for face in (Flowable, Observable)
        for name, build in {
            "share": lambda stream: stream.share(),
            "publish, ref_count": lambda stream: stream.publish().ref_count(),
            "replay, ref_count": lambda stream: stream.replay().ref_count(),
        }.items()
    ),
    Shared("publish, auto_connect", lambda stream: stream.publish().auto_connect(), leaves=False),
    Shared("replay, auto_connect", lambda stream: stream.replay().auto_connect(), leaves=False, replays=True),
    Shared("cache", lambda stream: stream.cache(), leaves=False, replays=True),
    Shared("PublishProcessor", fed(PublishProcessor), leaves=False, waits=False),
    Shared("BehaviorProcessor", fed(BehaviorProcessor), leaves=False, waits=False),
    Shared("ReplayProcessor", fed(ReplayProcessor), leaves=False, replays=True),
    Shared("PublishSubject", fed(PublishSubject), Observable, leaves=False),
    Shared("BehaviorSubject", fed(BehaviorSubject), Observable, leaves=False),
    Shared("ReplaySubject", fed(ReplaySubject), Observable, leaves=False, replays=True),
]


class Visit:
    """One subscription that is cancelled by its own thread when a few items have come."""

    def __init__(self, shared: Shared, wanted: int) -> None:
        self._wanted = wanted
        self._enough = threading.Event()
        if shared.face is Observable:
            self.got: Any = TestObserver(on_value=self._look)
        else:
            self.got = TestSubscriber(1 if shared.waits else UNBOUNDED, on_value=self._look)
        self._asks = shared.waits and shared.face is Flowable

    def _look(self, _item: object) -> None:
        if len(self.got.values) >= self._wanted:
            self._enough.set()

    def make(self, stream: Any, feeder: Feeder, patience: float, lonely: bool) -> None:
        stream.subscribe(self.got)
        feeder.grant(self._wanted)  # so many are sent from now on at least
        if self._asks:  # until here it may have held up the others
            self.got.request(self._wanted - 1)
        # Without a subscriber that stays, what was granted may have gone to a connection that was being left.
        turns = 100 if lonely else 1
        for _ in range(turns):
            if self._enough.wait(patience / turns):
                break
            feeder.grant(1)
        assert self._enough.is_set(), f"{len(self.got.values)} of {self._wanted} items came to a visitor"
        self.got.cancel()


def check_run(values: Sequence[Any]) -> None:
    """Items that follow one another in the source: nothing is lost or doubled from the first to the last."""
    places = [at for _, at in values]
    assert all(before + 1 == after for before, after in pairwise(places)), f"not one after the other: {places}"


def visit_by_all(
    shared: Shared,
    stream: Any,
    feeder: Feeder,
    afterwards: Callable[[], None],
    watch: Sequence[str],
    patience: float,
    lonely: bool = False,
) -> None:
    """Every visitor makes its visits, and the last one does what comes afterwards. ``lonely``: there is no other subscriber."""
    visits = [[Visit(shared, 2 + (visitor + turn) % 3) for turn in range(VISITS)] for visitor in range(VISITORS)]
    failed: list[object] = []
    left = threading.Barrier(VISITORS, afterwards)

    def visitor(own: list[Visit]) -> Callable[[], None]:
        def work() -> None:
            try:
                for visit in own:
                    visit.make(stream, feeder, patience, lonely)
                left.wait(2 * patience)
            except threading.BrokenBarrierError as error:
                if not failed:
                    raise AssertionError("not all visitors ended") from error
            except BaseException:
                failed.append(own)
                feeder.stop()
                left.abort()
                raise

        return work

    race(feeder.feed, *map(visitor, visits), watch=watch, seconds=4 * patience)
    for visit in (visit for own in visits for visit in own):
        visit.got.assert_valid()
        check_run(visit.got.values)
        if shared.replays:
            assert visit.got.values[0][1] in feeder.starts, "a late subscriber did not get what was before"
    assert not feeder.violations, feeder.violations


def fed_stream(shared: Shared, patience: float) -> tuple[Feeder, Any]:
    feeder = Feeder(0, count=None, alone=False, patience=patience)
    source: Any = Flowable.wrap(feeder)
    return feeder, shared.build(source if shared.face is Flowable else source.to_observable())


def stay(shared: Shared, watch: Sequence[str], patience: float = PATIENCE) -> None:
    """A round with a subscriber that stays while others come and go."""
    feeder, stream = fed_stream(shared, patience)
    stays: Any = TestSubscriber() if shared.face is Flowable else TestObserver()
    stream.subscribe(stays)
    visit_by_all(shared, stream, feeder, feeder.end, watch, patience)
    stays.await_terminal(patience).assert_complete()
    assert stays.values == [(0, at) for at in range(feeder.sent)]
    assert feeder.starts == [0]


def come_and_go(shared: Shared, watch: Sequence[str], patience: float = PATIENCE) -> None:
    """A round in which every subscriber leaves."""
    feeder, stream = fed_stream(shared, patience)

    def leave() -> None:
        try:
            feeder.await_left(patience)
        finally:
            feeder.stop()

    visit_by_all(shared, stream, feeder, leave, watch, patience, lonely=True)


PACES = pytest.mark.parametrize("watch", [(), WATCHED], ids=["at full speed", "stumbling"])


@PACES
@pytest.mark.parametrize("shared", SHARED, ids=str)
def test_a_subscriber_that_stays_gets_everything_while_others_come_and_go(shared: Shared, watch: Sequence[str]) -> None:
    for _ in rounds(2 if watch else 4):
        stay(shared, watch)


@PACES
@pytest.mark.parametrize("shared", [shared for shared in SHARED if shared.leaves], ids=str)
def test_the_source_is_left_when_the_last_subscriber_has_left(shared: Shared, watch: Sequence[str]) -> None:
    for _ in rounds(2 if watch else 4):
        come_and_go(shared, watch)
