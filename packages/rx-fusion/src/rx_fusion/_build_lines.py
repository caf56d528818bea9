"""Which line added which stage, while that is remembered; see rx_core.build_places.

A run has a head, a shape and arguments, and nothing else of the pipeline needs to live. So the lines travel with the arguments:
as a tuple that has them as well, which runs, rules and pickles take for the tuple it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from rx_core.build_places import Place, place_outside, remember_place
from rx_core.streams import Stream

if TYPE_CHECKING:
    from rx_fusion._described import Assembled

#: Where an operator keeps a user's function: in its head, in what that iterates or subscribes to, or in what this calls.
_DEEP: Final = 3


class Built(NamedTuple):
    """One step: how many arguments come before its own, its name (a stage may have none), and where it was added."""

    at: int
    name: str
    place: Place


class BuiltArgs(tuple[Any, ...]):
    """The flat arguments of stages, and where these were added. Code that joins or parts arguments does so with these."""

    steps: tuple[Built, ...]

    def __add__(self, other: tuple[Any, ...], /) -> BuiltArgs:
        joined = super().__add__(other)
        return built_args(joined, (*self.steps, *_shifted(other, len(self))) if type(other) is BuiltArgs else self.steps)

    def __radd__(self, other: tuple[Any, ...], /) -> BuiltArgs:
        return built_args((*other, *self), _shifted(self, len(other)))

    def __getitem__(self, key: Any, /) -> Any:
        found = super().__getitem__(key)
        if not isinstance(key, slice):
            return found
        start, stop, _ = key.indices(len(self))
        # a step without arguments at the edge goes with both sides: names tell which one is asked for
        return built_args(found, tuple([step._replace(at=step.at - start) for step in self.steps if start <= step.at <= stop]))


def built_args(args: tuple[Any, ...], steps: tuple[Built, ...]) -> BuiltArgs:
    made = BuiltArgs(args)
    made.steps = steps
    return made


def _shifted(args: tuple[Any, ...], by: int) -> tuple[Built, ...]:
    return tuple([step._replace(at=step.at + by) for step in args.steps]) if type(args) is BuiltArgs else ()


def place_of(args: Sequence[Any], at: int, name: str) -> Place | None:
    """Where the stage of this name was added whose arguments begin at ``at``, if it is known."""
    if type(args) is not BuiltArgs:
        return None
    return next((step.place for step in args.steps if step.at == at and step.name == name), None)


def remember(made: Assembled) -> None:
    """``made`` has just been made, of a head or of another pipeline and one more stage."""
    place = place_outside()
    if place is None:
        return
    shape, args = made._shape, made._args
    if shape:
        stage = shape.stages[-1]
        step = Built(len(args) - len(stage.parameters), stage.name, place)
        made._args = built_args(args, (*args.steps, step) if type(args) is BuiltArgs else (step,))
    else:
        for function in _functions(made._head, _DEEP):
            remember_place(function, made._head.name, place)


def _functions(holder: object, depth: int) -> Iterator[object]:
    """The functions that a head, or what it iterates, got from a user."""
    for value in _values(holder):
        for each in cast("Sequence[object]", value) if type(value) is tuple else (value,):
            if isinstance(each, (type, partial)) or not type(each).__module__.startswith("rx_"):
                if callable(each):  # symbols are partials
                    yield each
            elif depth > 1 and not isinstance(each, Stream):  # another pipeline, which has lines of its own
                yield from _functions(each, depth - 1)


def _values(holder: object) -> Iterator[object]:
    kind = type(holder)
    names = _names.get(kind)
    if names is None:
        slots = [each.__dict__.get("__slots__", ()) for each in kind.__mro__]
        found = [name for each in slots for name in ((each,) if isinstance(each, str) else each)]
        names = _names[kind] = tuple([name for name in found if not name.startswith("__") and name not in _OTHERS])
    for name in names:
        value = getattr(holder, name, None)
        if name != "_items" or type(value) is not tuple:  # a million items may be functions, too
            yield value
    yield from getattr(holder, "__dict__", {}).values()


#: What a head holds besides what a user gave.
_OTHERS: Final = frozenset(("upstream", "operator", "options", "scheduler", "window", "feed", "name"))
#: The slots of each kind of holder.
_names: Final[dict[type, tuple[str, ...]]] = {}
