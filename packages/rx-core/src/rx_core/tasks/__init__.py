"""What the packages of async libraries share: items for a task, tasks that pull, and how both are left.

It imports no such library.

For who connects another one: subclass :class:`Loop`; ``rx_trio`` and ``rx_asyncio`` are the models.
"""

from rx_core.tasks._actions import AsyncAction, check_action
from rx_core.tasks._arrivals import Arrivals
from rx_core.tasks._endings import Endings, working_here
from rx_core.tasks._foreign_items import results_of, results_of_blocks
from rx_core.tasks._items import NOTHING, Stream, StreamItems, check_one, check_source, single_value
from rx_core.tasks._loop import Crew, Ending, Event, Loop, Scope, Wakeup
from rx_core.tasks._mapping import AsyncMapped, AsyncOperator
from rx_core.tasks._pump import QUANTUM, Iterated, Pump, gone
from rx_core.tasks._schedulers import AGAIN, LoopScheduler, LoopWorker, RunningScheduler
from rx_core.tasks._sources import AsyncSource, TaskSource, check_async_iterable
from rx_core.tasks._subscriptions import TaskSubscription

__all__ = [
    "AGAIN",
    "NOTHING",
    "QUANTUM",
    "Arrivals",
    "AsyncAction",
    "AsyncMapped",
    "AsyncOperator",
    "AsyncSource",
    "Crew",
    "Ending",
    "Endings",
    "Event",
    "Iterated",
    "Loop",
    "LoopScheduler",
    "LoopWorker",
    "Pump",
    "RunningScheduler",
    "Scope",
    "Stream",
    "StreamItems",
    "TaskSource",
    "TaskSubscription",
    "Wakeup",
    "check_action",
    "check_async_iterable",
    "check_one",
    "check_source",
    "gone",
    "results_of",
    "results_of_blocks",
    "single_value",
    "working_here",
]
