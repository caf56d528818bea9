"""Counting by key: which functions are known for what they do, and that a count gives what the reduction gives."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from rx_fusion.symbols import it, sym
from rx_ops import aggregates
from rx_ops.stages import GroupAggregate
from rx_spark._jobs._compile import _shuffle
from rx_spark._plans._plan import Aggregates, GroupReduce
from rx_spark._workers._groups import AggregateMerger, AggregateWriter, CountWriter, GroupMerger, GroupWriter
from rx_spark._workers._plain_functions import adds, gives_its_argument, gives_one, only_counts
from rx_spark._workers._runner import Ones, itself

one = 1


def named(value: int) -> int:
    """A function with a text of its own."""
    return value


def test_functions_that_give_their_argument() -> None:
    known: list[object] = [lambda word: word, itself, named, sym(lambda word: word)]
    others: list[object] = [
        lambda word: (word,),
        lambda word: word + 0,
        lambda first, second: first,
        lambda *words: words,
        lambda word, *, other: word,
        lambda word, **others: word,
        str,
        sym(it + 0),
        "text",
    ]
    assert all(map(gives_its_argument, known))
    assert not any(map(gives_its_argument, others))


def test_functions_that_give_one() -> None:
    known: list[Callable[..., Any]] = [lambda word: 1, Ones(None)]
    others: list[Callable[..., Any]] = [
        lambda word: 2,
        lambda word: True,
        lambda word: 1.0,
        lambda word: None,
        lambda word: one,
        lambda word: word,
        lambda: 1,
        Ones(len),
        int,
    ]
    assert all(map(gives_one, known))
    assert not any(map(gives_one, others))


def test_functions_that_add() -> None:
    known: list[object] = [operator.add, lambda a, b: a + b, sym(lambda a, b: a + b)]
    others: list[object] = [
        operator.iadd,
        lambda a, b: b + a,
        lambda a, b: a - b,
        lambda a, b=1: a + b + 0,
        sym(lambda a, b: b + a),
        max,
    ]
    assert all(map(adds, known))
    assert not any(map(adds, others))


@pytest.mark.parametrize("key", [lambda word: word, len], ids=["itself", "a function"])
def test_a_count_sends_what_the_reduction_sends(key: Callable[[Any], Any]) -> None:
    words = [(0, ["a", "bb", "a", "ccc"]), (1, ["bb", "a"])]
    step = GroupReduce(key, lambda _word: 1, operator.add)
    _, writer, merger = _shuffle(step, 4)
    assert isinstance(writer, CountWriter)
    plain = GroupWriter(4, step.key, step.value, step.reducer)
    counted, reduced = ([(*row[:-1], pickle.loads(row[-1])) for row in each.rows(iter(words))] for each in (writer, plain))
    assert counted == reduced
    chunks = [pairs for *_, pairs in counted] * 3
    assert list(merger.merge(iter(chunks))) == list(GroupMerger(operator.add).merge(iter(chunks)))


def test_a_key_without_a_hash_and_an_item_that_is_none_are_told_as_by_the_reduction() -> None:
    _, writer, _ = _shuffle(GroupReduce(lambda item: item, lambda _item: 1, operator.add), 4)
    with pytest.raises(TypeError, match="unhashable") as raised:
        list(writer.rows(iter([(0, [1, [2]])])))
    assert any("a tuple instead of a list" in note for note in raised.value.__notes__)
    with pytest.raises(TypeError, match="None"):
        list(writer.rows(iter([(0, [1, None])])))


@pytest.mark.parametrize("key", [(("word",), False), (("first", "length"), True)], ids=["one field", "several"])
def test_a_count_of_a_group_aggregate_sends_and_makes_what_the_aggregate_does(key: Any) -> None:
    fields, several = key
    spec = GroupAggregate(fields, several, (("n", aggregates.count()),))
    key_of: Any = (lambda word: (word[0], len(word))) if several else (lambda word: word)
    _, writer, merger = _shuffle(Aggregates(key_of, spec), 4)
    assert isinstance(writer, CountWriter)
    words = ["a", "bb", "a", "ccc", "bb"]
    chunks = [pickle.loads(row[-1]) for row in writer.rows(iter([(0, words)]))]
    plain = [pickle.loads(row[-1]) for row in AggregateWriter(4, key_of, spec).rows(iter([(0, words)]))]
    made = list(merger.merge(iter(chunks)))
    assert made == list(AggregateMerger(spec).merge(iter(plain)))
    assert {type(row) for row in made} == {type(spec.row_maker()(("x",) * (len(fields) + 1)))}


def test_other_aggregates_are_folded() -> None:
    for several in (
        (("n", aggregates.count()), ("m", aggregates.count())),
        (("n", aggregates.count(len)),),
        (("n", aggregates.sum(len)),),
    ):
        assert not only_counts(GroupAggregate(("word",), False, several))
