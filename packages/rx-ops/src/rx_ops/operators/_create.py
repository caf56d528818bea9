"""Sources that a subscription starts: create, defer, error, never."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_core import UNBOUNDED, CallbackObserver, as_signal, name_of, user_call
from rx_core.streams import Failing, Op, ignore, subscribe
from rx_fusion import PushHead, as_text, op
from rx_ops.operators._backpressure import BackpressureStrategy
from rx_ops.operators._emitter import Created
from rx_ops.operators._mapping import not_one
from rx_ops.operators._straight_emitter import CallbackEmitter, StraightEmitter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rx_core import Subscriber
    from rx_fusion import Text
    from rx_ops.operators._emitter import Emitter


class CreateHead(PushHead):
    """``create``: a function that pushes into an emitter, and a strategy for what was not requested."""

    __slots__ = ("_capacity", "_on_drop", "_source", "_strategy", "_text", "name")

    emitted = True

    def __init__(
        self,
        name: str,
        source: Callable[[Emitter[Any]], object],
        strategy: BackpressureStrategy,
        capacity: int | None,
        on_drop: Callable[[Any], object] | None,
        text: Text,
    ) -> None:
        self.name = name
        self._source = source
        self._strategy = strategy
        self._capacity = capacity
        self._on_drop = on_drop
        self._text = text

    @property
    def pushes(self) -> bool:
        return True

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        self._run(self._started(subscriber, origin))

    def subscribe_discarding(self, subscriber: Subscriber[Any], origin: object, discard: Callable[[Any], object], /) -> None:
        """The same in front of do_on_discard: what was sent and not taken goes to ``discard``."""
        self._run(self._started(subscriber, origin, discard))

    def _run(self, emitter: Emitter[Any]) -> None:
        try:
            user_call("create", self._source, emitter)
        except (Exception, GeneratorExit) as error:
            emitter.on_error(as_signal(error))
        except BaseException as error:
            emitter._interrupted(error)
            raise

    def _started(self, subscriber: Subscriber[Any], origin: object, discard: Callable[[Any], object] = ignore) -> Emitter[Any]:
        """A run for ``subscriber``, which has its Subscription by now."""
        straight: StraightEmitter[Any]
        if type(subscriber) is CallbackObserver:
            straight = CallbackEmitter(subscriber, origin)
            subscriber.on_subscribe(straight)
            return straight
        if self._strategy is BackpressureStrategy.MISSING:
            straight = StraightEmitter(subscriber, origin)
            straight._discard = discard
            try:
                subscriber.on_subscribe(straight)
            except BaseException:
                straight.cancel()  # RS 2.13
                raise
            return straight
        capacity = UNBOUNDED if self._capacity is None else self._capacity
        run: Created[Any] = Created(subscriber, self._strategy, capacity, self._on_drop)
        run.origin = origin
        run.discard = discard
        return run.started()

    def notes(self) -> Sequence[str]:
        return (f"queue: {self._strategy.bound(self._capacity)}",)

    def __repr__(self) -> str:
        return as_text(self._text)


class DeferHead(PushHead):
    """``defer``: the subscriber is subscribed to the source that the supplier makes for it."""

    __slots__ = ("_kind", "_supplier")
    name = "defer"

    def __init__(self, supplier: Callable[[], Any], kind: str = "") -> None:
        self._supplier = supplier
        #: "Single" or "Maybe" where it has to be one.
        self._kind = kind

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        try:
            made = self.made()
        except (Exception, GeneratorExit) as error:
            Failing(subscriber, as_signal(error), origin).start()
            return
        subscribe(made, subscriber)

    def made(self) -> Any:
        made = user_call("defer", self._supplier)
        if not hasattr(made, "subscribe"):
            raise TypeError(
                f"defer() expected a function returning a source, but {name_of(self._supplier)} returned {made!r}.\n"
                f"  For a plain value:  .from_callable({name_of(self._supplier)})"
            )
        refused = not_one("defer", self._supplier, made, self._kind)
        if refused is not None:
            raise refused
        return made

    def __repr__(self) -> str:
        return f"defer({name_of(self._supplier)})"


@op("error")
class Error(Failing):
    """Nothing but an error, made for each subscription."""

    __slots__ = ()

    def __init__(self, down: Subscriber[Any], supplier: Callable[[], Exception]) -> None:
        made: Any = user_call("error", supplier)
        if not isinstance(made, Exception):
            name = name_of(supplier)
            made = TypeError(
                f"error() expected a function returning an Exception, but {name} returned {made!r}.\n"
                f"  Right:  .error(lambda: RuntimeError(...))"
            )
        super().__init__(down, made)


@op("never")
class Never(Op[Any]):
    """No signal but the answer to a wrong request."""

    __slots__ = ()
    waits_for = "a signal that it never gives"

    def step(self, demand: int) -> int:
        return demand
