"""Operators from other distributions: found by entry point, loaded when first used.

Group ``rx.operators``, one entry per operator: ``"Flowable.pairs" = "rx_pairs._impl:pairs"``. The function takes the
stream first.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from rx_core import OperatorNotFoundError

GROUP: Final = "rx.operators"


@cache
def entries() -> dict[str, Any]:
    """All operators that installed distributions offer: ``"Flowable.pairs"`` -> its entry point."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def bind_operator(stream: object, name: str) -> Callable[..., Any]:
    """The plugin's operator called ``name``, bound to ``stream``.

    Raises OperatorNotFoundError (an AttributeError) with the closest names; an operator whose module fails to import raises with
    the distribution's name.
    """
    for kind in type(stream).__mro__:
        entry = entries().get(f"{kind.__name__}.{name}")
        if entry is None:
            continue
        try:
            function = entry.load()
        except Exception as error:
            owner = entry.dist.name if entry.dist is not None else "an unknown distribution"
            raise OperatorNotFoundError(
                f"{kind.__name__}.{name}() is offered by {owner} ({entry.value}), which cannot be imported: {error!r}\n"
                f"  Update or remove it:  pip install -U {owner}"
            ) from error
        return partial(function, stream)
    raise OperatorNotFoundError(_unknown(stream, name), name=name, obj=stream)


def _unknown(stream: object, name: str) -> str:
    kind = type(stream).__name__
    own = [each for each in dir(type(stream)) if not each.startswith("_")]
    plugged = [each.rpartition(".")[2] for each in entries()]
    close = difflib.get_close_matches(name, [*own, *plugged], n=3)
    hint = f"  Did you mean:  {', '.join('.' + each for each in close)}\n" if close else ""
    return (
        f"{kind} has no operator {name!r}.\n{hint}"
        f"  Your own function in a chain:  .pipe({name}, ...)\n"
        f"  Operators of installed plugins:  python -m rx_core plugins"
    )
