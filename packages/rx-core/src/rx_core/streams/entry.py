"""The border: how a source that is not of this library is subscribed.

An operator's input trusts its source: no None, no signal after the end, no more than it asked for. Sources of this library keep
that; between any other one and the input stands an :class:`Entry`, which checks and adapts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import _hooks
from rx_core._demand import UNBOUNDED
from rx_core._errors import MissingBackpressureError, none_produced
from rx_core._reactive import ObservableBase
from rx_core._user_code import as_signal
from rx_core.gate import LOOK_FIRST
from rx_core.queue_fusion import ASYNC, ask
from rx_core.streams.border import Border, NoDemand
from rx_core.streams.contracts import Stream

if TYPE_CHECKING:
    from rx_core._protocols import Subscriber

T = TypeVar("T")


def subscribe(source: Any, subscriber: Any) -> None:
    """Subscribe one of this library's subscribers, one that requests, to any source of any of the five types.

    What goes wrong is signalled (RS 1.9). TypeError is signalled for what is no source.
    """
    if isinstance(source, Stream):
        hook = _hooks.on_subscribe
        source._subscribe_items(subscriber if hook is None else hook(source, subscriber))  # type: ignore[arg-type]  # a hook gives a subscriber
        return
    entry: Entry[Any] = Entry(subscriber, source)
    if not hasattr(source, "subscribe"):
        entry.fail(TypeError(f"a source with subscribe() is needed, got {source!r}"))
        return
    try:
        source.subscribe(entry)
    except (Exception, GeneratorExit) as error:
        if error is not entry.refused:  # else it is ours, on its way through a source that signalled None
            entry.fail(as_signal(error))


def takes_requests(source: Any) -> bool:
    """Whether a source gives no more than it is asked for. An Observable does not: what it sends waits, however much it is."""
    return source._takes_requests if isinstance(source, Stream) else not isinstance(source, ObservableBase)


class Entry(Border[T]):
    """Subscriber and observer of a foreign source of any type, in front of an operator's input or of a subscriber.

    A None raises TypeError at who signals it, and is the error of the stream as well (RS 2.13). An item that was not requested is
    a MissingBackpressureError (RS 1.1). What comes after the end is dropped, an error reported.
    """

    __slots__ = ("came", "polled")

    #: How many items came while not all were asked for; only the source's thread writes it.
    came: int
    #: ASYNC was granted: ``on_next`` says that there is something to poll, and what it carries is no item.
    polled: bool

    def __init__(self, down: Subscriber[T], origin: object) -> None:
        super().__init__(down, origin)
        self.came = 0
        self.polled = False

    # -- signals ----------------------------------------

    def on_next(self, item: T, /) -> None:
        if item is None and not self.polled:
            raise self.refuse(none_produced(f"a source ({type(self.origin).__name__})"))
        before = self.busy
        self.busy = True
        if not LOOK_FIRST:
            self.fence()
        if self.done:
            self.leave(before)
            return
        granted = self.granted
        if granted != UNBOUNDED:
            came = self.came
            if came == granted:
                self.fail(MissingBackpressureError("RS 1.1: a source sent an item that it had not been asked for"))
                self.leave(before)
                return
            self.came = came + 1
        try:
            self.down.on_next(item)
        except BaseException:
            self.cancel()  # RS 2.13
            self.busy = before
            raise
        self.busy = before
        if self.wrong is not None and not before:
            self.answer()

    def on_success(self, item: T, /) -> None:
        """Single and Maybe: the only item and the end at once."""
        self.on_next(item)
        self.on_complete()

    # -- the Subscription ----------------------------------------

    def ask_to_poll(self, mode: int) -> int:
        """Micro-fusion: asks the source for ``mode`` on behalf of the input, inside ``on_subscribe``. See :attr:`queue`."""
        granted = ask(self.queue, self, mode)
        if granted == ASYNC:
            self.polled = True
            self.granted = UNBOUNDED
        return granted

    @property
    def queue(self) -> Any:
        """What is polled once a mode has been granted."""
        up = self.up
        return up.disposable if type(up) is NoDemand else up
