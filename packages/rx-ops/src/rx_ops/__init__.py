"""The fluent streams: five reactive types with their sources and operators."""

from __future__ import annotations

from rx_fusion import StageError, stage
from rx_ops._faces import Flowable, GenerateEmitter, GroupedFlowable, GroupedObservable, Observable
from rx_ops._single import Completable, Maybe, Single
from rx_ops._version import __version__
from rx_ops.coordination import BackpressureStrategy, Emitter, OverflowStrategy

__all__ = [
    "BackpressureStrategy",
    "Completable",
    "Emitter",
    "Flowable",
    "GenerateEmitter",
    "GroupedFlowable",
    "GroupedObservable",
    "Maybe",
    "Observable",
    "OverflowStrategy",
    "Single",
    "StageError",
    "__version__",
    "stage",
]
