"""The names of other libraries: a stream that is asked for one says what it is called here, or what to write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from rx_core import OperatorNotFoundError
from rx_ops import Completable, Flowable, Maybe, Observable, Single
from tools.names_elsewhere import GUIDE, ROOT, read

CALLED, WRITTEN = read((ROOT / GUIDE).read_text(encoding="utf-8"))
STREAMS: Final[tuple[Any, ...]] = (
    Flowable.of(1, 2),
    Observable.of(1, 2),
    Single.just(1),
    Maybe.just(1),
    Completable.complete(),
)


def names_that_are_not_ours(kind: type) -> list[str]:
    names = [*CALLED, *WRITTEN]
    return [name for name in names if not hasattr(kind, name) and name not in CALLED.get(name, ()) and not name[0].isupper()]


@pytest.mark.parametrize("stream", STREAMS, ids=[type(stream).__name__ for stream in STREAMS])
def test_a_name_from_elsewhere_is_answered_with_ours(stream: Any) -> None:
    kind = type(stream)
    names = names_that_are_not_ours(kind)
    assert len(names) > 300
    of_other_types = {name for other in STREAMS for name in dir(type(other))}
    for name in names:
        for asked in (stream, kind):
            with pytest.raises(AttributeError) as caught:
                getattr(asked, name)
            if name in of_other_types and name not in WRITTEN:
                continue  # an operator, but not of this type
            assert isinstance(caught.value, OperatorNotFoundError), name
            said = str(caught.value)
            assert re.search(r"  Here it is (called|written so):  \S", said), said
            assert name not in CALLED or all(re.search(rf"\b{ours}\b", said) for ours in CALLED[name] if hasattr(kind, ours)), (
                said
            )


@pytest.mark.parametrize(
    ("asked", "name", "said"),
    [
        (Flowable.of(1), "concatMapDelayError", "flow.concat_map(f, delay_error=True), with"),
        (Flowable, "fromIterable", "Flowable.from_iterable(...)"),
        (Flowable.of(1), "fromIterable", "Flowable.from_iterable(...)"),
        (Single.just(1), "doOnSuccess", ".do_on_success(...)"),
        (Single.just(1), "takeWhile", ".take_while(...) of a Flowable"),
        (Flowable.of(1), "tap", "flow.do_on_next(f)"),
        (Flowable, "from_action", "Completable.from_action(f)"),
        (Completable, "from_callable", "Completable.from_action(f)"),
        (Completable, "fromCallable", "Completable.from_action(...)"),
        (Single.just(1), "concat_map", "single.flat_map(f)"),
        (Single.just(1), "concatMap", "single.flat_map(f)"),
        (Completable.complete(), "on_error_return", "completable.to_maybe().on_error_return(f)"),
        (Flowable.of(1), "to_future", "flow.first().to_future()"),
        (Flowable.of(1), "windowWhen", "flow.window(closing=f)"),
    ],
)
def test_what_is_said(asked: Any, name: str, said: str) -> None:
    with pytest.raises(OperatorNotFoundError, match=re.escape(f":  {said}")):
        getattr(asked, name)


def test_completion_offers_our_names_only() -> None:
    for stream in STREAMS:
        for listed in (dir(stream), dir(type(stream))):
            assert "map" in listed or isinstance(stream, Completable)
            assert not {"tap", "flatMap", "doOnNext", "concatMapDelayError"} & set(listed)


def test_the_tool_leaves_out_what_is_ours(tmp_path: Path) -> None:
    text = """## Where streams begin

| here | RxJava |
| --- | --- |
| `map` | `map`, `mapTo(x)` |

| elsewhere | here |
| --- | --- |
| `one_a`, `two_b` | `flow.a()`, `flow.b()` |
| `three_c` and more | the `same` |
"""
    called, written = read(text)
    assert called == {"map": ["map"], "mapTo": ["map"]}
    assert written == {
        "one_a": "flow.a()",
        "oneA": "flow.a()",
        "two_b": "flow.b()",
        "twoB": "flow.b()",
        "three_c": "the same",
        "threeC": "the same",
    }
