"""An error of an inner stream says through which operators of which pipelines it came, fused or not, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_core import CompositeException
from rx_fusion import fusion_off
from rx_ops import Flowable, Maybe, Observable, Single
from rx_testing import TestSubscriber

Flow = Flowable[Any]


def refuse(item: int) -> int:
    raise KeyError(item)


def passive(item: Any) -> Flow:
    return Flowable.of(item).map(refuse)


def pushing(item: Any) -> Flow:
    return Flowable.of(item).hide().map(refuse).hide()


def handed_over(item: Any) -> Flow:
    """The first is pulled, the second pushes: the rest of the operator goes on in push form."""
    return Flowable.of(item) if item == 1 else pushing(item)


INNER = {"passive": passive, "pushing": pushing, "handed over": handed_over}

#: How an operator is written, and its call in the note.
OPERATORS: dict[str, Callable[[Flow, Callable[[Any], Flow]], Any]] = {
    "flat_map": lambda flow, inner: flow.flat_map(inner),
    "concat_map": lambda flow, inner: flow.concat_map(inner),
    "concat_map_eager": lambda flow, inner: flow.concat_map_eager(inner),
    "switch_map": lambda flow, inner: flow.switch_map(inner),
    "exhaust_map": lambda flow, inner: flow.exhaust_map(inner),
    "expand": lambda flow, inner: flow.expand(lambda item: inner(item).filter(lambda _: False)),
    "filter_when": lambda flow, inner: flow.filter_when(inner),
    "switch_on_first": lambda flow, inner: flow.switch_on_first(lambda _signal, _flow: inner(2)),
    "on_error_resume_next": lambda flow, inner: flow.map(refuse).on_error_resume_next(lambda _: inner(2)),
    "repeat_when": lambda flow, inner: flow.repeat_when(lambda ends: ends.map(lambda _: 1).switch_map(inner)),
    "delay": lambda flow, inner: flow.delay(selector=inner),
    "debounce": lambda flow, inner: flow.debounce(selector=inner),
}


def error_of(flow: Any) -> BaseException:
    subscriber: TestSubscriber[Any] = TestSubscriber()
    flow.subscribe(subscriber)
    assert subscriber.error is not None
    return subscriber.error


def raised_by(flow: Any) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011  # looked at below
        flow.blocking_list()
    return caught.value


RUNS = {"subscribed": error_of, "blocking": raised_by}


@pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))
@pytest.mark.parametrize("source", [lambda: Flowable.range(1, 4), lambda: Flowable.range(1, 4).hide()], ids=["pulled", "pushed"])
@pytest.mark.parametrize("inner", INNER.values(), ids=list(INNER))
@pytest.mark.parametrize("operator", ["flat_map", "concat_map", "concat_map_eager", "switch_map", "exhaust_map", "filter_when"])
def test_it_says_the_operator_and_its_pipeline(
    operator: str, inner: Callable[[Any], Flow], source: Callable[[], Flow], run: Callable[[Flow], BaseException]
) -> None:
    flow = OPERATORS[operator](source(), inner)
    way = f"through {operator}({inner.__name__}) of {flow!r}"
    for each in (flow, flow.map(str).filter(bool)):
        notes = run(each).__notes__
        assert notes[0].startswith("in map(refuse) of of(")
        assert [note for note in notes if note.startswith("through")] == [way]
        with fusion_off():
            alone = run(OPERATORS[operator](source(), inner).map(str)).__notes__
        assert alone[1:] == [way]


@pytest.mark.parametrize("inner", [passive, pushing])
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_operator_that_runs_what_a_function_makes_says_it(operator: str, inner: Callable[[Any], Flow]) -> None:
    error = raised_by(OPERATORS[operator](Flowable.range(1, 3), inner))
    notes = error.__notes__
    assert notes[0].startswith("in map(refuse) of of(")
    assert any(note.startswith(f"through {operator}(") and "of range(1, 3)." in note for note in notes[1:])


def test_each_operator_on_the_way_is_told_from_the_inside_out() -> None:
    def outer(item: int) -> Flow:
        return Flowable.of(item, item).concat_map(passive)

    notes = raised_by(Flowable.range(1, 3).flat_map(outer)).__notes__
    assert [note.partition("(")[0] for note in notes] == ["in map", "through concat_map", "through flat_map"]


def test_an_error_that_is_raised_again_and_again_says_it_once() -> None:
    error = KeyError("kept")
    flow = Flowable.range(3).flat_map(lambda _: Flowable.error(error))
    assert raised_by(flow.retry(50)) is error
    assert len(error.__notes__) == 1


def test_an_error_from_far_down_does_not_drag_its_whole_way_along() -> None:
    def down(depth: int) -> Flow:
        return Flowable.of(depth).hide().flat_map(lambda n: down(n - 1) if n else passive(n))

    assert len(raised_by(down(30)).__notes__) == 20


def test_groups_say_it_too_where_they_run_in_one_loop() -> None:
    flow = Flowable.range(3).group_by(lambda n: n % 2).flat_map(lambda group: group.map(refuse))
    notes = raised_by(flow).__notes__
    assert notes[0].startswith("in map(refuse) of group(0)")
    assert notes[1:] == [f"through {repr(flow)[repr(flow).index('flat_map') :]} of {flow!r}"]
    with fusion_off():
        assert raised_by(Flowable.range(3).group_by(lambda n: n % 2).flat_map(lambda group: group.map(refuse))).__notes__[1:]


def test_several_errors_say_it_together() -> None:
    error = raised_by(Flowable.range(1, 3).flat_map(passive, delay_error=True))
    assert isinstance(error, CompositeException)
    assert error.__notes__ == ["through flat_map(passive) of range(1, 3).flat_map(passive)"]
    assert all(each.__notes__[0].startswith("in map(refuse)") for each in error.exceptions)


@pytest.mark.parametrize(
    "flow",
    [
        Observable.range(1, 3).flat_map(lambda n: Observable.of(n).map(refuse)),
        Single.just(1).flat_map(lambda n: Single.just(n).map(refuse)),
        Single.just(1).flat_map_publisher(passive),
        Maybe.just(1).flat_map(lambda n: Maybe.just(n).map(refuse)),
        Single.just(1).flat_map_completable(lambda n: Single.just(n).map(refuse).ignore_element()),
    ],
    ids=repr,
)
def test_the_other_types_say_it_too(flow: Any) -> None:
    errors: list[Exception] = []
    flow.subscribe(on_error=errors.append)
    (error,) = errors
    assert [note for note in error.__notes__ if note.startswith("through")] == [
        f"through {repr(flow).partition('.')[2]} of {flow!r}"
    ]


def test_an_operator_without_inner_streams_adds_nothing() -> None:
    flow = Flowable.range(1, 3).hide().map(refuse).hide().retry(1).do_finally(lambda: None)
    assert len(raised_by(flow).__notes__) == 1
