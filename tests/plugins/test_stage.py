"""Flowable.stage: what operators of other distributions are written with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import pytest

from rx_ops import Flowable, StageError, stage

T = TypeVar("T")
NUMBERS = Flowable.range(1, 6)


@stage
def every(source: Iterable[T], step: int, first: int = 0) -> Iterator[T]:
    left = first
    for item in source:
        if left == 0:
            left = step
            yield item
        left -= 1


@stage
def halved(source: Iterable[int]) -> Iterator[Any]:
    for item in source:
        yield item // 2 or None


def test_arguments_by_position_by_keyword_and_by_default() -> None:
    assert NUMBERS.stage(every, 2).blocking_list() == [1, 3, 5]
    assert NUMBERS.stage(every, 2, 1).blocking_list() == [2, 4]
    assert NUMBERS.stage(every, first=1, step=3).blocking_list() == [2, 5]


def test_it_fuses_like_an_operator_of_ours() -> None:
    assert "in one loop, no queue" in NUMBERS.map(str).stage(every, 2).filter(bool).explain()


def test_a_stage_that_yields_none_is_an_error_and_no_hang() -> None:
    heard: list[object] = []
    NUMBERS.stage(halved).subscribe(heard.append, on_error=heard.append)
    (error,) = heard
    assert isinstance(error, TypeError)
    assert str(error).startswith("halved produced None, and None is not an item (RS 2.13)")


@pytest.mark.parametrize(
    ("arguments", "keywords", "said"),
    [
        ((), {}, r"every\(\): missing a required argument: 'step'"),
        ((1, 2, 3), {}, r"every\(\): too many positional arguments"),
        ((1,), {"stepp": 2}, r"every\(\): got an unexpected keyword argument 'stepp'"),
    ],
)
def test_other_arguments_are_refused_at_assembly(arguments: Any, keywords: Any, said: str) -> None:
    with pytest.raises(TypeError, match=rf"{said}(?s:.*)Its form:  every\(source: "):
        NUMBERS.stage(every, *arguments, **keywords)


def test_a_function_that_is_no_stage_is_refused_at_assembly() -> None:
    with pytest.raises(StageError, match="is not a stage"):
        NUMBERS.stage(lambda source: iter(source))
