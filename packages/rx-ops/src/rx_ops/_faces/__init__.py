"""The faces of the streams, by families of operators.

A program has the types that it uses: each is imported when it is looked up for the first time, see ``_results``.
"""

from typing import TYPE_CHECKING, Any

from rx_ops._emitters import GenerateEmitter
from rx_ops._faces import _results

if TYPE_CHECKING:
    from rx_ops._faces._results import (
        Completable,
        ConnectableFlowable,
        ConnectableObservable,
        Flowable,
        GroupedFlowable,
        GroupedObservable,
        Maybe,
        Observable,
        ParallelFlowable,
        Single,
    )

__all__ = [
    "Completable",
    "ConnectableFlowable",
    "ConnectableObservable",
    "Flowable",
    "GenerateEmitter",
    "GroupedFlowable",
    "GroupedObservable",
    "Maybe",
    "Observable",
    "ParallelFlowable",
    "Single",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(_results, name)
        return found
