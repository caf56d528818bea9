"""Live runs: the subscriptions under way in this process, what each of them waits for, and how far it has come.

``runs()`` needs no preparation: it looks for the operators at work among the objects of the process, so nothing is paid before it
is asked. Inside :func:`watch`, or with ``RX_WATCH=on`` in the environment, subscriptions are also counted: age, thread, the line
that subscribed, items and demand at each boundary.
"""

from __future__ import annotations

from rx_core.live._counted import Counts, counts_of, watch
from rx_core.live._runs import LivePart, LiveRun, runs
from rx_core.live._shown import dump_runs_on, print_runs

__all__ = ["Counts", "LivePart", "LiveRun", "counts_of", "dump_runs_on", "print_runs", "runs", "watch"]
