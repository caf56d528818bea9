"""Items to all that are subscribed when they come.

Their ``on_next`` is that of the hub, in a slot. A face finds operators of plugins by ``__getattr__``, and of a class that has it
methods and what is in ``__dict__`` are slow to find: a method that calls the hub costs half as much as the hub.
"""

from __future__ import annotations

from types import MemberDescriptorType
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from rx_core import none_argument
from rx_core.streams import PublishHub
from rx_ops.processors._multicast import FlowableProcessor, Subject

T = TypeVar("T")

_ON_NEXT: Final = "Send an item, from one thread at a time (else to_serialized). Ignored after the end; TypeError for None."


class PublishProcessor(FlowableProcessor[T]):
    """Sends each item to those who are subscribed at that moment; who comes later gets the items that come later, or the end.

    ::

        clicks = PublishProcessor[int]()
        clicks.map(str).subscribe(print)
        clicks.on_next(1)

    Demand:  it waits for no subscriber. One that has not requested an item gets MissingBackpressureError instead of it, the
             others go on; ``offer`` sends only what all can take, and ``on_backpressure_*`` after it drops or keeps the rest.
    Errors:  go to all; after the end to the error hook.   Memory: none.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`).   Fusion: hot source, stages are pushed
             through without a queue.   Source: RxJava ``PublishProcessor``.
    """

    if TYPE_CHECKING:

        def on_next(self, item: T, /) -> None: ...
    else:
        __slots__ = {"on_next": _ON_NEXT}

    _made_empty: ClassVar[bool] = True

    def __init__(self) -> None:
        hub: PublishHub[T] = PublishHub("PublishProcessor", asked=True)
        super().__init__(hub)
        _processor_on_next.__set__(self, hub.on_next)  # a subclass may have a method by that name

    def offer(self, item: T, /) -> bool:
        """Send ``item`` if every subscriber has requested one; False, and nothing sent, if not. TypeError for None."""
        if item is None:
            raise none_argument("offer(None)", "item")
        return self._hub.offer(item)


class PublishSubject(Subject[T]):
    """Sends each item to those who are subscribed at that moment; who comes later gets the items that come later, or the end.

    Demand:  none.   Errors: go to all; after the end to the error hook.   Memory: none.
    Thread:  that of the signal, from one thread at a time (else :meth:`to_serialized`).   Fusion: hot source, stages are pushed
             through without a queue.   Source: RxJava ``PublishSubject``, RxPY ``Subject``.
    """

    if TYPE_CHECKING:

        def on_next(self, item: T, /) -> None: ...
    else:
        __slots__ = {"on_next": _ON_NEXT}

    _made_empty: ClassVar[bool] = True

    def __init__(self) -> None:
        hub: PublishHub[T] = PublishHub("PublishSubject", asked=False)
        super().__init__(hub)
        _subject_on_next.__set__(self, hub.on_next)


_processor_on_next: Final[MemberDescriptorType] = vars(PublishProcessor)["on_next"]
_subject_on_next: Final[MemberDescriptorType] = vars(PublishSubject)["on_next"]
