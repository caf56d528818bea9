"""Going round: subscribing to the same source again, after its end or after an error.

Each round has what the source owns to itself and gives it back before the next one begins, so that a million rounds cost no more
memory than one. They are a loop and need no stack. A loop that gives nothing looks whether the run was cancelled, and lets
others have their turn from time to time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from rx_core import END, Items, Run, Scheduler, Side, Source, composite, name_of, user_call
from rx_fusion import operator
from rx_ops.coordination._errors import user_error
from rx_ops.coordination._signals import signals

T = TypeVar("T")

#: Says after each completion whether to go round again.
Again = Callable[[], bool]

#: After so many rounds the loop gives way, in case none of them gave an item.
_GIVE_WAY: Final = 128

#: An exception that is raised again and again collects traceback entries; more than so many are cut off between rounds.
_LONG_TRACE: Final = 40


def _first_round(run: Run, source: Source[T]) -> Side[T]:
    """Subscribed together with the operator, so that a hot source misses nothing."""
    side: Side[T] = Side(run)
    side.start(source)
    return side


def _give_way(run: Run) -> None:
    """Before a None: this is to be resumed without anything having come, but others first."""
    if run.demand:
        run.wake()
    else:
        run.poke()


# -- repeat ----------------------------------------------------------------------------------------------------------------


@operator(eager="none")
def repeat(run: Run, source: Source[T], times: int | None) -> Items[T]:
    """Subscribe again after completion, with the demand that is left."""
    if times == 0:
        return iter(())
    left = times

    def again() -> bool:
        nonlocal left
        if left is None:
            return True
        left -= 1
        return left > 0

    return _repeated(run, source, _first_round(run, source), again)


@operator(eager="none")
def repeat_until(run: Run, source: Source[T], stop: Callable[[], object]) -> Items[T]:
    """The same, until ``stop()`` is true after a completion."""

    def again() -> bool:
        return not user_call("repeat_until", stop)

    return _repeated(run, source, _first_round(run, source), again)


def _repeated(run: Run, source: Source[T], side: Side[T], again: Again) -> Items[T]:
    rounds = 0
    try:
        while True:
            yield from side.items
            if run.is_cancelled or not again():
                return
            side.close()
            rounds += 1
            if not rounds % _GIVE_WAY:
                _give_way(run)
                yield None
            side.start(source)
    finally:
        side.dispose()


# -- retry -----------------------------------------------------------------------------------------------------------------


@operator(eager="none")
def retry(run: Run, source: Source[T], times: int | None, predicate: Callable[[Exception], object] | None) -> Items[T]:
    """Subscribe again after an error, with the demand that is left."""
    return _retried(run, source, _first_round(run, source), times, "retry", predicate)


@operator(eager="none")
def retry_until(run: Run, source: Source[T], stop: Callable[[], object]) -> Items[T]:
    """The same, until ``stop()`` is true after an error."""

    def goes_on(_error: Exception) -> bool:
        return not stop()

    goes_on.__qualname__ = name_of(stop)  # in notes it is the user's function
    return _retried(run, source, _first_round(run, source), None, "retry_until", goes_on)


def _retried(
    run: Run,
    source: Source[T],
    side: Side[T],
    times: int | None,
    name: str,
    predicate: Callable[[Exception], object] | None,
    between: Callable[[int], Items[T]] | None = None,
) -> Items[T]:
    rounds = 0
    try:
        while True:
            try:
                yield from side.items
                return
            except Exception as raised:
                error = user_error(raised)
            if times is not None and rounds >= times:
                raise error
            if predicate is not None and not _agrees(name, predicate, error):
                raise error
            if run.is_cancelled:
                return
            side.close()
            _shorten(error)  # afterwards: the end of a round gives an error the traceback it had before
            del error  # it holds the frames of the round that is over
            if between is not None:
                yield from between(rounds)
            rounds += 1
            if not rounds % _GIVE_WAY:
                _give_way(run)
                yield None
            side.start(source)
    finally:
        side.dispose()


def _agrees(name: str, predicate: Callable[[Exception], object], error: Exception) -> bool:
    try:
        return bool(user_call(name, predicate, error))
    except Exception as second:
        raise composite([error, user_error(second)]) from None


def _shorten(error: Exception) -> None:
    """Cut a traceback that grew over many rounds: the one exception that a source fails with each time keeps them all."""
    trace, entries = error.__traceback__, 0
    while trace is not None:
        trace, entries = trace.tb_next, entries + 1
    if entries > _LONG_TRACE:
        error.__traceback__ = None


@operator(eager="none")
def retry_backoff(
    run: Run,
    source: Source[T],
    times: int | None,
    first: float,
    longest: float,
    factor: float,
    jitter: float,
    predicate: Callable[[Exception], object] | None,
    scheduler: Scheduler,
) -> Items[T]:
    """As retry, after a pause that grows with each attempt."""
    alarm = _Alarm(run, scheduler)
    pauses = _pauses(first, longest, factor, jitter)

    def paused(failures: int) -> Items[T]:
        alarm.set(pauses(failures))
        while not alarm.rang:
            yield None

    return _retried(run, source, _first_round(run, source), times, "retry_backoff", predicate, paused)


class _Alarm:
    """Wakes the run once per setting, on a worker that the run owns."""

    __slots__ = ("_run", "_worker", "rang")

    def __init__(self, run: Run, scheduler: Scheduler) -> None:
        self._run = run
        self._worker = scheduler.create_worker()
        run.own(self._worker)
        self.rang = False

    def set(self, seconds: float) -> None:
        self.rang = False
        self._worker.schedule(self._ring, seconds)

    def _ring(self) -> None:
        self.rang = True
        self._run.poke()  # the next attempt needs no demand


def _pauses(first: float, longest: float, factor: float, jitter: float) -> Callable[[int], float]:
    def pause(failures: int) -> float:
        try:
            plain = min(longest, first * factor**failures)
        except OverflowError:
            plain = longest
        if not jitter:
            return plain
        from random import uniform  # hashlib and more come with it: only who asks for jitter pays

        return min(longest, uniform(plain * (1 - jitter), plain * (1 + jitter)))

    return pause


# -- asking another stream -------------------------------------------------------------------------------------------------


@operator(eager="none")
def repeat_when(run: Run, source: Source[T], handler: Callable[[Any], Any], face: Callable[[Any], Any]) -> Items[T]:
    """After each completion the handler's stream is told, and says whether to go on."""
    return _asked(run, source, _Questions("repeat_when", "completions", run, handler, face))


