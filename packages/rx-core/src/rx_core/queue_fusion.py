"""Micro-fusion: a Subscription that is also the queue of what it subscribes to.

Between two operators there are often two queues, the one's output and the other's input, and each item is taken out of the first
and put into the second. A source that *has* its items, or can compute the next one when asked, offers itself as the queue: its
Subscription has the methods of :class:`QueueSubscription`. Who does not know them sees an ordinary Subscription.

The mode is negotiated inside ``on_subscribe``, before anything flows, by the consumer calling :func:`request_fusion`:

* ``SYNC``: the items are there or are computed by ``poll()``. The consumer never requests; ``poll()`` gives None only when the
  source is complete, and raises its error. No signal follows.
* ``ASYNC``: items come at any time. ``on_next(None)`` says "look"; whatever it carries is to be ignored. ``poll()`` gives None
  for "nothing now"; ``request``, ``on_complete``, ``on_error`` and ``cancel`` are used as ever, and the end may be signalled
  while items still wait to be polled. A poll that fails ends the stream with ``on_error``, or raises.
* ``NONE``: refused; the plain protocol goes on as if nothing had been asked. The consumer may ask once more for another mode.

``BOUNDARY`` beside a mode says that polls may come from another thread than the one that emits or requests. A source whose
``poll()`` runs users' functions refuses then, or they would move to that thread.

Fusion as a whole is switched off by ``RX_FUSION=off`` in the environment for the process, by :func:`fusion_off` for a block, and
by ``hide()`` at one place of one pipeline. The switch is read when a pipeline is subscribed.

An operator between two others that hands its source's Subscription on as it is would be skipped by a poll. So a queue may say
whom it serves (``rx_serves(consumer)``, optional), and :func:`ask` takes no other for granted. All of ours say it.

Polls come from one thread at a time, never after ``cancel()``. Sources: "Operator fusion, part 2" and the design of RxJava 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Final, Protocol, TypeVar

from rx_core._errors import ProtocolViolationError
from rx_core._protocols import Disposable, Subscriber, Subscription
from rx_core._switches import switch

T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)

NONE: Final = 0
SYNC: Final = 1
ASYNC: Final = 2
ANY: Final = 3
BOUNDARY: Final = 4


_usually: Final = switch("RX_FUSION", default=True)
_enabled = _usually
#: One object for each block of :func:`fusion_off`. They may overlap in any way, being of several threads.
_blocks: Final[list[object]] = []
_switching: Final = Lock()


def fusion_enabled() -> bool:
    return _enabled


@contextmanager
def fusion_off() -> Iterator[None]:
    """No fusion for what is subscribed inside the block, in any thread of the process."""
    global _enabled
    block = object()
    with _switching:
        _blocks.append(block)
        _enabled = False
    try:
        yield
    finally:
        with _switching:
            _blocks.remove(block)
            _enabled = _usually and not _blocks


def ask(queue: object, consumer: object, mode: int) -> int:
    """Ask ``queue``, which may be any Subscription or Disposable, for ``mode`` on behalf of the subscriber it was given to.

    ProtocolViolationError: it grants something else than it was asked for.
    """
    request: Callable[[int], int] | None = getattr(queue, "request_fusion", None)
    if request is None or not mode & ANY or not fusion_enabled():
        return NONE
    serves: Callable[[object], bool] | None = getattr(queue, "rx_serves", None)
    if serves is not None and not serves(consumer):
        return NONE
    granted = request(mode)
    if not granted:
        return NONE
    if granted not in (SYNC, ASYNC) or not granted & mode:
        raise ProtocolViolationError(
            f"fusion: request_fusion({mode}) of {type(queue).__qualname__} answered {granted!r}.\n"
            f"  Right:  SYNC ({SYNC}) or ASYNC ({ASYNC}), where it is among what was asked for, or NONE ({NONE})"
        )
    return granted


class PollableQueue(Protocol[T_co]):
    """What a consumer sees of a source once a mode has been granted."""

    def request_fusion(self, mode: int, /) -> int:
        """Grant SYNC or ASYNC, one of those in ``mode``, or refuse with NONE. Called inside ``on_subscribe`` only."""

    def poll(self) -> T_co | None:
        """The next item, or None: complete (SYNC), nothing now (ASYNC). Raises what the source, or a function in it, raised."""

    def poll_many(self, n: int, /) -> Sequence[T_co]:
        """Up to ``n`` next items at once; an empty list where ``poll()`` would give None. An error comes with the next call."""

    def is_empty(self) -> bool:
        """True: ``poll()`` would give None. False promises nothing, and nothing is computed to find out."""

    def clear(self) -> object:
        """Forget what waits: the consumer has cancelled and does not poll any more."""


class QueueSubscription(PollableQueue[T_co], Subscription, Protocol[T_co]):
    """The Subscription of a publisher that can be polled."""


class QueueDisposable(PollableQueue[T_co], Disposable, Protocol[T_co]):
    """The Disposable of an observable that can be polled; there is no request."""


class ConditionalSubscriber(Subscriber[T_contra], Protocol[T_contra]):
    """A subscriber that tells at once whether it wanted an item, so that no other one has to be requested in its place."""

    def try_on_next(self, item: T_contra, /) -> bool:
        """As ``on_next``. False: the item was dropped and the next one may come without a request."""


class CallableSource(Protocol[T_co]):
    """A publisher of at most one item, which is computed when it is subscribed."""

    def rx_call(self) -> T_co | None:
        """Compute the item; None when there is none. What it raises is the stream's error."""


class ScalarCallable(CallableSource[T_co], Protocol[T_co]):
    """A publisher of at most one item that is known already, and may be taken out while a pipeline is assembled."""

    def rx_scalar(self) -> T_co | None:
        """The item; None when there is none. Never raises and runs no user code."""
