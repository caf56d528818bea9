"""with_context: what is in front of it sees the values, on every thread; what is behind it does not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

import rx_schedulers
from rx_core import context_value
from rx_ops import Completable, Emitter, Flowable, GenerateEmitter, Maybe, Observable, PublishProcessor, Single
from rx_testing import TestSubscriber
from rx_testing.racing import race, rounds

LIMIT = 10.0

REQUEST: ContextVar[str] = ContextVar("request", default="none")
Flow = Flowable[Any]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert REQUEST.get() == "none"
    assert context_value("tenant", "no tenant") == "no tenant"


def tenant(_item: object = None) -> object:
    return context_value("tenant", "no tenant")


def push(emitter: Emitter[object]) -> None:
    emitter.on_next(tenant())
    emitter.on_complete()


def step(state: int, emitter: GenerateEmitter[object]) -> int:
    emitter.on_next(tenant())
    emitter.on_complete()
    return state


#: A stream of what functions in front of with_context see: where they run, and when.
UPSTREAM: dict[str, Callable[[], Flow]] = {
    "a stage": lambda: Flowable.range(3).map(tenant),
    "a stage behind a wall": lambda: Flowable.range(3).hide().map(tenant),
    "a source": lambda: Flowable.from_callable(tenant),
    "a generator": lambda: Flowable.from_iterable(tenant() for _ in range(3)),
    "defer": lambda: Flowable.defer(lambda: Flowable.just(tenant())),
    "create": lambda: Flowable.create(push),
    "generate": lambda: Flowable.generate(lambda: 0, step),
    "subscribe_on": lambda: Flowable.range(3).map(tenant).subscribe_on(rx_schedulers.io()),
    "observe_on": lambda: Flowable.range(3).observe_on(rx_schedulers.io()).map(tenant),
    "a timer": lambda: Flowable.timer(0.001).map(tenant),
    "an inner stream": lambda: Flowable.range(3).flat_map(lambda n: Flowable.just(n).map(tenant)),
    "an inner stream on a thread": lambda: Flowable.range(3).flat_map(lambda n: Flowable.just(n).delay(0.001).map(tenant)),
    "the second of a concat": lambda: Flowable.empty().concat_with(Flowable.from_callable(tenant)),
    "a retry": lambda: Flowable.defer(failing_once).retry(1),
    "a merge": lambda: Flowable.merge(Flowable.from_callable(tenant), Flowable.range(2).delay(0.001).map(tenant)),
    "a cleanup": lambda: Flowable.using(lambda: 1, lambda _: Flowable.just(1), lambda _: CLEANED.append(tenant())).map(tenant),
}  # fmt: skip
CLEANED: list[object] = []


def failing_once() -> Flow:
    if tenant() in SEEN:
        return Flowable.just(tenant())
    SEEN.add(tenant())
    return Flowable.error(OSError())


SEEN: set[object] = set()


@pytest.mark.parametrize("name", UPSTREAM)
def test_functions_in_front_of_it_see_the_value_those_behind_it_do_not(name: str) -> None:
    SEEN.clear()
    CLEANED.clear()
    behind: list[object] = []
    flow = UPSTREAM[name]().with_context(tenant="acme").do_on_next(lambda _: behind.append(tenant()))
    assert set(flow.blocking_list()) == {"acme"}
    assert set(behind) == {"no tenant"}
    assert set(CLEANED) <= {"acme"}


@pytest.mark.parametrize("name", UPSTREAM)
def test_a_subscriber_that_asks_one_by_one_sees_none_of_it(name: str) -> None:
    SEEN.clear()
    over = threading.Event()
    seen: list[object] = []

    def each(item: object) -> None:
        seen.append((item, tenant()))
        subscriber.request(1)  # inside of an item: the source may answer at once, in its own context

    subscriber: TestSubscriber[Any] = TestSubscriber(request=1, on_value=each)
    UPSTREAM[name]().with_context(tenant="acme").do_finally(over.set).subscribe(subscriber)
    assert over.wait(LIMIT)
    subscriber.await_terminal(LIMIT).assert_complete()
    assert set(seen) == {("acme", "no tenant")}


def test_it_sets_context_variables_of_the_users() -> None:
    flow = Flowable.range(2).observe_on(rx_schedulers.io()).map(lambda _: (REQUEST.get(), tenant()))
    assert flow.with_context({REQUEST: "mine"}, tenant="acme").blocking_list() == [("mine", "acme")] * 2
    assert flow.blocking_list() == [("none", "no tenant")] * 2


def test_of_several_the_one_nearest_to_the_reader_counts_and_others_stay() -> None:
    both = Flowable.from_callable(lambda: (context_value("tenant"), context_value("user")))
    assert both.with_context(tenant="acme").with_context(tenant="other", user="ann").blocking_list() == [("acme", "ann")]


def test_each_subscription_has_its_own() -> None:
    """What one sets in its context is not there for the other, nor for the next run."""

    def count(_item: object) -> str:
        REQUEST.set(REQUEST.get() + "!")
        return REQUEST.get()

    flow = Flowable.range(2).map(count).with_context({REQUEST: "mine"})
    assert flow.blocking_list() == ["mine!", "mine!!"]
    assert flow.blocking_list() == ["mine!", "mine!!"]


def test_an_inner_stream_sets_it_for_itself() -> None:
    flow = Flowable.of("a", "b").flat_map(lambda name: Flowable.from_callable(tenant).with_context(tenant=name))
    assert flow.map(lambda name: (name, tenant())).blocking_list() == [("a", "no tenant"), ("b", "no tenant")]


def test_a_value_may_come_from_the_outer_context() -> None:
    token = REQUEST.set("outer")
    try:
        flow = Flowable.range(2).map(lambda _: (REQUEST.get(), tenant())).with_context(tenant="acme")
        assert flow.map(lambda pair: (*pair, REQUEST.get())).blocking_list() == [("outer", "acme", "outer")] * 2
    finally:
        REQUEST.reset(token)


@pytest.mark.parametrize(
    "flow",
    [
        Observable.range(0, 2).map(tenant).with_context(tenant="acme").to_list(),
        Single.from_callable(tenant).with_context(tenant="acme"),
        Maybe.from_callable(tenant).with_context(tenant="acme"),
        Single.from_callable(tenant).delay(0.001).map(tenant).with_context(tenant="acme"),
    ],
    ids=repr,
)
def test_on_the_other_types(flow: Any) -> None:
    assert flow.blocking_get() in ("acme", ["acme", "acme"])


def test_on_a_completable() -> None:
    seen: list[object] = []
    Completable.from_action(lambda: seen.append(tenant())).with_context(tenant="acme").blocking_await()
    assert seen == ["acme"]


def test_errors_and_cancels_keep_their_sides() -> None:
    seen: list[tuple[str, object]] = []
    failing = Flowable.from_callable(lambda: 1 // 0).do_on_error(lambda _: seen.append(("above", tenant())))
    failing.with_context(tenant="acme").subscribe(on_error=lambda _: seen.append(("below", tenant())))
    assert seen == [("above", "acme"), ("below", "no tenant")]
    seen.clear()
    source = PublishProcessor[int]()
    handle = source.do_on_cancel(lambda: seen.append(("cancel", tenant()))).with_context(tenant="acme").subscribe(print)
    handle.dispose()
    assert seen == [("cancel", "acme")]


def test_threads_that_send_and_request_at_the_same_time_do_not_disturb_each_other() -> None:
    for _ in rounds(30):
        seen: set[object] = set()
        source = PublishProcessor[int]()

        def note(_item: object, seen: set[object] = seen) -> None:
            seen.add(tenant())

        subscriber: TestSubscriber[Any] = TestSubscriber(request=0, on_value=note)
        flow = source.on_backpressure_buffer().map(tenant).with_context(tenant="acme")
        flow.subscribe(subscriber)

        def send(source: PublishProcessor[int] = source) -> None:
            for number in range(20):
                source.on_next(number)
            source.on_complete()

        def ask(subscriber: TestSubscriber[Any] = subscriber) -> None:
            for _ in range(20):
                subscriber.request(1)

        race(send, ask)
        subscriber.await_terminal(LIMIT).assert_complete()
        assert len(subscriber.values) == 20
        assert seen == {"no tenant"}


def test_what_is_not_set_is_an_error_that_says_what_is() -> None:
    with pytest.raises(LookupError, match=r"It has set:  user") as caught:
        Flowable.from_callable(lambda: context_value("tenant")).with_context(user="ann").blocking_list()
    assert "with_context(tenant=...)" in str(caught.value)
    with pytest.raises(LookupError, match=r"with_context\(tenant=\.\.\.\)"):
        context_value("tenant")


@pytest.mark.parametrize(("arguments", "values"), [((), {}), (("tenant",), {}), (({"tenant": 1},), {}), ((3,), {"user": 1})])
def test_wrong_arguments_say_what_is_right(arguments: tuple[Any, ...], values: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"Right:  \.with_context\("):
        Flowable.range(3).with_context(*arguments, **values)


def test_it_shows_names_and_no_values() -> None:
    assert repr(Flowable.range(3).with_context({REQUEST: "secret"}, token="secret")) == "range(3).with_context(request, token)"
