"""Programs over ``create`` written by hand: what is left of them without a library.

The function that is passed to ``create`` calls ``emitter.on_next`` for each item, and the user's functions are called for each
item. So of a program there is left one method, here with all operators written into it. It keeps the rules: no None, failures are
signalled, one end, and nothing behind it. It leaves out demand, other threads and operators that are put together. What all of
these methods have in common stands in each of them, since a call for it would be measured as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

Take = Callable[[Any], object]
End = Callable[[], object]


def refuse() -> NoReturn:
    raise TypeError("None is no item")


class EmitterByHand:
    """Items are passed on as they come: ``create``, and what does nothing for an item (``retry``, ``concat``)."""

    __slots__ = ("closed", "end", "fail", "take")

    def __init__(self, take: Take, fail: Take, end: End) -> None:
        self.take = take
        self.fail = fail
        self.end = end
        self.closed = False

    def on_next(self, item: Any, /) -> None:
        if self.closed:
            return
        try:
            if item is None:
                refuse()
            self.take(item)
        except Exception as error:
            self.on_error(error)

    def on_error(self, error: Exception, /) -> None:
        if not self.closed:
            self.closed = True
            self.fail(error)

    def on_complete(self) -> None:
        if not self.closed:
            self.closed = True
            self.end()


ByHand = Callable[[Take, Take, End], EmitterByHand]


def mapping(mapper: Callable[[Any], Any]) -> ByHand:
    class Mapped(EmitterByHand):
        __slots__ = ()

        def on_next(self, item: Any, /) -> None:
            if self.closed:
                return
            try:
                if item is None:
                    refuse()
                value = mapper(item)
                if value is None:
                    refuse()
                self.take(value)
            except Exception as error:
                self.on_error(error)

    return Mapped


def filtering(predicate: Callable[[Any], object]) -> ByHand:
    class Filtered(EmitterByHand):
        __slots__ = ()

        def on_next(self, item: Any, /) -> None:
            if self.closed:
                return
            try:
                if item is None:
                    refuse()
                if predicate(item):
                    self.take(item)
            except Exception as error:
                self.on_error(error)

    return Filtered


def scanning(accumulator: Callable[[Any, Any], Any]) -> ByHand:
    class Scanned(EmitterByHand):
        __slots__ = ("state",)

        def __init__(self, take: Take, fail: Take, end: End) -> None:
            super().__init__(take, fail, end)
            self.state: Any = None  # no item is None

        def on_next(self, item: Any, /) -> None:
            if self.closed:
                return
            try:
                if item is None:
                    refuse()
                state = self.state
                self.state = state = item if state is None else accumulator(state, item)
                if state is None:
                    refuse()
                self.take(state)
            except Exception as error:
                self.on_error(error)

    return Scanned


def map_filter_map(first: Callable[[Any], Any], predicate: Callable[[Any], object], second: Callable[[Any], Any]) -> ByHand:
    class Three(EmitterByHand):
        __slots__ = ()

        def on_next(self, item: Any, /) -> None:
            if self.closed:
                return
            try:
                if item is None:
                    refuse()
                value = first(item)
                if value is None:
                    refuse()
                if not predicate(value):
                    return
                value = second(value)
                if value is None:
                    refuse()
                self.take(value)
            except Exception as error:
                self.on_error(error)

    return Three


def starting_with(item: Any) -> ByHand:
    def made(take: Take, fail: Take, end: End) -> EmitterByHand:
        take(item)
        return EmitterByHand(take, fail, end)

    return made


def to_list(take: Take, fail: Take, end: End) -> EmitterByHand:
    items: list[Any] = []

    def ended() -> None:
        take(items)
        end()

    return EmitterByHand(items.append, fail, ended)


def looking_on(look: Callable[[Any], object], last: Callable[[], object]) -> ByHand:
    class Looked(EmitterByHand):
        __slots__ = ()

        def on_next(self, item: Any, /) -> None:
            if self.closed:
                return
            try:
                if item is None:
                    refuse()
                look(item)
                self.take(item)
            except Exception as error:
                self.on_error(error)

        def on_error(self, error: Exception, /) -> None:
            super().on_error(error)
            last()

        def on_complete(self) -> None:
            super().on_complete()
            last()

    return Looked


class SharedByHand(EmitterByHand):
    """``publish().ref_count()``: all that are subscribed get the item."""

    __slots__ = ("subscribers",)

    def __init__(self, take: Take, fail: Take, end: End) -> None:
        super().__init__(take, fail, end)
        self.subscribers = (take,)

    def on_next(self, item: Any, /) -> None:
        if self.closed:
            return
        try:
            if item is None:
                refuse()
            for take in self.subscribers:
                take(item)
        except Exception as error:
            self.on_error(error)
