"""RS 2.13 over the table: a None raises TypeError at the source that signals it, and the stream ends with that error."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

import pytest

from rx_ops import Flowable
from rx_testing import TestSubscriber
from tests.conformance.each import each
from tests.conformance.harness import FAR, Case, Kit, dropped_errors, parts_of, switched
from tests.conformance.table import TABLE


class Upstream:
    """A subscription that notes what is done with it."""

    def __init__(self) -> None:
        self.requested = 0
        self.cancelled = False

    def request(self, n: int, /) -> None:
        self.requested += n

    def cancel(self) -> None:
        self.cancelled = True


class Faulty:
    """Somebody's publisher that signals one None, at its first chance, and keeps what that raised."""

    def __init__(self, signal: str, tells: bool) -> None:
        self.signal, self.tells = signal, tells
        self.upstreams: list[Upstream] = []
        self.down: Any = None
        self.raised: list[BaseException] = []

    def subscribe(self, subscriber: Any, /) -> None:
        self.down = subscriber
        if self.signal == "on_subscribe":
            self.send()
        else:
            upstream = Upstream()
            self.upstreams.append(upstream)
            subscriber.on_subscribe(upstream)

    def send(self) -> None:
        down = self.down  # who recovers subscribes once more meanwhile
        try:
            getattr(down, self.signal)(None)
        except TypeError as error:
            self.raised.append(error)
            if self.tells:  # as publishers do with what a subscriber raises
                down.on_error(error)
            else:
                raise


#: They ask for nothing, or do not subscribe before something else has happened.
NOT_ASKED: Final = ("take 0", "skip_until never")


@each("tells", [False, True], ids=["raised", "and told"])
@each("mode", ["fused", "hidden", "off"])
@each("signal", ["on_subscribe", "on_next", "on_error"])
@pytest.mark.parametrize("case", [case for case in TABLE if not case.has("source")], ids=str)
def test_none_is_raised_at_the_source_and_ends_the_stream(case: Case, signal: str, mode: str, tells: bool) -> None:
    kit = Kit()
    source = Faulty(signal, tells)
    flow: Flowable[Any] = Flowable.wrap(source)
    built = case.build(flow.hide(), kit).hide() if mode == "hidden" else case.build(flow, kit)
    got: TestSubscriber[Any] = TestSubscriber()
    with dropped_errors() as dropped, switched(mode):
        built.subscribe(got)
        while not source.raised and source.down is None and kit.clock.next_due is not None:
            kit.clock.advance_to(kit.clock.next_due)
        if signal != "on_subscribe":
            if not source.upstreams or source.upstreams[-1].cancelled:
                assert case.name in NOT_ASKED, "was not subscribed"
                return
            before = source.upstreams[-1]
            with nullcontext() if tells else pytest.raises(TypeError):
                source.send()
            assert before.cancelled
        while (due := kit.clock.next_due) is not None and due < FAR:
            kit.clock.advance_to(due)
    assert source.raised, "raised nothing"
    assert not dropped
    if case.name == "take 0":
        assert got.is_terminated  # over before it begins, or not
    elif not (case.has("recovers") or case.name == "retry_backoff"):
        assert source.raised[0] in parts_of(got.error), got
    got.assert_valid()


@each("signal", ["on_next", "on_error"])
@pytest.mark.parametrize("case", [case for case in TABLE if not case.has("source")], ids=str)
def test_none_after_the_stream_was_cancelled_is_raised_and_reported_nowhere(case: Case, signal: str) -> None:
    kit = Kit()
    source = Faulty(signal, tells=False)
    got: TestSubscriber[Any] = TestSubscriber()
    with dropped_errors() as dropped:
        case.build(Flowable.wrap(source), kit).subscribe(got)
        while source.down is None and kit.clock.next_due is not None:
            kit.clock.advance_to(kit.clock.next_due)
        got.cancel()
        kit.clock.run_due()  # where a cancel waits for a worker
        if source.down is None:
            assert case.name in NOT_ASKED
            return
        with pytest.raises(TypeError):
            source.send()
    assert not dropped
    got.assert_valid()
    got.assert_not_terminated() if case.name != "take 0" else got.assert_result()
