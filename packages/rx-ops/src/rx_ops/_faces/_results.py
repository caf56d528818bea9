"""The types of streams, for the families of operators that are parts of them.

``Flowable`` is put together from its families, ``count`` of a Flowable makes a Single, and ``to_flowable`` of a Single makes a
Flowable: no order of the modules lets each import what it makes. So the families import this module, which none of ours has
to be loaded before. A type checker finds the types in it; at run time :func:`put` puts them here when they are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rx_core._advice import FACES

if TYPE_CHECKING:
    from rx_ops._faces._connectable import ConnectableFlowable
    from rx_ops._faces._flowable import Flowable, GroupedFlowable
    from rx_ops._faces._generated_completable import Completable
    from rx_ops._faces._generated_maybe import Maybe
    from rx_ops._faces._generated_observable import ConnectableObservable, GroupedObservable, Observable
    from rx_ops._faces._generated_single import Single
    from rx_ops._faces._rails import ParallelFlowable


_ORDER: Final = ("Flowable", "Observable", "Single", "Maybe", "Completable")


def put(*types: type) -> None:
    """Make these types known to the families, and to the texts of errors."""
    globals().update({each.__name__: each for each in types})
    FACES.extend(types)
    FACES.sort(key=lambda kind: _ORDER.index(kind.__name__) if kind.__name__ in _ORDER else len(_ORDER))


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
    "put",
]
