"""The error tree.

::

    Exception
     ├── RxError                         base of what only this library raises
     │    ├── EmptyStreamError           (also LookupError)   a value was needed, the stream had none
     │    ├── MissingBackpressureError   (also RuntimeError)  a source sent more than was requested and nothing may buffer it
     │    ├── ProtocolViolationError     (also RuntimeError)  a foreign party broke a rule; the text names the rule
     │    ├── SchedulerNotFoundError     (also LookupError)   no installed package has that scheduler
     │    ├── OperatorNotFoundError      (also AttributeError) no operator of that name
     │    ├── ProcessDiedError           (also RuntimeError)  a process that functions were sent to is gone
     │    └── WorkerInterruptedError     (also RuntimeError)  a BaseException ended the work of a background thread
     └── CompositeException              (an ExceptionGroup)  several errors of one stream

User functions' exceptions keep their type: the library adds notes to them and never wraps them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from rx_core._advice import right_call

if TYPE_CHECKING:
    from typing import Self

#: Fatal to a run wherever they are raised: to call anything more may raise them again.
EXHAUSTION: Final = (RecursionError, MemoryError)


class RxError(Exception):
    """Base of the errors that only this library raises."""


class EmptyStreamError(RxError, LookupError):
    """A value was needed and the stream completed without one."""

    def __init__(self, operator: str) -> None:
        super().__init__(
            f"{operator}: the stream completed without an item.\n"
            f"  To allow that:           .first(default) or .default_if_empty(item)\n"
            f"  To get None instead:     a Maybe (.first_element(), .element_at(0))"
        )
        self.operator = operator

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.operator,)


class MissingBackpressureError(RxError, RuntimeError):
    """A source sent an item that was not requested and that no buffer was allowed to keep."""

    def __init__(self, what: str, remedy: str | None = None) -> None:
        if remedy is None:
            remedy = (
                "  To buffer:       .on_backpressure_buffer(100)\n"
                "  To drop:         .on_backpressure_drop()\n"
                "  To keep newest:  .on_backpressure_latest()"
            )
        super().__init__(f"{what}\n{remedy}")
        self.what, self.remedy = what, remedy

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.what, self.remedy)


class ProtocolViolationError(RxError, RuntimeError):
    """A party that is not ours broke a rule of Reactive Streams; the message starts with the rule's number."""


class SchedulerNotFoundError(RxError, LookupError):
    """No installed package provides the scheduler asked for."""

    def __init__(self, name: str, known: Sequence[str], provider: str | None) -> None:
        remedy = f"it comes with {provider}:  pip install {provider}" if provider else "no package known to us has it"
        have = ", ".join(known) or "none"
        super().__init__(
            f"there is no scheduler called {name!r}; {remedy}\n"
            f"  Installed schedulers: {have}\n"
            f"  What is installed, and what failed to load:  python -m rx_core plugins"
        )
        self.name, self.known, self.provider = name, tuple(known), provider

    def __reduce__(self) -> tuple[type[Self], tuple[str, Sequence[str], str | None]]:
        return type(self), (self.name, self.known, self.provider)


class OperatorNotFoundError(RxError, AttributeError):
    """A pipeline was asked for an operator that does not exist."""


class WorkerInterruptedError(RxError, RuntimeError):
    """A BaseException (SystemExit, say) ended the work of a background thread, where no caller could act on it."""


class ProcessDiedError(RxError, RuntimeError):
    """A process that functions were sent to is gone: killed, out of memory, ended by ``os._exit``, or shut down."""


class CompositeException(ExceptionGroup[Exception]):
    """Several errors of one stream, in the order they arrived."""

    def derive(self, excs: Sequence[Exception], /) -> CompositeException:  # type: ignore[override]  # narrower on purpose: only Exceptions travel as signals
        return CompositeException(self.message, excs)


def composite(errors: Sequence[Exception], /) -> Exception:
    """One error as itself, several as a CompositeException; a user sees a group only when several things failed."""
    return errors[0] if len(errors) == 1 else CompositeException(f"{len(errors)} errors in one stream", list(errors))


def name_of(function: object, /) -> str:
    """How to write a user's function in a message or a repr: its qualified name where it has one."""
    name = getattr(function, "__qualname__", None)
    if isinstance(name, str):
        if name.endswith("<lambda>"):
            code = getattr(function, "__code__", None)
            return "<lambda>" if code is None else f"<lambda line {code.co_firstlineno}>"
        return name
    try:
        return repr(function)
    except Exception:  # a stream does not fail because something it uses cannot show itself
        return object.__repr__(function)


#: What takes a None for no item, by the operator that does not.
_WHERE_NONE_IS_NOTHING: Final = {
    "map": ".map_optional({})   # leaves such items out",
    "from_callable": "Maybe.from_callable({})   # None means empty; or Completable.from_action, where nothing is meant to come",
}


def none_produced(operator: str, function: object = None, /) -> TypeError:
    """The error for a None where an item must be (RS 2.13); ``function`` is what returned it, if a function did."""
    who = operator if function is None else f"{operator}({name_of(function)})"
    right = _WHERE_NONE_IS_NOTHING.get(operator)
    if right is not None:
        shown = "function" if function is None else name_of(function)
        return TypeError(f"{who} produced None, and None is not an item (RS 2.13).\n  Right:  {right.format(shown)}")
    return TypeError(
        f"{who} produced None, and None is not an item (RS 2.13).\n"
        f"  To leave such items out:  filter before, or .flat_map_iterable(lambda x: () if ... else (value,))\n"
        f"  To say 'no value':           use a value of your own, for example ... or an empty tuple"
    )


def none_argument(call: str, argument: str, /) -> TypeError:
    """The error for a None argument where something else is needed."""
    return TypeError(f"{call}: {argument} is None.\n  Right:  {call.split('(')[0]}({argument})")


def not_an_error(given: object, /, call: str = "on_error") -> TypeError:
    """The error for something else than an Exception where an error is signalled."""
    if given is None:
        return none_argument(f"{call}(None)", "error")
    return TypeError(
        f"{call}({given!r}): only an Exception is an error of a stream, and this is a {type(given).__name__}.\n"
        f"  Right:  {call}(RuntimeError(...))"
    )


def not_callable(operator: str, argument: str, value: object, /, face: str = "") -> TypeError:
    """The error at assembly for something that is not a function where one is needed."""
    return TypeError(
        f"{operator}() expected a function as {argument}, got {value!r}.\n  Right:  {right_call(operator, argument, face=face)}"
    )


def check_callable(operator: str, argument: str, value: Callable[..., object] | object, /, face: str = "") -> None:
    """Raise at assembly for what is no function. ``face`` is the name of the type, where another one has the operator as well."""
    if not callable(value):
        raise not_callable(operator, argument, value, face)
