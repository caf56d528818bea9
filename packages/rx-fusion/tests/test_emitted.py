"""Stages that emit by themselves under a pump give what they give when they are iterated, for every way to ask and to leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from rx_fusion import Feed, IterableHead, PlainFlow, Shape, shape_of, stage
from rx_fusion._shapes import EMIT, EMIT_ALL, PULL_DRAINED
from rx_fusion._source_run import SourceRun, open_items


@stage
def each(source: Iterable[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
    for item in source:
        yield function(item)


@stage
def only(source: Iterable[Any], predicate: Callable[[Any], bool]) -> Iterator[Any]:
    for item in source:
        if predicate(item):
            yield item


@stage
def first(source: Iterable[Any], count: int) -> Iterator[Any]:
    taken = 0
    for item in source:
        taken += 1  # noqa: SIM113  # the form of a stage
        yield item
        if taken == count:
            return


@stage
def twice(source: Iterable[Any]) -> Iterator[Any]:
    for item in source:
        yield item
        for again in (item, -item):  # noqa: UP028  # the form of a stage
            yield again


@stage
def framed(source: Iterable[Any]) -> Iterator[Any]:
    yield "begin"
    for item in source:  # noqa: UP028  # the form of a stage
        yield item
    yield "end"


def fails_at_four(item: Any) -> Any:
    if item == 4:
        raise KeyError(item)
    return item


CHAINS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "no stage": (),
    "one for one": ((each, str), (only, lambda item: item != "3")),
    "few of many": ((only, lambda item: item % 3 == 2),),
    "a last one": ((each, lambda item: item + 1), (first, 4)),
    "several for one": ((twice,), (each, str)),
    "several of the last": ((first, 2), (twice,)),
    "at both ends": ((framed,),),
    "fails": ((each, fails_at_four), (twice,)),
}

#: What a subscriber does with its nth item; None: it asked for everything.
ACTS: dict[str, tuple[int | None, Callable[[Any, int], object]]] = {
    "everything": (None, lambda _handle, _at: None),
    "everything, and leaves": (None, lambda handle, at: at == 3 and handle.cancel()),
    "everything, and asks on": (None, lambda handle, at: at % 2 or handle.request(1)),
    "one at a time": (1, lambda handle, _at: handle.request(1)),
    "three at a time": (3, lambda handle, at: at % 3 or handle.request(3)),
    "five": (5, lambda _handle, _at: None),
    "two, then everything": (2, lambda handle, at: at == 2 and handle.request(2**63 - 1)),
    "leaves with its last one": (4, lambda handle, at: at == 4 and handle.cancel()),
    "a wrong number": (3, lambda handle, at: at == 3 and handle.request(0)),
}


class Down:
    """Does as it is told with the nth item, and keeps what it got; ``raises`` at one."""

    def __init__(self, wants: int | None, act: Callable[[Any, int], object], raises: int = 0) -> None:
        self.got: list[Any] = []
        self.wants = wants
        self.act = act
        self.raises = raises
        self.handle: Any = None

    def on_subscribe(self, handle: Any, /) -> None:
        self.handle = handle
        if self.wants is None:
            handle.request(2**63 - 1)
        else:
            handle.request(self.wants)

    def on_next(self, item: Any, /) -> None:
        self.got.append(item)
        at = len(self.got)
        if at == self.raises:
            raise ValueError("of the subscriber")
        self.act(self.handle, at)

    def on_error(self, error: Exception, /) -> None:
        self.got.append(("error", type(error), getattr(error, "__notes__", [])))

    def on_complete(self) -> None:
        self.got.append("|")


class Iterated(SourceRun[Any]):
    def open(self) -> None:
        open_items(self, (self.head, self.shape, self.args), PULL_DRAINED)
        assert not self.emits


class Emitted(SourceRun[Any]):
    def open(self) -> None:
        open_items(self, (self.head, self.shape, self.args), EMIT)
        assert self.emits or not self.shape


def shape_and_args(chain: tuple[tuple[Any, ...], ...]) -> tuple[Shape, tuple[Any, ...]]:
    return shape_of([function for function, *_ in chain]), tuple(arg for _, *args in chain for arg in args)


def run(kind: type[SourceRun[Any]], chain: str, down: Down, feed: Feed) -> tuple[list[Any], list[Any]]:
    """What ``down`` got, and what the source was asked for."""
    read: list[Any] = []

    def items() -> Iterator[int]:
        try:
            for item in range(8):
                read.append(item)
                yield item
        finally:
            read.append("closed")

    class Source:
        def __iter__(self) -> Iterator[int]:
            return items() if feed is Feed.CHECKED else iter(range(8))

    shape, args = shape_and_args(CHAINS[chain])
    head = IterableHead("test", Source(), "test()", feed=feed)
    made = kind(down, (head, shape, args), PlainFlow(head, shape, args))
    try:
        made.start()
        if not made.stopped:
            down.handle.request(1)
    except ValueError as error:
        down.got.append(error.args[0])
    return list(down.got), list(read)  # what is still open is closed behind this


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "stacked"])
@pytest.mark.parametrize("feed", [Feed.CLEAN, Feed.CHECKED], ids=lambda feed: feed.value)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("chain", CHAINS)
def test_it_gives_and_reads_the_same(chain: str, act: str, feed: Feed, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shape, _ = shape_and_args(CHAINS[chain])
    for form in (EMIT[feed], EMIT_ALL[feed], PULL_DRAINED[feed]):
        if compiled and shape:
            assert shape.form(form) is not None
        else:
            monkeypatch.setitem(shape._forms, form, None)
    iterated = run(Iterated, chain, Down(*ACTS[act]), feed)
    assert run(Emitted, chain, Down(*ACTS[act]), feed) == iterated
    assert run(SourceRun, chain, Down(*ACTS[act]), feed) == iterated  # which need not count where everything is wanted


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("raises", [1, 3])
@pytest.mark.parametrize("wants", [None, 3])
def test_what_a_subscriber_raises_reaches_who_asked_and_closes_the_source(chain: str, raises: int, wants: int | None) -> None:
    kinds: list[type[SourceRun[Any]]] = [Emitted, SourceRun, Iterated]
    found = [run(kind, chain, Down(wants, lambda *_: None, raises), Feed.CHECKED) for kind in kinds]
    assert found[0] == found[1] == found[2]
    got, read = found[0]
    if len(got) > raises:
        assert got[raises] == "of the subscriber"
    assert read[-1:] in ([], ["closed"])


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "stacked"])
@pytest.mark.parametrize("feed", [Feed.CLEAN, Feed.CHECKED], ids=lambda feed: feed.value)
@pytest.mark.parametrize("wants", [None, 1, 4])
@pytest.mark.parametrize("behind", [(), ((twice,),)], ids=["one item", "several"])
def test_an_item_that_a_function_makes_while_it_cancels_is_given(
    behind: tuple[tuple[Any, ...], ...], wants: int | None, feed: Feed, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    handles: list[Any] = []

    def leaves(item: int) -> int:
        if item == 2:
            handles.pop().cancel()
        return item

    def asks(handle: Any) -> None:
        handles[:] = [handle]
        handle.request(1)

    monkeypatch.setitem(CHAINS, "leaves", ((each, leaves), *behind))
    shape, _ = shape_and_args(CHAINS["leaves"])
    for form in (EMIT[feed], EMIT_ALL[feed], PULL_DRAINED[feed]):
        if not compiled:
            monkeypatch.setitem(shape._forms, form, None)
    kinds: list[type[SourceRun[Any]]] = [Emitted, SourceRun, Iterated]
    for kind in kinds:
        got, read = run(kind, "leaves", Down(wants, lambda handle, _at: asks(handle)), feed)
        assert got == ([0, 1, 2] if not behind else [0, 0, 0, 1, 1, -1, 2])
        assert read == ([0, 1, 2, "closed"] if feed is Feed.CHECKED else [])
