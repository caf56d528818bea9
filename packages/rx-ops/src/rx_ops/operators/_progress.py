"""A count of items that a progress bar shows."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from rx_core import dropped
from rx_core.streams import PassThrough
from rx_fusion import op

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from rx_core import Publisher, Subscriber
    from rx_ops._progress_bars import Line

T = TypeVar("T")

#: How often a display of the user's own is told, in seconds.
PERIOD: Final = 0.1


class ProgressSettings(NamedTuple):
    """What is shown, and where."""

    total: int | None
    description: str
    #: The user's own display; None: that of the process.
    bar: Bar | None


def progress_settings(total: int | None, description: str | None, bar: Any, named: str | None) -> ProgressSettings:
    """Raises for wrong arguments, and where rich is not installed."""
    if total is not None and (type(total) is not int or total < 0):
        raise TypeError(f"progress() expected a number of items, got total={total!r}.\n  Right:  .progress(total=100)")
    if description is not None and not isinstance(description, str):
        raise TypeError(
            f"progress() expected a text, got description={description!r}.\n  Right:  .progress(description='orders')"
        )
    try:
        from rich.progress import Progress as Bar  # an extra, and only for those who use it
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "progress() draws with rich, which is not installed.\n  Right:  pip install 'rx-ops[rich]'", name=missing.name
        ) from missing
    if bar is not None and not isinstance(bar, Bar):
        raise TypeError(
            f"progress() expected a rich.progress.Progress, got bar={bar!r}.\n  Right:  .progress(bar=rich.progress.Progress())"
        )
    return ProgressSettings(total, description or named or "items", bar)


@op("progress")
class Progress(PassThrough[T]):
    """Counts what passes. What the display raises goes to the error hook: the stream is not to fail for it."""

    __slots__ = ("due", "items", "line", "settings")

    settings: ProgressSettings
    items: int
    #: Its line on the display, while it runs.
    line: Line | None
    #: When a display of the user's is told again; that of the process asks by itself.
    due: float

    def __init__(self, down: Subscriber[T], source: Publisher[T], settings: ProgressSettings) -> None:
        super().__init__(down, source)
        self.settings = settings
        self.items = 0
        self.line = None
        self.due = float("inf") if settings.bar is None else 0.0

    def start(self) -> bool:
        from rx_ops._progress_bars import DISPLAY, Line

        total, description, bar = self.settings
        try:
            self.line = DISPLAY.add(self, description, total) if bar is None else Line(bar, self, description, total)
        except Exception as failure:
            dropped(failure, self.origin)
        return super().start()

    def on_next(self, item: T, /) -> None:
        self.items += 1
        if self.due < monotonic() and not self.done:
            self.due = monotonic() + PERIOD
            self.tell()
        super().on_next(item)

    def on_error(self, error: Exception, /) -> None:
        if not self.done:
            self.tell(f"failed: {type(error).__name__}")
        super().on_error(error)

    def on_complete(self) -> None:
        if not self.done:
            self.tell("")
        super().on_complete()

    def cancel(self) -> None:
        if not self.done:
            self.tell("cancelled")
        super().cancel()

    def tell(self, ended: str | None = None) -> None:
        """Show the number of items; ``ended`` says how the run did, "" for completed."""
        from rx_ops._progress_bars import DISPLAY

        line = self.line
        if line is None:
            return
        try:
            if ended is None:
                line.show()
                return
            self.line = None
            if self.settings.bar is None:
                DISPLAY.end(line, ended)
            else:
                line.end(ended)
        except Exception as failure:
            dropped(failure, self.origin)
