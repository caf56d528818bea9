"""Several streams one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_core import FlowableBase, Publisher
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class FlowableConcat(FlowableCore[T_co]):
    """Several streams one after the other."""

    __slots__ = ()

    @classmethod
    def concat(cls, *sources: Publisher[T], delay_error: bool = False) -> Flowable[T]:
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

    def concat_with(self: FlowableBase[T], other: Publisher[T]) -> Flowable[T]:
        """This stream, then ``other``.

        ::  --1-2|  --3-4|  -->  --1-2--3-4|

        Demand:  what is left goes on to ``other``.   Errors: end the stream.
        Memory:  none.   Thread: that of the running source.   Fusion: as :meth:`concat`.
        Source:  RxJava ``concatWith``.
        """
        check_source("concat_with", other)
        return self.concat(self, other)  # type: ignore[attr-defined,no-any-return]  # self names the base

    def start_with(self: FlowableBase[T], *items: T) -> Flowable[T]:
        """``items`` first, then this stream.

        ::  --1--2|  -->  a-1--2|

        Demand:  what is left goes on to this stream.   Errors: pass through.
        Memory:  the items.   Thread: the one that requests, then this stream's.   Fusion: as :meth:`concat`.
        Source:  RxJava ``startWithArray``.
        """
        return self.concat(self.of(*items), self)  # type: ignore[attr-defined,no-any-return]  # self names the base
