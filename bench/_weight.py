"""What a stream weighs before it does anything: memory, import time, and what compiling costs."""

from __future__ import annotations

import atexit
import gc
import os
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points
from shutil import rmtree
from statistics import median
from tempfile import mkdtemp
from time import process_time
from typing import Any, Final

from bench._common import add_one, always, double, installed, is_odd, operators, reactivex
from bench._measure import Case, Way, absent, below
from rx_core import UNBOUNDED, Subscription
from rx_fusion import ROOT, Feed, Form, Shape
from rx_ops import Flowable, PublishProcessor

#: The stages that the start-up cases are made of, one after the other.
_STAGES: Final = 8
#: Of so many whole processes the one in the middle counts.
PROCESSES = 3


def weight_cases(size: int) -> Iterator[Case]:
    yield _idle(max(min(size // 400, 1_000), 10))
    yield _import_time()
    yield _first_run()
    for stages in (1, 2, 4, _STAGES):
        yield _start_up(stages)


# -- memory ----------------------------------------------------------------------------------------------------------------


class _Idle:
    """A subscriber that keeps its subscription and asks for ``first`` items."""

    __slots__ = ("_first", "subscription")

    def __init__(self, first: int) -> None:
        self._first = first

    def on_subscribe(self, subscription: Subscription, /) -> None:
        self.subscription = subscription
        if self._first:
            subscription.request(self._first)

    def on_next(self, item: int, /) -> None:
        pass

    def on_error(self, error: Exception, /) -> None:
        raise error

    def on_complete(self) -> None:
        pass


def _ten(flow: Flowable[int]) -> Flowable[int]:
    for _ in range(3):
        flow = flow.map(add_one).filter(always).map(double)
    return flow.map(add_one)


def _kilobytes(subscribe: Callable[[], object], times: int) -> Callable[[], float]:
    """How much more memory is held for each of so many subscriptions, the subscriber's own included."""

    def measured() -> float:
        kept: list[object] = [subscribe()]  # what is made once, by the first
        kept += [None] * times
        gc.collect()
        running = tracemalloc.is_tracing()
        if not running:
            tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            for at in range(1, times + 1):
                kept[at] = subscribe()
            gc.collect()
            after = tracemalloc.get_traced_memory()[0]
        finally:
            if not running:
                tracemalloc.stop()
        return (after - before) / times / 1024

    return measured


def _idle(times: int) -> Case:
    cold = _ten(Flowable.range(1_000_000))
    processor = PublishProcessor[int]()
    hot = _ten(processor)

    def subscribed(flow: Flowable[int], first: int) -> Callable[[], object]:
        def run() -> object:
            subscriber = _Idle(first)
            flow.subscribe(subscriber)
            return subscriber

        return run

    def theirs() -> Way:
        if reactivex is None:
            return absent("reactivex")
        ten = [operators.map(add_one), operators.filter(always), operators.map(double)] * 3
        stream = (subject := reactivex.Subject()).pipe(*ten, operators.map(add_one))
        assert subject is not None
        return Way(_kilobytes(lambda: stream.subscribe(_ignore), times))

    ways: dict[str, Any] = {
        "rx, nothing requested": _kilobytes(subscribed(cold, 0), times),
        "rx, one item taken": _kilobytes(subscribed(cold, 1), times),
        "rx, waiting for a processor": _kilobytes(subscribed(hot, UNBOUNDED), times),
        "rx, the description alone": _kilobytes(lambda: _ten(Flowable.range(1_000_000)), times),
        "reactivex, waiting for a subject": theirs(),
    }
    return Case(
        "memory of an idle subscription, ten operators",
        times,
        ways,
        [below(way, 4, 2) for way in list(ways)[:3]],
        unit="KB",
        note="traced by tracemalloc, the subscriber's own slots included",
    )


def _ignore(_item: object) -> None:
    pass


# -- import ------------------------------------------------------------------------------------------------------------------


@cache
def _compiled_files() -> str:
    """A folder for compiled modules: whether the environment lets Python keep any is not what is measured."""
    folder = mkdtemp(prefix="rx-bench-")
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


def _environment(*, compiled: bool = True) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if compiled:
        return {**environment, "PYTHONPYCACHEPREFIX": _compiled_files()}
    return {**environment, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": os.path.join(_compiled_files(), "none")}


def _traced_import(module: str, *, compiled: bool = True) -> Callable[[], float]:
    """Milliseconds as ``-X importtime`` counts them: the module and all that only it brings in."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]

    def measured() -> float:
        done = subprocess.run(command, env=_environment(compiled=compiled), capture_output=True, text=True, check=True)
        last = done.stderr.splitlines()[-1]
        assert last.split("|")[-1].strip() == module, last
        return int(last.split("|")[1]) / 1000

    return measured


def _processor_seconds(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], env=_environment(), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _whole_process(code: str, without: str = "pass") -> Callable[[], float]:
    """Milliseconds of processor time that a process takes more for ``code`` than one beside it ``without``.

    Unlike the time on the clock it leaves out what else the machine does meanwhile.
    """

    def measured() -> float:
        return median(_processor_seconds(code) - _processor_seconds(without) for _ in range(PROCESSES)) * 1000

    return measured


def _import_time() -> Case:
    ways: dict[str, Any] = {
        "rx_ops, -X importtime": _traced_import("rx_ops"),
        "rx_ops, processor time less bare python": _whole_process("import rx_ops"),
        "rx_ops, nothing compiled before": _traced_import("rx_ops", compiled=False),
    }
    for peer in ("reactivex", "aiostream", "trio"):
        ways[f"{peer}, -X importtime"] = absent(peer) if installed(peer) is None else Way(_traced_import(peer))
    goals = [below("rx_ops, -X importtime", 60, 40), below("rx_ops, processor time less bare python", 60, 40)]
    return Case("import rx_ops", 1, ways, goals, unit="ms", note="modules compiled before, everything that the import pulls in")


def _first_run() -> Case:
    """What a short program pays after the import: installed plugins are found and loaded, three items run."""
    imported = "from rx_ops import Flowable; "
    run = imported + "Flowable.range(3).blocking_list()"
    ways: dict[str, Any] = {
        "with the plugins that are installed": _whole_process(run, imported),
        "RX_DISABLE_PLUGINS=1": _whole_process(f"import os; os.environ['RX_DISABLE_PLUGINS'] = '1'; {run}", imported),
    }
    plugins = ", ".join(sorted({point.dist.name for point in entry_points(group="rx") if point.dist is not None}))
    note = f"processor time of the whole process, less that of the import; plugins of {plugins or 'nobody'}"
    return Case("first run of a program", 1, ways, unit="ms", note=note)


# -- compiling ---------------------------------------------------------------------------------------------------------------


def _chain(stages: int) -> Flowable[int]:
    flow = Flowable.range(10)
    for at in range(stages):
        flow = flow.filter(is_odd) if at % 4 == 1 else flow.take(1_000_000) if at % 4 == 3 else flow.map(add_one)
    return flow


def _microseconds(run: Callable[[], object], times: int) -> Callable[[], float]:
    def measured() -> float:
        started = process_time()
        for _ in range(times):
            run()
        return (process_time() - started) / times * 1e6

    return measured


def _start_up(stages: int) -> Case:
    """What stands between describing a chain and its first item."""
    form = Form("pull", Feed.CLEAN, cancel=True, mark_last=True)
    shape: Shape = _chain(stages)._shape

    def assemble() -> object:
        return _chain(stages)

    def compile_anew() -> object:
        made = Shape(shape.stages).form(form)  # a shape of its own, so that nothing is cached
        assert made is not None
        return made

    def look_up() -> object:
        return shape.form(form)

    def find_shape() -> object:
        found = ROOT
        for stage in shape.stages:
            found = found.then(stage.function)
        return found

    look_up()
    return Case(
        f"start-up of {stages} stage{'s' if stages > 1 else ''}",
        stages,
        {
            "compiled": _microseconds(compile_anew, 20),
            "assembled": _microseconds(assemble, 500),
            "shape found again": _microseconds(find_shape, 2_000),
            "compiled form found again": _microseconds(look_up, 2_000),
        },
        unit="µs",
    )
