"""Stages that give several items for one, behind a source that pushes: a queue, and their generator behind it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
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
from rx_fusion._operators import left_unstarted
from rx_fusion._step_subscriber import Rule, request_rules

if TYPE_CHECKING:
    from rx_core import Subscriber, Subscription
    from rx_core.streams import Listening
    from rx_fusion._heads import Head
    from rx_fusion._shapes import Shape

T = TypeVar("T")

#: In place of a generator that is not there yet, or not any more.
_NOTHING: Final[Any] = iter(())


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
        token = op.token
        if self.queue or op.dirty or self.asked != UNBOUNDED or (LOOK_FIRST and not token):
            self.wait(item)
            return
        # What ``step`` does for an item that finds the gate free and something wanted, without the calls between.
        try:
            demand = token.pop()
        except IndexError:
            self.wait(item)
            return
        if not (demand and op.hungry) or op.stash is not None or op.ready:
            token.append(demand)
            self.wait(item)
            return
        op.hungry = False
        generator = op.generator
        emit = op.emit_unguarded
        try:
            if op.ahead:
                out = generator.send(item)
                self.took()
            else:
                if self.left > 1:  # as took, without the call
                    self.left -= 1
                elif self.window != UNBOUNDED:
                    self.took()
                out = generator.send(item)
        except StopIteration:
            out = END
        except (Exception, GeneratorExit) as error:
            out = END
            op.failure = error
        except BaseException as error:
            self.interrupt(error)
            raise
        while out is not None and out is not END:
            if op.shape.needs_first_only:
                op.last = True  # as in step
            try:
                emit(out)
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
            if not demand or op.dirty:
                break
            try:
                out = next(generator, END)
            except (Exception, GeneratorExit) as error:
                op.failure = error
                break
            except BaseException as error:
                self.interrupt(error)
                raise
        if out is None:
            op.hungry = True  # as sated
            if op.inner:
                op.inner.clear()
            token.append(demand)
            if op.dirty:
                op.drain()
        else:
            token += (demand,)  # as append, which is a call, and may be one too many
            op.drain()

    def wait(self, item: Any) -> None:
        self.put(item)
        self.op.drain()

    def interrupt(self, error: BaseException) -> None:
        """A stage was left by what is no signal, while the token was held past ``step``."""
        op = self.op
        down = op.down
        op.abandon_token()
        tell_interrupted(down, error)

    def ask(self, demand: int) -> None:
        if not demand or self.up is None or self.done or self.closed:
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
        *("ahead", "args", "eager", "failure", "generator", "given", "head", "hungry", "hurries", "inner", "input", "last"),
        *("over", "ready", "rules", "shape", "stash", "translated", "used"),
    )

    input: _Arriving
    #: That of the compiled stages. It gives None where it is to be sent an item, or END.
    generator: Generator[Any, Any, None]
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
    #: Whether the stages are through with all that came: their generator waits for an item.
    hungry: bool
    #: What a stage raised for an item that ``step`` did not take.
    failure: Exception | GeneratorExit | None
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
        self.hungry = False
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
        generator = self.shape.fed(self.input, self, head, self.args)
        first = next(generator, END)  # as far as stages come without an item; scan gives its seed
        if first is None:
            self.hungry = True
        elif first is not END:
            self.stash = first
        self.generator = generator
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

    def feed(self) -> Any:
        """Send the stages what has come until they give something, and that; None: there is no more now; END: they are through.
        Raises what a stage raises, and the error of the source once the stages have got it."""
        arriving = self.input
        generator = self.generator
        while True:
            if arriving.queue:
                item = arriving.queue.popleft()
                if self.ahead:
                    self.used += 1
                elif arriving.window != UNBOUNDED:
                    arriving.took()
            elif not arriving.done:
                return None
            elif arriving.queue:
                continue  # the end is published last
            else:
                item = END
            self.hungry = False
            try:
                error = arriving.error if item is END else None
                given = generator.send(item) if error is None else generator.throw(error)
            except StopIteration:
                return END
            if given is not None:
                return given
            self.sated()

    def sated(self) -> None:
        """The stages are through with an item."""
        self.hungry = True
        self.inner.clear()

    def step(self, demand: int) -> int:
        if self.generator is _NOTHING:
            return demand  # it is being opened
        if self.failure is not None:
            return self.finish(without_this_frame(self.failure))
        if self.ahead:
            return self.step_ahead(demand)
        arriving = self.input
        emit = self.emit
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
                    item = self.feed() if self.hungry else next(self.generator, END)
                except (Exception, GeneratorExit) as error:
                    return self.finish(without_this_frame(error))
            if item is END:
                return 0 if self.stopped else self.finish()
            if item is None:
                if not self.hungry:
                    self.sated()
                    continue
                if arriving.asked != UNBOUNDED:
                    arriving.ask(UNBOUNDED if self.shape.takes_all else demand or 1)
                return demand
            if not demand:
                self.stash = item
                return demand
            if self.shape.needs_first_only:
                self.last = True  # a stage may have left its loop, so the source need not be over
            emit(item)
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
                    item = self.feed() if self.hungry else next(self.generator, END)
                except (Exception, GeneratorExit) as error:
                    return self.finish(without_this_frame(error))  # it overtakes what waits, as in RxJava
            if item is None and not self.hungry:
                self.sated()
                continue
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
        """Whether the source has ended, or the stages have left it, and only what they give behind that can come."""
        arriving = self.input
        return (
            (arriving.done or arriving.closed)
            and not arriving.queue
            and all(is_exhausted(items) for items in self.inner.values())
        )

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
            self.generator = _NOTHING
            self.hungry = False
            close(generator)


OPERATOR_CODES.add(Expansion.feed.__code__)
