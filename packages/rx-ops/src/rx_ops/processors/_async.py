"""The last item, when all is over."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from rx_core.streams import End, Log, ReplayHub
from rx_ops.processors._multicast import FlowableProcessor, Subject

T = TypeVar("T")


class AsyncHub(ReplayHub[T]):
    """Sends the last item it was fed when it completes, and nothing before."""

    __slots__ = ("_last",)

    gives_on_request = False

    def __init__(self, name: str, *, asked: bool) -> None:
        super().__init__(name, Log(), patient=True, asked=asked)
        self._last: T | None = None

    def on_next(self, item: T) -> None:
        if self.end is None:
            self._last = item

    def finish(self, end: End) -> None:
        last, self._last = self._last, None
        if last is not None and end.error is None:
            self.log.append(last)
        super().finish(end)

    @property
    def value(self) -> T | None:
        return next(self.log.kept(), None)


class AsyncProcessor(FlowableProcessor[T]):
    """Sends the last item it was fed and completes, to all, as soon as it is complete; who comes later gets the same.

    Demand:  the item waits until it is requested.
    Errors:  go to all, and no item then; after the end to the error hook.   Memory: the last item.
    Thread:  that of the end, or the one that requests; fed from one thread at a time (else :meth:`to_serialized`).
    Fusion:  hot source, stages are pushed through without a queue.   Source: RxJava ``AsyncProcessor``.
    """

    __slots__ = ("_async",)

    _made_empty: ClassVar[bool] = True

    def __init__(self) -> None:
        self._async: AsyncHub[T] = AsyncHub("AsyncProcessor", asked=True)
        super().__init__(self._async)

    @property
    def value(self) -> T | None:
        """The last item, once it is complete; None before and when there was none."""
        return self._async.value


class AsyncSubject(Subject[T]):
    """Sends the last item it was fed and completes, to all, as soon as it is complete; who comes later gets the same.

    Demand:  none.   Errors: go to all, and no item then; after the end to the error hook.   Memory: the last item.
    Thread:  that of the end; fed from one thread at a time (else :meth:`to_serialized`).
    Fusion:  hot source, stages are pushed through without a queue.   Source: RxJava ``AsyncSubject``, RxPY ``AsyncSubject``.
    """

    __slots__ = ("_async",)

    _made_empty: ClassVar[bool] = True

    def __init__(self) -> None:
        self._async: AsyncHub[T] = AsyncHub("AsyncSubject", asked=False)
        super().__init__(self._async)

    @property
    def value(self) -> T | None:
        """The last item, once it is complete; None before and when there was none."""
        return self._async.value
