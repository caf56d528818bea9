"""Only an Exception is an error of a stream: None, text and what ends a thread are refused with a TypeError that ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException, Publisher, Subscriber
from rx_ops import (
    Completable,
    Flowable,
    GenerateEmitter,
    Maybe,
    Observable,
    PublishProcessor,
    PublishSubject,
    ReplayProcessor,
    Single,
    UnicastProcessor,
)
from rx_testing import TestSubscriber

WRONG = [None, "no exception", KeyboardInterrupt()]


def stepped(wrong: Any) -> Callable[[int, GenerateEmitter[int]], int]:
    def step(state: int, emitter: GenerateEmitter[int]) -> int:
        emitter.on_error(wrong)
        return state

    return step


SOURCES: dict[str, Callable[[Any], Any]] = {
    "Flowable.error": lambda wrong: Flowable.error(lambda: wrong),
    "Observable.error": lambda wrong: Observable.error(lambda: wrong),
    "Single.error": lambda wrong: Single.error(lambda: wrong),
    "Maybe.error": lambda wrong: Maybe.error(lambda: wrong),
    "Completable.error": lambda wrong: Completable.error(lambda: wrong),
    "create": lambda wrong: Flowable.create(lambda emitter: emitter.on_error(wrong)),
    "Observable.create": lambda wrong: Observable.create(lambda emitter: emitter.on_error(wrong)),
    "Single.create": lambda wrong: Single.create(lambda emitter: emitter.on_error(wrong)),
    "handle": lambda wrong: Flowable.of(1).handle(lambda _, emitter: emitter.on_error(wrong)),
    "generate": lambda wrong: Flowable.generate(lambda: 0, stepped(wrong)),
    "generate_async": lambda wrong: Flowable.generate_async(lambda: 0, lambda _state, _n, emitter: emitter.on_error(wrong)),
}


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("name", SOURCES)
def test_a_source_that_fails_with_something_else_fails_with_a_type_error(name: str, wrong: Any) -> None:
    signals: list[Any] = []
    source = SOURCES[name](wrong)
    if isinstance(source, Single):
        source.subscribe(signals.append, signals.append)
    else:
        source.subscribe(on_error=signals.append, on_complete=lambda: signals.append("complete"))
    (error,) = signals
    assert isinstance(error, TypeError)
    assert repr(wrong) in str(error)
    assert "Right:" in str(error)


class Bad:
    def __init__(self, wrong: Any) -> None:
        self.wrong = wrong
        self.raised: list[Exception] = []

    def subscribe(self, subscriber: Subscriber[int], /) -> None:
        subscriber.on_subscribe(self)
        try:
            subscriber.on_error(self.wrong)
        except TypeError as error:
            self.raised.append(error)

    def request(self, _n: int, /) -> None:
        pass

    def cancel(self) -> None:
        pass


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        Flowable.wrap,
        lambda bad: Flowable.wrap(bad).map(str),
        lambda bad: Flowable.of(1).hide().flat_map(lambda _: bad),
        lambda bad: Flowable.of(1).hide().concat_map(lambda _: bad),
        lambda bad: Flowable.merge(bad, Flowable.never()),
    ],
)
def test_a_foreign_source_is_told_and_its_stream_ends(make: Callable[[Any], Publisher[Any]], wrong: Any) -> None:
    bad = Bad(wrong)
    subscriber = TestSubscriber[Any]()
    make(bad).subscribe(subscriber)
    (told,) = bad.raised
    assert subscriber.errors == [told]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize("kind", [PublishProcessor, ReplayProcessor, UnicastProcessor, PublishSubject])
def test_a_processor_refuses_it_at_once(kind: Callable[[], Any], wrong: Any) -> None:
    processor = kind()
    errors: list[Exception] = []
    processor.subscribe(on_error=errors.append)
    with pytest.raises(TypeError):
        processor.on_error(wrong)
    assert errors == []
    processor.on_error(failure := OSError())
    assert errors == [failure]


def test_the_error_of_a_step_of_generate_is_not_hidden_by_a_failing_dispose() -> None:
    def step(state: int, emitter: GenerateEmitter[int]) -> int:
        emitter.on_error(OSError("the cause"))
        return state

    subscriber = TestSubscriber[int]()
    Flowable.generate(lambda: 0, step, dispose=lambda state: 1 // state).subscribe(subscriber)
    (error,) = subscriber.errors
    assert isinstance(error, CompositeException)
    assert [type(each) for each in error.exceptions] == [OSError, ZeroDivisionError]


def test_a_failing_dispose_of_generate_alone_is_the_error() -> None:
    def step(state: int, emitter: GenerateEmitter[int]) -> int:
        emitter.on_complete()
        return state

    subscriber = TestSubscriber[int]()
    Flowable.generate(lambda: 0, step, dispose=lambda state: 1 // state).subscribe(subscriber)
    (error,) = subscriber.errors
    assert type(error) is ZeroDivisionError
