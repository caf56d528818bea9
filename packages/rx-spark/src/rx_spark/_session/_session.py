"""The Spark session: one per process, made when the first job needs it.

Without a master the session is embedded: it runs in this process's own JVM on this machine, listens on loopback only,
writes no log but errors, shows no progress and no web page. A session that the application has made is used as it is.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rx_spark._session._java import find_java, java_home
from rx_spark._session._masters import accepted_soon, check_reachable
from rx_spark._session._ship import Shipment, own_modules
from rx_spark._transport._place import Place, place_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

SLOTS_PER_CORE: Final = 8
"""Tasks that wait for demand hold a slot and cost nothing; with a slot per core two streams that wait for each other
(zip) could block for good. One job never has more tasks than ``parallelism``."""

OURS: Final = frozenset(("rx_core", "rx_fusion", "rx_ops", "rx_spark"))
_LOOPBACK: Final = "127.0.0.1"
_EMPTY_RELATIONS: Final = "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"


@dataclass(frozen=True)
class SparkConfig:
    """Where jobs run. ``master`` None: the session there is, else an embedded one; ``local``, ``local[n]`` and
    ``local[*]``: embedded with n tasks at a time per job; anything else: that cluster's URL.

    ``parallelism`` is the number of tasks of one job (default: the cores, or what the cluster says). ``settings`` are
    Spark settings for a session that is made now; they win over ours. When more items than ``warn_rows`` come back for an
    operator on the driver, there is a ManyRowsWarning; None: never.
    """

    master: str | None = None
    parallelism: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    warn_rows: int | None = 1_000_000


@dataclass(frozen=True)
class Engine:
    """A session ready for jobs."""

    application: SparkSession  #: the application's own: its views, its settings for reading
    session: SparkSession
    frames: SparkSession = field(repr=False)  #: for DataFrames: adaptive, and numbers that leave their 64 bits are errors
    parallelism: int
    place: Place  #: where executors find the driver
    path: tuple[str, ...] = field(repr=False)  #: what workers add to their sys.path
    shipment: Shipment | None = field(repr=False, default=None)  #: on a cluster: what was sent there
    loses: bool = field(repr=False, default=False)  #: executors are processes of their own, and one may be lost

    def ship(self, payload: bytes, modules: Iterable[str] = ()) -> None:
        """Send the user's own modules that a pickle names, and others, unless executors import from where this process does."""
        if self.shipment is not None:
            self.shipment.send(own_modules(payload) | OURS | set(modules))


_lock = threading.Lock()
_sessions: dict[int, _Sessions] = {}  # id of a context -> our own sessions in it


