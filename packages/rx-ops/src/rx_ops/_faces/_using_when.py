"""A resource that a source gives, and that a source takes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rx_core import CompletableBase, MaybeBase, Publisher, SingleBase, name_of
from rx_fusion import OperatorHead
from rx_ops import operators
from rx_ops._faces._core import FlowableCore, check_callable, check_source

if TYPE_CHECKING:
    from rx_ops._faces._results import Flowable

T = TypeVar("T")
R = TypeVar("R")
T_co = TypeVar("T_co", covariant=True)


class FlowableUsingWhen(FlowableCore[T_co]):
    """A resource that a source gives, and that a source takes back."""

    __slots__ = ()

    @classmethod
    def using_when(
        cls,
        resource: Publisher[R] | SingleBase[R] | MaybeBase[R],
        use: Callable[[R], Publisher[T]],
        on_complete: Callable[[R], Publisher[object] | SingleBase[object] | MaybeBase[object] | CompletableBase],
        *,
        on_error: Callable[[R, Exception], Publisher[object] | SingleBase[object] | MaybeBase[object] | CompletableBase]
        | None = None,
        on_cancel: Callable[[R], Publisher[object] | SingleBase[object] | MaybeBase[object] | CompletableBase] | None = None,
    ) -> Flowable[T]:
        """The stream that ``use`` makes of the first item of ``resource``, and behind it an asynchronous cleanup that is awaited.

        For a connection that opens, commits, rolls back and closes without blocking. The cleanup is a source: ``on_complete``
        makes it when the stream is complete, ``on_error`` when it failed, ``on_cancel`` when downstream has left; the last two
        are ``on_complete`` unless given. It is made and subscribed exactly once for each resource, its items are left out, and
        nothing cancels it. The end of the stream is signalled when the cleanup has ended. An empty ``resource`` is an empty
        stream, without a cleanup; a second item of it is not asked for.

        ::  --1--2|  -->  --1--2----|      (the cleanup takes four)

        Demand:  one item of ``resource``, and all of a cleanup; what is wanted goes to the stream.
        Errors:  of ``resource`` and of the stream; what ``use`` raises, TypeError when it returns no source, behind ``on_error``.
                 Of a cleanup, in place of the completion, and with the stream's error both as a CompositeException; after a
                 cancel it goes to the error hook, and so does a stream's error whose cleanup a cancel did not wait for.
        Memory:  the resource.
        Thread:  ``use`` on that of the resource, a cleanup on that of the end or of the cancel, the end on that of the cleanup.
        Fusion:  coordinating; items go on without a queue.
        Source:  Reactor ``usingWhen``. Cleanup without waiting: :meth:`using`.
        """
        check_source("using_when", resource, "resource")
        check_callable("using_when", "use", use)
        check_callable("using_when", "on_complete", on_complete)
        return cls._from(using_when_head(resource, use, on_complete, on_error, on_cancel))


def using_when_head(
    resource: Any, use: Any, on_complete: Any, on_error: Any, on_cancel: Any, *, of_one: bool = False
) -> OperatorHead:
    """The head of ``using_when``, for all reactive types."""
    for name, function in (("on_error", on_error), ("on_cancel", on_cancel)):
        if function is not None:
            check_callable("using_when", name, function)
    shown = f"using_when({name_of(use)}, {name_of(on_complete)})"
    return OperatorHead(operators.UsingWhen, (resource,), (use, on_complete, on_error, on_cancel, of_one), shown=shown)
