"""sym() and call(): functions as expressions, their nodes, and how they pickle."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rx_fusion.symbols import (
    Attribute,
    Call,
    Constant,
    Display,
    Expression,
    Index,
    Item,
    Operator,
    SymbolError,
    call,
    expression_of,
    it,
    sym,
    written,
)

# -- sym and call ------------------------------------------------------------------------------------------------------


def test_sym_calls_a_function_once_and_takes_its_parameters() -> None:
    calls = []

    def price(order: Any, factor: Any) -> Any:
        calls.append(1)
        total = order["price"] * factor
        return total + 1

    function = sym(price)
    assert (function({"price": 2}, 3), function({"price": 3}, 3), calls) == (7, 10, [1])
    assert repr(function) == "sym(lambda order, factor: order['price'] * factor + 1)"
    assert pickle.loads(pickle.dumps(function))({"price": 2}, 3) == 7
    assert sym(function) is function


def test_sym_takes_defaults_as_constants() -> None:
    functions = [sym(lambda o, by=by: o * by) for by in (2, 3)]
    assert [function(5) for function in functions] == [10, 15]


def test_a_function_made_by_sym_can_be_used_in_another() -> None:
    double = sym(lambda o: o * 2)
    assert repr(sym(lambda o: double(o) + 1)) == "sym(lambda o: o * 2 + 1)"


def test_a_part_that_is_used_twice_is_computed_twice() -> None:
    calls = []

    def noted(x: int) -> int:
        calls.append(x)
        return x

    part = call(noted, it)
    assert sym(part * part)(3) == 9
    assert calls == [3, 3]


@pytest.mark.parametrize("function", [len, 3, lambda: 1, lambda *o: o, lambda *, o: o, print])
def test_sym_says_what_it_cannot_read(function: Any) -> None:
    with pytest.raises(SymbolError, match=r"sym\(lambda o: o.price \* 2\)"):
        sym(function)


def test_sym_does_not_mix_its_parameter_with_it() -> None:
    with pytest.raises(SymbolError, match="mixes 'it' with its own o"):
        sym(lambda o: o + it)


def test_call_without_symbols_is_a_call() -> None:
    assert call(len, "abc") == 3


ASKED: Sequence[tuple[str, Callable[[Any], Any], str]] = [
    ("if", lambda o: 1 if o else 2, "truth"),
    ("and", lambda o: o and 1, "truth"),
    ("or", lambda o: o or 1, "truth"),
    ("not", lambda o: not o, "truth"),
    ("chained", lambda o: 1 < o < 9, "truth"),
    ("assert", lambda o: max(o, o), "truth"),
    ("in list", lambda o: o in [1, 2], "truth"),
    ("sorted", lambda o: sorted([o, o]), "truth"),
    ("len", lambda o: len(o), "len()"),
    ("in", lambda o: 1 in o, "in it"),
    ("in set", lambda o: o in {1, 2}, "looked up"),
    ("key", lambda o: {o: 1}, "looked up"),
    ("iteration", lambda o: [x for x in o], "iterated"),  # noqa: C416  # written as users write it
    ("star", lambda o: [*o], "iterated"),
    ("sum", lambda o: sum(o), "iterated"),
    ("str", lambda o: str(o), "text"),
    ("percent", lambda o: "%s" % o, "text"),  # noqa: UP031  # written as users write it
    ("f-string", lambda o: f"{o}", "f-string"),
    ("format", lambda o: "{:3}".format(o), "f-string"),  # noqa: UP032  # written as users write it
    ("repr", lambda o: repr(o), "repr()"),
    ("f-string with !r", lambda o: f"{o!r}", "repr()"),
    ("f-string with =", lambda o: f"{o.name=}", "repr()"),
    ("list as text", lambda o: f"{[o]}", "repr()"),
    ("int", lambda o: int(o), "int"),
    ("float", lambda o: math.sqrt(o), "float"),
    ("complex", lambda o: complex(o), "complex"),
    ("bytes", lambda o: bytes(o), "bytes"),
    ("index", lambda o: [1, 2][o], "index"),
    ("range", lambda o: range(o), "index"),
    ("path", lambda o: open(o), "path"),  # noqa: SIM115  # written as users write it
    ("isinstance", lambda o: isinstance(o, int), "examined"),
    ("abstract", lambda o: isinstance(o, Sequence), "examined"),
    ("set attribute", lambda o: setattr(o, "x", 1), "attribute 'x' set"),
    ("delete attribute", lambda o: delattr(o, "x"), "deleted"),
    ("set item", lambda o: operator.setitem(o, 0, 1), "item set"),
    ("delete item", lambda o: operator.delitem(o, 0), "item deleted"),
    ("with", lambda o: o.__enter__(), "with"),
]


@pytest.mark.parametrize(("function", "said"), [(each[1], each[2]) for each in ASKED], ids=[each[0] for each in ASKED])
def test_what_python_would_decide_at_once_is_refused_with_a_remedy(function: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(SymbolError) as caught:
        sym(function)
    first, _, rest = str(caught.value).partition("\n")
    assert said in first
    assert "Instead:" in rest


def test_what_needs_a_method_that_symbols_lack_is_refused_too() -> None:
    functions: Sequence[Callable[[Any], object]] = (next, lambda o: "%d" % o)  # noqa: UP031  # written as users write it
    for function in functions:
        with pytest.raises(TypeError):
            function(it)


def test_a_special_name_is_no_attribute_of_a_symbol() -> None:
    for name in ("__copy__", "__array__", "__html__", "__wrapped__"):
        assert not hasattr(it, name)
    assert repr(copy.copy(it + 1)) == repr(copy.deepcopy(it + 1)) == "it + 1"
    assert copy.copy(it) is it
    assert pickle.loads(pickle.dumps(it)) is it


def test_an_expression_grows_up_to_a_limit() -> None:
    chain: Any = it
    for _ in range(59):
        chain = chain + 1
    assert sym(chain)(0) == 59
    with pytest.raises(SymbolError, match="at most"):
        chain + 1
    squared: Any = it
    for _ in range(8):
        squared = squared * squared
    with pytest.raises(SymbolError, match="written twice"):
        squared * squared


# -- nodes -------------------------------------------------------------------------------------------------------------


def test_the_tree_is_open() -> None:
    assert sym(it["a"].b(1, k=it) + 2).node == Operator(  # type: ignore[attr-defined]  # typed as the function it is
        "+", (Call(Attribute(Index(Item(), Constant("a")), "b"), (Constant(1),), (("k", Item()),)), Constant(2))
    )
    assert expression_of(-it).node == Operator("-", (Item(),))
    assert sym(lambda a, b: (a, b)).node == Display("tuple", (Item(0), Item(1)))  # type: ignore[attr-defined]  # as above
    assert Expression(Operator("*", (Item(), Constant(3))))(4) == 12
    assert written(Operator("*", (Operator("+", (Item(), Item())), Constant(3)))) == "(it + it) * 3"


# -- pickling ----------------------------------------------------------------------------------------------------------


def test_a_constant_that_cannot_travel_is_named() -> None:
    lock = threading.Lock()
    with pytest.raises(pickle.PicklingError) as caught:
        pickle.dumps(sym(call(operator.is_, it, lock)))
    assert "constant <unlocked _thread.lock" in str(caught.value)
    assert "Constants travel by value" in str(caught.value)


def test_a_pickled_expression_is_the_same_in_another_process() -> None:
    import subprocess

    data = pickle.dumps(sym(it["price"] * 2 > call(len, it["name"])))
    text = f"import pickle; f = pickle.loads({data!r}); print(repr(f), f({{'price': 3, 'name': 'abc'}}))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "it['price'] * 2 > len(it['name']) True"
