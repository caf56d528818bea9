"""Several streams one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from rx_core import Publisher
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces import _results
from rx_ops._faces._core import FlowableCore, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")
T4 = TypeVar("T4")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableConcat(FlowableCore[T_co]):
    """Several streams one after the other."""

    __slots__ = ()

    @overload
    @classmethod
    def concat(cls, s1: Publisher[T1], s2: Publisher[T2], /, *, delay_error: bool = ...) -> Flowable[T1 | T2]: ...
    @overload
    @classmethod
    def concat(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], /, *, delay_error: bool = ...
    ) -> Flowable[T1 | T2 | T3]: ...
    @overload
    @classmethod
    def concat(
        cls, s1: Publisher[T1], s2: Publisher[T2], s3: Publisher[T3], s4: Publisher[T4], /, *, delay_error: bool = ...
    ) -> Flowable[T1 | T2 | T3 | T4]: ...
    @overload
    @classmethod
    def concat(cls, *sources: Publisher[T], delay_error: bool = ...) -> Flowable[T]: ...
    @classmethod
    def concat(cls, *sources: Publisher[Any], delay_error: bool = False) -> Flowable[Any]:
        """One source after the other; the next is subscribed when the one before is complete.

        ::  --1-2|  --3-4|  -->  --1-2--3-4|

        Demand:  what is left goes on to the next source.
        Errors:  end the stream; later sources are not subscribed. With ``delay_error`` all run to their end, and several errors
                 arrive as one CompositeException. TypeError at assembly for something that is no source.
        Memory:  none.   Thread: that of the running source.
        Fusion:  coordinating; passive sources are iterated, without a queue.
        Source:  RxJava ``concat``, ``concatDelayError``; itertools ``chain``.
        """
        for source in sources:
            if type(source) is not cls:  # one of ours, seen at once
                check_source("concat", source)
        if delay_error:
            return cls._from(OperatorHead(operators.Concat, sources, (True,), many=True, shown="concat()"))
        return cls._from(operators.concat_head(operators.in_a_row(cls._face, sources)))

    def concat_with(self, other: Publisher[R]) -> Flowable[T_co | R]:
        """This stream, then ``other``.

        ::  --1-2|  --3-4|  -->  --1-2--3-4|

        Demand:  what is left goes on to ``other``.   Errors: end the stream.
        Memory:  none.   Thread: that of the running source.   Fusion: as :meth:`concat`.
        Source:  RxJava ``concatWith``.
        """
        check_source("concat_with", other)
        return self.concat(self, other)

    def start_with(self, *items: R) -> Flowable[T_co | R]:
        """``items`` first, then this stream.

        ::  --1--2|  -->  a-1--2|

        Demand:  what is left goes on to this stream.   Errors: pass through.
        Memory:  the items.   Thread: the one that requests, then this stream's.   Fusion: as :meth:`concat`.
        Source:  RxJava ``startWithArray``.
        """
        return self.concat(_results.Flowable.of(*items), self)
