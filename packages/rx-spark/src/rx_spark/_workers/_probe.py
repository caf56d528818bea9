"""A look at an executor before a job runs there: its versions, and whether what was sent can be imported and opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from socket import gethostname
from typing import Any, Final

from rx_spark._transport._wire import extend_path, loads, pack_error
from rx_spark._workers._versions import Versions, check_versions

#: The columns of what a probe gives: where it ran, and the packed error, empty if there was none.
FOUND: Final = "host string, error binary"


@dataclass(frozen=True)
class Probe:
    """The function given to mapInArrow. ``parts`` are operators and what was pickled of them; nothing is called."""

    modules: tuple[str, ...]
    parts: tuple[tuple[str, bytes], ...] = field(repr=False)
    path: tuple[str, ...]
    versions: Versions

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for _ in batches:
            pass  # a worker whose input was not read to its end is not used again
        host, error = gethostname(), b""
        try:
            self.look(host)
        except Exception as failure:
            error = pack_error(failure)
        columns = [pa.array([host], pa.string()), pa.array([error], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["host", "error"])

    def look(self, host: str) -> None:
        extend_path(self.path)
        check_versions(self.versions, host)
        for name in self.modules:
            try:
                import_module(name)
            except Exception as error:
                error.add_note(f"import {name}, on an executor on {host}")
                raise
        for shown, payload in self.parts:
            try:
                loads(payload)
            except Exception as error:
                error.add_note(f"what {shown} needs, on an executor on {host}")
                raise
