"""The types of streams, for the families of operators that are parts of them.

``Flowable`` is put together from its families, ``count`` of a Flowable makes a Single, and ``to_flowable`` of a Single makes a
Flowable: no order of the modules lets each import what it makes. So the families import this module, which none of ours has
to be loaded before. A type checker finds the types in it; at run time each is imported when it is looked up for the first time:
half of what there is to load belongs to types that a program does not use.
"""

from __future__ import annotations

from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from rx_core._advice import FACES

if TYPE_CHECKING:
    from rx_ops._faces._connectable import ConnectableFlowable
    from rx_ops._faces._flowable import Flowable, GroupedFlowable
    from rx_ops._faces._generated_completable import Completable
    from rx_ops._faces._generated_maybe import Maybe
    from rx_ops._faces._generated_observable import ConnectableObservable, GroupedObservable, Observable
    from rx_ops._faces._generated_single import Single
    from rx_ops._faces._rails import ParallelFlowable


#: What is put together from families, each of them a class with operators.
_OF_FAMILIES: Final = ("Flowable", "Observable")
#: Where each is defined. In the order in which the texts of errors look for a method.
_HOMES: Final = {
    "Flowable": "_flowable",
    "Observable": "_generated_observable",
    "Single": "_generated_single",
    "Maybe": "_generated_maybe",
    "Completable": "_generated_completable",
    "ConnectableFlowable": "_connectable",
    "GroupedFlowable": "_flowable",
    "ConnectableObservable": "_generated_observable",
    "GroupedObservable": "_generated_observable",
    "ParallelFlowable": "_rails",
}
_ORDER: Final = list(_HOMES)


def _call_by_its_name(face: type) -> None:
    """Have Python's own errors, and what shows a function, name the type and not the family: ``Flowable.map() missing ...``."""
    for family in face.__mro__:
        if family.__module__.startswith("rx_ops._faces."):
            for each in vars(family).values():
                function = getattr(each, "__func__", each)  # of a classmethod
                if isinstance(function, FunctionType) and function.__qualname__.startswith(f"{family.__name__}."):
                    function.__qualname__ = f"{face.__name__}.{function.__name__}"
                    function.__module__ = "rx_ops"  # where it is found by that name, as pickle does


__all__ = [
    "Completable",
    "ConnectableFlowable",
    "ConnectableObservable",
    "Flowable",
    "GroupedFlowable",
    "GroupedObservable",
    "Maybe",
    "Observable",
    "ParallelFlowable",
    "Single",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"rx_ops._faces.{home}")
        for each in (face for face, place in _HOMES.items() if place == home):
            found = globals()[each] = getattr(module, each)
            if found not in FACES:
                if each in _OF_FAMILIES:
                    _call_by_its_name(found)
                FACES.append(found)
        FACES.sort(key=lambda kind: _ORDER.index(kind.__name__))
        return globals()[name]
