"""A Single and a Maybe give one item at most: a stream of several in their place is refused, by its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rx_ops import Completable, Flowable, Maybe, Observable, Single

MANY: list[Any] = [Flowable.of(1, 2, 3), Observable.of(1, 2, 3)]
ONE = Single.just(0)
NONE: Maybe[int] = Maybe.empty()
FAILED: Single[int] = Single.error(OSError)

MADE: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "flat_map": lambda make: ONE.flat_map(make),
    "Maybe.flat_map": lambda make: Maybe.just(0).flat_map(make),
    "flat_map_maybe": lambda make: ONE.flat_map_maybe(make),
    "flat_map_single": lambda make: Maybe.just(0).flat_map_single(make),
    "defer": lambda make: Single.defer(make),
    "Maybe.defer": lambda make: Maybe.defer(make),
    "using": lambda make: Single.using(lambda: 0, make, lambda _: None),
    "on_error_resume_next": lambda make: FAILED.on_error_resume_next(make),
}

GIVEN: dict[str, Callable[[Any], Any]] = {
    "zip": lambda many: Single.zip(ONE, many),
    "zip_with": lambda many: ONE.zip_with(many),
    "amb": lambda many: Single.amb(ONE, many),
    "first_with_value": lambda many: Maybe.first_with_value(many),
    "switch_if_empty": lambda many: NONE.switch_if_empty(many),
    "timeout": lambda many: ONE.timeout(1.0, fallback=many),
}


@pytest.mark.parametrize("many", MANY, ids=["Flowable", "Observable"])
@pytest.mark.parametrize("name", MADE)
def test_a_function_that_makes_several_items_is_an_error(name: str, many: Any) -> None:
    def make(*_args: object) -> Any:
        return many

    made = MADE[name](make)
    signals: list[Any] = []
    made.subscribe(signals.append, signals.append)
    (error,) = signals
    said = str(error) + "".join(map(str, getattr(error, "exceptions", ())))
    assert "which may give several items" in said
    assert f"{name.rpartition('.')[2]}() of a" in said
    assert "first" in said.partition("Right:")[2]
    with pytest.raises(type(error)):
        made.blocking_get()


@pytest.mark.parametrize("many", MANY, ids=["Flowable", "Observable"])
@pytest.mark.parametrize("name", GIVEN)
def test_a_source_of_several_items_is_refused_at_assembly(name: str, many: Any) -> None:
    with pytest.raises(TypeError, match=rf"{name}\(\) of a (Single|Maybe) expected a (Single|Maybe), got the"):
        GIVEN[name](many)


def test_what_is_a_stream_of_the_item_may_have_several() -> None:
    assert ONE.flat_map_publisher(lambda _: Flowable.of(1, 2)).blocking_list() == [1, 2]
    assert ONE.concat_with(Single.just(1)).blocking_list() == [0, 1]
    Completable.defer(lambda: Flowable.of(1, 2).ignore_elements()).blocking_await()


def test_errors_and_texts_of_flat_map_of_a_single_name_it() -> None:
    flow = ONE.flat_map(lambda n: Single.just(1 // n))
    assert "flat_map(" in repr(flow)
    assert "concat_map" not in repr(flow) + flow.explain()
    with pytest.raises(ZeroDivisionError) as raised:
        flow.blocking_get()
    assert any("in flat_map(" in note for note in raised.value.__notes__)
    with pytest.raises(TypeError, match=r"flat_map\(\) expected a function"):
        ONE.flat_map(lambda _: None).blocking_get()  # type: ignore[arg-type, return-value]  # on purpose
