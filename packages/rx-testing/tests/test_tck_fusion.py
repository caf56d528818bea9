"""The fusion TCK is verified itself: each faulty queue fails exactly what it breaks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from fusion_parties import AsyncQueue, Kept, Relay, Source, SyncQueue
from looking_again import found

from rx_core.queue_fusion import ANY, ASYNC, BOUNDARY, NONE, SYNC
from rx_testing.tck import FusedConsumerVerification, FusedPublisherVerification, rule_tests, verify


class TestSyncQueue(FusedPublisherVerification[int]):
    synchronous = True
    kind: type[SyncQueue] = SyncQueue

    def create_publisher(self, elements: int) -> Any:
        return Source(self.kind, elements)

    def create_mapped_publisher(self, elements: int, function: Callable[[int], int]) -> Any:
        return Source(self.kind, elements, function)

    def create_failed_publisher(self) -> Any:
        return Source(self.kind, 0, fails=True)


class TestAsyncQueue(TestSyncQueue):
    mode = ASYNC
    kind = AsyncQueue


class TestRelay(FusedConsumerVerification):
    synchronous = True

    def create_operator(self, source: Any) -> Any:
        return Relay(source)


# -- faulty sources ----------------------------------------------------------------------------------------------------


class GrantsMore(SyncQueue):
    def request_fusion(self, mode: int) -> int:
        return super().request_fusion(mode) | (mode & BOUNDARY)


class GrantsUnasked(SyncQueue):
    def request_fusion(self, mode: int) -> int:
        self.mode = NONE if self.open else SYNC
        return self.mode if mode & (SYNC | BOUNDARY) else super().request_fusion(mode)


class NeverGrants(SyncQueue):
    def request_fusion(self, mode: int) -> int:
        return NONE


class GrantsLate(SyncQueue):
    def request_fusion(self, mode: int) -> int:
        self.open = False
        return super().request_fusion(mode)


class Moves(SyncQueue):
    def request_fusion(self, mode: int) -> int:
        return NONE if self.open else super().request_fusion(mode & ANY)


class SilentWhenRefused(SyncQueue):
    def request_fusion(self, mode: int) -> int:
        if mode == NONE:
            self.busy = True
        return super().request_fusion(mode)


class LosesTheLast(SyncQueue):
    def poll(self) -> Any:
        return None if self.mode and self.at == self.count - 1 > 0 else super().poll()


class StartsAgain(SyncQueue):
    def poll(self) -> Any:
        item = super().poll()
        if item is None and self.count == 5:
            self.at, self.over = 0, False
        return item


class Completes(SyncQueue):
    def poll(self) -> Any:
        over, item = self.over, super().poll()
        if item is None and not over and self.down is not None:
            self.down.on_complete()
        return item


class ClosedInOnSubscribe(SyncQueue):
    def poll(self) -> Any:
        return super().poll() if self.open else None


class SwallowsErrors(SyncQueue):
    def poll(self) -> Any:
        self.fails = False
        return super().poll()


class SignalsErrors(SyncQueue):
    def poll(self) -> Any:
        try:
            return super().poll()
        except ValueError as error:
            self.down.on_error(error)
            raise


class AlwaysEmpty(SyncQueue):
    def is_empty(self) -> bool:
        return True


class NeverEmpty(SyncQueue):
    def is_empty(self) -> bool:
        return False


class LooksAhead(SyncQueue):
    """is_empty() computes the next element to find out."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.ahead: deque[Any] = deque()

    def is_empty(self) -> bool:
        if not self.ahead and self.at < self.count:
            self.ahead.append(self.compute())
        return not self.ahead

    def poll(self) -> Any:
        return self.ahead.popleft() if self.ahead else super().poll()


class ComputesAhead(SyncQueue):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.ahead: deque[Any] = deque()

    def poll(self) -> Any:
        while len(self.ahead) < 2 and (item := super().poll()) is not None:
            self.ahead.append(item)
        return self.ahead.popleft() if self.ahead else None

    def is_empty(self) -> bool:
        return not self.ahead and super().is_empty()


class ManyIsAll(SyncQueue):
    def poll_many(self, n: int) -> Any:
        return super().poll_many(100)


class ManyLosesTheBatch(SyncQueue):
    def poll_many(self, n: int) -> Any:
        batch: list[Any] = []
        while len(batch) < n and (item := self.poll()) is not None:
            batch.append(item)
        return batch


class ManyIsOneLess(SyncQueue):
    def poll_many(self, n: int) -> Any:
        return super().poll_many(n)[:-1]


class CompletesAfterCancel(SyncQueue):
    def cancel(self) -> None:
        self.over = True

    def clear(self) -> None:
        self.down.on_complete()


class ClearRaises(SyncQueue):
    def clear(self) -> None:
        raise RuntimeError("no")


