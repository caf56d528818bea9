"""The recorded pipelines: what RxJava 3 signalled for some twelve thousand random pipelines, read from ``data/traces.jsonl.gz``.

Each line of that file holds a *case*, which describes a pipeline and its subscribers, and what RxJava answered. Times are virtual
milliseconds. A source or an operator is described by a dictionary, called a *spec*: ``"s"`` or ``"o"`` holds the name under which
the table of sources or of operators lists it, the other keys are its arguments.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).parent / "data" / "traces.jsonl.gz"

#: The description of one source, operator or function.
Spec = Mapping[str, Any]
#: For each subscriber (``d0``, ``d1``): its signals, each ``[milliseconds, text]``. A subscriber without signals is not there.
Answer = dict[str, list[list[Any]]]


@dataclass(frozen=True, slots=True)
class Subscriber:
    """When a subscriber comes and when it leaves. Every subscriber requests everything."""

    name: str
    #: Milliseconds; the first subscriber is always there from the start.
    at: int
    cancel_at: int | None
    #: After how many items it cancels, from inside ``on_next``.
    cancel_after: int | None


@dataclass(frozen=True, slots=True)
class HotSource:
    """A processor that exists once for the whole pipeline, and what it is sent."""

    name: str
    kind: str
    #: ``[milliseconds, "n", value]``, ``[milliseconds, "c"]`` or ``[milliseconds, "e", name]``.
    script: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded pipeline, and RxJava's answer."""

    id: int
    source: Spec
    operators: tuple[Spec, ...]
    subscribers: tuple[Subscriber, ...]
    hot: tuple[HotSource, ...]
    #: How long the clock runs for certain; it goes on for a while, so that late signals are seen.
    horizon: int
    expected: Answer

    def __str__(self) -> str:
        """The pipeline as the file describes it, what is not said left out."""
        lines = [f"trace {self.id}", f"  source    {json.dumps(self.source)}"]
        lines += [f"  operator  {json.dumps(spec)}" for spec in self.operators]
        lines += [f"  hot       {each.name}: {each.kind} {json.dumps(each.script)}" for each in self.hot]
        for each in self.subscribers:
            leaves = f", cancels at {each.cancel_at} ms" if each.cancel_at is not None else ""
            leaves += f", cancels after {each.cancel_after} items" if each.cancel_after is not None else ""
            lines.append(f"  {each.name}        subscribes at {each.at} ms{leaves}")
        return "\n".join(lines)


@cache
def traces() -> tuple[Trace, ...]:
    """All recorded pipelines, by id."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return tuple(_trace(json.loads(line)) for line in lines)


def _trace(line: Mapping[str, Any]) -> Trace:
    case = line["case"]
    return Trace(
        id=case["id"],
        source=case["src"],
        operators=tuple(case["ops"]),
        subscribers=tuple(
            Subscriber(f"d{at}", each.get("at", 0), each.get("cancel_at"), each.get("cancel_after"))
            for at, each in enumerate(case["down"])
        ),
        hot=tuple(
            HotSource(name, hot["kind"], tuple(tuple(event) for event in hot["script"]))
            for name, hot in sorted(case["hot"].items())
        ),
        horizon=case["horizon"],
        expected=line["want"],
    )
