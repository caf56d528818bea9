"""An application that uses operators of another distribution. Type-checked only; nothing in it is wrong."""

from __future__ import annotations

from typing import assert_type

from rx_ops import Flowable, GroupedFlowable, Single

numbers = Flowable.range(5)
words = Flowable.of("a", "bc")

assert_type(numbers.pairs(2), Flowable[tuple[int, ...]])
assert_type(numbers.pairs(), Flowable[tuple[int, ...]])
assert_type(numbers.pairs(3, step=2), Flowable[tuple[int, ...]])
assert_type(words.pairs(2), Flowable[tuple[str, ...]])
assert_type(words.map(len).pairs(2).map(lambda pair: pair[0] / 2), Flowable[float])
assert_type(numbers.total(), Single[int])
assert_type(numbers.map(lambda n: n > 2).total().map(str), Single[str])  # a bool is an int
assert_type(numbers.group_by(lambda n: n % 2).flat_map(lambda group: group.pairs(2)), Flowable[tuple[int, ...]])


class Mine(Flowable[str]):
    pass


def others(group: GroupedFlowable[str, int], either: Flowable[int] | Flowable[str], mine: Mine) -> None:
    assert_type(group.pairs(2), Flowable[tuple[int, ...]])
    assert_type(either.pairs(2), Flowable[tuple[int, ...]] | Flowable[tuple[str, ...]])
    assert_type(mine.pairs(2), Flowable[tuple[str, ...]])
    for pair in group.pairs(2):
        assert_type(pair, tuple[int, ...])