class CancelWaits(SyncQueue):
    """One lock for poll() and cancel()."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.lock = threading.RLock()

    def poll(self) -> Any:
        with self.lock:
            return super().poll()

    def cancel(self) -> None:
        with self.lock:
            super().cancel()


class CountsWhatWasTurnedDown(SyncQueue):
    def send(self, item: Any) -> bool:
        super().send(item)
        return True


class CountsNothing(SyncQueue):
    """What a conditional subscriber took does not count either."""

    def send(self, item: Any) -> bool:
        return super().send(item) and not hasattr(self.down, "try_on_next")


class NoNotice(AsyncQueue):
    def notify(self, item: Any) -> None:
        pass

    def opened(self) -> None:
        pass

    def poll(self) -> Any:
        item = super().poll()
        if not self.ready and not self.over:
            self.end()
        return item


class NeverEnds(AsyncQueue):
    def end(self) -> None:
        pass


class EndsTwice(AsyncQueue):
    def end(self) -> None:
        down = self.down
        super().end()
        down.on_complete()


class LosesWhatWaits(AsyncQueue):
    def end(self) -> None:
        super().end()
        self.ready.clear()


class TellsOnEveryThread(AsyncQueue):
    def notify(self, item: Any) -> None:
        if self.open and self.down is not None:
            self.down.on_next(item)


class TellsBeforeOnSubscribeReturns(AsyncQueue):
    def notify(self, item: Any) -> None:
        if self.down is not None:
            self.down.on_next(item)


@dataclass(frozen=True)
class Fault:
    kind: type[SyncQueue]
    #: A part of the name of each test that has to fail.
    fails: str
    source: type[Source] = Source

    @property
    def name(self) -> str:
        return (self.kind if self.source is Source else self.source).__name__


SOURCES = (
    Fault(GrantsMore, "f1_must_grant_one f10"),
    Fault(GrantsUnasked, "f1_must_grant_one f10"),
    Fault(NeverGrants, "f1_must_grant_its"),
    Fault(GrantsLate, "f12"),
    Fault(Moves, "f10"),
    Fault(SilentWhenRefused, "f2"),
    Fault(LosesTheLast, "f3_sync_must_give f3_sync_may f5_is_empty_must_not f6"),
    Fault(StartsAgain, "f3_sync_must_give f6_poll_many_must_give_the_next"),
    Fault(Completes, "f3_sync_must_give f3_sync_may"),
    Fault(ClosedInOnSubscribe, "f3_sync_may"),
    Fault(SwallowsErrors, "f4"),
    Fault(SignalsErrors, "f4"),
    Fault(AlwaysEmpty, "f5_is_empty_must_not"),
    Fault(NeverEmpty, "f5_is_empty_must_not"),
    Fault(LooksAhead, "f5_is_empty_must_compute"),
    Fault(ComputesAhead, "f13 f6_poll_many_must_give_the_elements"),
    Fault(ManyIsAll, "f6_poll_many_must_give_the_next"),
    Fault(ManyLosesTheBatch, "f6_poll_many_must_give_the_elements"),
    Fault(ManyIsOneLess, "f6"),
    Fault(CompletesAfterCancel, "f9_must_be_quiet"),
    Fault(ClearRaises, "f9_must_be_quiet"),
    Fault(CancelWaits, "f9_cancel"),
    Fault(SyncQueue, "f9_must_forget", source=Kept),
    Fault(CountsWhatWasTurnedDown, "f11"),
    Fault(CountsNothing, "f11"),
    Fault(NoNotice, "f7_async_must_tell"),
    Fault(NeverEnds, "f7"),
    Fault(EndsTwice, "f7_async_must_tell"),
    Fault(LosesWhatWaits, "f6 f7_async_must_tell"),
    Fault(TellsOnEveryThread, "f8"),
    Fault(TellsBeforeOnSubscribeReturns, "f8"),
)


@pytest.mark.parametrize("fault", SOURCES, ids=lambda fault: fault.name)
def test_a_faulty_queue_fails_exactly_the_rules_it_breaks(fault: Fault) -> None:
    class Verification(FusedPublisherVerification[int]):
        default_timeout = 0.3
        mode = ASYNC if issubclass(fault.kind, AsyncQueue) else SYNC
        synchronous = True

        def create_publisher(self, elements: int) -> Any:
            return fault.source(fault.kind, elements)

        def create_mapped_publisher(self, elements: int, function: Callable[[int], int]) -> Any:
            return fault.source(fault.kind, elements, function)

        def create_failed_publisher(self) -> Any:
            return fault.source(fault.kind, 0, fails=True)

    expected = named(FusedPublisherVerification, fault.fails)
    assert found(lambda: set(verify(Verification, seconds=5.0).failed), expected) == expected


def named(kind: type[Any], parts: str) -> set[str]:
    named_rules = set()
    for part in parts.split():
        names = {name for name in rule_tests(kind) if f"_{part}" in name}
        assert names, part
        named_rules |= names
    return named_rules
