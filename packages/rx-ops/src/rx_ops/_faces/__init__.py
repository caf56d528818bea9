"""The faces of the streams, by families of operators."""

from rx_ops._emitters import GenerateEmitter
from rx_ops._faces._connectable import ConnectableFlowable
from rx_ops._faces._flowable import Flowable, GroupedFlowable
from rx_ops._faces._generated_completable import Completable
from rx_ops._faces._generated_maybe import Maybe
from rx_ops._faces._generated_observable import ConnectableObservable, GroupedObservable, Observable
from rx_ops._faces._generated_single import Single
from rx_ops._faces._rails import ParallelFlowable
from rx_ops._faces._results import put

put(
    Completable,
    ConnectableFlowable,
    ConnectableObservable,
    Flowable,
    GroupedFlowable,
    GroupedObservable,
    Maybe,
    Observable,
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
