"""Where the driver listens for its tasks, and where they find it: each job that runs has a port of its own."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

#: Settings of Spark: the name or address that executors connect to, the address to listen on, and the first of the ports.
HOST: Final = "spark.rx.driver.host"
BIND: Final = "spark.rx.driver.bindAddress"
PORT: Final = "spark.rx.driver.port"
#: Spark's own, for its own ports as well: how many more are tried.
RETRIES: Final = "spark.port.maxRetries"
_BACKLOG: Final = 128


@dataclass(frozen=True)
class Place:
    """``port`` 0: any that is free. Otherwise it is the first of ``ports``, of which each running job needs one."""

    host: str
    bind: str
    port: int = 0
    ports: int = 1

    def listen(self) -> socket.socket:
        """A socket that listens. OSError: none of the ports is free, or the address is not one of this machine."""
        for port in range(self.port, self.port + self.ports):
            try:
                return socket.create_server((self.bind, port), backlog=_BACKLOG)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    error.add_note(
                        f"The driver listens for its tasks on {self.bind!r} (set {BIND} or spark.driver.bindAddress), "
                        f"and executors connect to {self.host!r} (set {HOST} or spark.driver.host)."
                    )
                    raise
        raise OSError(
            errno.EADDRINUSE,
            f"no port from {self.port} to {self.port + self.ports - 1} is free on {self.bind}; each job that runs needs one.\n"
            f"  Right:  more of them ({RETRIES}), fewer jobs at a time, or {PORT}=0 for any port that is free",
        )


def place_of(setting: Callable[[str], str | None], default: str) -> Place:
    """The place that settings of Spark name; ``default`` where they do not. ValueError for a port that is none."""
    host = setting(HOST) or setting("spark.driver.host") or default
    bind = setting(BIND) or setting("spark.driver.bindAddress") or host
    port, retries = _number(setting, PORT, 0), _number(setting, RETRIES, 16)
    return Place(host, bind, port, 1 if port == 0 else retries + 1)


def _number(setting: Callable[[str], str | None], name: str, default: int) -> int:
    given = setting(name)
    if given is None:
        return default
    if not given.strip().isdigit() or int(given) > 65535:
        raise ValueError(f"{name}={given!r}: a whole number from 0 to 65535")
    return int(given)
