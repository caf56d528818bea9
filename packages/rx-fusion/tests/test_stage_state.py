"""What a stage remembers from item to item is the same in every form: variables however they come to be, parameters, the item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from rx_fusion import Feed, IterableHead, OperatorHead, PlainFlow, PublisherHead, operator, stage
from rx_testing import ManualPublisher, TestSubscriber

ITEMS = (1, 2, 3, 4, 5)


@stage
def growing_by(source: Iterable[int], amount: int) -> Iterator[int]:
    amount = amount + 1
    for item in source:
        yield item + amount
        amount += 1


@stage
def amount_behind(source: Iterable[int], amount: int) -> Iterator[int]:
    for item in source:
        amount += item
        yield item
    yield amount


@stage
def last_again(source: Iterable[int]) -> Iterator[int]:
    item = -1
    for item in source:
        yield item
    yield item


@stage
def last_changed(source: Iterable[int]) -> Iterator[int]:
    item = -1
    for item in source:
        item = item * 10
        yield item
    yield item


@stage
def added_up(source: Iterable[int]) -> Iterator[int]:
    first = True
    for item in source:
        if first:
            total = item
            first = False
        else:
            total = total + item
        yield total


@stage
def odd_before(source: Iterable[int]) -> Iterator[int]:
    first = True
    for item in source:
        if item % 2 or first:
            before = item
            first = False
        else:
            yield before


@stage
def in_a_branch(source: Iterable[int]) -> Iterator[int]:
    for item in source:
        if item > 2:
            twice = item * 2
            part = 0
            for part in range(twice):
                rest = twice - part
            yield twice + part + rest
        elif (half := item // 2) == 0:
            yield half


@operator
def relayed(run: Any, source: Any) -> Iterator[Any]:
    yield from source


def iterated(built: Callable[[PlainFlow[int]], PlainFlow[Any]]) -> list[Any]:
    return list(built(PlainFlow(IterableHead("items", ITEMS, "items", feed=Feed.CLEAN)))._iterate())


def subscribed(built: Callable[[PlainFlow[int]], PlainFlow[Any]]) -> list[Any]:
    down = TestSubscriber[Any]()
    built(PlainFlow(IterableHead("items", ITEMS, "items", feed=Feed.CLEAN))).subscribe(down)
    return list(down.assert_complete().values)


def pushed(built: Callable[[PlainFlow[int]], PlainFlow[Any]]) -> list[Any]:
    source, down = ManualPublisher[int](), TestSubscriber[Any]()
    built(PlainFlow(PublisherHead("wrap", source, "wrap"))).subscribe(down)
    for item in ITEMS:
        source.next(item)
    source.complete()
    return list(down.assert_complete().values)


def behind(built: Callable[[PlainFlow[int]], PlainFlow[Any]]) -> list[Any]:
    """The operator's source gives its items one by one, with None for "nothing now" between them and behind the last."""
    source, down = ManualPublisher[int](), TestSubscriber[Any]()
    built(PlainFlow(OperatorHead(relayed, (PlainFlow(PublisherHead("wrap", source, "wrap")),)))).subscribe(down)
    for item in ITEMS:
        source.next(item)
    source.complete()
    return list(down.assert_complete().values)


FORMS = {"iterated": iterated, "subscribed": subscribed, "pushed": pushed, "behind an operator": behind}
STAGES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a parameter that changes": (growing_by, (2,)),
    "a parameter behind the loop": (amount_behind, (2,)),
    "the item behind the loop": (last_again, ()),
    "the item changed, behind the loop": (last_changed, ()),
    "a variable without a beginning": (added_up, ()),
    "a variable of another branch": (odd_before, ()),
    "variables of one pass": (in_a_branch, ()),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
@pytest.mark.parametrize("second", [None, *STAGES.values()], ids=["alone", *STAGES])
@pytest.mark.parametrize("first", STAGES.values(), ids=list(STAGES))
def test_every_form_remembers_what_the_function_does(
    form: Callable[[Callable[[PlainFlow[int]], PlainFlow[Any]]], list[Any]],
    first: tuple[Any, tuple[Any, ...]],
    second: tuple[Any, tuple[Any, ...]] | None,
) -> None:
    chain = [first] if second is None else [first, second]

    def built(flow: PlainFlow[Any]) -> PlainFlow[Any]:
        for function, args in chain:
            flow = flow._then(function, *args)
        return flow

    wanted: Iterator[Any] = iter(ITEMS)
    for function, args in chain:
        wanted = function(wanted, *args)
    assert form(built) == list(wanted)
