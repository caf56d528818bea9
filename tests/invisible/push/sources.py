"""Sources of the naive reference: cold, timed, hot, and those that push on their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.invisible.push.clock import Clock
from tests.invisible.push.streams import (
    Count,
    Failure,
    Flow,
    Gate,
    Stage,
    Subscriber,
    Subscription,
    Waiting,
    completing,
    failing,
    required,
)

# -- cold ----------------------------------------------------------------------------------------------------------------------


def empty(kind: str = "flowable") -> Flow:
    return Flow(completing, kind)


def never(kind: str = "flowable") -> Flow:
    return Flow(lambda down: down.on_subscribe(Subscription()), kind)


def error(text: str, kind: str = "flowable") -> Flow:
    return Flow(lambda down: failing(down, Failure(text)), kind)


def listed(items: list[Any], failure: Failure | None = None, passive: bool = False) -> Flow:
    """Items as they are requested. The completion comes with the last of them, a failure when one more is requested."""

    def subscribe(down: Subscriber) -> None:
        if items or failure:
            down.on_subscribe(Listed(down, items, failure))
        else:
            completing(down)

    return Flow(subscribe, passive=passive)


def published(items: list[Any], failure: Failure | None) -> Flow:
    """As another library's publisher gives them: items as they are requested once it is subscribed, the end with the last."""
    return Flow(lambda down: Published(down, items, failure).begin())


class Listed(Subscription):
    def __init__(self, down: Subscriber, items: list[Any], failure: Failure | None) -> None:
        self.down, self.items, self.failure = down, list(items), failure
        self.wanted: Count = 0
        self.over = False
        self.gate = Gate(self.give)

    def request(self, n: Count) -> None:
        self.wanted += n
        self.gate.run()

    def cancel(self) -> None:
        self.over = True

    def give(self) -> None:
        while self.wanted and not self.over:
            if self.items:
                self.wanted -= 1
                self.down.on_next(self.items.pop(0))
            if not self.items and (self.wanted or not self.end_is_asked_for()):
                self.end()

    def end_is_asked_for(self) -> bool:
        """Whether the end needs a request of its own."""
        return self.failure is not None

    def end(self) -> None:
        if not self.over:
            self.over = True
            if self.failure:
                self.down.on_error(self.failure)
            else:
                self.down.on_complete()


class Published(Listed):
    begun = False

    def begin(self) -> None:
        self.down.on_subscribe(self)
        self.begun = True
        if self.items:
            self.gate.run()
        else:
            self.end()

    def give(self) -> None:
        if self.begun:
            super().give()

    def end_is_asked_for(self) -> bool:
        return False


def single_item(item: Any, kind: str) -> Flow:
    """A single or a maybe: the item comes without a request."""

    def subscribe(down: Subscriber) -> None:
        down.on_subscribe(Subscription())
        down.on_next(item)
        down.on_complete()

    return Flow(subscribe, kind)


def from_callable(function: Callable[[], Any], kind: str = "flowable") -> Flow:
    """The function is called at subscribing."""

    def subscribe(down: Subscriber) -> None:
        waiting = Waiting(down) if kind == "flowable" else Stage(down)
        waiting.on_subscribe(Subscription())
        if not waiting.over:
            try:
                item = required(function()) if kind != "completable" else function()
            except Failure as failure:
                waiting.on_error(failure)
                return
            if kind != "completable":
                waiting.on_next(item)
            waiting.on_complete()

    return Flow(subscribe, kind)


def called_on_request(function: Callable[[], Any]) -> Flow:
    """The function is called when an item was requested, and on_subscribe has returned."""

    def subscribe(down: Subscriber) -> None:
        run = CalledOnRequest(down, function)
        down.on_subscribe(run)
        run.begun = True
        run.give()

    return Flow(subscribe)


class CalledOnRequest(Stage):
    begun = wanted = False

    def __init__(self, down: Subscriber, function: Callable[[], Any]) -> None:
        super().__init__(down)
        self.function = function

    def request(self, n: Count) -> None:
        self.wanted = True
        self.give()

    def give(self) -> None:
        if self.begun and self.wanted and not self.over:
            self.begun = False  # once
            try:
                item = required(self.function())
            except Failure as failure:
                self.fail(failure)
            else:
                self.down.on_next(item)
                self.finish()


def generate(size: int, end: str) -> Flow:
    """0, 1, ... one call of the generator for each; the end needs a call of its own, unless it comes with the last item."""
    if end == "last" and size:
        return listed(list(range(size)))
    failure = Failure("App:gen") if end in ("error", "throw") else None
    return Flow(lambda down: down.on_subscribe(Generated(down, list(range(size)), failure)))


class Generated(Listed):
    def end_is_asked_for(self) -> bool:
        return True


def defer(supply: Callable[[], Flow]) -> Flow:
    def subscribe(down: Subscriber) -> None:
        try:
            flow = supply()
        except Failure as failure:
            failing(down, failure)
        else:
            flow.subscribe(down)

    return Flow(subscribe)


