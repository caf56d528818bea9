"""OpenTelemetry's spans stay nested behind every boundary: what is opened in a function of a stream belongs to who subscribed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import trio
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rx_asyncio
import rx_schedulers
import rx_trio
from rx_core import Scheduler
from rx_ops import Completable, Flowable, Maybe, Single


class Traced:
    """A tracer of its own, and the spans that were ended."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(Counting(self))
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("tests")
        self.started = 0

    def work(self, item: Any) -> Any:
        with self.tracer.start_as_current_span("work"):
            return item

    async def call(self, item: Any) -> Any:
        with self.tracer.start_as_current_span("call"):
            if trio.lowlevel.in_trio_run():
                await trio.lowlevel.checkpoint()
            else:
                await asyncio.sleep(0)
            with self.tracer.start_as_current_span("inside"):
                return item

    def ended(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]

    def parents(self, name: str) -> set[str]:
        """The names of those in which the spans called ``name`` were opened."""
        names = {span.context.span_id: span.name for span in self.exporter.get_finished_spans() if span.context}
        return {names.get(span.parent.span_id, "lost") if span.parent else "nothing" for span in self.ended(name)}


class Counting(SimpleSpanProcessor):
    """Counts what was opened, so that nothing can be left open unseen."""

    def __init__(self, traced: Traced) -> None:
        super().__init__(InMemorySpanExporter())
        self.traced = traced

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        self.traced.started += 1


@pytest.fixture
def traced() -> Iterator[Traced]:
    traced = Traced()
    yield traced
    assert traced.started == len(traced.exporter.get_finished_spans())  # not one is left open
    assert not trace.get_current_span().get_span_context().is_valid


Boundary = Callable[[Flowable[int], Scheduler, Callable[[Any], Any]], Flowable[Any]]

BOUNDARIES: dict[str, Boundary] = {
    "subscribe_on": lambda flow, s, work: flow.map(work).subscribe_on(s),
    "observe_on": lambda flow, s, work: flow.observe_on(s).map(work),
    "delay": lambda flow, s, work: flow.delay(0.001, scheduler=s).map(work),
    "delay_subscription": lambda flow, s, work: flow.map(work).delay_subscription(0.001, scheduler=s),
    "interval": lambda flow, s, work: Flowable.interval(0.001, scheduler=s).take(3).map(work),
    "buffer": lambda flow, s, work: flow.hide().buffer(seconds=0.001, scheduler=s).map(work),
    "flat_map": lambda flow, s, work: flow.flat_map(lambda n: Flowable.of(n).subscribe_on(s).map(work)),
    "inside flat_map": lambda flow, s, work: flow.observe_on(s).flat_map(lambda n: Flowable.just(n).observe_on(s).map(work)),
    "concat_map": lambda flow, s, work: flow.concat_map(lambda n: Flowable.of(n).observe_on(s).map(work)),
    "retry": lambda flow, s, work: flow.observe_on(s).map(failing_once(work)).retry(1),
    "retry_backoff": lambda flow, s, work: flow.map(failing_once(work)).retry_backoff(1, 0.001, scheduler=s),
    "parallel": lambda flow, s, work: flow.parallel(2).run_on(s).map(work).sequential(),
}


def failing_once(work: Callable[[Any], Any]) -> Callable[[Any], Any]:
    failed: list[int] = []

    def run(item: Any) -> Any:
        made = work(item)
        if not failed:
            failed.append(item)
            raise OSError
        return made

    return run


THREADS = {"computation": rx_schedulers.computation, "io": rx_schedulers.io, "new_thread": rx_schedulers.new_thread}


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("threads", THREADS)
def test_on_threads(threads: str, boundary: str, traced: Traced) -> None:
    flow = BOUNDARIES[boundary](Flowable.range(3), THREADS[threads](), traced.work)
    with traced.tracer.start_as_current_span("request"):
        flow.blocking_list()
    assert traced.ended("work")
    assert traced.parents("work") == {"request"}
    assert traced.parents("request") == {"nothing"}


async def all_of(stream: Any) -> list[Any]:
    async with stream as items:
        return [item async for item in items]


class Asyncio:
    rx = rx_asyncio

    @staticmethod
    def run(main: Callable[[dict[str, Any]], Any]) -> None:
        asyncio.run(main({}))


class Trio:
    rx = rx_trio

    @staticmethod
    def run(main: Callable[[dict[str, Any]], Any]) -> None:
        async def owning() -> None:
            async with trio.open_nursery() as nursery:
                await main({"nursery": nursery})

        trio.run(owning)


