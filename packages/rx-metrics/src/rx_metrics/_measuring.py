"""Which streams are measured: those that ``named`` gives a name, where they are assembled while this is switched on."""

from __future__ import annotations

import threading
from typing import Any, Final

from rx_core import MaybeBase, SingleBase, hookimpl, manager
from rx_fusion import Pipeline
from rx_metrics._meter import Ended, Meter, StreamMetrics
from rx_metrics._operators import Measured, counted
from rx_ops import stages

_meters: Final[dict[str, Meter]] = {}
#: Who is told of each run that ends. Appended to only.
told_of_ends: Final[list[Ended]] = []
_changing: Final = threading.Lock()


class Measuring:
    """The plugin that is registered between start and stop."""

    @hookimpl
    def rx_on_assembly(self, pipeline: object) -> object:
        if not isinstance(pipeline, Pipeline):
            return None
        assembled: Any = pipeline  # of any face: all have what follows
        last = assembled._shape.stages[-1:]
        if not last or last[0].function is not stages.named:
            return None
        meter = meter_of(assembled._args[-1])
        of_one = isinstance(pipeline, (SingleBase, MaybeBase))
        return assembled._then(counted, meter)._coordinate(Measured, meter, of_one, shown="measured()")


_MEASURING: Final = Measuring()
_started = False


def start() -> None:
    """Measure the streams that are assembled from now on and have a name. Again is the same as once."""
    global _started
    with _changing:
        if not _started:
            manager().register(_MEASURING, "rx-metrics")
            _started = True


def stop() -> None:
    """Measure no stream that is assembled from now on. Those that are measured go on, and what was read stays."""
    global _started
    with _changing:
        if _started:
            manager().unregister(_MEASURING)
            _started = False


def meter_of(name: str) -> Meter:
    meter = _meters.get(name)
    if meter is None:
        with _changing:
            meter = _meters.setdefault(name, Meter(name, told_of_ends))
    return meter


def meters() -> list[Meter]:
    return sorted(_meters.copy().values(), key=lambda meter: meter.name)


def metrics() -> dict[str, StreamMetrics]:
    """What was measured until now, by name. Costs some microseconds for each name and nothing else."""
    return {meter.name: meter.read() for meter in meters()}


def queued() -> dict[str, int]:
    """Items that wait in the queues of live runs, by the name nearest to the subscriber. It looks for them as ``rx_core.runs``
    does, which takes some 100 ms in a process with a million objects: for a gauge that is read now and then."""
    from rx_core import runs

    found = dict.fromkeys(_meters, 0)
    for run in runs():
        if run.name in found:
            found[run.name] += sum(part.queued for part in run.parts)
    return found