def using(inner: Callable[[], Flow], release: Callable[[], None], eager: bool) -> Flow:
    """A resource that is given back before the end (eager) or after it; where it fails too late its failure is not signalled."""

    class Using(Stage):
        def release(self) -> Failure | None:
            try:
                release()
            except Failure as failure:
                return failure
            return None

        def finish(self) -> None:
            if eager and (failure := self.release()):
                super().fail(failure)
            else:
                super().finish()
                if not eager:
                    self.release()

        def fail(self, failure: Failure) -> None:
            second = self.release() if eager else None
            super().fail(Failure(*failure.texts, *second.texts) if second else failure)
            if not eager:
                self.release()

        def cancel(self) -> None:
            if not self.over:
                super().cancel()
                self.release()

    def subscribe(down: Subscriber) -> None:
        try:
            flow = inner()
        except Failure as failure:
            try:
                release()
            except Failure as second:
                failure = Failure(*failure.texts, *second.texts)
            failing(down, failure)
        else:
            flow.subscribe(Using(down))

    return Flow(subscribe)


# -- timed ---------------------------------------------------------------------------------------------------------------------


def interval(clock: Clock, first: int, period: int, kind: str = "flowable") -> Flow:
    """0, 1, ... at a fixed rate; a tick that is not requested is an error."""

    class Ticking(Subscription):
        def __init__(self, down: Subscriber) -> None:
            self.down = down
            self.count = 0
            self.wanted: Count = 0
            down.on_subscribe(self)
            self.task = clock.every(first, period, self.tick)
            if self.cancelled:
                self.task.cancel()

        cancelled = False

        def tick(self) -> None:
            if self.wanted:
                self.wanted -= 1
                self.count += 1
                self.down.on_next(self.count - 1)
            else:
                self.task.cancel()
                self.down.on_error(Failure("MissingBackpressure"))

        def request(self, n: Count) -> None:
            self.wanted += n

        def cancel(self) -> None:
            self.cancelled = True
            if hasattr(self, "task"):
                self.task.cancel()

    def subscribe(down: Subscriber) -> None:
        Ticking(down)

    return Flow(subscribe, kind)


def timer(clock: Clock, delay: int, item: Any = 0, kind: str = "flowable") -> Flow:
    """One item after a time; not requested by then it is an error. A completable only ends."""

    class Timer(Subscription):
        def __init__(self, down: Subscriber) -> None:
            self.down = down
            self.wanted: Count = 0
            self.cancelled = False
            down.on_subscribe(self)
            clock.after(delay, self.ring)

        def ring(self) -> None:
            if self.cancelled:
                return
            if kind == "flowable" and not self.wanted:
                self.down.on_error(Failure("MissingBackpressure"))
                return
            if kind != "completable":
                self.down.on_next(item)
            if not self.cancelled:
                self.down.on_complete()

        def request(self, n: Count) -> None:
            self.wanted += n

        def cancel(self) -> None:
            self.cancelled = True

    def subscribe(down: Subscriber) -> None:
        Timer(down)

    return Flow(subscribe, kind)


def paced(clock: Clock, items: list[Any], pace: int, failure: Failure | None) -> Flow:
    """Each item comes a while after it could: after it was requested and the item before it was given. So does the end."""

    class Pacing(Listed):
        task: Any = None

        def give(self) -> None:
            if not self.task and not self.over and (self.wanted or not self.items):
                self.task = clock.after(pace, self.step)

        def step(self) -> None:
            self.task = None
            if self.over:
                return
            if self.items:
                self.wanted -= 1
                self.down.on_next(self.items.pop(0))
                self.gate.run()
            else:
                self.end()

    def subscribe(down: Subscriber) -> None:
        pacing = Pacing(down, items, failure)
        down.on_subscribe(pacing)
        pacing.gate.run()

    return Flow(subscribe)


# -- pushing -------------------------------------------------------------------------------------------------------------------


class Emitter(Waiting):
    """What ``create`` gives to its function. ``strategy`` says what becomes of an item that is not requested."""

    patient = True

    def __init__(self, down: Subscriber, strategy: str) -> None:
        super().__init__(down)
        self.strategy = strategy

    def put(self, item: Any) -> None:
        if self.strategy == "LATEST":
            self.items.clear()
        if self.strategy in ("BUFFER", "LATEST") or self.wanted:
            super().put(item)
        elif self.strategy == "ERROR":
            self.stop(Failure("MissingBackpressure"))

    def on_next(self, item: Any) -> None:
        if not self.done:
            super().on_next(item)

    def on_error(self, failure: Failure) -> None:
        if not self.done:
            super().on_error(failure)

    def on_complete(self) -> None:
        if not self.done:
            super().on_complete()


def create(clock: Clock, script: list[list[Any]], strategy: str, throws: bool) -> Flow:
    """Plays a script at every subscriber: some of it at once, some later."""

    def subscribe(down: Subscriber) -> None:
        emitter = Emitter(down, strategy)
        emitter.on_subscribe(Subscription())
        for step in script:
            if len(step) > 2:
                clock.after(step[2], partial(play, emitter, step))
            else:
                play(emitter, step)
        if throws:
            emitter.on_error(Failure("App:create"))

    return Flow(subscribe)


def play(receiver: Subscriber, step: list[Any]) -> None:
    """One step of a script: ["n", item], ["e", name] or ["c"]."""
    if step[0] == "n":
        receiver.on_next(step[1])
    elif step[0] == "e":
        receiver.on_error(Failure("App:" + step[1]))
    else:
        receiver.on_complete()
