"""Calling users' functions from inside generators, and getting back exactly what they raised.

Two exceptions mean something to generators themselves. A StopIteration that leaves a generator becomes a RuntimeError (PEP 479);
it travels as that error's cause and is unwrapped where it is signalled. A GeneratorExit cannot be signalled at all and becomes a
RuntimeError for good.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar, overload

from rx_core._errors import name_of
from rx_core.build_places import whereabouts

if TYPE_CHECKING:
    from types import CodeType

P = ParamSpec("P")
R = TypeVar("R")

#: As many notes as an error gets on its way.
MOST_NOTES: Final = 20

#: Code objects that stand for operators: a StopIteration that reaches their edge came from a user's function.
OPERATOR_CODES: set[CodeType] = set()


def user_call(operator: str, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """``function(*args)``, for coordinating operators: what it raises gets a note that names the operator.

    A StopIteration or GeneratorExit that it raises comes out as a RuntimeError, so that it neither ends nor closes the operator.
    """
    try:
        return function(*args, **kwargs)
    except (StopIteration, GeneratorExit) as error:
        raise user_error(operator, function, error) from error
    except Exception as error:
        user_error(operator, function, error)
        raise


OPERATOR_CODES.add(user_call.__code__)


def user_error(operator: str, function: object, error: BaseException, /) -> BaseException:
    """What is to be raised where ``function`` raised ``error``, which gets its note.

    For an operator that calls it for each of many items, and spares :func:`user_call`. Its code belongs into ``OPERATOR_CODES``
    then, and no variable of it must keep the error.
    """
    add_note(error, f"in {operator}({name_of(function)}){whereabouts(operator, (function,), loosely=True)}")
    if isinstance(error, StopIteration):
        return RuntimeError("a function in the pipeline raised StopIteration")
    return exit_as_error(error) if isinstance(error, GeneratorExit) else error


def unwrap_stop(error: BaseException, /) -> BaseException:
    """The user's StopIteration again, where it became a RuntimeError at the edge of an operator's generator.

    A foreign generator that leaks a StopIteration keeps its RuntimeError: only the operators' own code is looked at. Where
    there is no traceback it was raised by an operator and has the one of before again, see :func:`traced_as_before`.
    """
    if type(error) is RuntimeError and isinstance(error.__cause__, StopIteration):
        trace = error.__cause__.__traceback__
        if trace is None or trace.tb_frame.f_code in OPERATOR_CODES:
            return error.__cause__
    return error


@overload
def as_signal(error: Exception | GeneratorExit, /) -> Exception: ...
@overload
def as_signal(error: BaseException, /) -> BaseException: ...
def as_signal(error: BaseException, /) -> BaseException:
    """What is signalled for ``error``: the user's own exception where there is one."""
    error = unwrap_stop(error)
    return exit_as_error(error) if isinstance(error, GeneratorExit) else error


def exit_as_error(leave: GeneratorExit, /) -> RuntimeError:
    """What is signalled for a GeneratorExit that a user's function raised; its notes go with it."""
    error = RuntimeError("a function in the pipeline raised GeneratorExit, which only generators may do")
    error.__cause__ = leave
    for note in getattr(leave, "__notes__", ()):
        error.add_note(note)
    return error


def note_way(error: BaseException, origin: object, /) -> None:
    """Note on ``error`` that it came through the operator at the end of the pipeline ``origin``.

    An error that comes from far down, or is kept and signalled again and again, has the innermost notes only.
    """
    if len(getattr(error, "__notes__", ())) >= MOST_NOTES:
        return
    try:
        written = getattr(origin, "_written", "")
        note = f"through {written}{' of ' if written else ''}{origin!r}"
    except Exception:  # of a user's __repr__: the stream is to end with its own error
        return
    add_note(error, note)


def add_note(error: BaseException, note: str, /) -> None:
    """``error.add_note(note)``, unless it has it: an exception that is raised again passes the same operator again."""
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
