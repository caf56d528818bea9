"""A family of operators has one name: the file of its methods is called as those of its stages and of its operators are."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

import rx_ops
from rx_fusion import Head, operator_of
from rx_fusion._operators import _OPERATORS
from rx_fusion._stages import _STAGES

ROOT: Final = Path(rx_ops.__file__).parent
FACES: Final = {file.stem: file for file in (ROOT / "_faces").glob("_*.py") if file.stem != "__init__"}
#: Modules without a family: what operators of several families are built of.
MACHINERY: Final = {
    "_clock": "workers and alarms of all that counts by the clock",
    "_create_one": "create of the types of one item, which have no families, and what futures push through",
    "_cutters": "what says where a list or a window ends; buffer and window share it",
    "_emitter": "what create and the listeners push through",
    "_group_ahead": "the same under demand",
    "_group_loop": "the fusion rule for group_by in front of flat_map",
    "_loops": "the loops of flat_map, concat_map and concat over passive sources",
    "_lossy": "the source and the cells of what comes too fast: debounce, sample, throttle",
    "_mapping": "calling a mapper to sources, and refusing what it returns",
    "_outer": "the sources of sources of flat_map and switch_map",
    "_part": "the queue of one subscriber that is a group or a window",
    "_pieces": "the gate of an operator that cuts: buffer and window share it",
    "_rails_ordered": "the operators of a rail, so that they give a list for each item: for sequential(ordered=True)",
    "_read_ahead": "the items of a loop in place of operators that ask for more than is requested",
    "_rounds": "one subscription to a source after the other: repeat, retry, and asking a stream for one more",
    "_selecting": "calling a selector of signals: debounce, delay, timeout and their kind",
    "_straight_emitter": "what create pushes through into a subscriber that gets every item",
    "_unicast": "the stream of ends that repeat_when and retry_when give their handlers",
    "_zip_loop": "the loop of zip over passive sources",
}
#: Methods that are a combination of operators of other families.
SHARED: Final = {
    ("_connectable", "Connectable"): "what publish and replay have in common: connectables are made of it",
    ("_filter", "TakeUntil"): "take(seconds=...) is take_until(a timer)",
    ("_filter", "SkipUntil"): "skip(seconds=...) is skip_until(a timer)",
    ("_filter", "Timer"): "the timer of both",
    ("_late", "filter_"): "interval_range(...) without numbers is a timer without its tick",
    ("_late", "take"): "interval_range(...) is an interval of so many ticks",
    ("_late", "map_"): "and its numbers",
    ("_listen", "CreateHead"): "a listener is the source of a create",
    ("_publish", "RefCount"): "share() is publish().ref_count()",
    ("_terminal", "not_none"): "the guard behind a stage that is not ours",
}
#: The other types are made of the operators of all families.
OF_OTHER_TYPES: Final = ("_generated", "_observable_core", "_one_item")


def is_operator(found: object) -> bool:
    """Whether something a face names is an operator or a source, and no helper, enumeration or function of the user."""
    if found in _OPERATORS or found in _STAGES:
        return True
    return isinstance(found, type) and (issubclass(found, Head) or hasattr(found, "subscribe"))


def operators_of(face: Path) -> dict[str, str]:
    """The operators that a face names, each with the name of the module that it lives in."""
    found: dict[str, object] = {}
    for node in ast.walk(ast.parse(face.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id="operators" | "stages" as folder), attr=name):
                found[name] = getattr(import_module(f"rx_ops.{folder}"), name)
            case ast.ImportFrom(module=str(module)) if module.startswith(("rx_ops.operators", "rx_ops.stages")):
                found |= {each.name: getattr(import_module(module), each.name) for each in node.names}
            case _:
                pass
    return {name: each.__module__.rpartition(".")[2] for name, each in found.items() if is_operator(each)}


@pytest.mark.parametrize("folder", ["stages", "operators"])
def test_every_module_of_operators_has_a_face_of_its_name(folder: str) -> None:
    modules = {file.stem for file in (ROOT / folder).glob("_*.py")} - {"__init__"}
    assert len(modules) > 10
    assert modules - FACES.keys() - MACHINERY.keys() == set()


def test_what_is_shared_holds_no_operator() -> None:
    for name in MACHINERY:
        import_module(f"rx_ops.operators.{name}")  # an operator is known once its module is loaded
    named = [function for function in _OPERATORS if operator_of(function).name]  # what has none is a part of another
    homes = {function.__module__ for function in (*named, *_STAGES)}
    for name in MACHINERY:
        assert (ROOT / "operators" / f"{name}.py").exists()
        assert name not in FACES
        assert f"rx_ops.operators.{name}" not in homes, name


@pytest.mark.parametrize("face", sorted(face for face in FACES if not face.startswith(OF_OTHER_TYPES)))
def test_a_face_uses_the_operators_of_its_family(face: str) -> None:
    others = {(face, name): home for name, home in operators_of(FACES[face]).items() if home != face}
    assert others.keys() - SHARED.keys() == set(), others


def test_exceptions_are_still_needed() -> None:
    needed = {(face, name) for face, file in FACES.items() for name, home in operators_of(file).items() if home != face}
    assert SHARED.keys() - needed == set()
