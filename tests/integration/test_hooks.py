"""What each hook receives, on which thread, how often, what may be returned, and what one that raises does."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

import rx_core
import rx_schedulers
from rx_core import hookimpl, manager
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, Single
from rx_testing import TestSubscriber

LIMIT = 10.0


class Recording:
    """A plugin with all hooks, which returns None from each: everything stays as it is."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, threading.Thread]] = []

    def note(self, hook: str, *arguments: Any) -> None:
        self.calls.append((hook, arguments, threading.current_thread()))

    def of(self, hook: str) -> list[tuple[Any, ...]]:
        return [arguments for name, arguments, _ in self.calls if name == hook]

    @hookimpl
    def rx_on_assembly(self, pipeline: object) -> None:
        self.note("assembly", pipeline)

    @hookimpl
    def rx_on_subscribe(self, source: object, subscriber: object) -> None:
        self.note("subscribe", source, subscriber)

    @hookimpl
    def rx_on_schedule(self, action: Callable[[], object]) -> None:
        self.note("schedule", action)

    @hookimpl
    def rx_on_error(self, error: Exception, pipeline: object, late: bool) -> None:
        self.note("error", error, pipeline, late)

    @hookimpl
    def rx_awaitable(self, source: object) -> None:
        self.note("awaitable", source)

    @hookimpl
    def rx_waiting_refused(self) -> None:
        self.note("waiting")


class Raising:
    """A plugin of which each hook raises."""

    @hookimpl
    def rx_on_assembly(self) -> None:
        raise KeyError("hook")

    @hookimpl
    def rx_on_subscribe(self) -> None:
        raise KeyError("hook")

    @hookimpl
    def rx_on_schedule(self) -> None:
        raise KeyError("hook")

    @hookimpl
    def rx_awaitable(self) -> None:
        raise KeyError("hook")

    @hookimpl
    def rx_waiting_refused(self) -> None:
        raise KeyError("hook")

    @hookimpl
    def rx_current_scheduler(self) -> None:
        raise KeyError("hook")


# -- rx_on_assembly ----------------------------------------------------------------------------------------------------


def test_each_pipeline_that_is_built_is_shown_on_the_thread_that_builds_it() -> None:
    seen = Recording()
    built: list[Any] = []

    def build() -> None:
        built.append(Flowable.range(3))
        built.append(built[0].map(str))
        built.append(built[1].count())

    with manager().enable(seen):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join(LIMIT)
    assert [arguments[0] for arguments in seen.of("assembly")] == built
    assert {at for _, _, at in seen.calls} == {thread}


@pytest.mark.parametrize("kind", [Flowable, Observable, Single, Maybe, Completable])
def test_pipelines_of_every_type_are_shown(kind: Any) -> None:
    seen = Recording()
    with manager().enable(seen):
        made = kind.error(ValueError())
    assert seen.of("assembly") == [(made,)]


def test_the_pipeline_that_is_returned_takes_its_place() -> None:
    class Doubling:
        @hookimpl
        def rx_on_assembly(self, pipeline: Any) -> Any:
            return Flowable.of(7) if repr(pipeline) == "range(3)" else None

    with manager().enable(Doubling()):
        assert Flowable.range(3).map(str).blocking_list() == ["7"]


@pytest.mark.parametrize("answer", [5, Single.just(1)], ids=["no stream", "of another type"])
def test_what_is_returned_and_is_no_stream_of_that_type_is_refused(answer: object) -> None:
    class Wrong:
        @hookimpl
        def rx_on_assembly(self, pipeline: object) -> object:
            return answer

    with (
        manager().enable(Wrong()),
        pytest.raises(TypeError, match=r"rx_on_assembly hook returned .* for range\(3\), .* no Flowable"),
    ):
        Flowable.range(3)


# -- rx_on_subscribe ---------------------------------------------------------------------------------------------------


def test_each_subscription_is_shown_inner_ones_included() -> None:
    seen = Recording()
    inner = PublishProcessor[int]()
    flow = Flowable.of(1).flat_map(lambda _: inner)
    got: TestSubscriber[int] = TestSubscriber()
    with manager().enable(seen):
        flow.subscribe(got)
    assert [source for source, _ in seen.of("subscribe")] == [flow, inner]
    assert seen.of("subscribe")[0][1] is got


def test_loops_and_blocking_calls_are_shown_fused_stages_are_not() -> None:
    seen = Recording()
    numbers = Flowable.range(3)
    with manager().enable(seen):
        assert numbers.map(str).filter(bool).blocking_list() == ["0", "1", "2"]
        assert list(numbers) == [0, 1, 2]
    assert [repr(source) for source, _ in seen.of("subscribe")] == ["range(3).map(str).filter(bool)", "range(3)"]


