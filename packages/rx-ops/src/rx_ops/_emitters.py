"""What a user's function says of one step: at most one item, and whether that is the end."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from rx_core import none_argument, not_an_error

T = TypeVar("T")


class StepEmitter(Generic[T]):
    """At most one item for a call of the function, and perhaps the end behind it."""

    __slots__ = ("done", "error", "item")

    #: What is said of a second item.
    _two_items: ClassVar[str]

    def __init__(self) -> None:
        self.item: Any = None
        self.done = False
        self.error: Exception | None = None

    def on_next(self, item: T, /) -> None:
        """The item to give; once per call of the function."""
        if item is None:
            raise none_argument("emitter.on_next(None)", "item")
        if self.item is not None:
            raise RuntimeError(self._two_items)
        self.item = item

    def on_complete(self) -> None:
        """The stream ends here, behind the item if there is one."""
        self.done = True

    def on_error(self, error: Exception, /) -> None:
        """The stream ends with ``error``, behind the item if there is one. TypeError for what is no Exception."""
        if not isinstance(error, Exception):
            raise not_an_error(error, "emitter.on_error")
        self.done, self.error = True, error


class GenerateEmitter(StepEmitter[T]):
    """What a step of ``generate`` says: at most one item, or the end."""

    __slots__ = ()

    _two_items = "generate(): a step sent two items.\n  Right:  call emitter.on_next once per step"


class HandleEmitter(StepEmitter[T]):
    """What the function of ``handle`` says about an item: at most one item instead of it, and whether the stream ends.

    The end cancels the source.
    """

    __slots__ = ()

    _two_items = "handle(): two items for one.\n  Right:  call emitter.on_next once, or .flat_map_iterable(...)"
