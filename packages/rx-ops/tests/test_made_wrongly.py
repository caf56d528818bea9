"""A type that is called as if it were a constructor says what to write."""

from __future__ import annotations

from typing import Any

import pytest

import rx_ops
from rx_ops import Completable, Flowable, Maybe, Observable, PublishProcessor, Single

Face = Any  # the calls below are what type checkers refuse


def wrongly(cls: Face, *given: object) -> str:
    with pytest.raises(TypeError) as caught:
        cls(*given)
    return str(caught.value)


def answer() -> int:
    return 42


@pytest.mark.parametrize("cls", [Flowable, Observable])
@pytest.mark.parametrize(
    ("given", "right"),
    [
        ((), "empty()"),
        (([1, 2],), "from_iterable([1, 2])"),
        ((3,), "just(3)"),
        ((1, 2), "of(1, 2)"),
        (("abc",), "just('abc')"),
        ((answer,), "from_callable(answer)"),
        ((None,), "empty()"),
    ],
)
def test_a_stream_of_many_items(cls: Face, given: tuple[object, ...], right: str) -> None:
    assert wrongly(cls, *given).endswith(f"  Right:  {cls.__name__}.{right}")


@pytest.mark.parametrize(
    ("cls", "given", "right"),
    [
        (Single, (), "Single.just(item)"),
        (Single, (3,), "Single.just(3)"),
        (Single, (answer,), "Single.from_callable(answer)"),
        (Single, (Flowable.of(1),), "source.first()"),
        (Maybe, (), "Maybe.empty()"),
        (Maybe, (3,), "Maybe.just(3)"),
        (Maybe, (Flowable.of(1),), "source.first_element()"),
        (Completable, (), "Completable.complete()"),
        (Completable, (answer,), "Completable.from_action(answer)"),
        (Completable, (Flowable.of(1),), "source.ignore_elements()"),
    ],
)
def test_a_stream_of_one_item_or_none(cls: Face, given: tuple[object, ...], right: str) -> None:
    assert wrongly(cls, *given).endswith(f"  Right:  {right}")


@pytest.mark.parametrize("cls", [Flowable, Observable, Single, Maybe, Completable])
def test_a_subclass_names_the_base_class_to_derive_from(cls: Face) -> None:
    mine = type("Mine", (cls,), {})
    text = wrongly(mine)
    assert text.startswith(f"Mine(): {'an' if cls is Observable else 'a'} {cls.__name__} stands for a source")
    assert f"class Mine(rx_core.{cls.__name__}Base[int]): ..." in text


PROCESSORS = ["AsyncProcessor", "PublishProcessor", "UnicastProcessor", "AsyncSubject", "PublishSubject", "UnicastSubject"]


@pytest.mark.parametrize("name", PROCESSORS)
def test_a_processor_is_made_empty_and_fed_afterwards(name: str) -> None:
    kind = "Flowable" if name.endswith("Processor") else "Observable"
    text = wrongly(getattr(rx_ops, name), [1, 2])
    assert text.startswith(f"{name}([1, 2]): it is made empty")
    assert f"fed = {name}()" in text
    assert text.endswith(f"{kind}.from_iterable([1, 2])")
    assert wrongly(getattr(rx_ops, name), 1, 2).endswith(f"{kind}.of(1, 2)")


@pytest.mark.parametrize(("name", "right"), [("FlowableProcessor", "PublishProcessor()"), ("Subject", "PublishSubject()")])
def test_the_base_of_processors_takes_no_items(name: str, right: str) -> None:
    text = wrongly(getattr(rx_ops, name), [1, 2])
    assert text.startswith(f"{name}([1, 2]): it is made empty")
    assert f"fed = {right}" in text


def test_a_subclass_of_a_processor_may_take_what_it_likes() -> None:
    class Named(PublishProcessor[int]):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    assert Named("clicks").name == "clicks"
