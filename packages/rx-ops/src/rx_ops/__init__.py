"""The fluent streams: five reactive types with their sources and operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rx_fusion import StageError, stage
from rx_fusion.symbols import SymbolError, call, it, sym
from rx_ops import _rules as _rules
from rx_ops import aggregates
from rx_ops._breaker import CircuitBreaker, CircuitOpenError, CircuitState
from rx_ops._budget import RetryBudget
from rx_ops._emitters import HandleEmitter
from rx_ops._faces import Flowable
from rx_ops._notification import Notification, OnComplete, OnError, OnNext
from rx_ops._recent_keys import RecentKeys
from rx_ops._row import Row, row_class, row_dict, row_maker
from rx_ops._version import __version__

if TYPE_CHECKING:
    from rx_ops._faces import (
        Completable,
        ConnectableFlowable,
        ConnectableObservable,
        GenerateEmitter,
        GroupedFlowable,
        GroupedObservable,
        Maybe,
        Observable,
        ParallelFlowable,
        Single,
    )
    from rx_ops.operators import (
        BackpressureStrategy,
        BatchEmitter,
        CompletableEmitter,
        Emitter,
        MaybeEmitter,
        OverflowStrategy,
        SingleEmitter,
        Timed,
    )
    from rx_ops.processors import (
        AsyncProcessor,
        AsyncSubject,
        BehaviorProcessor,
        BehaviorSubject,
        FlowableProcessor,
        PublishProcessor,
        PublishSubject,
        ReplayProcessor,
        ReplaySubject,
        Subject,
        UnicastProcessor,
        UnicastSubject,
    )

__all__ = [
    "AsyncProcessor",
    "AsyncSubject",
    "BackpressureStrategy",
    "BatchEmitter",
    "BehaviorProcessor",
    "BehaviorSubject",
    "CircuitBreaker",
    "CircuitOpenError",
    "CircuitState",
    "Completable",
    "CompletableEmitter",
    "ConnectableFlowable",
    "ConnectableObservable",
    "Emitter",
    "Flowable",
    "FlowableProcessor",
    "GenerateEmitter",
    "GroupedFlowable",
    "GroupedObservable",
    "HandleEmitter",
    "Maybe",
    "MaybeEmitter",
    "Notification",
    "Observable",
    "OnComplete",
    "OnError",
    "OnNext",
    "OverflowStrategy",
    "ParallelFlowable",
    "PublishProcessor",
    "PublishSubject",
    "RecentKeys",
    "ReplayProcessor",
    "ReplaySubject",
    "RetryBudget",
    "Row",
    "Single",
    "SingleEmitter",
    "StageError",
    "Subject",
    "SymbolError",
    "Timed",
    "UnicastProcessor",
    "UnicastSubject",
    "__version__",
    "aggregates",
    "call",
    "it",
    "row_class",
    "row_dict",
    "row_maker",
    "stage",
    "sym",
]


if not TYPE_CHECKING:  # or every misspelt name would have a type

    def __getattr__(name: str) -> Any:
        """The other types of streams, and what feeds them: imported when they are used."""
        if name in __all__:
            from rx_ops import _faces, operators, processors

            for home in (_faces, processors, operators):
                if name in home.__all__:
                    found = globals()[name] = getattr(home, name)
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list({*__all__, *(name for name in globals() if name.startswith("__"))})
