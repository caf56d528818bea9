"""Stages that give several items for one, behind a source that pushes: a queue, and their generator behind it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rx_core import DEFAULT_PREFETCH, OPERATOR_CODES, UNBOUNDED
from rx_core.streams import (
    END,
    LOOK_FIRST,
    Op,
    QueuedInput,
    Stream,
    close,
    is_exhausted,
    subscribe,
    takes_requests,
    tell_interrupted,
    without_this_frame,
)
from rx_fusion._forms import Feed, Form
from rx_fusion._operators import left_unstarted
from rx_fusion._step_subscriber import Rule, request_rules

if TYPE_CHECKING:
    from rx_core import Subscriber, Subscription
    from rx_core.streams import Listening
    from rx_fusion._heads import Head
    from rx_fusion._shapes import Shape

T = TypeVar("T")

_NOTHING: Final[Iterator[Any]] = iter(())
_FORM: Final = Form("pull", Feed.RUNNING, cancel=True, mark_last=True, shows_inner=True)


class _Arriving(QueuedInput[Any]):
    """Asked for a window. Where that is UNBOUNDED: for what downstream wants, again whenever all that came was used up without
    giving as much."""

    __slots__ = ("asked", "came")

    #: What the source was asked for; only the holder of the token writes it.
    asked: int
    #: What came; only the source's thread writes it.
    came: int

    def __init__(self, op: Expansion[Any], window: int) -> None:
        super().__init__(op, window)
        self.queue = deque()
        self.asked = 0
        self.came = 0

    def subscribed(self, up: Subscription) -> None:
        if self.window == UNBOUNDED:
            self.op.drain()
            return
        self.asked = UNBOUNDED
        if self.op.stash is not None:  # what is given before the first item, a seed, counts as one of the window, as in RxJava
            self.op.drain()  # and comes before the source is asked
            if not self.closed:
                self.left -= 1
                up.request(self.window - 1)
        else:
            up.request(self.window)

    def on_next(self, item: Any, /) -> None:
        self.came += 1
        op = self.op
        if self.closed:
            op.discard(item)
            return
        queue = self.queue
        queue.append(item)
        if len(queue) > self.window and not self.done:
            self.overrun()
        token = op.token
        if op.dirty or self.asked != UNBOUNDED or (LOOK_FIRST and not token):
            op.drain()
            return
        # What ``step`` does for an item that finds the gate free and something wanted, without the calls between.
        try:
            demand = token.pop()
        except IndexError:
            op.drain()
            return
        generator = op.generator
        emit = op.emit_unguarded
        while demand and op.stash is None and not op.ready and not op.dirty:
            try:
                item = next(generator, END)
                used = op.used
                if used:  # of one that runs ahead
                    op.used = 0
                    op.took(used)
            except (Exception, GeneratorExit) as error:
                op.failure = without_this_frame(error)
                break
            except BaseException as error:
                down = op.down
                op.abandon_token()
                tell_interrupted(down, error)
                raise
            if item is END:
                break
            if item is None:
                token.append(demand)
                if op.dirty:
                    op.drain()
                return
            if op.shape.needs_first_only:
                op.last = True  # as in step
            try:
                emit(item)
            except BaseException as error:
                try:
                    told = op.unguarded_raised(error)
                finally:
                    token += (0,)
                if not told:
                    raise
                op.drain()
                return
            if demand is not UNBOUNDED:
                demand -= 1
                op.given += 1
        token.append(demand)
        op.drain()

    def ask(self, demand: int) -> None:
        if not demand or self.up is None or self.done:
            return
        more = self.op.ruled(demand)
        if not more:
            if self.asked > self.came:
                return
            more = 1 if self.op.rules and demand == UNBOUNDED else demand  # a stage has enough before the end
        self.asked = min(self.asked + more, UNBOUNDED)
        self.op.later.append((self.up.request, more))


def runs_ahead(shape: Shape) -> bool:
    """Whether the stages run when an item comes, as in RxJava, and not when what they give is wanted: it is one item at most, and
    the last of them is one with a seed (scan), behind which RxJava has a queue."""
    last = next((stage for stage in reversed(shape.stages) if not stage.guard), None)
    return last is not None and last.head_yields and not any(stage.expands for stage in shape.stages)


class Expansion(Op[T]):
    """Resumes the generator of the stages as long as items are wanted. It looks ahead at the end of the source, because an end
    that follows needs no demand, and where a stage asks by itself; an item that comes instead waits. Otherwise it does not look
    ahead in a user's iterable: what that does for an item is done when the item is wanted."""

    __slots__ = (
        *("ahead", "args", "eager", "failure", "generator", "given", "head", "hurries", "inner", "input", "last"),
        *("over", "ready", "rules", "shape", "stash", "translated", "used"),
    )

    input: _Arriving
    generator: Iterator[Any]
    #: Whether an error of the source is that of the stream at once: items may wait for it, and no stage ends before the source.
    #: Not where the source computes what is requested, as it would be pulled with fusion.
    hurries: bool
    #: Whether what comes is taken without demand, until an item waits: where a stage asks first. Not where the source computes
    #: what is requested, as above.
    eager: bool
    #: The iterators that the item of the source is being expanded to, set by the compiled stages, by their loops' numbers.
    inner: dict[int, Iterator[Any]]
    #: Set by a compiled stage before it yields the item that is its last.
    last: bool
    #: An item that came at the end of the source while none was wanted.
    stash: Any
    #: What a stage raised for an item that ``step`` did not take.
    failure: Exception | None
    #: What downstream's requests mean to the source, where the stages say so; how much of them was translated; and how many items
    #: were given while not all were wanted.
    rules: list[Rule | None]
    #: See :func:`runs_ahead`: what the stages give waits in ``ready``, with the number of items that were used up for it.
    ahead: bool
    ready: deque[tuple[Any, int]]
    #: Items that were used up and gave nothing yet; and whether the stages are through.
    used: int
    over: bool
    translated: int
    given: int

    def __init__(self, down: Subscriber[T], head: Head, shape: Shape, args: tuple[Any, ...], origin: object) -> None:
        super().__init__(down, origin)
        self.head = head
        self.shape = shape
        self.args = args
        queued = any(stage.expands or stage.head_yields for stage in shape.stages)
        queued = queued and not shape.takes_all and takes_requests(origin) and takes_requests(head.publisher)
        self.input = _Arriving(self, DEFAULT_PREFETCH if queued else UNBOUNDED)
        source: Any = head.publisher
        computes = isinstance(source, Stream) and source._computes
        self.hurries = queued and not computes and not any(stage.stops for stage in shape.stages)
        self.eager = shape.asks_first and not computes
        self.ahead = self.hurries and runs_ahead(shape)
        self.ready = deque()
        self.used = 0
        self.over = False
        self.generator = _NOTHING
        self.inner = {}
        self.last = False
        self.stash = None
        self.failure = None
        self.rules = [] if queued or shape.takes_all else request_rules(shape, args)
        self.translated = 0
        self.given = 0

    def ruled(self, demand: int) -> int:
        """What the source is to be asked for because of requests that came since the last time."""
        if not self.rules:
            return 0
        total = UNBOUNDED if demand == UNBOUNDED else demand + self.given
        more = total - self.translated
        if more and total == UNBOUNDED:
            more = UNBOUNDED
        self.translated = total
        for rule in reversed(self.rules):
            if rule is not None and more:
                more = rule(more)
        return min(more, UNBOUNDED)

    def open(self) -> None:
        head = self.head
        generator = self.shape.pull(self.arriving(), self, head, self.args, _FORM)
        first = next(generator, END)  # as far as stages come without an item; scan gives its seed
        self.generator = generator
        if first is not END:
            self.stash = first
        if first is END or (first is not None and not any(stage.head_yields for stage in self.shape.stages)):
            # They need none: take(0), and what other stages give behind its end.
            left_unstarted(head)
            self.input.done = True  # so step ends without demand
            return
        subscribe_for = getattr(head, "subscribe_for", None)
        if head.publisher is not None and subscribe_for is None:
            subscribe(head.publisher, self.input)
        else:
            head.subscribe_for(self.input, self.origin)  # type: ignore[attr-defined]  # a head that pushes has it

    def after_answer(self, then: Callable[[], object], /) -> None:
        if self.shape.relays_requests(self.args):
            self.put_off(partial(self.after_source, then))
        else:
            then()

    def arriving(self) -> Iterator[Any]:
        """What has come, None while there is nothing, and then the end."""
        entry = self.input
        queue = entry.queue
        inner = self.inner
        ahead = self.ahead
        try:
            while True:
                if inner:  # the stages are through with the item before
                    inner.clear()
                if queue:
                    item = queue.popleft()
                    if ahead:
                        self.used += 1
                    elif entry.left > 1:  # as took, without the call
                        entry.left -= 1
                    elif entry.window != UNBOUNDED:
                        entry.took()
                    yield item
                elif not entry.done:
                    yield None
                elif not queue:  # again: the end is published last
                    break
        except GeneratorExit:  # it is left, or a stage has ended, and those behind it give what they have without the source
            entry.close()
            entry.done = True
            raise
        if entry.error is not None:
            raise entry.error

    def step(self, demand: int) -> int:
        if self.generator is _NOTHING:
            return demand  # it is being opened
        if self.failure is not None:
            return self.finish(self.failure)
        if self.ahead:
            return self.step_ahead(demand)
        arriving = self.input
        while True:
            if not demand and self.hurries and arriving.done and arriving.error is not None:
                return self.finish(arriving.error)  # it overtakes what waits for a request, as in RxJava
            if not demand and not (self.stash is None and (self.eager or self.last or self.at_end())):
                return demand
            item = self.stash
            if item is not None:
                self.stash = None
            else:
                try:
                    item = next(self.generator, END)
                except (Exception, GeneratorExit) as error:
                    return self.finish(without_this_frame(error))
            if item is END:
                return 0 if self.stopped else self.finish()
            if item is None:
                if arriving.asked != UNBOUNDED:
                    arriving.ask(UNBOUNDED if self.shape.takes_all else demand or 1)
                return demand
            if not demand:
                self.stash = item
                return demand
            if self.shape.needs_first_only:
                self.last = True  # a stage may have left its loop, so the source need not be over
            self.emit(item)
            if demand is not UNBOUNDED:
                demand -= 1
                self.given += 1
            if self.stopped or self.dirty:
                return demand

    def step_ahead(self, demand: int) -> int:
        ready = self.ready
        while True:
            if ready and demand:
                item, used = ready.popleft()
                self.took(used)
                self.emit(item)
                if demand is not UNBOUNDED:
                    demand -= 1
                if self.stopped or self.dirty:
                    return demand
                continue
            if self.over:
                return demand if ready or self.stopped else self.finish()
            item = self.stash
            if item is not None:
                self.stash = None
            else:
                try:
                    item = next(self.generator, END)
                except (Exception, GeneratorExit) as error:
                    return self.finish(without_this_frame(error))  # it overtakes what waits, as in RxJava
            used = self.used
            self.used = 0
            if item is None:
                self.took(used)
                return demand
            if item is END:
                self.over = True
            else:
                ready.append((item, used))

    def took(self, count: int) -> None:
        for _ in range(count):
            self.input.took()

    def at_end(self) -> bool:
        """Whether the source has ended, and only what stages give behind that can come."""
        arriving = self.input
        return arriving.done and not arriving.queue and all(is_exhausted(items) for items in self.inner.values())

    def listening(self) -> Iterable[Listening]:
        return (self.input,)

    def close(self) -> None:
        self.input.close()
        stash = self.stash
        if stash is not None:
            self.stash = None
            self.discard(stash)
        while self.ready:
            self.discard(self.ready.popleft()[0])
        generator = self.generator
        if generator is not _NOTHING:
            self.generator = iter(())
            close(generator)


OPERATOR_CODES.add(Expansion.arriving.__code__)
