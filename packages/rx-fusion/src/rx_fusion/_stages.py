"""Stages: synchronous operators, each defined by one generator function.

::

    @stage
    def filter_(source: Iterable[T], predicate: Callable[[T], object]) -> Iterator[T]:
        for item in source:
            if predicate(item):
                yield item

The function is the operator's only definition: it runs alone, it is its own oracle, and the compiler reads its three parts
(what comes before the loop, the loop's body, what comes after) to write it into one loop with its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Final, ParamSpec, TypeVar, cast, overload

from rx_core import OPERATOR_CODES, close
from rx_fusion._code_flags import GENERATOR, VARARGS, VARKEYWORDS
from rx_fusion._stage import RequestRule, Stage, StageError, StageFunction, refused

P = ParamSpec("P")
R = TypeVar("R")

#: What is registered: read, or what reads it.
_STAGES: Final[dict[StageFunction, Stage | Callable[[], Stage]]] = {}
_BY_CODE: Final[dict[CodeType, StageFunction]] = {}
#: See :func:`closes_inner`.
_CLOSING: Final[dict[StageFunction, StageFunction]] = {}


@overload
def stage(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def stage(
    *,
    name: str | None = None,
    request: RequestRule | None = None,
    guard: bool = False,
    later: bool = False,
    keeps: tuple[str, ...] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def stage(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    request: RequestRule | None = None,
    guard: bool = False,
    later: bool = False,
    keeps: tuple[str, ...] | None = None,
) -> Callable[P, R] | Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a generator function ``(source, *arguments)`` as a synchronous operator and return it unchanged.

    ``request(*arguments)`` makes, for each subscription, a function from downstream's request to upstream's, where it is not the
    same number (``buffer`` asks for ``n * count``); it matters only in front of a publisher that is not ours. ``name`` is what
    messages and plans call it (default: the function's name). A ``guard`` checks what the stage before it gives: it stays with
    that stage where operators run apart. ``later`` leaves reading the source text to the first use, so that importing many stages
    costs nothing: for a package whose tests use each of them, because a function of another form is refused only then.

    ``keeps`` is for ``do_on_discard``: the variables, each a list or a deque, that hold items which have not gone on. These are
    thrown away when the stream is left. ``()`` says that every item has gone on, or into what is given. It need not be said of a
    stage that gives the item that came or none, or that keeps nothing.

    Raises StageError when the function is not of the form the compiler reads. Where the source text is not available the
    function is taken as it is and runs as it is.
    """
    if function is None:
        return lambda decorated: _register(decorated, name, request, guard, later, keeps)
    return _register(function, name, request, guard, later, keeps)


def _register(
    function: Callable[P, R],
    called: str | None,
    request: RequestRule | None,
    guard: bool,
    later: bool,
    keeps: tuple[str, ...] | None,
) -> Callable[P, R]:
    plain = cast("FunctionType", function)
    if not isinstance(function, FunctionType) or not plain.__code__.co_flags & GENERATOR:
        raise StageError(
            f"@stage needs a generator function, got {function!r}.\n"
            f"  Write:  @stage\n          def name(source, argument):\n              for item in source:\n"
            f"                  yield item"
        )
    code = plain.__code__
    name = plain.__name__.rstrip("_") if called is None else called
    names = code.co_varnames[: code.co_argcount]
    if not names or code.co_kwonlyargcount or code.co_flags & (VARARGS | VARKEYWORDS):
        raise refused(plain, None, "takes the source first and then plain positional arguments")
    registered = cast("StageFunction", function)

    def read() -> Stage:
        from rx_fusion._reading import read_stage  # brings ast: only who compiles needs it

        return read_stage(plain, name, names[1:], request, guard, keeps)

    _STAGES[registered] = read if later else read()
    _BY_CODE[code] = registered
    OPERATOR_CODES.add(code)
    return function


def closes_inner(function: StageFunction, stacked: StageFunction, /) -> None:
    """What the loops inside of this stage iterate is closed when the stage is left before it is exhausted.

    A stage has no ``try``, which could not be written into another function's loop. Compiled, the function around the stages does
    it; ``stacked`` is the same generator function with a ``try``, for where they run as they are. See :func:`close_left`.
    """
    _CLOSING[function] = stacked
    code = cast("FunctionType", stacked).__code__
    _BY_CODE[code] = function
    OPERATOR_CODES.add(code)


def closing_of(function: StageFunction, /) -> StageFunction | None:
    """What closes its inner iterators in place of ``function``, where that does not; None: it does, or has none to close."""
    return _CLOSING.get(function)


def close_left(items: object, /) -> None:
    """Close what a loop has iterated that was left; None: it was not.

    ``items`` is what the loop was given, because to call ``iter`` for it costs a stream of short lists a tenth. So an iterable
    that makes another object its iterator is let go: a generator is closed then, what else has a ``close`` is not.
    """
    if hasattr(items, "__next__"):
        close(items)


def stage_of(function: StageFunction, /) -> Stage:
    """What is known of a registered stage function. Raises StageError for one that was not registered."""
    found = _STAGES.get(function)
    if found is None:
        raise StageError(f"{function!r} is not a stage.\n  Write:  @stage above its definition")
    if not isinstance(found, Stage):
        found = _STAGES[function] = found()  # two threads read the same text: it does not matter whose stays
    return found


def is_stage(function: object, /) -> bool:
    """Whether this is a registered stage function. Its text is not read to find out."""
    return function in _STAGES


def stage_by_code(code: CodeType, /) -> Stage | None:
    """The stage whose function has this code object, for reading tracebacks."""
    function = _BY_CODE.get(code)
    return None if function is None else stage_of(function)
