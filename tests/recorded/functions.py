"""The functions that recorded pipelines call, each named by the expression it computes, and the faults injected into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from tests.recorded.cases import Spec
from tests.recorded.signals import AppError, as_number

MODULUS: Final = 1_000_003


def remainder(number: int) -> int:
    """The remainder as Java computes it, with the sign of ``number``: no sum may grow without bound."""
    return number % MODULUS if number >= 0 else -(-number % MODULUS)


UNARY: Final[dict[str, Callable[[int], int]]] = {
    "x": lambda x: x,
    "x+1": lambda x: x + 1,
    "x*2": lambda x: remainder(x * 2),
    "-x": lambda x: -x,
    "x%2": lambda x: x % 2,
    "x%3": lambda x: x % 3,
    "x/2": lambda x: x // 2,
    "7": lambda x: 7,
}

PREDICATES: Final[dict[str, Callable[[int], bool]]] = {
    "x%2==0": lambda x: x % 2 == 0,
    "x%3==0": lambda x: x % 3 == 0,
    "x%3!=1": lambda x: x % 3 != 1,
    "x<4": lambda x: x < 4,
    "x>2": lambda x: x > 2,
    "x==3": lambda x: x == 3,
    "true": lambda x: True,
    "false": lambda x: False,
}

BINARY: Final[dict[str, Callable[[int, int], int]]] = {
    "a+b": lambda a, b: remainder(a + b),
    "a*2+b": lambda a, b: remainder(a * 2 + b),
    "a-b": lambda a, b: a - b,
    "a": lambda a, b: a,
    "b": lambda a, b: b,
    "max": max,
}


class Fault:
    """When a function does not do what it is for.

    ``"t"``: the item for which it raises; ``"c"``: the number of the call in which it raises; ``"z"``: the item for which it
    gives None. Calls are counted over all subscriptions of a stream, so a retried stream may get over its fault.
    """

    def __init__(self, spec: Spec) -> None:
        self.raises_for: int | None = spec.get("t")
        self.raises_in_call: int | None = spec.get("c")
        self.none_for: int | None = spec.get("z")
        self.calls = 0

    def strikes(self, item: int | None = None) -> bool:
        """Count a call with ``item``, or without any, and raise where that is due; return whether None is to be given."""
        self.calls += 1
        if item is not None and item == self.raises_for:
            raise AppError(f"t{item}")
        if self.calls == self.raises_in_call:
            raise AppError(f"c{self.calls}")
        return item is not None and item == self.none_for


def function(spec: Spec) -> Callable[[Any], int | None]:
    body, fault = UNARY[spec["f"]], Fault(spec)

    def apply(item: Any) -> int | None:
        number = as_number(item)
        return None if fault.strikes(number) else body(number)

    return apply


def predicate(spec: Spec) -> Callable[[Any], bool]:
    body, fault = PREDICATES[spec["f"]], Fault(spec)

    def test(item: Any) -> bool:
        number = as_number(item)
        fault.strikes(number)
        return body(number)

    return test


def reducer(spec: Spec) -> Callable[[Any, Any], Any]:
    """A function of two, as ``scan`` and ``zip_with`` take it; a fault is about the second."""
    fault = Fault(spec)

    def combine(first: Any, second: Any) -> Any:
        a, b = as_number(first), as_number(second)
        if fault.strikes(b):
            return None
        return [first, second] if spec["f"] == "pair" else BINARY[spec["f"]](a, b)

    return combine


def combiner(spec: Spec) -> Callable[..., Any]:
    """A function of any number of items, as ``zip`` takes it; a fault is about their sum."""
    fault = Fault(spec)

    def combine(*items: Any) -> Any:
        total = sum(map(as_number, items))
        if fault.strikes(total):
            return None
        return list(items) if spec["f"] == "pair" else total

    return combine


def action(spec: Spec) -> Callable[..., None]:
    """An action that does nothing but fail in one of its calls."""
    fault = Fault(spec)

    def act(*_given: object) -> None:
        fault.strikes()

    return act


def consumer(spec: Spec) -> Callable[[Any], None]:
    """A function that is called with an item, or with an error, and does nothing but fail where it is told to."""
    fault = Fault(spec)

    def consume(given: Any) -> None:
        fault.strikes(None if isinstance(given, Exception) else as_number(given))

    return consume


def number(described: Any, item: Any) -> int:
    """A number of a spec: given plainly, or computed from the ``item`` for which a source is made (``$``, ``$%3``, ``$*97``)."""
    if isinstance(described, int):
        return described
    value = as_number(item)
    match described[:2], described[2:]:
        case "$", "":
            return value
        case "$%", modulus:
            return value % int(modulus)
        case "$*", factor:
            return abs(value) * int(factor)
    raise ValueError(f"not a number of a recorded pipeline: {described!r}")


class FailingIterable:
    """An iterable that raises in place of the item number ``at``, or behind the last item."""

    def __init__(self, items: Sequence[int], at: int) -> None:
        self.items, self.at = items, at

    def __iter__(self) -> Iterator[int]:
        for place, item in enumerate(self.items):
            if place == self.at:
                raise AppError(f"it{self.at}")
            yield item
        if self.at == len(self.items):
            raise AppError(f"it{self.at}")
