"""using_when: a resource that comes from a source, and cleanup that is a source too and is awaited."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rx_core import UNBOUNDED, composite, dropped, dropped_late, name_of, user_call
from rx_core.streams import Input, OneAtATime, takes_requests, without_demand
from rx_fusion import op
from rx_ops.operators._mapping import as_error, not_a_source

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber, Subscription
    from rx_core.streams import Listening

T = TypeVar("T")


class _Resource(Input[Any]):
    """The source of the resource: its first item. One that comes after a cancel is kept as well, because only we have it."""

    __slots__ = ("item", "of_one", "wanted")

    item: Any
    #: A Single or Maybe: its item counts with its completion, and it is not cancelled.
    of_one: bool
    #: What it is asked for: an Observable cannot be asked for one.
    wanted: int

    def __init__(self, op: UsingWhen[Any]) -> None:
        super().__init__(op)
        self.item = None
        self.of_one = False
        self.wanted = 1

    def open(self, source: Any) -> None:
        self.of_one = without_demand(source)
        if not takes_requests(source):
            self.wanted = UNBOUNDED
        super().open(source)

    def subscribed(self, up: Subscription) -> None:
        up.request(self.wanted)

    def on_next(self, item: Any, /) -> None:
        if self.item is None and not self.done:
            self.item = item
            if self.closed:
                self.op.drain()  # close() gives it back
            elif not self.of_one:
                self.stop()
                super().on_complete()

    def on_error(self, error: Exception, /) -> None:
        if self.done:
            dropped(error, self.op.origin)  # the resource is there, and the stream goes on
            return
        if not self.closed:
            self.item = None
        super().on_error(error)

    def on_complete(self) -> None:
        if not self.done:
            super().on_complete()


class _Cleanup(Input[Any]):
    """The source of a cleanup: only its end counts, and nothing cancels it."""

    __slots__ = ()

    def subscribed(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, _item: object, /) -> None:
        pass

    def close(self) -> None:
        pass

    def stop(self) -> None:
        pass


@op("using_when")
class UsingWhen(OneAtATime[T]):
    """Three sources, one after the other: the resource, what is made of it, the cleanup.

    The resource is given back once, by the holder of the token: in :meth:`source_ended` when the stream has ended, in
    :meth:`close` when downstream has left before that. ``of_one``: the item of a Single or Maybe is signalled with its end.
    """

    __slots__ = ("cleanup", "ended", "kept", "on_cancel", "on_end", "on_failure", "resource", "source", "told", "use", "used")

    discards: ClassVar[bool] = True
    gives_of: ClassVar[int] = 0  # a resource, which it gives back by itself
    opens_sources: ClassVar[bool] = True

    source: Any
    resource: _Resource
    #: It is being given back, or was.
    cleanup: _Cleanup | None
    #: How the stream ended, until it is signalled: the error, or None.
    ended: Exception | None
    #: The item of a Single or Maybe, until the cleanup has ended. It was wanted.
    kept: T | None
    #: The resource's source has ended and was looked at.
    used: bool
    #: How the cleanup ended was signalled, or reported where there was no subscriber.
    told: bool

    def __init__(
        self,
        down: Subscriber[T],
        source: Any,
        use: Callable[[Any], Publisher[T]],
        on_end: Callable[[Any], Any],
        on_failure: Callable[[Any, Exception], Any] | None,
        on_cancel: Callable[[Any], Any] | None,
        of_one: bool = False,
    ) -> None:
        super().__init__(down)
        self.source = source
        self.use = use
        self.on_end = on_end
        self.on_failure = on_failure
        self.on_cancel = on_cancel
        self.resource = _Resource(self)
        self.cleanup = None
        self.ended = None
        self.used = False
        self.told = False
        self.kept = None
        if of_one:
            self.emit = self.keep

    def open(self) -> None:
        self.resource.open(self.source)

    def step(self, demand: int) -> int:
        if not self.used:
            resource = self.resource
            if not resource.done:
                return demand
            self.used = True
            if resource.item is None:
                return self.finish(resource.error)
            demand = self.begin(resource.item, demand)
        if self.cleanup is None:
            demand = super().step(demand)
        if self.cleanup is not None and self.cleanup.done:
            self.told = True
            error = _both(self.ended, self.cleanup.error)
            if self.kept is not None and error is None:
                self.down.on_next(self.kept)
            return self.finish(error)
        return demand

    def keep(self, item: T) -> None:
        self.kept = item

    def begin(self, resource: Any, demand: int) -> int:
        try:
            source = _made("use", "Flowable.just(resource)", self.use, resource)
        except Exception as raised:
            return self.source_ended(as_error(raised), demand)
        return self.switch_to(source, demand)

    def source_ended(self, error: Exception | None, demand: int) -> int:
        if self.cleanup is not None:
            return demand
        self.ended = error
        if error is None or self.on_failure is None:
            self.give_back("on_complete", self.on_end)
        else:
            self.give_back("on_error", self.on_failure, error)
        return demand

    def give_back(self, name: str, function: Callable[..., Any], *arguments: Any) -> None:
        """Holds the token. The cleanup is subscribed without it, and also when downstream has left by then."""
        self.cleanup = cleanup = _Cleanup(self)
        resource, self.resource.item = self.resource.item, None
        try:
            source = _made(name, "Completable.from_action(resource.close)", function, resource, *arguments)
        except Exception as raised:
            cleanup.error = as_error(raised)
            cleanup.done = True
            self.dirty = True  # looked at by the loop further down this stack
        else:
            self.later.append((cleanup.open, source))

    def listening(self) -> Iterable[Listening]:
        return super().listening() if self.used else (self.resource,)

    def close(self) -> None:
        super().close()
        self.resource.close()
        if self.told:
            return
        if self.cleanup is None and self.resource.item is not None:
            self.give_back("on_cancel", self.on_cancel or self.on_end)
        cleanup = self.cleanup
        if cleanup is None:
            return
        if self.ended is not None:  # the subscriber has left while the resource was given back
            lost, self.ended = self.ended, None
            dropped_late(lost, self.origin)
        if cleanup.done:
            self.told = True
            if cleanup.error is not None:
                dropped(cleanup.error, self.origin)

    def abandon(self) -> None:
        super().abandon()
        self.act_later()  # the thread raises what the subscriber raised, and does not come to what was put off


def _made(name: str, right: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The source that a function of the user makes."""
    made = user_call("using_when", function, *arguments)
    if not_a_source("using_when", function, made) is None:
        return made
    raise TypeError(
        f"using_when({name}=...) expected a function returning a source, but {name_of(function)} returned {made!r}.\n"
        f"  Right:  {name}=lambda resource: {right}\n"
        f"  To work on a resource without waiting for its cleanup:  .using(...)"
    )


def _both(first: Exception | None, second: Exception | None) -> Exception | None:
    errors = [error for error in (first, second) if error is not None]
    return composite(errors) if errors else None
