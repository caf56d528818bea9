"""MISSING: items are sent whether or not anybody asked. One rule for what a request means then, whoever sends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from rx_core import UNBOUNDED, FlagDisposable
from rx_ops import BackpressureStrategy, Flowable, Observable
from rx_testing import TestSubscriber

MISSING = BackpressureStrategy.MISSING

#: A stream and the emitters of its subscriptions.
Made = tuple[Flowable[Any], list[Any]]


def created() -> Made:
    emitters: list[Any] = []
    return Flowable.create(emitters.append, MISSING), emitters


def converted() -> Made:
    emitters: list[Any] = []
    return Observable.create(emitters.append).to_flowable(MISSING), emitters


BOTH = [created, converted]


@pytest.mark.parametrize("build", BOTH)
def test_items_come_although_nobody_asked(build: Callable[[], Made]) -> None:
    flow, emitters = build()
    got: list[Any] = []
    flow.subscribe(got.append)
    emitters[0].on_next(1)
    emitters[0].on_next(2)
    assert got == [1, 2]


@pytest.mark.parametrize("build", BOTH)
def test_a_wrong_request_ends_it_and_gives_everything_back(build: Callable[[], Made], caplog: pytest.LogCaptureFixture) -> None:
    flow, emitters = build()
    got = TestSubscriber[Any](request=3)
    flow.subscribe(got)
    (emitter,) = emitters
    cleanup = FlagDisposable()
    emitter.set_disposable(cleanup)
    emitter.on_next(1)
    assert got.subscription is not None
    got.subscription.request(0)
    assert cleanup.is_disposed
    assert emitter.is_cancelled
    emitter.on_next(2)
    emitter.on_complete()
    got.subscription.request(-1)
    with caplog.at_level(logging.DEBUG, logger="rx.core"):
        emitter.on_error(OSError("late"))
    got.assert_failure(ValueError, 1, match=r"3\.9")
    assert ["OSError('late')" in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize("build", BOTH)
def test_a_request_after_the_end_is_nothing(build: Callable[[], Made]) -> None:
    flow, emitters = build()
    got = TestSubscriber[Any](request=1)
    flow.subscribe(got)
    emitters[0].on_next(1)
    emitters[0].on_complete()
    assert got.subscription is not None
    got.subscription.request(0)
    got.subscription.cancel()
    got.assert_result(1)


def test_the_emitter_hears_of_requests() -> None:
    flow, emitters = created()
    got = TestSubscriber[Any](request=2)
    flow.subscribe(got)
    assert emitters[0].requested == 2
    got.request(3)
    assert emitters[0].requested == 5
    got.request(UNBOUNDED)
    assert emitters[0].requested == UNBOUNDED
