"""The faces of the streams, by families of operators."""

from rx_ops._faces._create import GenerateEmitter
from rx_ops._faces._flowable import Flowable, GroupedFlowable
from rx_ops._faces._generated_observable import GroupedObservable, Observable

__all__ = ["Flowable", "GenerateEmitter", "GroupedFlowable", "GroupedObservable", "Observable"]
