"""Methods are called by the type that users know, and not by the family in which they are written."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rx_ops import Completable, Flowable, GroupedFlowable, Maybe, Observable, PublishProcessor, Single

#: For calls that a type checker refuses.
ANY: Any = Flowable


@pytest.mark.parametrize("face", [Flowable, Observable, Single, Maybe, Completable])
def test_an_argument_that_is_missing_is_one_of_a_method_of_the_type(face: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{face.__name__}\.error\(\) missing"):
        face.error()
    with pytest.raises(TypeError, match=rf"^{face.__name__}\.on_error_resume_next\(\) missing"):
        face.never().on_error_resume_next()


def test_what_a_subclass_inherits_is_called_by_the_type_that_has_it() -> None:
    assert GroupedFlowable.map.__qualname__ == "Flowable.map"
    with pytest.raises(TypeError, match=r"^Flowable\.map\(\) missing"):
        PublishProcessor[int]().map()  # type: ignore[call-arg]  # what is wrong is the point


def test_just_without_an_item_speaks_of_just() -> None:
    with pytest.raises(TypeError, match=r"^Flowable\.just\(\) missing 1 required positional argument: 'item'$"):
        ANY.just()


@pytest.mark.parametrize("face", [Flowable, Observable])
def test_every_method_can_be_pickled_by_that_name(face: Any) -> None:
    names = [name for name in dir(face) if not name.startswith("_")]
    assert len(names) > 150
    methods = {name: method for name in names if callable(method := getattr(face, name, None))}  # without those of plugins
    for name, method in methods.items():
        assert pickle.loads(pickle.dumps(method)) == method, name


def test_a_plan_names_a_method_as_it_is_written() -> None:
    assert repr(Flowable.of(1).flat_map(Flowable.just)) == "of(1).flat_map(Flowable.just)"
