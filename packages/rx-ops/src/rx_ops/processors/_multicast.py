"""What all processors and subjects are made of.

A processor is a hot source that is fed by hand or by subscribing it to another one. Its hub hands the signals out; the
face is a Flowable (an Observable) whose head is the hub, so that operators push what they get without a queue.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, NoReturn, Self, TypeVar

from rx_core import Disposable, Observer, Subscriber, Subscription, dropped, none_argument, not_an_error
from rx_core.blocks import QueueDrain
from rx_core.streams import Hub
from rx_fusion import SourceHead
from rx_ops._faces import Flowable, Observable

T = TypeVar("T")


class QueueHead(SourceHead):
    """The head of a processor whose queue a consumer may poll (micro-fusion), also through stages."""

    __slots__ = ()
    _trusted = False


class _Fed(Generic[T]):
    """The side that is fed; the other one is Flowable's or Observable's."""

    __slots__ = ()

    #: Of a class whose constructor takes no argument by position. Not inherited: a subclass may have a constructor of its own.
    _made_empty: ClassVar[bool] = False

    if TYPE_CHECKING:
        _hub: Hub[T]  # the slot is in the two classes below: only one base may have one
    else:  # type checkers see the constructors as they are, and refuse it

        def __new__(cls, *given, **_named):
            if given and cls.__dict__.get("_made_empty", False):
                raise cls._made_wrongly(*given)
            return super().__new__(cls)

    def on_next(self, item: T, /) -> None:
        """Send ``item``, from one thread at a time (else :meth:`to_serialized`). Ignored after the end; TypeError for None."""
        if item is None:
            raise self._refused(none_argument("on_next(None)", "item"))
        self._hub.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        """End with ``error``. After the end it goes to the error hook; TypeError for what is no Exception."""
        if not isinstance(error, Exception):
            raise self._refused(not_an_error(error))
        self._hub.on_error(error)

    @classmethod
    def _made_wrongly(cls, *given: object) -> TypeError:
        """The error for items given to what is fed later. ``Right`` names a class that can be made as it is."""
        kind = "Flowable" if issubclass(cls, Flowable) else "Observable"
        name = cls.__name__
        if cls in (FlowableProcessor, Subject):  # bases: they do not know what to do with an item
            name = "PublishProcessor" if cls is FlowableProcessor else "PublishSubject"
        items = ", ".join(map(repr, given))
        right = f"from_iterable({items})" if len(given) == 1 and isinstance(given[0], (list, tuple)) else f"of({items})"
        return TypeError(
            f"{cls.__name__}({items}): it is made empty, and fed afterwards.\n"
            f"  Right:  fed = {name}()   # then fed.on_next(item) for each, fed.on_complete()\n"
            f"  Items that are there already:  {kind}.{right}"
        )

    def _refused(self, error: TypeError) -> TypeError:
        """For a None; a serialized entry has a say in it."""
        return self._hub.refused(error)

    def on_complete(self) -> None:
        """End. Ignored after the end."""
        self._hub.on_complete()

    @property
    def has_subscribers(self) -> bool:
        """Whether there is a subscriber now."""
        return self._hub.has_subscribers

    @property
    def has_complete(self) -> bool:
        """Whether it has ended without an error."""
        end = self._hub.end
        return end is not None and end.error is None

    @property
    def has_failed(self) -> bool:
        """Whether it has ended with an error."""
        return self.failure is not None

    @property
    def failure(self) -> Exception | None:
        """What it has ended with, if that was an error."""
        end = self._hub.end
        return None if end is None else end.error

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{self!r} is live: it has subscribers and cannot be pickled or copied. Make one where it is used.")


class FlowableProcessor(_Fed[T], Flowable[T]):
    """A Flowable that is fed: base of all processors. Operators applied to it make plain Flowables."""

    __slots__ = ("_hub",)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._face = Flowable

    def __init__(self, hub: Hub[T], head: type[SourceHead] = SourceHead) -> None:
        if not isinstance(hub, Hub):
            raise self._made_wrongly(hub)
        text = repr(hub)
        super().__init__(head(text, hub, text, said=("hot: sends what it is fed",)))
        self._hub = hub

    def on_subscribe(self, subscription: Subscription, /) -> None:
        """Take everything from ``subscription``; after the end, or when there is one, cancel it (RS 2.5). TypeError for None.

        To feed it from several streams merge them before.
        """
        if subscription is None:
            raise none_argument("on_subscribe(None)", "subscription")
        self._hub.on_subscribe(subscription)

    def subscribe_actual(self, subscriber: Subscriber[T], /) -> None:
        self._hub.subscribe(subscriber)

    def to_serialized(self) -> FlowableProcessor[T]:
        """This processor with an entry for any number of threads: what they signal is sent one signal after the other.

        An error overtakes items that wait. Subscribers of either are subscribers of both.
        """
        return SerializedProcessor(self)


class Subject(_Fed[T], Observable[T]):
    """An Observable that is fed: base of all subjects. Operators applied to it make plain Observables."""

    __slots__ = ("_hub",)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._face = Observable

    def __init__(self, hub: Hub[T], head: type[SourceHead] = SourceHead) -> None:
        if not isinstance(hub, Hub):
            raise self._made_wrongly(hub)
        text = repr(hub)
        super().__init__(head(text, hub, text, said=("hot: sends what it is fed",)))
        self._hub = hub

    def on_subscribe(self, disposable: Disposable, /) -> None:
        """After the end dispose what feeds it. Several may (serialized, when they are on several threads). TypeError for None."""
        if disposable is None:
            raise none_argument("on_subscribe(None)", "disposable")
        if self._hub.is_over:
            disposable.dispose()

    def subscribe_actual(self, observer: Observer[T], /) -> None:
        self._hub.subscribe(observer)  # type: ignore[arg-type]  # its Subscription is a Disposable as well

    def to_serialized(self) -> Subject[T]:
        """This subject with an entry for any number of threads: what they signal is sent one signal after the other.

        An error overtakes items that wait. Observers of either are observers of both.
        """
        return SerializedSubject(self)


class _Entry(Generic[T]):
    """The serialized entry to a hub: the fed side again, through a queue-drain."""

    __slots__ = ("_drain", "_hub")

    def __init__(self, hub: Hub[T]) -> None:
        self._hub = hub
        self._drain: QueueDrain[T] = QueueDrain(hub.on_next)

    def on_next(self, item: T) -> None:
        self._drain.offer(item)

    def on_error(self, error: Exception) -> None:
        if not self._drain.end(partial(self._hub.on_error, error), ahead=True):
            dropped(error, self._hub)

    def on_complete(self) -> None:
        self._drain.end(self._hub.on_complete)


class _Serialized(Generic[T]):
    """The fed side of what ``to_serialized()`` gives."""

    __slots__ = ()
    _entry: _Entry[T]

    def on_next(self, item: T, /) -> None:
        """Send ``item``, from any thread. Ignored after the end; TypeError for None."""
        if item is None:
            raise self._refused(none_argument("on_next(None)", "item"))
        self._entry.on_next(item)

    def on_error(self, error: Exception, /) -> None:
        """End with ``error``, from any thread, ahead of items that wait. A second error goes to the error hook."""
        if not isinstance(error, Exception):
            raise self._refused(not_an_error(error))
        self._entry.on_error(error)

    def on_complete(self) -> None:
        """End after the items that wait, from any thread."""
        self._entry.on_complete()

    def to_serialized(self) -> Self:
        """It is serialized."""
        return self

    def _refused(self, error: TypeError) -> TypeError:
        """Only the caller is told: which of several sources it was is not known here."""
        return error


class SerializedProcessor(_Serialized[T], FlowableProcessor[T]):
    """What ``to_serialized()`` of a processor gives: the same stream, another entry."""

    __slots__ = ("_entry",)

    def __init__(self, processor: FlowableProcessor[T]) -> None:
        super().__init__(processor._hub)
        self._entry: _Entry[T] = _Entry(processor._hub)

    def _refused(self, error: TypeError) -> TypeError:
        if self._hub.stop_source():
            self._entry.on_error(error)
        return error


class SerializedSubject(_Serialized[T], Subject[T]):
    """What ``to_serialized()`` of a subject gives: the same stream, another entry."""

    __slots__ = ("_entry",)

    def __init__(self, subject: Subject[T]) -> None:
        super().__init__(subject._hub)
        self._entry: _Entry[T] = _Entry(subject._hub)
