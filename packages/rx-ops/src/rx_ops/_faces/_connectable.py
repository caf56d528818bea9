"""What ``publish()`` and ``replay()`` make: a stream that runs when it is connected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import Disposable, Scheduler, check_callable
from rx_fusion import SourceHead
from rx_ops import operators
from rx_ops._faces._core import check_count, check_seconds, default_scheduler
from rx_ops._faces._flowable import Flowable

if TYPE_CHECKING:
    from rx_ops.operators import Connectable

T_co = TypeVar("T_co", covariant=True)


class ConnectableFlowable(Flowable[T_co]):
    """One run of a stream for all who subscribe, which starts with a call of :meth:`connect`.

    It is a Flowable, so that operators apply; what they make is a plain Flowable.
    """

    __slots__ = ("_source",)
    _face = Flowable

    def __init__(self, head: SourceHead, source: Connectable[Any]) -> None:
        super().__init__(head)
        self._source = source

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self._head, self._source)

    def connect(self, on_connect: Callable[[Disposable], object] | None = None) -> Disposable:
        """Subscribes to the source, unless it is running; returns what stops it.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  that of the subscribers.   Errors: what ``on_connect`` raises, here; everything else is signalled.
        Memory:  none.   Thread: a source that has items at once sends them on the one that connects.   Fusion: none.
        Source:  RxJava ``connect``. ``on_connect`` gets the Disposable before the source is subscribed, which may send everything
                 before ``connect`` returns. When a run is stopped nothing more is signalled. After the end it starts a new run.
        """
        if on_connect is not None:
            check_callable("connect", "on_connect", on_connect)
        connection = self._source.take(alive=True)
        connection.connect(on_connect)
        return connection

    def reset(self) -> None:
        """Forgets a run that is over, and with it what it kept: who subscribes then waits for the next ``connect()``.

        ::  --1--2--3|  -->  --

        Demand:  none.   Errors: none.   Memory: frees what was kept.   Thread: any.   Fusion: none.
        Source:  RxJava ``reset``. It does nothing while the source runs.
        """
        self._source.reset()

    def ref_count(self, subscriber_count: int = 1, seconds: float = 0.0, *, scheduler: Scheduler | None = None) -> Flowable[T_co]:
        """Connects when ``subscriber_count`` have subscribed, and stops the source when the last has left, ``seconds`` later.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: pass through; ValueError or TypeError at assembly for a bad number.
        Memory:  none.
        Thread:  that of the signal; a late stop on a worker of ``scheduler`` (default: the running loop's, or computation),
                 used only with ``seconds``.
        Fusion:  a wall for what follows, pushed through without a queue.
        Source:  RxJava ``refCount``. Who subscribes within ``seconds`` keeps the source running; who comes after the end starts a
                 new run.
        """
        check_count("ref_count", subscriber_count, 1, "subscriber_count")
        check_seconds("ref_count", seconds)
        counted: operators.RefCount[T_co] = operators.RefCount(
            self._source, subscriber_count, float(seconds), default_scheduler(scheduler, "ref_count")
        )
        said = (f"one run for all subscribers, from {subscriber_count} on",)
        return self._from(SourceHead("ref_count", counted, repr(counted), (self,), said))

    def auto_connect(
        self, subscriber_count: int = 1, *, on_connect: Callable[[Disposable], object] | None = None
    ) -> Flowable[T_co]:
        """Connects when ``subscriber_count`` have subscribed (0: now), and never stops the source by itself.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  passes through.   Errors: pass through; ValueError or TypeError at assembly for a bad number.
        Memory:  none.   Thread: that of the signal.   Fusion: a wall for what follows, pushed through without a queue.
        Source:  RxJava ``autoConnect``. ``on_connect`` gets what stops the source.
        """
        check_count("auto_connect", subscriber_count, 0, "subscriber_count")
        if on_connect is not None:
            check_callable("auto_connect", "on_connect", on_connect)
        if not subscriber_count:
            self.connect(on_connect)
        connecting: operators.AutoConnect[T_co] = operators.AutoConnect(self._source, subscriber_count, on_connect)
        said = (f"one run for all subscribers, from {subscriber_count} on",)
        return self._from(SourceHead("auto_connect", connecting, repr(connecting), (self,), said))
