"""How the right call of an operator is written in the text of an error: as the operator's own signature has it.

``...`` stands for the other arguments, which stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import inspect

#: The types whose methods are called so, those that are asked first at the beginning. A package with operators adds its own.
FACES: Final[list[type]] = []


def right_call(operator: str, argument: str = "", value: str = "", /, face: str = "") -> str:
    """A call of ``operator`` with ``value`` for one argument, or for its sources; without a value with a function that fits.

    ``face`` is the name of the type that was asked, where it is known.
    """
    import inspect  # only now: importing it takes longer than an error

    found: list[tuple[bool, str]] = []
    for each in sorted(FACES, key=lambda kind: kind.__name__ != face):
        bound = getattr(each, operator, None)
        if bound is None:
            continue
        method = inspect.getattr_static(each, operator)
        before = f"{each.__name__}." if isinstance(method, classmethod) else "."
        parameters = list(inspect.signature(bound).parameters.values())
        if not isinstance(method, (classmethod, staticmethod)):
            parameters = parameters[1:]
        unknown = bool(argument) and argument not in [parameter.name for parameter in parameters]
        found.append((unknown, f"{before}{operator}({', '.join(_arguments(parameters, argument, value))})"))
    found.append((True, f".{operator}({value or _FUNCTION})"))
    return min(found, key=lambda pair: pair[0])[1]  # the first that has the argument


_FUNCTION: Final = "lambda item: ..."


def _arguments(parameters: list[inspect.Parameter], argument: str, value: str) -> Iterator[str]:
    asked = next((each for each in parameters if each.name == argument), None) or _sources(parameters)
    if asked is None:
        yield value or _FUNCTION
        return
    value = value or _function(str(asked.annotation))
    others = [each for each in parameters if each is not asked]
    needed = any(each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in others)
    if asked is parameters[0] and asked.kind in (asked.POSITIONAL_ONLY, asked.POSITIONAL_OR_KEYWORD):
        yield value
        if needed:
            yield "..."
        return
    if others or asked.kind is asked.VAR_POSITIONAL:
        yield "..."
    yield value if asked.kind is asked.VAR_POSITIONAL else f"{asked.name}={value}"


def _sources(parameters: list[inspect.Parameter]) -> inspect.Parameter | None:
    """Where sources go if no name is told: all of them in one parameter, or the first."""
    several = [each for each in parameters if each.kind is each.VAR_POSITIONAL]
    return next(iter(several or parameters), None)


def _function(annotation: str) -> str:
    """A function with as many parameters as the annotation of one says."""
    import re

    found = re.search(r"Callable\[\[([^\]]*)\]", annotation)
    if annotation.startswith("Supplier[") or (found is not None and not found[1]):
        return "lambda: ..."
    if found is None:
        return _FUNCTION
    count = found[1].count(",") + 1
    return _FUNCTION if count == 1 else f"lambda {', '.join('abcdefghi'[:count])}: ..."
