"""``create`` of a Single, Maybe or Completable, and what is built on it: a future as a source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rx_core import (
    Disposable,
    SerialDisposable,
    as_signal,
    dropped,
    dropped_late,
    none_produced,
    tell_interrupted,
    user_call,
)
from rx_core.blocks import DeferredScalar
from rx_fusion import PushHead
from rx_ops.operators._emitter import cancelling, disposing, signalled

if TYPE_CHECKING:
    from rx_core import Subscriber

T = TypeVar("T")


class OneEmitter:
    """What the emitters of the three types share. Any thread may call; the first end counts."""

    __slots__ = ("_run",)

    _run: OneRun

    def on_error(self, error: Exception, /) -> None:
        """Fail with ``error``; it goes to the error hook when this has ended or was disposed."""
        self._run.fail(signalled(error))

    def try_on_error(self, error: Exception, /) -> bool:
        """The same; False, and nothing reported, when this has ended or was disposed."""
        if self.is_cancelled:
            return False
        self.on_error(error)
        return True

    def set_disposable(self, disposable: Disposable, /) -> None:
        """Dispose ``disposable`` at the end or at a dispose; replaces (and disposes) the one before."""
        self._run.cleanup.set(disposing(disposable))

    def set_cancellable(self, action: Callable[[], object], /) -> None:
        """Call ``action`` once at the end or at a dispose."""
        self._run.cleanup.set(cancelling(action))

    @property
    def is_cancelled(self) -> bool:
        """Whether nothing is signalled any more: the observer has left, or this has ended."""
        return self._run.cancelled or not self._run.is_open


class _ItemEmitter(OneEmitter, Generic[T]):
    __slots__ = ()

    def on_success(self, item: T, /) -> None:
        """Give the item, which is the end. None is an error (RS 2.13)."""
        if item is None:
            self.try_on_error(none_produced("create"))
        else:
            self._run.complete(item)


class SingleEmitter(_ItemEmitter[T]):
    """The pushing side of ``Single.create``: one item or an error, from any thread; what comes after the first is ignored."""

    __slots__ = ()


class MaybeEmitter(_ItemEmitter[T]):
    """The pushing side of ``Maybe.create``: one item, the end without one or an error, from any thread; what comes after the
    first is ignored."""

    __slots__ = ()

    def on_complete(self) -> None:
        """End without an item."""
        self._run.complete()


class CompletableEmitter(OneEmitter):
    """The pushing side of ``Completable.create``: the end or an error, from any thread; what comes after the first is ignored."""

    __slots__ = ()

    def on_complete(self) -> None:
        """End."""
        self._run.complete()


class OneRun(DeferredScalar[Any]):
    """The Subscription of such a run: the item waits until it is requested. The cleanup runs behind the end, or at a cancel."""

    __slots__ = ("cleanup", "origin")

    cleanup: SerialDisposable
    origin: object

    def __init__(self, down: Subscriber[Any], origin: object) -> None:
        super().__init__(down)
        self.cleanup = SerialDisposable()
        self.origin = origin

    @property
    def is_open(self) -> bool:
        """It was not decided yet."""
        return bool(self._undecided)

    def fail(self, error: Exception, /) -> bool:
        if self._decide((None, error)):
            return True
        (dropped_late if self.is_open else dropped)(error, self.origin)  # a second end is a mistake of the source
        return False

    def cancel(self) -> None:
        super().cancel()
        self.clean()  # at once, on the thread that cancels

    def dispose(self) -> None:
        self.cancel()

    @property
    def is_disposed(self) -> bool:
        return self.cancelled

    def look(self, held: int, /) -> int:
        try:
            return super().look(held)
        finally:
            if self.cancelled:  # it is over
                self.clean()

    def look_failed(self, error: BaseException, /) -> BaseException | None:
        try:
            return super().look_failed(error)
        finally:
            self.clean()

    def clean(self) -> None:
        try:
            self.cleanup.dispose()
        except Exception as error:  # RS 3.15: to cancel returns normally
            dropped(error, self.origin)

    def __repr__(self) -> str:
        return repr(self.origin)


class CreateOneHead(PushHead):
    """A function that pushes into an emitter of one of the three types."""

    __slots__ = ("_emitter", "_source", "_text", "name")

    def __init__(self, name: str, source: Callable[[Any], object], emitter: type[OneEmitter], text: str) -> None:
        self.name = name
        self._source = source
        self._emitter = emitter
        self._text = text

    def subscribe(self, subscriber: Subscriber[Any], /) -> None:
        self.subscribe_for(subscriber, self)

    def subscribe_for(self, subscriber: Subscriber[Any], origin: object, /) -> None:
        emitter = self._emitter()
        run = emitter._run = OneRun(subscriber, origin)
        run.start()
        if run.cancelled:
            return
        try:
            user_call(self.name, self._source, emitter)
        except (Exception, GeneratorExit) as error:
            emitter.on_error(as_signal(error))
        except BaseException as error:
            down = run._down
            run.cancel()
            tell_interrupted(down, error)
            raise

    def __repr__(self) -> str:
        return self._text


class FutureSource:
    """What ``create`` calls for ``from_future``. ``give`` tells an emitter the result; what is not wanted any more is let go."""

    __slots__ = ("_future", "_give")

    def __init__(self, future: Any, give: Callable[[Any, Any], object]) -> None:
        self._future = future
        self._give = give

    def __call__(self, emitter: Any) -> None:
        waiting = [emitter]
        give = self._give

        def done(future: Any) -> None:
            try:
                wanted = waiting.pop()
            except IndexError:
                return  # it was cancelled
            try:
                result = future.result()
            except (Exception, GeneratorExit) as error:
                wanted.try_on_error(as_signal(error))
            except BaseException as error:  # of the function that the future is of, and not of this thread
                wanted.try_on_error(_interrupted(error))
            else:
                give(wanted, result)

        emitter.set_cancellable(waiting.clear)  # the future cannot forget a callback, but what that holds
        self._future.add_done_callback(done)


def _interrupted(error: BaseException) -> Exception:
    made = RuntimeError(f"the future ended with {error!r}, which is no Exception")
    made.__cause__ = error
    return made


def give_single(emitter: SingleEmitter[Any], result: Any) -> None:
    if result is None:
        emitter.try_on_error(none_produced("from_future"))
    else:
        emitter.on_success(result)


def give_maybe(emitter: MaybeEmitter[Any], result: Any) -> None:
    if result is None:
        emitter.on_complete()
    else:
        emitter.on_success(result)


def give_completable(emitter: CompletableEmitter, _result: object) -> None:
    emitter.on_complete()


def give_stream(emitter: Any, result: Any) -> None:
    """For a stream's emitter."""
    if result is None:
        emitter.try_on_error(none_produced("from_future"))
    else:
        emitter.on_next(result)
        emitter.on_complete()
