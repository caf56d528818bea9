"""The newest item, then what comes."""

from __future__ import annotations

from typing import TypeVar

from rx_core import none_argument
from rx_core.streams import End, Log, ReplayHub
from rx_ops.processors._multicast import FlowableProcessor, Subject

T = TypeVar("T")


class BehaviorHub(ReplayHub[T]):
    """Keeps the newest item, and nothing after the end."""

    __slots__ = ()

    gives_on_request = False

    def __init__(self, name: str, initial: T | None, *, asked: bool) -> None:
        super().__init__(name, Log(1), patient=not asked, asked=asked)
        if initial is not None:
            self.log.append(initial)

    def finish(self, end: End) -> None:
        self.log.skip()  # first: a subscriber that comes again when it is told the end gets no item
        super().finish(end)

    @property
    def value(self) -> T | None:
        return next(self.log.kept(), None)


class BehaviorProcessor(FlowableProcessor[T]):
    """Sends the newest item, if there is one, to who subscribes, and then what comes; after the end only the end.

    ::

        level = BehaviorProcessor(1)
        level.subscribe(print)   # 1
        level.on_next(2)         # 2

    Demand:  it waits for no subscriber. One that has not requested an item, the first one included, gets
             MissingBackpressureError instead of it, the others go on; ``offer`` sends only what all can take.
    Errors:  go to all; after the end to the error hook.   Memory: the newest item, until the end.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`); the first item comes on the one that
             subscribes.   Fusion: hot source, stages are pushed through without a queue.   Source: RxJava ``BehaviorProcessor``.
    """

    __slots__ = ("_behavior",)

    def __init__(self, initial: T | None = None) -> None:
        self._behavior: BehaviorHub[T] = BehaviorHub("BehaviorProcessor", initial, asked=True)
        super().__init__(self._behavior)

    @property
    def value(self) -> T | None:
        """The newest item; None before the first and after the end."""
        return self._behavior.value

    def offer(self, item: T, /) -> bool:
        """Send ``item`` if every subscriber has requested one; False, and nothing sent, if not. TypeError for None."""
        if item is None:
            raise none_argument("offer(None)", "item")
        return self._hub.offer(item)


class BehaviorSubject(Subject[T]):
    """Sends the newest item, if there is one, to who subscribes, and then what comes; after the end only the end.

    Demand:  none.   Errors: go to all; after the end to the error hook.   Memory: the newest item, until the end.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`); the first item comes on the one that
             subscribes.   Fusion: hot source, stages are pushed through without a queue.   Source: RxJava ``BehaviorSubject``.
    """

    __slots__ = ("_behavior",)

    def __init__(self, initial: T | None = None) -> None:
        self._behavior: BehaviorHub[T] = BehaviorHub("BehaviorSubject", initial, asked=False)
        super().__init__(self._behavior)

    @property
    def value(self) -> T | None:
        """The newest item; None before the first and after the end."""
        return self._behavior.value
