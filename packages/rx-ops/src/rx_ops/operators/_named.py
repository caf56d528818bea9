"""A mark that says on an error which way it came."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rx_core import add_note
from rx_core.build_places import place_outside
from rx_core.streams import Transparent
from rx_fusion import op

if TYPE_CHECKING:
    from rx_core import Publisher, Subscriber

T = TypeVar("T")


def checkpoint_note(description: str | None) -> str:
    """The note, with the line that is being run. TypeError at assembly for what is no text."""
    if description is not None and not isinstance(description, str):
        raise TypeError(f"checkpoint() expected a text, got {description!r}.\n  Right:  .checkpoint('behind the parser')")
    place = place_outside()
    said = "" if description is None else repr(description)
    return f"passed checkpoint({said})" + ("" if place is None else f" at {place[0]}:{place[1]}")


@op("checkpoint")
class Checkpoint(Transparent[T]):
    """Adds ``note`` to an error that passes."""

    __slots__ = ("note",)

    def __init__(self, down: Subscriber[T], source: Publisher[T], note: str) -> None:
        super().__init__(down, source)
        self.note = note

    def on_error(self, error: Exception, /) -> None:
        if not self.done:
            add_note(error, self.note)
        super().on_error(error)
