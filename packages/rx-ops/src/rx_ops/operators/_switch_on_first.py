"""A stream chosen by the first signal: switch_on_first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, composite, dropped, dropped_late
from rx_core.streams import Input, OneAtATime, Unicast, takes_requests
from rx_fusion import op
from rx_ops._notification import Notification, OnComplete, OnError, OnNext
from rx_ops.operators._mapping import mapper_failure, not_a_source
from rx_ops.operators._unicast import UnicastHead

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening
    from rx_fusion import Head

R = TypeVar("R")


class _Whole(Unicast[Any]):
    """The whole source, its first signal included: one subscriber, which asks the source itself."""

    __slots__ = ("ahead", "main")

    #: Holds one entry until the first item, which the source was asked for before, is requested.
    ahead: Any

    def __init__(self, main: _Main) -> None:
        super().__init__("switch_on_first()")
        self.main = main
        self.ahead = []

    def request(self, n: Any, /) -> None:
        super().request(n)  # first: what waits goes out before more comes
        main = self.main
        if main.asked == UNBOUNDED or type(n) is not int or n < 1 or main.done or main.closed:
            return
        try:
            self.ahead.pop()
        except IndexError:
            pass
        else:
            if n != UNBOUNDED:
                n -= 1
        if n:
            main.up.request(n)

    def listening(self) -> Iterable[Listening]:
        return (self.main,)

    def close(self) -> None:
        super().close()
        self.main.stop()


class _Main(Input[Any]):
    """The source: one item is asked for, and its first signal chooses what is subscribed."""

    __slots__ = ("asked", "untold", "whole")

    #: How many items the source is asked for at first: one, or of an Observable, which cannot be asked, everything.
    asked: int
    whole: _Whole | None
    #: An error that only a subscriber of ``whole`` could be given.
    untold: Exception | None

    def __init__(self, op: SwitchOnFirst[Any]) -> None:
        super().__init__(op)
        self.asked = 1
        self.whole = None
        self.untold = None

    def open(self, source: Any) -> None:
        if not takes_requests(source):
            self.asked = UNBOUNDED
        super().open(source)

    def subscribed(self, up: Subscription) -> None:
        up.request(self.asked)

    def on_next(self, item: Any, /) -> None:
        if self.closed:
            return
        whole = self.whole
        if whole is not None:
            whole.push(item)
            return
        whole = self.whole = _Whole(self)
        whole.ahead.append(True)
        whole.push(item)
        self.choose(whole, OnNext(item))

    def on_error(self, error: Exception, /) -> None:
        if self.closed:
            dropped_late(error, self.op.origin)
            return
        self.done = True
        whole = self.whole
        if whole is None:
            whole = self.whole = _Whole(self)
            whole.end(error)
            self.choose(whole, OnError(error))
            return
        self.untold = error
        whole.end(error)

    def on_complete(self) -> None:
        self.done = True
        whole = self.whole
        if whole is None:
            whole = self.whole = _Whole(self)
            whole.end()
            self.choose(whole, OnComplete())
        else:
            whole.end()

    def choose(self, whole: _Whole, signal: Notification[Any]) -> None:
        """Call the user's function, once. The stream goes on with what it gives."""
        op = self.op
        stream = op.face(UnicastHead("switch_on_first", whole))
        whole.origin = stream
        transformer = op.transformer
        try:
            made = transformer(signal, stream)
        except (Exception, GeneratorExit) as error:
            op.failure = mapper_failure("switch_on_first", transformer, error)
        except BaseException as error:
            self.interrupted(error)
            raise
        else:
            op.failure = not_a_source("switch_on_first", transformer, made)
            op.chosen = made
        if op.failure is not None:
            if isinstance(signal, OnError):
                op.failure = composite([signal.error, op.failure])
            self.stop()
        op.drain()

    def close(self) -> None:
        super().close()
        error, whole = self.untold, self.whole
        self.untold = self.whole = None
        if error is not None and whole is not None and not whole.is_attached:
            dropped(error, self.op.origin)


@op("switch_on_first")
class SwitchOnFirst(OneAtATime[R]):
    """What a function makes of the first signal and the whole stream. When that is over the source is cancelled."""

    __slots__ = ("chosen", "face", "failure", "main", "source", "transformer")

    opens_sources: ClassVar[bool] = True

    main: _Main
    #: The stream that was chosen, until it is subscribed.
    chosen: Any
    #: Why none was.
    failure: Exception | None

    def __init__(
        self,
        down: Subscriber[R],
        source: Publisher[Any],
        transformer: Callable[[Notification[Any], Any], Any],
        face: Callable[[Head], Any],
    ) -> None:
        super().__init__(down)
        self.source = source
        self.transformer = transformer
        self.face = face
        self.main = _Main(self)
        self.chosen = None
        self.failure = None

    def open(self) -> None:
        self.main.open(self.source)

    def step(self, demand: int) -> int:
        failure, chosen = self.failure, self.chosen
        if failure is not None:
            self.failure = None
            return self.finish(failure)
        if chosen is not None:
            self.chosen = None
            demand = self.switch_to(chosen, demand)
        return super().step(demand)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        return self.finish(error)

    def listening(self) -> Iterable[Listening]:
        return (self.main, *super().listening())

    def close(self) -> None:
        super().close()
        self.chosen = None
        self.main.close()
