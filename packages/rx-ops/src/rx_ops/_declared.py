"""What installed distributions declare in the group ``rx.operators``, as type checkers need it: read, never imported.

Used by the mypy plugin and by ``python -m rx_ops stubs``; at run time :mod:`rx_ops._plugins` is all that is needed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from rx_ops._entry_points import GROUP

#: The reactive types that take operators, and the mixin each has for them in ``MODULE``.
FACES: Final = {
    "Completable": "CompletablePlugged",
    "Flowable": "FlowablePlugged",
    "Maybe": "MaybePlugged",
    "Observable": "ObservablePlugged",
    "Single": "SinglePlugged",
}
MODULE: Final = "rx_ops._faces._plugged"

_NAME: Final = re.compile(r"([A-Za-z]\w*)\.([A-Za-z]\w*)")
_VALUE: Final = re.compile(r"([\w.]+)\s*:\s*([\w.]+)")


class Declared(NamedTuple):
    """One operator: ``"Flowable.pairs" = "rx_pairs._impl:pairs"``, of the distribution rx-pairs."""

    face: str
    name: str
    module: str
    attribute: str
    distribution: str


def declared(path: Sequence[str] | None = None) -> list[Declared]:
    """Return all operators that distributions on ``path`` (default: ours) declare, sorted; the first of one name counts.

    A distribution that is installed editable declares what its pyproject.toml says now. What is no operator of a type in
    ``FACES`` is left out: at run time such an entry is never found either.
    """
    found: dict[tuple[str, str], Declared] = {}
    seen: set[str] = set()
    everything: list[Declared] = []
    for distribution in distributions() if path is None else distributions(path=list(path)):
        name = _normal(distribution.metadata["Name"] or "")
        if name not in seen:  # of two with one name the first on the path is the one that is imported
            seen.add(name)
            everything += _operators(distribution)
    for operator in sorted(everything, key=lambda each: (each.distribution, each)):
        found.setdefault((operator.face, operator.name), operator)
    return sorted(found.values())


def editable_source(distribution: Distribution) -> Path | None:
    """Return the pyproject.toml of a distribution that is installed editable."""
    try:
        record = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = urlsplit(record["url"])
        editable = record["dir_info"]["editable"]
    except (ValueError, KeyError, TypeError):
        return None
    return Path(url2pathname(url.path)) / "pyproject.toml" if editable and url.scheme == "file" else None


def _operators(distribution: Distribution) -> Iterator[Declared]:
    for name, value in _entries(distribution).items():
        of, to = _NAME.fullmatch(name), _VALUE.fullmatch(value.strip())
        if of and to and of[1] in FACES:
            yield Declared(of[1], of[2], to[1], to[2], distribution.metadata["Name"])


def _entries(distribution: Distribution) -> Mapping[str, str]:
    file = editable_source(distribution)
    if file is not None:
        try:
            project = tomllib.loads(file.read_text(encoding="utf-8")).get("project")
        except (OSError, ValueError):
            project = None
        if project is not None and "entry-points" not in project.get("dynamic", ()):
            table = project.get("entry-points", {}).get(GROUP, {})
            return {name: value for name, value in table.items() if isinstance(value, str)}
    return {entry.name: entry.value for entry in distribution.entry_points if entry.group == GROUP}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