@operator(eager="none")
def retry_when(run: Run, source: Source[T], handler: Callable[[Any], Any], face: Callable[[Any], Any]) -> Items[T]:
    """After each error the handler's stream is told, and says whether to go on."""
    return _asked(run, source, _Questions("retry_when", "errors", run, handler, face))


class _Questions:
    """The handler's stream: what it is told, and what it answers. It is asked for one answer at a time.

    It is subscribed through the protocol, fused or not, so that its end is known together with its last item.
    """

    __slots__ = ("_told", "answers", "errors")

    def __init__(self, name: str, of: str, run: Run, handler: Callable[[Any], Any], face: Callable[[Any], Any]) -> None:
        self.errors = of == "errors"
        self._told, stream = signals(of, face)
        made = user_call(name, handler, stream)
        if not hasattr(made, "subscribe"):
            raise TypeError(
                f"{name}() expected a function returning a stream, but {name_of(handler)} returned {made!r}.\n"
                f"  For example:  .{name}(lambda {of}: {of}.delay(1.0))"
            )
        self.answers: Side[Any] = Side(run, 0)
        self.answers.items = self.answers.open_queued(made)

    def ask(self, question: Any) -> None:
        self.answers.wanted = 1
        self._told.send(question)

    def answered(self) -> Any:
        """An answer, None while there is none, END for no more rounds."""
        answer = self.answers.poll()
        if answer is not None:
            self.answers.wanted = 0
        return answer

    def close(self) -> None:
        self.answers.dispose()


def _asked(run: Run, source: Source[T], asked: _Questions) -> Items[T]:
    side: Side[T] = Side(run)
    side.start(source)
    return _asking(run, source, side, asked)


def _asking(run: Run, source: Source[T], side: Side[T], asked: _Questions) -> Items[T]:
    rounds = 0
    answers = asked.answers
    try:
        while True:
            question: Any = None
            while question is None:
                if answers.stirred and asked.answered() is END:
                    return
                try:
                    item = side.poll() if run.demand or side.urgent else None
                except Exception as raised:
                    if not asked.errors:
                        raise
                    question = user_error(raised)
                else:
                    if item is not END:
                        yield item
                    elif asked.errors:
                        return
                    else:
                        question = rounds + 1
            side.close()
            if asked.errors:
                _shorten(question)
            asked.ask(question)
            while (answer := asked.answered()) is None:
                yield None
            if answer is END or run.is_cancelled:
                return
            if answers.stirred and asked.answered() is END:
                return  # the end came together with the answer
            rounds += 1
            if not rounds % _GIVE_WAY:
                _give_way(run)
                yield None
            side.start(source)
    finally:
        asked.close()
        side.dispose()
