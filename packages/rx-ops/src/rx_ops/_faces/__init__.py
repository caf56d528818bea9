"""The faces of the streams, by families of operators."""

from rx_ops._emitters import GenerateEmitter
from rx_ops._faces._connectable import ConnectableFlowable
from rx_ops._faces._flowable import Flowable, GroupedFlowable
from rx_ops._faces._generated_observable import ConnectableObservable, GroupedObservable, Observable

__all__ = [
    "ConnectableFlowable",
    "ConnectableObservable",
    "Flowable",
    "GenerateEmitter",
    "GroupedFlowable",
    "GroupedObservable",
    "Observable",
]
