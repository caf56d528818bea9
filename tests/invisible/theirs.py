"""Operators of somebody who knows the protocol and nothing of this library: each a publisher around a publisher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class TheirPass:
    """Changes nothing."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def subscribe(self, subscriber: Any, /) -> None:
        self.source.subscribe(_Passing(subscriber))


class _Passing:
    """Subscriber and Subscription of one run, as the specification wants them and no more."""

    def __init__(self, down: Any) -> None:
        self.down = down
        self.up: Any = None
        self.over = False

    def on_subscribe(self, subscription: Any, /) -> None:
        if self.up is not None:
            subscription.cancel()
            return
        self.up = subscription
        self.down.on_subscribe(self)

    def on_next(self, item: Any, /) -> None:
        if not self.over:
            self.down.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        if not self.over:
            self.over = True
            self.down.on_error(error)

    def on_complete(self) -> None:
        if not self.over:
            self.over = True
            self.down.on_complete()

    def request(self, n: int, /) -> None:
        if not self.over:
            self.up.request(n)

    def cancel(self) -> None:
        self.over = True
        self.up.cancel()


class TheirMap(TheirPass):
    """A map: what its function raises is signalled, None refused."""

    def __init__(self, source: Any, function: Callable[[Any], Any]) -> None:
        super().__init__(source)
        self.function = function

    def subscribe(self, subscriber: Any, /) -> None:
        self.source.subscribe(_Mapping(subscriber, self.function))


class _Mapping(_Passing):
    def __init__(self, down: Any, function: Callable[[Any], Any]) -> None:
        super().__init__(down)
        self.function = function

    def on_next(self, item: Any, /) -> None:
        if self.over:
            return
        try:
            value = self.function(item)
            if value is None:
                raise TypeError("their_map produced None")
        except (Exception, GeneratorExit) as error:
            self.up.cancel()
            self.on_error(error if isinstance(error, Exception) else _signal(error))
        else:
            self.down.on_next(value)


def _signal(leave: GeneratorExit) -> RuntimeError:
    error = RuntimeError("a GeneratorExit cannot be signalled")
    error.__cause__ = leave
    return error
