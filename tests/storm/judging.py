"""What may come out of an operator, whatever the threads do: each function fails an assertion when it did not come like this.

``values`` are the items that came, ``sources`` says how many sources there were, and ``whole`` whether the stream has completed;
a stream that was cancelled gives a part of it, from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from tests.storm.feeding import EACH

Judge = Callable[[Sequence[Any], int, bool], None]


def of_source(values: Sequence[Any], number: int) -> list[int]:
    return [at for sender, at in values if sender == number]


def beginning_of_each(values: Sequence[Any], sources: int, whole: bool) -> None:
    """What each source sent, in its order, nothing lost or doubled, up to some item."""
    for number in range(sources):
        places = of_source(values, number)
        assert places == list(range(len(places))), f"source {number} came as {places}"
    assert all(0 <= number < sources for number, _ in values), "an item of no source"


def everything(values: Sequence[Any], sources: int, whole: bool) -> None:
    """What each source sent, all of it when the stream is whole."""
    beginning_of_each(values, sources, whole)
    if whole:
        counts = [len(of_source(values, number)) for number in range(sources)]
        assert counts == [EACH] * sources, f"items of each source: {counts}"


def everything_unordered(values: Sequence[Any], sources: int, whole: bool) -> None:
    """What each source sent, in any order, nothing doubled, and all of it when the stream is whole."""
    assert len(set(values)) == len(values), "an item came twice"
    assert all(0 <= number < sources and 0 <= at < EACH for number, at in values), "an item of no source"
    assert not whole or len(values) == sources * EACH, f"{len(values)} items of {sources * EACH}"


def everything_in_turn(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Everything, and no source before the one in front of it is through."""
    everything(values, sources, whole)
    turns = [number for number, _ in values]
    assert turns == sorted(turns), f"sources took turns: {turns}"


def of_the_first(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Everything of one source, nothing of the others."""
    beginning_of_each(values, sources, whole)
    winners = {number for number, _ in values}
    assert len(winners) <= 1, f"several sources won: {winners}"
    assert not whole or len(values) == EACH


def end_of_each(values: Sequence[Any], sources: int, whole: bool) -> None:
    """What each source sent from some item on."""
    for number in range(sources):
        places = of_source(values, number)
        assert places == list(range(places[0] if places else 0, (places[0] if places else 0) + len(places))), places
        assert not (whole and places) or places[-1] == EACH - 1, f"source {number} ended with {places}"


def some_of_each(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Items of each source in their order, none twice."""
    for number in range(sources):
        places = of_source(values, number)
        assert all(before < after for before, after in pairwise(places)), f"source {number} came as {places}"


def some_and_the_last_of_each(values: Sequence[Any], sources: int, whole: bool) -> None:
    some_of_each(values, sources, whole)
    if whole:
        for number in range(sources):
            assert of_source(values, number)[-1:] == [EACH - 1], f"the last item of source {number} is lost"


def switched(values: Sequence[Any], sources: int, whole: bool) -> None:
    """The beginning of each source, none after a later one, and all of the last one."""
    beginning_of_each(values, sources, whole)
    turns = [number for number, _ in values]
    assert turns == sorted(turns), f"an earlier source was heard after a later one: {turns}"
    assert not whole or len(of_source(values, sources - 1)) == EACH


def rows(values: Sequence[Any], sources: int, whole: bool) -> None:
    """The first items of all sources, then the second ones, and so on."""
    assert list(values) == [tuple((number, at) for number in range(sources)) for at in range(len(values))]
    assert not whole or len(values) == EACH


def rows_of_newest(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Each row has a later item of each source than the one before it; the end is that of a source whose last item went out."""
    assert all([number for number, _ in row] == list(range(sources)) for row in values)
    places = [[at for _, at in row] for row in values]
    for before, after in pairwise(places):
        assert all(old < new for old, new in zip(before, after, strict=True)), f"from {before} to {after}"
    if whole:
        assert places, "every source had items, so there must be a row"
        assert EACH - 1 in places[-1], f"the last row is {places[-1:]}"


def last_of_all(values: Sequence[Any], sources: int, whole: bool) -> None:
    """One row, of the last items of all sources."""
    assert list(values) == [tuple((number, EACH - 1) for number in range(sources))][: len(values)]
    assert not whole or values


def exhausted(values: Sequence[Any], sources: int, whole: bool) -> None:
    """The beginning of each inner source, all of it when there is a later one, and none after a later one."""
    beginning_of_each(values, sources, whole)
    turns = [number for number, _ in values]
    assert turns == sorted(turns), f"an earlier source was heard after a later one: {turns}"
    for number in set(turns if whole else turns[: turns.index(turns[-1])] if turns else ()):
        assert len(of_source(values, number)) == EACH, f"source {number} was cut off"


def everything_in_order(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Everything, by its place in its source, and at the same place by the number of the source."""
    everything(values, sources, whole)
    assert list(values) == sorted(values, key=lambda item: (item[1], item[0]))


def pairs(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Each item of the first source with each of the second, once."""
    assert len(set(values)) == len(values)
    assert all((left[0], right[0]) == (0, 1) for left, right in values)
    assert not whole or len(values) == EACH * EACH


def latest_rows(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Each row differs from the one before in one source, by its next item; the last row has all last items."""
    places = [[at for _, at in row] for row in values]
    assert all([number for number, _ in row] == list(range(sources)) for row in values)
    for before, after in pairwise(places):
        steps = sorted(new - old for old, new in zip(before, after, strict=True))
        assert steps == [0] * (sources - 1) + [1], f"from {before} to {after}"
    if whole:
        assert places, "every source had items, so there must be a row"
        assert places[-1] == [EACH - 1] * sources, f"the last row is {places[-1]}"


def each_with_latest(values: Sequence[Any], sources: int, whole: bool) -> None:
    """Each item of the first source once and in order, beside items of the others that never go back."""
    assert [row[0] for row in values] == [(0, at) for at in range(len(values))]
    assert not whole or len(values) == EACH
    for column in range(1, sources):
        places = [row[column][1] for row in values]
        assert places == sorted(places), f"column {column} went back: {places}"


def answer(expected: object) -> Judge:
    """One value: this one."""

    def judge(values: Sequence[Any], sources: int, whole: bool) -> None:
        assert list(values) == [expected][: len(values)]
        assert not whole or values

    return judge
