"""APIs that are asked for a number of items and call back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from rx_core import UNBOUNDED
from rx_ops import BatchEmitter, Flowable
from rx_testing import TestSubscriber

OOPS = ValueError("oops")


def watch(flow: Flowable[Any], request: int = UNBOUNDED, **options: Any) -> TestSubscriber[Any]:
    got: TestSubscriber[Any] = TestSubscriber(request, **options)
    flow.subscribe(got)
    return got


# -- generate_async ------------------------------------------------------------------------------------------------------


class Pages:
    """An API that is asked for a number of rows from a position on, and answers when the test says so."""

    def __init__(self, rows: int, page: int = 100) -> None:
        self.rows, self.page = rows, page
        self.calls: list[tuple[int, int]] = []
        self.cancelled: list[int] = []
        self._answer: Callable[[], None] | None = None
        self.disposed: list[int] = []

    def call(self, at: int, wanted: int, emitter: BatchEmitter[int, int]) -> None:
        self.calls.append((at, wanted))
        emitter.set_cancellable(lambda: self.cancelled.append(at))

        def answer() -> None:
            end = min(at + min(wanted, self.page), self.rows)
            items = range(at, end)
            emitter.on_complete(items) if end == self.rows else emitter.on_batch(items, end)

        self._answer = answer

    def answer(self) -> bool:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer()
        return answer is not None

    @property
    def flow(self) -> Flowable[int]:
        return Flowable.generate_async(lambda: 0, self.call, dispose=self.disposed.append)


def test_one_call_for_what_is_wanted_and_the_next_when_its_items_are_taken() -> None:
    pages = Pages(10)
    got = watch(pages.flow, 0)
    assert not pages.calls
    got.request(3)
    assert pages.calls == [(0, 3)]
    got.request(2)
    assert pages.calls == [(0, 3)]
    pages.answer()
    got.assert_values(0, 1, 2)
    assert pages.calls == [(0, 3), (3, 2)]
    pages.answer()
    got.assert_values(*range(5))
    assert len(pages.calls) == 2
    got.request(UNBOUNDED)
    pages.answer()
    got.assert_values(*range(10)).assert_complete()
    assert pages.disposed == [5]
    assert not pages.cancelled


def test_a_batch_larger_than_wanted_waits() -> None:
    def call(at: int, _wanted: int, emitter: BatchEmitter[int, int]) -> None:
        emitter.on_batch([at, at + 1, at + 2], at + 3)

    got = watch(Flowable.generate_async(lambda: 0, call), 2)
    got.assert_values(0, 1)
    got.request(2)
    got.assert_values(0, 1, 2, 3)


def test_an_empty_batch_asks_again_and_without_recursion() -> None:
    def call(at: int, _wanted: int, emitter: BatchEmitter[str, int]) -> None:
        emitter.on_batch([], at + 1) if at < 20_000 else emitter.on_complete(["done"])

    watch(Flowable.generate_async(lambda: 0, call), 1).assert_values("done").assert_complete()


def test_the_end_needs_no_demand() -> None:
    pages = Pages(3)
    got = watch(pages.flow, 3)
    pages.answer()
    got.assert_values(0, 1, 2).assert_complete()


def test_an_error_ends_it_and_cancelling_cancels_the_call() -> None:
    def call(_at: int, _wanted: int, emitter: BatchEmitter[int, int]) -> None:
        emitter.on_error(OOPS)

    watch(Flowable.generate_async(lambda: 0, call)).assert_error(OOPS)
    pages = Pages(10)
    got = watch(pages.flow, 3)
    got.cancel()
    assert pages.cancelled == [0]
    assert pages.disposed == [0]
    assert pages.answer()
    got.assert_no_values().assert_not_terminated()


def test_a_none_in_a_batch_ends_it() -> None:
    def call(_at: int, _wanted: int, emitter: BatchEmitter[Any, int]) -> None:
        emitter.on_batch([1, None], 1)

    watch(Flowable.generate_async(lambda: 0, call)).assert_no_values().assert_error(TypeError, match="generate_async")


def test_a_second_answer_is_refused() -> None:
    emitters: list[BatchEmitter[int, int]] = []
    got = watch(Flowable.generate_async(lambda: 0, lambda _at, _wanted, emitter: emitters.append(emitter)), 1)
    emitters[0].on_batch([1], 1)
    for again in (partial(emitters[0].on_batch, [2], 2), emitters[0].on_complete, partial(emitters[0].on_error, OOPS)):
        with pytest.raises(RuntimeError, match="answered twice"):
            again()
    got.assert_values(1)


def test_answers_of_another_thread_go_on_there() -> None:
    def call(at: int, wanted: int, emitter: BatchEmitter[int, int]) -> None:
        items = range(at, min(at + min(wanted, 7), 50))

        def answer() -> None:
            emitter.on_complete(items) if items.stop == 50 else emitter.on_batch(items, items.stop)

        threading.Thread(target=answer, daemon=True).start()

    flow = Flowable.generate_async(lambda: 0, call)
    assert flow.map(lambda x: x * 2).blocking_list() == [x * 2 for x in range(50)]
    got = watch(flow, 1, request_in_on_next=1)
    got.await_terminal(10).assert_values(*range(50)).assert_complete()


def test_each_subscription_starts_anew() -> None:
    pages = Pages(2)
    for _ in range(2):
        got = watch(pages.flow)
        pages.answer()
        got.assert_values(0, 1).assert_complete()
    assert [at for at, _ in pages.calls] == [0, 0]
