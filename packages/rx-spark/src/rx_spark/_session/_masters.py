"""Whether a master is there: an address that does not answer is an error within half a minute, where Spark tries for minutes."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

CONNECT_SECONDS: Final = 5.0
#: How long a master may take to accept an application. One that works takes milliseconds; Spark asks three times for 20 s each.
ACCEPT_SECONDS: Final = 15.0
_LOOK_SECONDS: Final = 1.0
_STANDALONE: Final = re.compile(r"spark://(.+)")
_PLACE: Final = re.compile(r"\[?([^\]]+)\]?:(\d+)")


#: Those that Spark knows. What has a scheme may be of a cluster manager that was added to it.
_KNOWN: Final = re.compile(
    r"local(\[\s*(\*|[1-9]\d*)\s*(,\s*\d+\s*)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|yarn|[\w.+-]+://.+"
)


def check_reachable(master: str) -> None:
    """Raise ConnectionError unless one of the addresses of a standalone master (``spark://one:7077,two:7077``) can be reached.

    Blocks up to CONNECT_SECONDS for each. Other masters are left to Spark. ValueError for what is no master.
    """
    if not _KNOWN.fullmatch(master):
        raise ValueError(
            f"master={master!r} is no master of Spark.\n"
            f"  In this program:  local[4], or local[*] for all cores\n"
            f"  On a cluster:     spark://host:7077, yarn, k8s://https://host:443"
        )
    found = _STANDALONE.fullmatch(master)
    if not found:
        return
    problems = []
    for place in found[1].split(","):
        parts = _PLACE.fullmatch(place.strip())
        if parts is None:
            raise ValueError(f"master={master!r}: {place!r} has no port.\n  Right:  spark://{place or 'host'}:7077")
        try:
            socket.create_connection((parts[1], int(parts[2])), CONNECT_SECONDS).close()
        except OSError as error:
            problems.append(f"  {place}: {error}\n")
        else:
            return
    raise _unreachable(master, "".join(problems))


@contextmanager
def accepted_soon(master: str, gateway: Any) -> Iterator[None]:
    """Around the making of a context: ends the JVM behind ``gateway`` when the master takes connections and says nothing.

    ConnectionError in that case.
    """
    if not _STANDALONE.fullmatch(master):
        yield
        return
    over = threading.Event()
    silent = threading.Event()

    def watch() -> None:
        waited = 0.0
        while not over.wait(_LOOK_SECONDS):
            waited = waited + _LOOK_SECONDS if _waits_for_master(gateway) else 0.0
            if waited >= ACCEPT_SECONDS:
                silent.set()
                gateway.proc.kill()  # nothing else ends the constructor of a context
                return

    watcher = threading.Thread(target=watch, name="rx-spark-master", daemon=True)
    watcher.start()
    try:
        yield
    except Exception as error:
        if silent.is_set():
            raise _unreachable(master, f"  It took the connection, and was silent for {ACCEPT_SECONDS:.0f} s\n") from error
        raise
    finally:
        over.set()
        watcher.join()


def _waits_for_master(gateway: Any) -> bool:
    """Whether the context is where it waits for the master's answer."""
    with suppress(Exception):  # the JVM is ending
        threads = gateway.jvm.java.lang.management.ManagementFactory.getThreadMXBean().dumpAllThreads(False, False)
        return any("waitForRegistration" in thread.toString() for thread in threads)
    return False


def _unreachable(master: str, problems: str) -> ConnectionError:
    return ConnectionError(
        f"no Spark master answers at {master!r}.\n"
        f"{problems}"
        f"  Is it running, and can it be reached from this machine?  Without a master Spark runs inside this program"
    )
