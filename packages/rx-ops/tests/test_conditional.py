"""Questions about whole streams: any, all, contains, is_empty, find_index; the last item and the only one; what is made of all.

What holds for every operator is in tests/conformance. Here is what the first decision does to the source, and what that is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from rx_core import UNBOUNDED, EmptyStreamError
from rx_ops import Completable, Flowable, Maybe, Observable, Single, it
from rx_testing import ManualPublisher, TestSubscriber

Question = Callable[[Any], Any]

#: The answer to each of them is known with the 3.
DECIDED_BY_3: dict[str, tuple[Question, object]] = {
    "any": (lambda s: s.map(lambda x: x == 3).any(), True),
    "any predicate": (lambda s: s.any(lambda x: x == 3), True),
    "any symbol": (lambda s: s.any(it == 3), True),
    "all": (lambda s: s.map(lambda x: x != 3).all(), False),
    "all predicate": (lambda s: s.all(lambda x: x != 3), False),
    "all symbol": (lambda s: s.all(it != 3), False),
    "contains": (lambda s: s.contains(3), True),
    "contains comparer": (lambda s: s.contains("3", lambda x, text: str(x) == text), True),
    "find_index": (lambda s: s.find_index(lambda x: x == 3), 2),
    "find_index symbol": (lambda s: s.find_index(it > 2), 2),
    "is_empty": (lambda s: s.filter(lambda x: x == 3).is_empty(), False),
    "single": (lambda s: s.filter(lambda x: x > 1).single().on_error_return(type), ValueError),
    "single default": (lambda s: s.filter(lambda x: x > 1).single(9).on_error_return(type), ValueError),
    "single_element": (lambda s: s.filter(lambda x: x > 1).single_element().on_error_return(type), ValueError),
}
BY_3 = pytest.mark.parametrize(("question", "answer"), DECIDED_BY_3.values(), ids=list(DECIDED_BY_3))
ANSWERED = {name: line for name, line in DECIDED_BY_3.items() if line[1] is not ValueError}


@BY_3
def test_the_first_decision_cancels_a_source_that_pushes(question: Question, answer: object) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    question(Flowable.wrap(source)).to_flowable().subscribe(got)
    source.next(1, 2)
    got.assert_empty()
    assert not source.cancelled
    source.next(3)
    got.assert_result(answer)
    assert source.cancelled


@BY_3
@pytest.mark.parametrize("face", [Flowable, Observable])
def test_the_first_decision_reads_no_further(face: Any, question: Question, answer: object) -> None:
    read: list[int] = []
    closed: list[bool] = []

    def numbers() -> Iterator[int]:
        try:
            for number in range(1, 1000):
                read.append(number)
                yield number
        finally:
            closed.append(True)

    assert question(face.defer(lambda: face.from_iterable(numbers()))).blocking_get() == answer
    assert read == [1, 2, 3]
    assert closed == [True]


@pytest.mark.parametrize(("question", "answer"), ANSWERED.values(), ids=list(ANSWERED))
def test_the_end_comes_with_the_decision_and_needs_no_request(question: Question, answer: object) -> None:
    closed: list[bool] = []

    def numbers() -> Iterator[int]:
        try:
            yield from range(1, 1000)
        finally:
            closed.append(True)

    got: TestSubscriber[Any] = TestSubscriber(request=1)
    question(Flowable.from_iterable(numbers())).to_flowable().subscribe(got)
    got.assert_result(answer)
    assert closed


@BY_3
@pytest.mark.parametrize(
    "build", [lambda s: s, lambda s: s.filter(lambda x: x < 5), lambda s: Flowable.concat(s, Flowable.of(8, 9))]
)
def test_everything_is_asked_for_at_once(build: Question, question: Question, answer: object) -> None:
    source: ManualPublisher[int] = ManualPublisher()
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    question(build(Flowable.wrap(source))).to_flowable().subscribe(got)
    assert source.subscriptions[0].requests == [UNBOUNDED]
    source.next(1, 2, 3)
    got.assert_values(answer)
    assert source.cancelled


class Endless:
    """Sends as long as something is requested, and notices a cancel."""

    def __init__(self) -> None:
        self.sent = 0

    def subscribe(self, subscriber: Any, /) -> None:
        publisher = self

        class Sending:
            cancelled = False

            def request(self, n: int, /) -> None:
                while n and not self.cancelled:
                    n -= 1
                    publisher.sent += 1
                    assert publisher.sent < 1000
                    subscriber.on_next(publisher.sent)

            def cancel(self) -> None:
                self.cancelled = True

        subscriber.on_subscribe(Sending())


@BY_3
@pytest.mark.parametrize(
    "build",
    [
        lambda s: s,
        lambda s: s.hide(),
        lambda s: s.map(int).filter(bool),
        lambda s: Flowable.concat(s, Flowable.of(1)),
        lambda s: s.flat_map_iterable(lambda x: (x,)),
        lambda s: s.concat_map(Flowable.just),
    ],
)
def test_a_source_without_end_is_stopped_by_the_decision(build: Question, question: Question, answer: object) -> None:
    source = Endless()
    got: TestSubscriber[Any] = TestSubscriber(request=1)
    question(build(Flowable.wrap(source))).to_flowable().subscribe(got)
    got.assert_values(answer)
    assert source.sent < 130  # one more than a window at most, where there is a queue between


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (lambda s: s.any(), False),
        (lambda s: s.any(bool), False),
        (lambda s: s.all(), True),
        (lambda s: s.all(bool), True),
        (lambda s: s.contains(1), False),
        (lambda s: s.is_empty(), True),
        (lambda s: s.find_index(bool), -1),
        (lambda s: s.last(7), 7),
        (lambda s: s.single(7), 7),
        (lambda s: s.last_element(), None),
        (lambda s: s.single_element(), None),
        (lambda s: s.min_by(str), []),
        (lambda s: s.max_by(str), []),
        (lambda s: s.to_multimap(str), {}),
        (lambda s: s.reduce_with(lambda: 7, max), 7),
    ],
)
def test_of_nothing(question: Question, answer: object) -> None:
    for source in (Flowable.empty(), Flowable.empty().hide(), Observable.empty()):
        assert question(source).blocking_get() == answer


@pytest.mark.parametrize("question", [lambda s: s.last(), lambda s: s.single(), lambda s: s.average(), lambda s: s.average(len)])
def test_of_nothing_there_is_none(question: Question) -> None:
    with pytest.raises(EmptyStreamError, match=r"(last|single|average)\(\)"):
        question(Flowable.empty()).blocking_get()


def test_python_decides_what_is_true() -> None:
    falsy: Flowable[object] = Flowable.of(0, "", [])
    assert falsy.any().blocking_get() is False
    assert falsy.all().blocking_get() is False
    assert Flowable.of(1, "a").all().blocking_get() is True
    assert Flowable.of([], [1]).any(it).blocking_get() is True


def test_the_answers_are_booleans_whatever_the_predicate_returns() -> None:
    assert Flowable.of(1, 2).any(lambda x: "yes").blocking_get() is True
    assert Flowable.of(1, 2).all(lambda x: []).blocking_get() is False


def test_averages_of_whatever_can_be_added_and_divided() -> None:
    assert Flowable.of(1, 2).average().blocking_get() == 1.5
    assert Flowable.of("a", "bbb").average(len).blocking_get() == 2
    assert Flowable.of(Fraction(1), Fraction(2)).average().blocking_get() == Fraction(3, 2)
    assert Flowable.of(Decimal(1), Decimal(2)).average().blocking_get() == Decimal("1.5")
    assert Flowable.of(timedelta(hours=1), timedelta(hours=3)).average().blocking_get() == timedelta(hours=2)
    assert Flowable.of({"price": 3}, {"price": 4}).average(it["price"]).blocking_get() == 3.5


def test_all_of_the_smallest_and_all_of_the_largest() -> None:
    words = Flowable.of("bb", "a", "cc", "d")
    assert words.min_by(len).blocking_get() == ["a", "d"]
    assert words.max_by(len).blocking_get() == ["bb", "cc"]


def test_lists_by_key_keep_the_order_and_the_runs_share_none() -> None:
    lists = Flowable.range(5).to_multimap(it % 2, lambda x: x * 10)
    first, second = lists.blocking_get(), lists.blocking_get()
    assert first == second == {0: [0, 20, 40], 1: [10, 30]}
    assert first[0] is not second[0]
    assert Flowable.range(3).to_multimap(lambda x: x > 0).blocking_get() == {False: [0], True: [1, 2]}


def test_each_run_of_reduce_with_begins_with_its_own() -> None:
    def add(box: list[int], item: int) -> list[int]:
        box.append(item)
        return box

    total = Flowable.range(3).reduce_with(list, add)
    assert total.blocking_get() == [0, 1, 2]
    assert total.blocking_get() == [0, 1, 2]


@pytest.mark.parametrize("name", ["supplier", "reducer"])
def test_reduce_with_gives_no_none(name: str) -> None:
    functions: dict[str, Any] = {"supplier": lambda: 0, "reducer": lambda total, item: total, name: lambda *_: None}
    with pytest.raises(TypeError, match="reduce_with"):
        Flowable.range(3).reduce_with(functions["supplier"], functions["reducer"]).blocking_get()


# -- at most one item --------------------------------------------------------------------------------------------------------


def test_of_at_most_one_item() -> None:
    nothing: Maybe[int] = Maybe.empty()
    assert Single.just(3).contains(3).blocking_get() is True
    assert Single.just(3).contains("3", lambda x, text: str(x) == text).blocking_get() is True
    assert Maybe.just(3).contains(4).blocking_get() is False
    assert nothing.contains(4).blocking_get() is False
    assert nothing.is_empty().blocking_get() is True
    assert Maybe.just(3).is_empty().blocking_get() is False
    assert [nothing.count().blocking_get(), Maybe.just(3).count().blocking_get()] == [0, 1]
    assert Single.sequence_equal(Single.just(3), Single.just(3)).blocking_get() is True
    assert Single.sequence_equal(Single.just(3), Single.just(4), comparer=lambda a, b: a < b).blocking_get() is True
    assert Maybe.sequence_equal(nothing, Maybe.just(3)).blocking_get() is False
    assert Maybe.sequence_equal(nothing, nothing, nothing).blocking_get() is True
    done = Completable.complete()
    assert Completable.sequence_equal(done, done).blocking_get() is True
    with pytest.raises(OSError, match="gone"):
        Completable.sequence_equal(done, Completable.error(OSError("gone"))).blocking_get()


# -- at assembly -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.any(3),
        lambda s: s.all(3),
        lambda s: s.contains(None),
        lambda s: s.contains(1, 2),
        lambda s: s.find_index(None),
        lambda s: s.average(3),
        lambda s: s.min_by(None),
        lambda s: s.max_by(3),
        lambda s: s.to_multimap(3),
        lambda s: s.to_multimap(str, 3),
        lambda s: s.reduce_with(0, max),
        lambda s: s.reduce_with(int, 0),
        lambda s: s.sequence_equal(s, [1, 2]),
        lambda s: s.sequence_equal(s, s, comparer=3),
        lambda s: s.sequence_equal(s, s, prefetch="3"),
    ],
)
def test_wrong_arguments_are_refused_when_the_pipeline_is_built(call: Question) -> None:
    with pytest.raises(TypeError):
        call(Flowable.of(1))
