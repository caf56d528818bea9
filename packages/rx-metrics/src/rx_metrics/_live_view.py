"""Live runs as a table that is drawn anew every second, by rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Final

from rx_core import UNBOUNDED, runs
from rx_core.live import LiveRun, watch

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST_ROWS: Final = 30


@contextmanager
def live_view(*, seconds: float = 1.0, console: Console | None = None, counted: bool = True) -> Iterator[None]:
    """Draw every live run inside the block: its name or pipeline, what it waits for, what its queues hold; every ``seconds``.

    ``counted`` adds the age of each run, its items and how many a second, by :func:`rx_core.live.watch`, of what is subscribed
    inside the block: that costs what a program costs without fusion between operators. ``console`` is rich's, by default one on
    standard error; what is drawn there vanishes at the end of the block. Not together with ``progress()`` on one terminal.

    Errors:  ModuleNotFoundError where rich is not installed (``rx-metrics[rich]``); TypeError and ValueError for wrong arguments.
    Memory:  one table.   Thread: rich draws on one of its own, which looks for runs as :func:`rx_core.runs` does.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"live_view(seconds={seconds!r}): a number of seconds is needed, for example live_view(seconds=0.5)")
    if not 0 < seconds < float("inf"):
        raise ValueError(f"live_view(seconds={seconds}): it must be more than 0, for example live_view(seconds=0.5)")
    try:
        from rich.console import Console as RichConsole
        from rich.live import Live
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "live_view() draws with rich, which is not installed.\n  Right:  pip install 'rx-metrics[rich]'", name=missing.name
        ) from missing
    view = _View()
    on = RichConsole(stderr=True) if console is None else console
    with (
        watch() if counted else nullcontext(),
        Live(get_renderable=view.table, console=on, refresh_per_second=1.0 / seconds, transient=True),
    ):
        yield


class _View:
    """What was seen the time before, for rates."""

    def __init__(self) -> None:
        self.seen: dict[object, tuple[float, int]] = {}

    def table(self) -> Table:
        from rich.markup import escape
        from rich.table import Table

        found = runs()
        now = monotonic()
        table = Table(title=f"{len(found):,} live run{'s' * (len(found) != 1)}", expand=True)
        for name, options in (("stream", 3), ("age", 0), ("items", 0), ("per second", 0), ("queued", 0), ("waits", 4)):
            table.add_column(name, ratio=options or None, justify="left" if options else "right")
        seen: dict[object, tuple[float, int]] = {}
        for run in found[:MOST_ROWS]:
            rate = ""
            if run.items is not None:
                key = (run.name, run.pipeline, run.began)
                seen[key] = (now, run.items)
                before = self.seen.get(key)
                if before is not None and now > before[0]:
                    rate = f"{(run.items - before[1]) / (now - before[0]):,.0f}"
            table.add_row(
                escape(run.name or run.pipeline),
                "" if run.age is None else f"{run.age:.1f} s",
                "" if run.items is None else f"{run.items:,}",
                rate,
                _queues(run),
                escape(run.waits),
            )
        if len(found) > MOST_ROWS:
            table.add_row(f"and {len(found) - MOST_ROWS:,} more", *[""] * 5)
        self.seen = seen
        return table


def _queues(run: LiveRun) -> str:
    """What waits in all queues of a run, and how much may where that is bounded."""
    room = sum(part.room for part in run.parts)
    queued = sum(part.queued for part in run.parts)
    return f"{queued:,} of {room:,}" if 0 < room < UNBOUNDED else f"{queued:,}" if queued else ""