BACKENDS = {"asyncio": Asyncio, "trio": Trio}


@pytest.mark.parametrize("boundary", [name for name in BOUNDARIES if name != "parallel"])
@pytest.mark.parametrize("name", BACKENDS)
def test_in_event_loops(name: str, boundary: str, traced: Traced) -> None:
    backend: Any = BACKENDS[name]

    async def main(_owned: Any) -> None:
        flow = BOUNDARIES[boundary](Flowable.range(3), backend.rx.scheduler(), traced.work)
        with traced.tracer.start_as_current_span("request"):
            await all_of(backend.rx.stream(flow))

    backend.run(main)
    assert traced.ended("work")
    assert traced.parents("work") == {"request"}


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("ordered", [True, False])
def test_async_functions(name: str, ordered: bool, traced: Traced) -> None:
    backend: Any = BACKENDS[name]

    async def main(owned: Any) -> None:
        calls = backend.rx.map_async(traced.call, concurrency=4, ordered=ordered, **owned)
        flow = Flowable.range(6).observe_on(rx_schedulers.io()).compose(calls).map(traced.work)
        with traced.tracer.start_as_current_span("request"):
            assert len(await all_of(backend.rx.stream(flow))) == 6

    backend.run(main)
    assert len(traced.ended("call")) == 6
    assert traced.parents("call") == {"request"}
    assert traced.parents("inside") == {"call"}
    assert traced.parents("work") == {"request"}


@pytest.mark.parametrize("name", BACKENDS)
def test_requests_at_the_same_time_keep_their_spans_apart(name: str, traced: Traced) -> None:
    backend: Any = BACKENDS[name]

    async def handle(number: int, owned: Any) -> None:
        with traced.tracer.start_as_current_span(f"request {number}"):
            flow = Flowable.of(number).delay(0.001).observe_on(rx_schedulers.computation()).map(lambda n: opened(n))
            calls = backend.rx.map_async(traced.call, **owned)
            await all_of(backend.rx.stream(flow.compose(calls)))

    def opened(number: int) -> int:
        with traced.tracer.start_as_current_span(f"work {number}"):
            return number

    async def main(owned: Any) -> None:
        if name == "trio":
            for number in range(20):
                owned["nursery"].start_soon(handle, number, owned)
        else:
            await asyncio.gather(*(handle(number, owned) for number in range(20)))

    backend.run(main)
    for number in range(20):
        assert traced.parents(f"work {number}") == {f"request {number}"}


@pytest.mark.parametrize("name", BACKENDS)
def test_a_source_on_a_loop_belongs_to_who_subscribes_on_another_thread(name: str, traced: Traced) -> None:
    backend: Any = BACKENDS[name]

    async def numbers() -> AsyncIterator[int]:
        for number in range(3):
            yield await traced.call(number)

    def request(source: Any) -> list[int]:
        with traced.tracer.start_as_current_span("request"):
            return Flowable.wrap(source).map(traced.work).blocking_list()

    async def main(owned: Any) -> None:
        source: Any = backend.rx.from_async_iterable(numbers, **owned)
        if name == "trio":
            await trio.to_thread.run_sync(request, source)
        else:
            await asyncio.to_thread(request, source)

    backend.run(main)
    assert traced.parents("call") == {"request"}
    assert traced.parents("work") == {"request"}


def test_streams_of_one_item(traced: Traced) -> None:
    io = rx_schedulers.io()
    with traced.tracer.start_as_current_span("request"):
        Single.just(1).observe_on(io).map(traced.work).blocking_get()
        Maybe.just(1).delay(0.001).map(traced.work).blocking_get()
        Completable.from_action(lambda: traced.work(1)).subscribe_on(io).blocking_await()
    assert len(traced.ended("work")) == 3
    assert traced.parents("work") == {"request"}


def test_a_span_around_a_stream_ends_with_it_also_when_it_is_cancelled(traced: Traced) -> None:
    """The idiom for a span of a stream's own: opened when it is subscribed, ended when it is over, whatever the end was."""

    def spanned(flow: Flowable[int], name: str) -> Flowable[int]:
        return Flowable.using(
            lambda: traced.tracer.start_span(name), lambda _: flow.observe_on(rx_schedulers.io()), lambda span: span.end()
        )

    assert spanned(Flowable.range(3), "whole").blocking_list() == [0, 1, 2]
    assert spanned(Flowable.range(9), "part").take(2).blocking_list() == [0, 1]
    spanned(Flowable.never(), "left").subscribe(print).dispose()
    assert {span.name for span in traced.exporter.get_finished_spans()} == {"whole", "part", "left"}
