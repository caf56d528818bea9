"""Operators of the naive reference that look on: actions, notifications and times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.invisible.push.clock import Clock
from tests.invisible.push.streams import Count, Failure, Greedy, Stage, Subscriber, Subscription, Waiting, failing

Fn = Callable[..., Any]


class DoOnNext(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def next(self, item: Any) -> None:
        self.action(item)
        self.down.on_next(item)


class Continued(DoOnNext):
    """Leaves out an item for which the action fails."""

    def next(self, item: Any) -> None:
        try:
            self.action(item)
        except Failure:
            self.up.request(1)
        else:
            self.down.on_next(item)


class DoAfterNext(DoOnNext):
    def next(self, item: Any) -> None:
        self.down.on_next(item)
        self.action(item)


class DoOnError(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def error(self, failure: Failure) -> None:
        try:
            self.action(failure)
        except Failure as second:
            failure = Failure(*failure.texts, *second.texts)
        self.fail(failure)


class DoOnComplete(Stage):
    """A single and a maybe complete with their item: then the action is not called."""

    def __init__(self, down: Subscriber, action: Fn, kind: str) -> None:
        super().__init__(down)
        self.action, self.kind = action, kind
        self.empty = True

    def next(self, item: Any) -> None:
        self.empty = False
        self.down.on_next(item)

    def complete(self) -> None:
        if self.kind == "flowable" or self.empty:
            self.action()
        self.finish()


class DoOnTerminate(Stage):
    """Once; of a single and a maybe the item is the end."""

    def __init__(self, down: Subscriber, action: Fn, kind: str) -> None:
        super().__init__(down)
        self.action, self.kind = action, kind
        self.called = False

    def next(self, item: Any) -> None:
        if self.kind != "flowable":
            self.call()
        self.down.on_next(item)

    def error(self, failure: Failure) -> None:
        try:
            self.call()
        except Failure as second:
            failure = Failure(*failure.texts, *second.texts)
        self.fail(failure)

    def complete(self) -> None:
        self.call()
        self.finish()

    def call(self) -> None:
        called, self.called = self.called, True
        if not called:
            self.action()


class DoAfterTerminate(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def fail(self, failure: Failure) -> None:
        super().fail(failure)
        ignoring(self.action)

    def finish(self) -> None:
        super().finish()
        ignoring(self.action)


class DoAfterSuccess(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action
        self.items: list[Any] = []

    def next(self, item: Any) -> None:
        self.items.append(item)
        self.down.on_next(item)

    def finish(self) -> None:
        super().finish()
        if self.items:
            ignoring(self.action, *self.items)


class DoOnEach(Stage):
    """What the action fails with is a signal as well."""

    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def next(self, item: Any) -> None:
        self.action(Next(item))
        self.down.on_next(item)

    def complete(self) -> None:
        self.action(Complete())
        self.finish()

    def fail(self, failure: Failure) -> None:
        if self.over:
            return
        try:
            self.action(Error(failure))
        except Failure as second:
            failure = Failure(*failure.texts, *second.texts)
        super().fail(failure)


class UnsubscribeOn(Stage):
    def __init__(self, down: Subscriber, clock: Clock) -> None:
        super().__init__(down)
        self.clock = clock

    def cancel(self) -> None:
        if not self.over:
            self.over = True
            self.clock.after(0, self.up.cancel)


class DoOnSubscribe(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def on_subscribe(self, up: Subscription) -> None:
        try:
            self.action()
        except Failure as failure:
            self.over = True
            up.cancel()
            failing(self.down, failure)
        else:
            super().on_subscribe(up)


class DoOnRequest(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def request(self, n: Count) -> None:
        ignoring(self.action)
        self.up.request(n)


class DoOnCancel(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def cancel(self) -> None:
        ignoring(self.action)
        super().cancel()


class DoFinally(Stage):
    def __init__(self, down: Subscriber, action: Fn) -> None:
        super().__init__(down)
        self.action = action

    def fail(self, failure: Failure) -> None:
        super().fail(failure)
        ignoring(self.action)

    def finish(self) -> None:
        super().finish()
        ignoring(self.action)

    def cancel(self) -> None:
        if not self.over:
            super().cancel()
            ignoring(self.action)


def ignoring(action: Fn, *arguments: Any) -> None:
    """Its failure is nobody's signal: it goes to the hook."""
    try:
        action(*arguments)
    except Failure:
        pass


# -- notifications and times ---------------------------------------------------------------------------------------------------


class Next(NamedTuple):
    item: Any


class Error(NamedTuple):
    failure: Failure


class Complete(NamedTuple):
    pass


class Timed(NamedTuple):
    item: Any
    time: int


class Materialize(Waiting):
    """The end becomes an item, which waits until it is requested."""

    def __init__(self, down: Subscriber, kind: str) -> None:
        super().__init__(down)
        self.kind = kind
        self.empty = True

    def next(self, item: Any) -> None:
        self.empty = False
        self.wanted -= 1
        self.down.on_next(Next(item))

    def error(self, failure: Failure) -> None:
        self.last(Error(failure))

    def complete(self) -> None:
        if self.kind == "flowable" or self.empty:
            self.last(Complete())
        else:
            self.finish()  # of a single and a maybe the item is the one notification

    def last(self, notification: Any) -> None:
        if self.kind == "flowable":
            self.items.append(notification)
            self.end()
        else:
            self.down.on_next(notification)
            self.finish()

    def request(self, n: Count) -> None:
        self.wanted += n
        self.up.request(n)
        self.gate.run()


class Dematerialize(Stage):
    def next(self, item: Any) -> None:
        if isinstance(item, Next):
            self.down.on_next(item.item)
        elif isinstance(item, Error):
            self.stop(item.failure)
        else:
            self.up.cancel()
            self.finish()


class Timestamp(Stage):
    def __init__(self, down: Subscriber, clock: Clock) -> None:
        super().__init__(down)
        self.clock = clock

    def next(self, item: Any) -> None:
        self.down.on_next(Timed(item, self.clock.now))


class TimeInterval(Timestamp):
    """The time since the item before, or since subscribing."""

    def on_subscribe(self, up: Subscription) -> None:
        self.last = self.clock.now
        super().on_subscribe(up)

    def next(self, item: Any) -> None:
        before, self.last = self.last, self.clock.now
        self.down.on_next(Timed(item, self.last - before))


class ToFlowable(Greedy):
    """The item of a single or a maybe waits until it is requested."""
