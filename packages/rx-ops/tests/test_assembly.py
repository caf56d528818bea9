"""Assembling a pipeline looks at nobody's data."""

from __future__ import annotations

import pickle

from rx_core import hooks
from rx_ops import Flowable, Maybe, Observable, Single


class Shy:
    """Somebody's value whose repr is slow, huge, or broken."""

    def __repr__(self) -> str:
        raise AssertionError("formatted during assembly")


def test_no_value_is_formatted_before_somebody_asks() -> None:
    hooks.ensure_loaded()
    shy = Shy()
    for flow in (Flowable.just(shy), Flowable.of(shy, shy), Flowable.from_iterable([shy])):
        flow.hide().map(id).hide().filter(bool).subscribe(lambda _: None)
    Observable.just(shy).hide().subscribe(lambda _: None)
    assert Single.just(shy).blocking_get() is shy
    assert Maybe.just(shy).blocking_get() is shy


def test_a_repr_stays_short() -> None:
    assert len(repr(Flowable.of("x" * 10_000, list(range(10_000))))) < 100
    assert repr(Flowable.of(1, 2, 3, 4)) == "of(1, 2, 3, ...)"
    assert repr(Flowable.from_iterable(list(range(10_000)))) == "from_iterable(<list>)"


def test_what_is_written_later_can_be_pickled() -> None:
    flow = Flowable.of(1, 2).hide().map(str)
    again = pickle.loads(pickle.dumps(flow))
    assert repr(again) == repr(flow) == "of(1, 2).hide().map(str)"
    assert again.blocking_list() == ["1", "2"]
