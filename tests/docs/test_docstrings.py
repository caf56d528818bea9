"""Every operator says in its docstring what people ask about an operator."""

from __future__ import annotations

import inspect
import re

import pytest

from rx_ops import Completable, Flowable, Maybe, Observable, Single

FIELDS = frozenset({"demand", "errors", "memory", "thread", "fusion", "source"})


def operators(face: type) -> dict[str, str]:
    """The public methods a face gets from rx_ops, with their docstrings."""
    found: dict[str, str] = {}
    for kind in reversed(face.__mro__):
        if kind.__module__.startswith("rx_ops."):
            for name, member in vars(kind).items():
                public = not name.startswith("_") and name != "subscribe_actual"
                if public and (callable(member) or isinstance(member, classmethod)):
                    found[name] = inspect.cleandoc(member.__doc__ or "")
    return found


def fields(doc: str) -> set[str]:
    """The fields a docstring has, those it takes from another operator included."""
    found = {name.lower() for name in re.findall(r"\b(Demand|Errors|Memory|Thread|Fusion|Source):", doc)}
    for listed in re.findall(r"^((?:\w+, )*\w+ and \w+) are those of", doc, re.MULTILINE):
        found |= {name.lower() for name in re.split(r", | and ", listed)}
    return found


MANY = [
    (face, name, doc)
    for face in (Flowable, Observable, Single, Maybe, Completable)
    for name, doc in sorted(operators(face).items())
]


@pytest.mark.parametrize(
    ("name", "doc"), [(name, doc) for _, name, doc in MANY], ids=[f"{face.__name__}.{name}" for face, name, _ in MANY]
)
def test_an_operator_states_what_is_compulsory(name: str, doc: str) -> None:
    assert doc.split("\n", 1)[0].endswith((".", ")")), "the first line says what it does"
    assert re.search(r"^::  \S", doc, re.MULTILINE), "a marble line is missing"
    assert not FIELDS - fields(doc)
