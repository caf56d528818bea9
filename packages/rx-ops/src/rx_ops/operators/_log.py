"""Every signal of a stream, and everything its subscriber asks for, as lines of the standard library's log."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from rx_core import UNBOUNDED, dropped
from rx_core.streams import PassThrough
from rx_fusion import op

if TYPE_CHECKING:
    from logging import Logger

    from rx_core import Publisher, Subscriber, Subscription

T = TypeVar("T")

#: What each type signals, and what its subscriber asks for; leaving comes last.
_SIGNALS: Final = {
    "Flowable": ("on_subscribe", "request", "on_next", "on_error", "on_complete", "cancel"),
    "Observable": ("on_subscribe", "on_next", "on_error", "on_complete", "dispose"),
    "Single": ("on_subscribe", "on_success", "on_error", "dispose"),
    "Maybe": ("on_subscribe", "on_success", "on_error", "on_complete", "dispose"),
    "Completable": ("on_subscribe", "on_error", "on_complete", "dispose"),
}
#: Of all subscriptions in the process, so that lines of one can be told from those of another.
_numbers = count(1)


class LogSettings(NamedTuple):
    """Where lines go, and the level of each signal; what has none is not told."""

    logger: Logger
    levels: Mapping[str, int]
    #: What the item and a cancel are called: on_next and cancel, on_success and dispose.
    item: str
    leaving: str


def log_settings(kind: str, logger: Logger | str, level: int, levels: Mapping[str, int | None] | None) -> LogSettings:
    """The levels of the signals that ``kind`` has. Raises for what is no logger, level or signal."""
    import logging  # large, and only for those who use it

    if isinstance(logger, str):
        logger = logging.getLogger(logger)
    elif not hasattr(logger, "log"):
        raise TypeError(f"log() expected a logger or its name, got {logger!r}.\n  Right:  .log('orders')")
    signals = _SIGNALS[kind]
    if levels is not None and not isinstance(levels, Mapping):
        raise TypeError(
            f"log() expected levels by signal, got {levels!r}.\n  Right:  .log(levels={{{signals[-1]!r}: logging.DEBUG}})"
        )
    all_levels: dict[str, int | None] = {**dict.fromkeys(signals, level), "on_error": logging.ERROR, **(levels or {})}
    for signal, said in all_levels.items():
        if signal not in signals:
            raise ValueError(
                f"log(levels=...): {kind} has no {signal!r}, but {', '.join(signals)}.\n"
                f"  Right:  .log(levels={{{signals[-1]!r}: logging.DEBUG}})"
            )
        if said is not None and (type(said) is not int or said < 0):
            raise TypeError(f"log() expected a level of logging, got {said!r} for {signal}.\n  Right:  .log(level=logging.DEBUG)")
    one = "on_success" in signals
    kept = {signal: said for signal, said in all_levels.items() if said is not None}
    return LogSettings(logger, kept, "on_success" if one else "on_next", signals[-1])


@op("log")
class Log(PassThrough[T]):
    """Changes nothing. What a handler raises goes to the error hook."""

    __slots__ = ("gave", "number", "settings")

    number: int
    settings: LogSettings
    #: An item was the end: the completion behind it is none of its own.
    gave: bool

    def __init__(self, down: Subscriber[T], source: Publisher[T], settings: LogSettings) -> None:
        super().__init__(down, source)
        self.settings = settings
        self.number = next(_numbers)
        self.gave = False

    def tell(self, signal: str, text: str, *args: object) -> None:
        level = self.settings.levels.get(signal)
        logger = self.settings.logger
        if level is not None and logger.isEnabledFor(level):
            try:
                logger.log(level, f"[%d] {signal}({text})", self.number, *args)
            except Exception as failure:
                dropped(failure, self.origin)

    def on_subscribe(self, up: Subscription, /) -> None:
        if self.up is None:
            self.tell("on_subscribe", "%r", self.origin)
        super().on_subscribe(up)

    def on_next(self, item: T, /) -> None:
        if not self.done:
            self.gave = self.settings.item == "on_success"
            self.tell(self.settings.item, "%r", item)
        super().on_next(item)

    def on_error(self, error: Exception, /) -> None:
        if not self.done:
            self.tell("on_error", "%r", error)
        super().on_error(error)

    def on_complete(self) -> None:
        if not (self.done or self.gave):
            self.tell("on_complete", "")
        super().on_complete()

    def request(self, n: int, /) -> None:
        if not self.done:
            self.tell("request", "%s", "unbounded" if type(n) is int and n >= UNBOUNDED else n)
        super().request(n)

    def request_all(self) -> None:
        if not self.done:
            self.tell("request", "unbounded")
        super().request_all()

    def cancel(self) -> None:
        if not self.done:
            self.tell(self.settings.leaving, "")
        super().cancel()