def test_the_subscriber_that_is_returned_takes_its_place() -> None:
    other: TestSubscriber[Any] = TestSubscriber()

    class Turning:
        @hookimpl
        def rx_on_subscribe(self) -> Any:
            return other

    mine: TestSubscriber[Any] = TestSubscriber()
    with manager().enable(Turning()):
        Flowable.range(3).hide().subscribe(mine)
    assert other.values == [0, 1, 2]
    assert mine.values == []


# -- rx_on_schedule ----------------------------------------------------------------------------------------------------


def test_each_action_is_shown_on_the_thread_that_schedules_it_and_may_be_replaced() -> None:
    ran: list[str] = []
    over = threading.Event()

    class Wrapping:
        @hookimpl
        def rx_on_schedule(self, action: Callable[[], object]) -> Callable[[], object]:
            ran.append(threading.current_thread().name)

            def wrapped() -> None:
                action()
                ran.append("wrapped")
                over.set()

            return wrapped

    worker = rx_schedulers.io().create_worker()
    with manager().enable(Wrapping()):
        worker.schedule(lambda: ran.append("action"))
    assert over.wait(LIMIT)
    worker.dispose()
    assert ran == [threading.current_thread().name, "action", "wrapped"]


# -- rx_on_error -------------------------------------------------------------------------------------------------------


def test_an_error_without_a_receiver_is_told_once_with_its_pipeline() -> None:
    seen = Recording()
    flow = Flowable.of(0).map(lambda n: 1 // n)
    with manager().enable(seen):
        flow.subscribe(lambda _: None)
    ((error, pipeline, late),) = seen.of("error")
    assert isinstance(error, ZeroDivisionError)
    assert pipeline == flow
    assert late is False


def test_what_an_error_hook_raises_is_logged_with_the_error(caplog: pytest.LogCaptureFixture) -> None:
    class Failing:
        @hookimpl
        def rx_on_error(self) -> None:
            raise OSError("the collector is gone")

    with manager().enable(Failing()):
        Flowable.of(0).map(lambda n: 1 // n).subscribe(lambda _: None)
    assert {record.levelno for record in caplog.records} == {logging.ERROR}
    assert {type((record.exc_info or (None, None, None))[1]) for record in caplog.records} == {OSError, ZeroDivisionError}


# -- rx_awaitable, rx_waiting_refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [Single.just(1), Maybe.just(1), Completable.complete()])
def test_what_is_awaited_is_shown_and_the_next_plugin_asked(source: Any) -> None:
    async def wait() -> Any:
        return await source

    seen = Recording()
    with manager().enable(seen):
        asyncio.run(wait())
    assert seen.of("awaitable") == [(source,)]


def test_who_is_about_to_wait_asks() -> None:
    seen = Recording()
    with manager().enable(seen):
        assert Flowable.of(1).observe_on(rx_schedulers.io()).blocking_list() == [1]
        assert Flowable.of(1).blocking_list() == [1]
    assert seen.of("waiting") == [()]


def test_a_plugin_may_refuse() -> None:
    class Refusing:
        @hookimpl
        def rx_waiting_refused(self) -> str:
            return "it is Sunday.\n  Right: wait until Monday"

    with manager().enable(Refusing()), pytest.raises(RuntimeError, match="it is Sunday") as caught:
        PublishProcessor[int]().blocking_first()
    assert "rx_core.blocking_allowed()" in str(caught.value)


# -- a hook that raises ------------------------------------------------------------------------------------------------


async def awaited() -> Any:
    return await SINGLE


FLOW = Flowable.range(3)
SINGLE = Single.just(1)
WORKER = rx_schedulers.immediate().create_worker()
PROCESSOR = PublishProcessor[int]()

CALLS: dict[str, Callable[[], object]] = {
    "rx_on_assembly": lambda: FLOW.map(str),
    "rx_on_subscribe": lambda: FLOW.subscribe(lambda _: pytest.fail("it was not subscribed")),
    "rx_on_schedule": lambda: WORKER.schedule(lambda: pytest.fail("it was not scheduled")),
    "rx_awaitable": lambda: asyncio.run(awaited()),
    "rx_waiting_refused": lambda: PROCESSOR.blocking_list(),
    "rx_current_scheduler": lambda: rx_core.current_scheduler(),
}


@pytest.mark.parametrize("hook", CALLS)
def test_what_a_hook_raises_is_raised_where_it_was_called_and_names_the_plugin(hook: str) -> None:
    only = type("Only", (), {hook: getattr(Raising, hook)})()
    with manager().enable(only), pytest.raises(KeyError, match="hook") as caught:
        CALLS[hook]()
    (note,) = caught.value.__notes__
    assert note.startswith(f"raised by the {hook} hook of the plugin Only")


def test_every_hook_is_looked_at_here() -> None:
    specified = {name for name in vars(rx_core._hookspecs) if name.startswith("rx_")}
    assert specified == {*CALLS, "rx_on_error", "rx_schedulers", "rx_fusion_rules"}
