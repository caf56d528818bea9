"""To the other reactive types."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore

if TYPE_CHECKING:
    from rx_ops._faces._results import Completable, Observable

T_co = TypeVar("T_co", covariant=True)


class FlowableConvert(FlowableCore[T_co]):
    """To the other reactive types."""

    __slots__ = ()

    def ignore_elements(self) -> Completable:
        """Only the end.

        ::  --1--2--3|  -->  --------|

        Demand:  everything.   Errors: pass through.
        Memory:  none.   Thread: the one that subscribes.   Fusion: the stages before it.
        Source:  RxJava ``ignoreElements``.
        """
        return self._as(_results.Completable)

    def to_observable(self) -> Observable[T_co]:
        """The same items for observers, which cannot ask: everything is requested.

        ::  --1--2--3|  -->  --1--2--3|

        Demand:  everything.   Errors: pass through.
        Memory:  none.   Thread: unchanged; what ran on the one that requests runs on the one that subscribes.
        Fusion:  none needed: it is the same description, and all stages stay one loop.
        Source:  RxJava ``toObservable``.
        """
        return self._as(_results.Observable)
