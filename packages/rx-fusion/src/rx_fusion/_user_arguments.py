"""The arguments that users give to their own stages and operators: as a shape or a head keeps them, all of them by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rx_fusion._operators import operator_of
from rx_fusion._stages import stage_of

if TYPE_CHECKING:
    from inspect import Signature


def stage_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], /) -> tuple[Any, ...]:
    """Those of a stage behind its source. TypeError with the stage's form for others; StageError for a function that is none."""
    known = stage_of(function)
    if not kwargs and len(args) == len(known.parameters):
        return args
    from inspect import signature  # only for arguments by name, and for mistakes

    return _bound(known.name, signature(function), (None, *args), kwargs)[1:]


def operator_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], /) -> tuple[Any, ...]:
    """Those of a coordinating operator behind its first two, the run and the source. TypeError as above."""
    from inspect import signature

    known = operator_of(function)
    return _bound(known.name, signature(function), (None, None, *args), kwargs)[2:]


def _bound(name: str, form: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    try:
        bound = form.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}.\n  Its form:  {name}{form}") from None
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"{name}(): arguments are kept by position, so {', '.join(bound.kwargs)} cannot be keyword-only")
    return bound.args
