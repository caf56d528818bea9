"""The naive reference: a stream as a chain of subscribers, each as simple as it can be said.

Everything happens on one thread, under the clock of :mod:`clock`. A source is a :class:`Flow`: a function that is given a
subscriber. A subscriber is told ``on_subscribe``, then items, then at most one end; it answers with ``request`` and ``cancel``.
The operators of the other modules are subclasses of :class:`Stage`, which does nothing but pass on, or of :class:`Waiting`, where
items wait until they are requested. They say what RxJava 3 does, its demand included, since what a lossy source drops depends on
it. Nothing here is shared with the packages; the recorded answers of RxJava (``test_recorded.py``) show that it is right.

Where RxJava uses atomic counters and queues, one helper is enough: a :class:`Gate`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, Final, TypeAlias

#: A demand: a number of items, or UNBOUNDED.
Count: TypeAlias = float
UNBOUNDED: Final = inf


class Failure(Exception):
    """An error of a stream, known by its text. Several at once keep the texts of all, in the order of their arrival."""

    def __init__(self, *texts: str) -> None:
        super().__init__(*texts)
        self.texts = texts

    def __str__(self) -> str:
        return self.texts[0] if len(self.texts) == 1 else f"Composite[{', '.join(self.texts)}]"


def all_of(failures: list[Failure]) -> Failure:
    return failures[0] if len(failures) == 1 else Failure(*[text for failure in failures for text in failure.texts])


def required(value: Any) -> Any:
    """What a function gave; None is an error."""
    if value is None:
        raise Failure("Null")
    return value


class Subscription:
    """What a subscriber says to its source. This one is for sources that do not listen."""

    def request(self, n: Count) -> None:
        pass

    def cancel(self) -> None:
        pass


class Subscriber:
    """What a source says to its subscriber."""

    def on_subscribe(self, up: Subscription) -> None:
        up.request(UNBOUNDED)

    def on_next(self, item: Any) -> None:
        pass

    def on_error(self, failure: Failure) -> None:
        pass

    def on_complete(self) -> None:
        pass


class Flow:
    """A stream: what to do with a subscriber. ``kind`` says whether it is a flowable, a single, a maybe or a completable.

    A single or a maybe gives its item whether it is requested or not, and completes with it; ``to_flowable`` makes it wait.
    ``passive``: it has its items at hand, so an operator with a queue may fetch each of them when it needs one.
    """

    #: Of a window or a group: says that it waits for its turn, or, with False, that it does no longer.
    reserve: Callable[[bool], None] | None = None

    def __init__(
        self, subscribe: Callable[[Subscriber], None], kind: str = "flowable", key: Any = None, passive: bool = False
    ) -> None:
        self.subscribe = subscribe
        self.kind = kind
        self.key = key  # of a group
        self.passive = passive

    def through(self, stage: Callable[..., Subscriber], *arguments: Any, kind: str | None = None, **options: Any) -> Flow:
        """The stream behind an operator."""
        return Flow(lambda down: self.subscribe(stage(down, *arguments, **options)), kind or self.kind)

    def pulled_through(self, stage: Callable[..., Subscriber], *arguments: Any, kind: str | None = None, **options: Any) -> Flow:
        """The stream behind an operator that fetches items where they are at hand."""
        return self.through(stage, *arguments, kind=kind, pulls=self.passive, **options)


class Gate:
    """Runs ``step`` one at a time. Asked for while it runs, it runs once more afterwards, and never inside itself. What a step
    puts into ``later`` is done when it has run."""

    def __init__(self, step: Callable[[], None]) -> None:
        self.step = step
        self.asked = 0
        self.later: list[Callable[[], None]] = []

    def run(self) -> None:
        self.asked += 1
        if self.asked == 1:
            while self.asked:
                before = self.asked
                self.step()
                self.asked -= before
            while self.later:
                self.later.pop(0)()


class Stage(Subscriber, Subscription):
    """One operator for one subscriber: it subscribes to the source, and is the subscription of its subscriber.

    It passes everything on. Operators say otherwise in ``next``, ``error`` and ``complete``, which are called until the end. A
    Failure raised there, by a function of the user, cancels the source and fails the stream.
    """

    def __init__(self, down: Subscriber) -> None:
        self.down = down
        self.up = Subscription()
        #: The subscriber has its end, or has cancelled.
        self.over = False

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        self.down.on_subscribe(self)

    def on_next(self, item: Any) -> None:
        if not self.over:
            try:
                self.next(item)
            except Failure as failure:
                self.stop(failure)

    def on_error(self, failure: Failure) -> None:
        if not self.over:
            self.error(failure)

    def on_complete(self) -> None:
        if not self.over:
            try:
                self.complete()
            except Failure as failure:
                self.fail(failure)

    def next(self, item: Any) -> None:
        self.down.on_next(item)

    def error(self, failure: Failure) -> None:
        self.fail(failure)

    def complete(self) -> None:
        self.finish()

    def fail(self, failure: Failure) -> None:
        if not self.over:
            self.over = True
            self.down.on_error(failure)

    def finish(self) -> None:
        if not self.over:
            self.over = True
            self.down.on_complete()

    def stop(self, failure: Failure) -> None:
        self.up.cancel()
        self.fail(failure)

    def request(self, n: Count) -> None:
        self.up.request(n)

    def cancel(self) -> None:
        self.over = True
        self.up.cancel()


class Side(Subscriber):
    """A further source of an operator: it hands each signal to a function of the operator, and requests everything."""

    def __init__(
        self,
        next: Callable[[Any], None],
        error: Callable[[Failure], None],
        complete: Callable[[], None],
        first: Count = UNBOUNDED,
    ) -> None:
        self.next, self.error, self.complete, self.first = next, error, complete, first
        self.up = Subscription()
        self.over = False

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.over:
            up.cancel()
        elif self.first:
            up.request(self.first)

    def on_next(self, item: Any) -> None:
        if not self.over:
            self.next(item)

    def on_error(self, failure: Failure) -> None:
        if not self.over:
            self.over = True
            self.error(failure)

    def on_complete(self) -> None:
        if not self.over:
            self.over = True
            self.complete()

    def cancel(self) -> None:
        self.over = True
        self.up.cancel()


class Prefetch:
    """The demand of an operator with a queue: ``size`` items at first, more when three quarters of them were taken."""

    def __init__(self, size: Count) -> None:
        self.size = size
        self.limit = size if size == UNBOUNDED else size - size // 4
        self.taken = 0

    def took(self, up: Subscription, n: int = 1) -> None:
        for _ in range(n):
            self.taken += 1
            if self.taken == self.limit:
                self.taken = 0
                up.request(self.limit)


class Waiting(Stage):
    """A stage whose items wait until they are requested, and whose completion waits behind them.

    An error does not wait (``patient``: it does), and what still waits is lost.
    """

    patient = False

    def __init__(self, down: Subscriber) -> None:
        super().__init__(down)
        self.items: list[Any] = []
        self.wanted: Count = 0
        self.failure: Failure | None = None
        self.done = False
        self.gate = Gate(self.give)

    def put(self, item: Any) -> None:
        self.items.append(item)
        self.gate.run()

    def end(self, failure: Failure | None = None) -> None:
        self.done, self.failure = True, failure
        self.gate.run()

    def next(self, item: Any) -> None:
        self.put(item)

    def error(self, failure: Failure) -> None:
        self.end(failure)

    def complete(self) -> None:
        self.end()

    def stop(self, failure: Failure) -> None:
        self.up.cancel()
        self.end(failure)

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def give(self) -> None:
        while not self.over:
            if self.failure and not (self.patient and self.items):
                self.fail(self.failure)
            elif self.items:
                if self.wanted == 0:
                    return
                self.wanted -= 1
                self.down.on_next(self.items.pop(0))
                self.gave()
            elif self.done:
                self.finish()
            else:
                return

    def gave(self) -> None:
        """An item went down: the moment to ask for more."""


class Greedy(Waiting):
    """Requests everything, whatever is requested of it."""

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        self.down.on_subscribe(self)
        up.request(UNBOUNDED)


class InTurn(Stage):
    """Sources one after another: what was requested and not yet given is requested of the next one.

    ``subscribe_again`` may be called by a source inside its own end, any number of times: it does not go deeper.
    """

    def __init__(self, down: Subscriber) -> None:
        super().__init__(down)
        self.wanted: Count = 0
        self.gate = Gate(self.subscribe_next)

    def begin(self) -> None:
        self.down.on_subscribe(self)
        self.gate.run()

    def subscribe_next(self) -> None:
        """Subscribes to the next source, unless ``over``."""

    def on_subscribe(self, up: Subscription) -> None:
        self.up = up
        if self.over:
            up.cancel()
        elif self.wanted:
            up.request(self.wanted)

    def next(self, item: Any) -> None:
        self.wanted -= 1
        self.down.on_next(item)

    def request(self, n: Count) -> None:
        self.wanted += n
        self.up.request(n)


def failing(down: Subscriber, failure: Failure) -> None:
    """A subscription that has come to nothing."""
    down.on_subscribe(Subscription())
    down.on_error(failure)


def completing(down: Subscriber) -> None:
    down.on_subscribe(Subscription())
    down.on_complete()