def engine(config: SparkConfig) -> Engine:
    """The engine for ``config``; makes the session when there is none (about 4 s). Any thread; one at a time gets in.

    Errors: JavaNotFoundError; ConnectionError for a master that does not answer; RuntimeError when a session with another
    master runs in this process, for Spark allows one.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with _lock:
        context = SparkContext._active_spark_context
        if context is None:
            context = _start(config).sparkContext
        elif config.master is not None and not _same_master(config.master, context.master):
            raise RuntimeError(
                f"this process has a Spark session with master {context.master!r}; Spark allows one per process, so "
                f"{config.master!r} cannot be used.\n"
                f"  To use the session there is:  leave the master out\n"
                f"  To use the other one:         SparkSession.getActiveSession().stop() first, or another process"
            )
        sessions = _sessions.get(id(context))
        if sessions is None or sessions.blocks.sparkContext is not context:
            sessions = _own_sessions(SparkSession.builder.getOrCreate(), context)
        return Engine(
            SparkSession.builder.getOrCreate(),
            sessions.blocks,
            sessions.frames,
            config.parallelism or parallelism_of(context),
            Place(_LOOPBACK, _LOOPBACK)
            if _is_local(context.master)
            else place_of(lambda name: _setting(context, name) or None, _LOOPBACK),
            tuple(_driver_path()) if _is_local(context.master) else (),
            sessions.shipment,
            not _is_embedded(context.master),
        )


class _Sessions(NamedTuple):
    blocks: SparkSession
    frames: SparkSession
    shipment: Shipment | None


def _own_sessions(session: SparkSession, context: Any) -> _Sessions:
    blocks, frames = session.newSession(), session.newSession()
    # Adaptive execution would merge and drop tasks; the credit sink counts on one task per bucket.
    blocks.conf.set("spark.sql.adaptive.enabled", "false")
    blocks.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "32")  # a record is a cell of up to 1,024 items
    frames.conf.set("spark.sql.adaptive.enabled", "true")
    # It would forget a scan whose rows all were left out, and with it how many these were.
    frames.conf.set("spark.sql.adaptive.optimizer.excludedRules", _EMPTY_RELATIONS)
    frames.conf.set("spark.sql.ansi.enabled", "true")
    frames.conf.set("spark.sql.session.timeZone", "UTC")
    frames.conf.set("spark.sql.maxMetadataStringLength", "2000")  # what plans say of a scan
    frames.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", str(8 << 20))  # a record may be a cell of our own
    shipment = None if _is_local(context.master) else Shipment((blocks, frames), Path(_scratch()))
    _sessions.clear()
    _sessions[id(context)] = made = _Sessions(blocks, frames, shipment)
    return made


def parallelism_of(context: SparkContext) -> int:
    """How many tasks a job has where nothing else is asked for: the cores that there are now."""
    return int(_setting(context, "spark.rx.parallelism") or context.defaultParallelism)


def _setting(context: SparkContext, name: str) -> str:
    """Empty where it has none. getConf() would copy all of them, with a call to the JVM for each."""
    own: Any = context
    return str(own._jsc.sc().conf().get(name, ""))


# --- starting one -----------------------------------------------------------------------------------------------------


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(config: SparkConfig) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    settings = {
        "spark.app.name": "rx",
        "spark.ui.enabled": "false",
        # Spark's fifteen seconds in steps of one: a task that fetches from an executor that is gone learns it after the first.
        "spark.shuffle.io.retryWait": "1s",
        "spark.shuffle.io.maxRetries": "15",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.liveUpdate.period": "0",  # how many tasks run is asked, and answered late otherwise
        "spark.python.task.killTimeout": "300ms",  # a cancelled task's Python is stopped after that, not after 2 s
        "spark.sql.warehouse.dir": os.path.join(_scratch(), "warehouse"),
    }
    for name in ("py4j", "SQLQueryContextLogger"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            # They log a traceback for every call that failed or was cut off; the exception reaches its caller anyway.
            logger.setLevel(logging.CRITICAL)
    options = [f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"]
    java = find_java()
    environment = {
        "JAVA_HOME": java_home(java.executable, java.version),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
    }
    master = config.master or "local"
    local = re.fullmatch(r"local(?:\[\s*(\d+|\*)\s*(,\s*\d+\s*)?\])?", master)
    if local:
        parallelism = config.parallelism or (cores() if local[1] in (None, "*") else int(local[1]))
        master = f"local[{parallelism * SLOTS_PER_CORE}{(local[2] or '').replace(' ', '')}]"
        settings["spark.rx.parallelism"] = str(parallelism)
        settings["spark.default.parallelism"] = settings["spark.sql.shuffle.partitions"] = str(parallelism)
    if _is_local(master):
        settings |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
        if sys.platform == "linux":  # elsewhere forking after these imports is not safe
            settings["spark.python.daemon.module"] = "rx_spark._workers._daemon"
        settings["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(_driver_path())
        environment["SPARK_LOCAL_IP"] = _LOOPBACK
    settings |= dict(config.settings)
    options.append(settings.get("spark.driver.extraJavaOptions", ""))
    settings["spark.driver.extraJavaOptions"] = " ".join(options).strip()
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    check_reachable(master)
    with _environment(environment), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns about preexec_fn, which pyspark uses to start the JVM
        with _interrupt_later():
            SparkContext._ensure_initialized(conf=SparkConf().setMaster(master).setAll(list(settings.items())))
        try:
            with accepted_soon(master, SparkContext._gateway):
                made = builder.getOrCreate()
        except ConnectionError:
            SparkContext._gateway = SparkContext._jvm = None  # that JVM is gone: the next session makes its own
            raise
    if not local:
        # Executors end with the context. At exit they would outlive what they were started with, and Spark would log it.
        atexit.register(_stop, made.sparkContext)
    return made


def _stop(context: SparkContext) -> None:
    from pyspark import SparkContext

    if SparkContext._active_spark_context is context:
        context.stop()


@contextmanager
def _interrupt_later() -> Iterator[None]:
    """Hold back a ctrl-C until the JVM runs.

    A JVM whose starting process goes away before the two have met stays for ever: pyspark removes the file it wanted to write its
    port to, which ends its main thread, but not the one that accepts connections. A second ctrl-C is not held back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals arrive in the main thread only
        return
    before = signal.getsignal(signal.SIGINT)
    pressed: list[tuple[int, FrameType | None]] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if pressed:
            signal.signal(signal.SIGINT, before)
            signal.raise_signal(number)
        pressed.append((number, frame))

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed and callable(before):
            before(*pressed[0])


@contextmanager
def _environment(changes: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _scratch() -> str:
    folder = tempfile.mkdtemp(prefix="rx-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _is_local(master: str | None) -> bool:
    return (master or "").startswith("local")


def _is_embedded(master: str | None) -> bool:
    return re.fullmatch(r"local(\[.*\])?", master or "") is not None


def _same_master(asked: str, running: str | None) -> bool:
    running = running or ""
    return asked == running or (asked.split("[")[0] == "local" and running.split("[")[0] == "local")


def _driver_path() -> list[str]:
    """Where this process imports from, for the workers of a local session: scripts' folders, editable installs."""
    entries = [os.path.abspath(entry or os.getcwd()) for entry in sys.path]
    return list(dict.fromkeys(entry for entry in entries if os.path.exists(entry)))
