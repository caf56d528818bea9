"""A case as a program, to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.invisible.push.drawing_table import OPERATORS, SOURCES
from tests.invisible.push.running import Demanding
from tests.recorded.cases import Spec, Subscriber, Trace


def program(case: Trace) -> str:
    return "\n".join(f"    {line}" for line in lines(case))


def lines(case: Trace) -> Iterator[str]:
    for source in case.hot:
        yield f"{source.name} = {source.kind} processor; {', '.join(event(*step) for step in source.script) or 'nothing is sent'}"
    yield f"flow = {written(case.source)}{''.join(f'.{written(op)}' for op in case.operators)}"
    yield from map(subscriber, case.subscribers)


def event(time: int, kind: str, *value: Any) -> str:
    said = {"n": "on_next", "e": "on_error", "c": "on_complete"}[kind]
    return f"{time} ms: {said}({', '.join(map(str, value))})"


def subscriber(who: Subscriber) -> str:
    said = f"{who.name}: subscribes at {who.at} ms"
    if isinstance(who, Demanding):
        said += f", requests {who.first}, {who.with_each} with each item"
        said += "".join(f", {n} at {time} ms" for time, n in who.later)
    if who.cancel_after is not None:
        said += f", cancels after {who.cancel_after} items"
    return said if who.cancel_at is None else f"{said}, cancels at {who.cancel_at} ms"


def written(spec: Spec) -> str:
    """A source or an operator as its line of the table writes it; arguments that are not given are left out."""
    if "o" in spec:
        drawn = next((table[spec["o"]] for table in OPERATORS.values() if spec["o"] in table), None)
    else:
        drawn = SOURCES.get(spec["s"])
    if drawn is None:
        return f"{spec.get('o') or spec.get('s')}({ {key: value for key, value in spec.items() if key not in 'os'} })"
    text = re.sub(r"(?:, )?[^,({]*\{(\w+)\}", lambda found: argument(found, spec), drawn.text)
    text = text.replace("(, ", "(")
    return text + "".join(f" [{words} {spec[key]}]" for key, words in FAULTS.items() if key in spec) + foreign(spec)


FAULTS = {"t": "fails for", "c": "fails in call", "z": "gives None for"}


def argument(found: re.Match[str], spec: Spec) -> str:
    name = found[1]
    if name not in spec:
        return ""
    return found[0].replace("{" + name + "}", value(spec[name]))


def value(x: Any) -> str:
    if isinstance(x, Mapping):
        if "s" in x or "o" in x:
            return written(x)
        faults = "".join(f" [{words} {x[key]}]" for key, words in FAULTS.items() if key in x)
        if "f" in x:
            return f"{x['f']}{faults}"
        return value(x["v"]) + (f" failing at {x['at']}" if "at" in x else "")
    if isinstance(x, list) and x and isinstance(x[0], Mapping):
        return (", " if "s" in x[0] else ".").join(map(written, x))
    if isinstance(x, list):
        return str(x).replace("'$'", "x")
    return "x" if x == "$" else str(x).replace("$", "x ")


def foreign(spec: Spec) -> str:
    return " (behind a foreign publisher)" if "probe" in spec else ""
