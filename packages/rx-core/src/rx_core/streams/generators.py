"""Coordinating operators that are written as generators: ``(run, *sources, *arguments)``.

Such an operator yields an item, or None for "nothing now, I will be woken". It is resumed by the holder of its Op's token, while
items are wanted or when something happened that needs no demand. It costs a queue for each source that pushes; the operators of
this library are Ops themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, final

from rx_core import _hooks
from rx_core._demand import DEMAND, UNBOUNDED
from rx_core.streams.contracts import close
from rx_core.streams.generator_sources import Items, Reader, opened
from rx_core.streams.op import without_this_frame

if TYPE_CHECKING:
    from rx_core._protocols import Disposable, Publisher, Subscriber

T = TypeVar("T")

_END: Final[Any] = object()


class GeneratorOp(Reader):
    """A generator operator for one subscriber."""

    __slots__ = (
        "afterwards",
        "arguments",
        "function",
        "held",
        "items",
        "owned",
        "primed",
        "run",
        "sources",
    )

    function: Callable[..., Items[Any]]
    sources: Sequence[Source[Any]]
    #: What the function is called with behind the run.
    arguments: tuple[Any, ...]
    #: How many of the sources are subscribed together with the operator.
    primed: int
    run: Run
    #: The operator's iterator; None before it was made and after the end.
    items: Items[Any] | None
    #: An item that it yielded while none was wanted.
    held: Any
    owned: dict[int, Disposable]
    #: What to do after the end was signalled.
    afterwards: list[Callable[[], object]]

    def __init__(
        self,
        down: Subscriber[Any],
        function: Callable[..., Items[Any]],
        sources: Sequence[Any],
        args: tuple[Any, ...],
        *,
        window: int = DEMAND,
        primed: int = 1,
        many: bool = False,
        eager_error: bool = False,
    ) -> None:
        super().__init__(down)
        self.function = function
        self.run = Run(self)
        made = tuple(Source(self.run, source, window, eager_error=eager_error) for source in sources)
        self.sources = made
        self.arguments = (made, *args) if many else (*made, *args)
        self.primed = primed
        self.items = None
        self.held = None
        self.poked = False
        self.wanted = 0
        self.owned = {}
        self.reading = {}
        self.afterwards = []

    def open(self) -> None:
        for source in self.sources[: self.primed]:
            source.prime()
        self.items = self.function(self.run, *self.arguments)

    def step(self, demand: int) -> int:
        items = self.items
        if items is None:  # not made yet, or it failed while it was made
            return demand
        while not self.stopped:
            item = self.held
            if item is not None:
                if not demand:
                    return 0
                self.held = None
            else:
                if not demand and not self.poked:
                    return 0
                self.poked = False
                self.wanted = demand
                try:
                    item = next(items, _END)
                except (Exception, GeneratorExit) as error:
                    return self.finish(without_this_frame(error))
                if item is _END:
                    return self.finish()
                if item is None:
                    if self.poked:
                        continue
                    return demand
                if not demand:
                    self.held = item
                    return 0
            if demand is not UNBOUNDED:
                demand -= 1
            if self.run.last:
                self.poked = True  # what it does behind its last item needs no demand
            self.emit(item)
        return 0

    def close(self) -> None:
        items, self.items = self.items, None
        self.held = None
        close(items)
        for left in list(self.reading):
            left.close()
        owned = self.owned
        while owned:
            _, resource = owned.popitem()
            try:
                resource.dispose()
            except Exception as error:  # RS 3.15: cancel returns normally
                _hooks.dropped(error, self.origin)
        if self.afterwards:
            self.later.append((self.act_after, None))

    def abandon(self) -> None:
        super().abandon()
        self.act_after(None)

    def act_after(self, _argument: object) -> None:
        """What was registered with :meth:`Run.after`, the last one first; a failing one is reported and the rest still run."""
        actions = self.afterwards
        while actions:
            try:
                actions.pop()()
            except Exception as error:
                _hooks.dropped(error, self.origin)


@final
class Run:
    """What a generator operator sees of its run. Everything but ``wake`` and ``poke`` is for the generator itself."""

    __slots__ = ("_op", "last")

    #: Set before the last item is yielded: completion then follows it at once.
    last: bool

    def __init__(self, op: GeneratorOp) -> None:
        self._op = op
        self.last = False

    @property
    def demand(self) -> int:
        """How many items downstream still wants; UNBOUNDED for all there are. 0 while resumed by :meth:`poke` alone."""
        return self._op.wanted

    def wake(self) -> None:
        """There may be an item: resume the generator when something is wanted. Thread-safe."""
        self._op.drain()

    def poke(self) -> None:
        """Something happened that needs no demand (an end, an error, an item to drop): resume it in any case. Thread-safe."""
        self._op.poked = True
        self._op.drain()

    @property
    def is_cancelled(self) -> bool:
        """No subscriber listens any more. An operator that can go round without yielding has to look at it."""
        return self._op.stopped

    @property
    def origin(self) -> object:
        """The pipeline this is a run of, for messages."""
        return self._op.origin

    def open(self, source: Publisher[T], window: int = DEMAND, *, eager_error: bool = False) -> Items[T]:
        """Subscribe to ``source`` and iterate what it gives: items, and None while there is nothing.

        It is asked for ``window`` items and replenished at 75 %, or for what downstream wants (DEMAND). A passive source is
        iterated without a queue. Its error waits behind the items unless ``eager_error``. The iterator raises the source's error,
        that of subscribing included, and ends when the source completes. Close it to cancel.
        """
        return opened(self._op, source, window, eager_error, at_once=False)

    def own(self, resource: Disposable, /) -> None:
        """Dispose ``resource`` when this run ends, unless it is given back with :meth:`disown` before."""
        self._op.owned[id(resource)] = resource

    def disown(self, resource: Disposable, /) -> None:
        self._op.owned.pop(id(resource), None)

    def after(self, action: Callable[[], object], /) -> None:
        """Call ``action`` once after this run has signalled its end, or was cancelled."""
        self._op.afterwards.append(action)

    def later(self, action: Callable[[], object], /) -> None:
        """Call ``action`` as soon as this thread has left the run: for subscribing to what may push without being asked."""
        self._op.later.append((_call, action))


def _call(action: Callable[[], object]) -> None:
    action()


@final
class Source(Generic[T]):
    """A source of a generator operator as something to iterate, again and again: each ``iter()`` subscribes anew.

    The first subscription may have been made together with the operator's own, so that a hot source misses nothing.
    """

    __slots__ = ("_eager_error", "_first", "_run", "_window", "publisher")

    def __init__(self, run: Run, publisher: Publisher[T], window: int = DEMAND, *, eager_error: bool = False) -> None:
        self._run = run
        #: What is subscribed, for operators that do it themselves.
        self.publisher = publisher
        self._window = window
        self._eager_error = eager_error
        self._first: Items[T] | None = None

    def prime(self) -> None:
        """Subscribe now; the next ``iter()`` gives this subscription. For the operator's subscription, with the token free."""
        self._first = opened(self._run._op, self.publisher, self._window, self._eager_error, at_once=True)

    def __iter__(self) -> Items[T]:
        first = self._first
        if first is None:
            return self._run.open(self.publisher, self._window, eager_error=self._eager_error)
        self._first = None
        return first
