"""Send what a pipeline needs to the executors and look whether it works there, before a job is begun: :func:`ship`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from rx_core import hooks, name_of
from rx_spark._checks._check import Checkable
from rx_spark._checks._walk import Walk
from rx_spark._session._session import Engine, SparkConfig, engine
from rx_spark._session._ship import is_own, own_modules, unit
from rx_spark._transport._wire import unpack_error
from rx_spark._workers._portable import dump_plan_part
from rx_spark._workers._probe import FOUND, Probe
from rx_spark._workers._versions import versions_here

#: More than one for each core, so that all executors get some.
_PROBES_PER_CORE: Final = 2


@dataclass(frozen=True)
class Shipped:
    """What is on the executors now: the user's own modules and packages by name, and the machines on which a probe went well."""

    modules: tuple[str, ...]
    hosts: tuple[str, ...]


def ship(
    *needs: Checkable | Callable[..., Any] | ModuleType | str, config: SparkConfig | None = None, master: str | None = None
) -> Shipped:
    """Send what pipelines, functions and modules need to the executors, and try it there: in tasks that import the modules,
    open the functions and compare versions, but call nothing. ``needs`` may name modules: ``rx_spark.ship(flow, "shop.prices")``.

    A job does the same when it begins. This tells what is missing before data is read, and sends modules that no pickle names
    because they are imported while a function runs.

    Errors:  NotPortableError for a function that cannot travel; VersionsError for an executor with other versions; what an import
             raised there (ModuleNotFoundError), with the machine in a note; ValueError for a module that cannot be sent, because
             it has no file or is too large; those of ``start``.
    Memory:  the modules, packed.   Thread: blocks the one that calls, some seconds for the first job of a session.
    """
    if not needs:
        raise ValueError("ship() needs something to send.\n  Right:  ship(flow), ship(function), ship('package.module')")
    hooks.ensure_loaded()
    modules: set[str] = set()
    parts: list[tuple[str, bytes]] = []
    for need in needs:
        if isinstance(need, str | ModuleType):
            modules.add(_module(need if isinstance(need, str) else need.__name__))
        elif hasattr(need, "explain"):
            walk = Walk(need)
            for part in walk.parts:
                part.head.check_portable()
                config = config or (part.head.config if master is None else None)
                parts += [(str(made), dump_plan_part(made.args)) for made in part.head.all_calls if made.kind != "column"]
        elif callable(need):
            parts.append((name_of(need), dump_plan_part(need)))
        else:
            raise TypeError(f"ship({need!r}): a pipeline, a function, a module or its name")
    for _, payload in parts:
        modules |= own_modules(payload)
    here = engine(config or SparkConfig(master=master))
    here.ship(dump_plan_part(()), modules)
    return Shipped(tuple(sorted(modules)), tuple(sorted(set(_probed(here, tuple(sorted(modules)), tuple(parts))))))


def _module(name: str) -> str:
    outer = unit(name)
    if not is_own(outer):
        raise ValueError(
            f"ship({name!r}): it cannot be sent, because it is installed, is part of Python, or has no file.\n"
            f"  Right:  install it on the executors; what you write yourself travels"
        )
    return outer


def _probed(here: Engine, modules: tuple[str, ...], parts: tuple[tuple[str, bytes], ...]) -> Iterator[str]:
    """The machines on which a probe went well. Raises what went wrong on the first of the others."""
    tasks = _PROBES_PER_CORE * here.parallelism
    versions = versions_here() if here.shipment is not None else ()
    probe = Probe(modules, parts, here.path, versions)
    for host, error in here.session.range(0, tasks, 1, tasks).mapInArrow(probe, FOUND).collect():
        if error:
            raise unpack_error(bytes(error))
        yield host
