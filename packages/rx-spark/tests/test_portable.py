from __future__ import annotations

import functools
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from rx_core._errors import RxError
from rx_spark._errors import NotPortableError
from rx_spark._transport._wire import loads
from rx_spark._workers._portable import check_portable, dump, dump_items

LOCK = threading.Lock()


class Holder:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    def work(self, item: int) -> int:
        return item


def closure_over(thing: object) -> Callable[[Any], Any]:
    return lambda item: (item, thing)


def uses_global(item: int) -> int:
    with LOCK:
        return item


def refusal(function: object) -> NotPortableError:
    with pytest.raises(NotPortableError) as caught:
        check_portable([("map", "mapper", function)])
    return caught.value


def by_value(function: Callable[..., Any]) -> types.FunctionType:
    """The same function as if it stood in a script: pickled with what it uses instead of by its name."""
    assert isinstance(function, types.FunctionType)
    scope = {**function.__globals__, "__name__": "__main__"}
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    copy.__module__ = "__main__"
    return copy


def test_a_lock_in_a_closure_is_named_with_operator_parameter_variable_and_remedy() -> None:
    error = refusal(closure_over(threading.Lock()))
    assert (error.operator, error.parameter, error.variable) == ("map", "mapper", "closure variable 'thing'")
    text = str(error)
    assert text.startswith("map(mapper=<lambda line")
    assert "closure variable 'thing' is a _thread.lock" in text
    assert "inside the function" in text
    assert ".hide()" in text
    assert isinstance(error, RxError | TypeError)


@pytest.mark.parametrize(
    ("make", "variable", "kind"),
    [
        (lambda: closure_over(i for i in range(3)), "closure variable 'thing'", "builtins.generator"),
        (
            lambda: closure_over([{"deep": threading.Lock()}]),
            "['deep'] in item 0 in closure variable 'thing'",
            "lock",
        ),
        (lambda: closure_over(Holder()), "attribute 'lock' in closure variable 'thing'", "lock"),
        (lambda: Holder().work, "attribute 'lock' in the object of Holder.work", "lock"),
        (lambda: by_value(uses_global), "global variable 'LOCK'", "lock"),
        (lambda: functools.partial(max, threading.Lock()), "argument 0 of the partial", "lock"),
        (lambda: functools.partial(max, key=threading.Lock()), "argument 'key' of the partial", "lock"),
    ],
)
def test_the_culprit_is_found_wherever_it_hides(make: Callable[[], object], variable: str, kind: str) -> None:
    error = refusal(make())
    assert error.variable == variable
    assert kind in str(error)


def test_an_open_file_is_refused_though_cloudpickle_would_send_its_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with open(path) as file:
        assert cloudpickle.dumps(file)
        error = refusal(closure_over(file))
    assert "open(path)" in str(error)


def test_what_can_travel_passes() -> None:
    check_portable([("map", "mapper", len), ("filter", "predicate", closure_over({"plain": [1]})), ("map", "mapper", print)])
    assert loads(dump(closure_over(3)))(1) == (1, 3)


def test_an_element_of_the_driver_that_cannot_travel_is_named() -> None:
    with pytest.raises(NotPortableError, match=r"from_iterable.*item 1 is a _thread.lock") as caught:
        dump_items([1, threading.Lock()])
    assert caught.value.operator == "from_iterable"


def test_modules_that_workers_cannot_import_travel_by_value(tmp_path: Path) -> None:
    module = types.ModuleType("made_up_module")
    exec("class Thing:\n    value = 7\ndef function(item):\n    return item * Thing.value", module.__dict__)
    sys.modules[module.__name__] = module
    try:
        function, items = dump(module.function), dump_items([module.Thing()])
    finally:
        cloudpickle.unregister_pickle_by_value(module)
        del sys.modules[module.__name__]
    (tmp_path / "function").write_bytes(function)
    (tmp_path / "items").write_bytes(items)
    program = (
        "import pathlib, pickle, sys\n"
        "f, i = [pickle.loads(pathlib.Path(sys.argv[1], n).read_bytes()) for n in ('function', 'items')]\n"
        "print(f(6), i[0].value)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["42", "7"]


@pytest.mark.spark
def test_a_spark_session_in_a_closure_is_refused(spark_config: Any) -> None:
    from rx_spark._session._session import engine

    session = engine(spark_config).session
    assert "sessions and DataFrames live on the driver" in str(refusal(closure_over(session)))
    assert "sessions and DataFrames live on the driver" in str(refusal(closure_over(session.range(1))))
    assert "sessions and DataFrames live on the driver" in str(refusal(closure_over(session.sparkContext)))
