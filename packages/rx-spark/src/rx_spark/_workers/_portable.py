"""What can travel to the executors, and who is to blame when something cannot.

cloudpickle does the work. On top of it: classes and functions of modules that workers cannot import are sent by value,
and things that would be pickled to something useless (an open file's text, a session) are refused.
"""

from __future__ import annotations

import inspect
import io
import os
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import cloudpickle

from rx_core._errors import name_of
from rx_spark._errors import NotPortableError

_DRIVER_ONLY: Final = ("py4j.", "pyspark.sql.", "pyspark.core.", "pyspark.context")
_SPARK_TYPES: Final = frozenset(("SparkSession", "SparkContext", "SQLContext", "DataFrame", "Column"))
_JAVA_TYPES: Final = frozenset(("JavaObject", "JavaGateway", "JavaClass", "JVMView", "ClientServer"))
_NO_FILE: Final = "<dynamic-code>"
_DEPTH: Final = 16  #: how deep to look for what cannot be pickled

_REMEDIES: Final = (
    (
        ("_thread.", "threading."),
        "locks have no meaning across processes; create one inside the function, or do without",
    ),
    (("_io.", "io."), "pass its path and open it inside the function:  with open(path) as file: ..."),
    (("pyspark.", "py4j."), "sessions and DataFrames live on the driver only; collect the values first and pass those"),
    (("builtins.generator", "builtins.async_generator"), "make a list of it first:  values = list(generator)"),
    (("_socket.", "socket.", "sqlite3.", "ssl."), "open the connection inside the function, on the executor"),
)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle has no types
    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if _refused(obj, kind):
            raise pickle.PicklingError(f"cannot pickle a {_type_name(obj)}")
        if kind is CodeType:
            return _with_its_file(obj, self.dispatch_table[CodeType](obj))
        if kind is FunctionType or isinstance(obj, type):
            _by_value_where_needed(getattr(obj, "__module__", None))
        return super().reducer_override(obj)


def _with_its_file(code: CodeType, reduced: Any) -> Any:
    """What cloudpickle makes of code, with the file that tracebacks of executors name: since 3.1.3 it leaves that out."""
    make, args = reduced
    return make, tuple(code.co_filename if part == _NO_FILE else part for part in args)


def _refused(obj: object, kind: type) -> bool:
    if isinstance(obj, io.IOBase):
        return not isinstance(obj, io.StringIO | io.BytesIO) and obj not in (sys.stdout, sys.stderr)
    return kind.__module__.startswith(_DRIVER_ONLY) and kind.__name__ in _SPARK_TYPES | _JAVA_TYPES


def dump(value: object) -> bytes:
    """Pickle with cloudpickle and the rules above."""
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def dump_plan_part(value: object) -> bytes:
    """:func:`dump` for what runs on executors; anything that slipped through :func:`check_portable` is named here."""
    try:
        return dump(value)
    except Exception as error:
        culprit = _culprit(value)
        if culprit is None:
            raise NotPortableError(f"a part of the pipeline cannot be sent to Spark's executors: {error}") from error
        raise _error("the Spark part of the pipeline", "", value, *culprit) from error


def dump_items(items: Sequence[object]) -> bytes:
    """Items of the driver for the executors."""
    try:
        data = pickle.dumps(items, pickle.HIGHEST_PROTOCOL)
        if b"__main__" not in data and all(_importable(type(item).__module__) for item in items):
            return data
    except Exception:
        pass
    try:
        return dump(items)
    except Exception as error:
        culprit = _culprit(items)
        path, value = culprit if culprit is not None else ("an item", error)
        raise _error("from_iterable", "items", items, path, value) from error


# --- modules ----------------------------------------------------------------------------------------------------------


def _by_value_where_needed(name: str | None) -> None:
    if name is None or name == "__main__" or _importable(name):
        return
    module = sys.modules.get(name)
    if module is not None:
        cloudpickle.register_pickle_by_value(module)


@cache
def _importable(name: str) -> bool:
    """Whether a fresh interpreter with this one's sys.path would find the module; ``sys.modules`` does not count."""
    if name in ("__main__", "builtins"):
        return name == "builtins"
    path: Sequence[str] | None = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        full = ".".join(parts[:depth])
        spec = PathFinder.find_spec(full, path)
        if spec is None:
            if depth == 1 and (BuiltinImporter.find_spec(full) or FrozenImporter.find_spec(full)):
                return True  # their submodules, os.path for one, come with them
            # a module that its package puts into sys.modules itself comes with the package
            return depth > 1 and not _has_file(full)
        path = list(spec.submodule_search_locations or ())
    return True


def _has_file(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or os.path.exists(file)


# --- who is to blame --------------------------------------------------------------------------------------------------


def check_portable(functions: Sequence[tuple[str, str, object]]) -> None:
    """Raise for the first function that cannot be sent; ``functions`` are (operator, parameter, function).

    Any thread. Nothing runs but the pickling of what the functions hold. Raises NotPortableError, which names operator,
    parameter, the variable inside the closure and its type, and says what to do.
    """
    for operator, parameter, function in functions:
        try:
            dump(function)
        except Exception as error:
            culprit = _culprit(function)
            if culprit is None:
                culprit = "it", error
            raise _error(operator, parameter, function, *culprit) from error


def _error(operator: str, parameter: str, whole: object, path: str, value: object) -> NotPortableError:
    kind = _type_name(value)
    who = f"{operator}({parameter}={name_of(whole)})" if callable(whole) and parameter else operator
    remedy = next((text for prefixes, text in _REMEDIES if kind.startswith(prefixes)), None)
    if isinstance(value, Exception):
        what = f"{path} cannot be pickled: {value}"
    else:
        what = f"{path} is a {kind}, and that cannot be pickled"
    return NotPortableError(
        f"{who} cannot be sent to Spark's executors: {what}.\n"
        f"  Instead:  {remedy or 'create it inside the function, on the executor, or pass plain values'}\n"
        f"  Or keep this step on the driver:  put .hide() before it",
        operator=operator,
        parameter=parameter,
        variable=path,
    )


def _type_name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _culprit(value: object) -> tuple[str, object] | None:
    """The way to the innermost thing that cannot be pickled, and the thing."""
    seen: set[int] = set()
    path: list[str] = []
    for _ in range(_DEPTH):
        seen.add(id(value))
        for name, child in () if _refused(value, type(value)) else _children(value):
            if id(child) not in seen and not _travels(child):
                path.append(name)
                value = child
                break
        else:
            return (" in ".join(reversed(path)), value) if path else None
    return " in ".join(reversed(path)), value


def _travels(value: object) -> bool:
    try:
        dump(value)
    except Exception:
        return False
    return True


def _children(value: object) -> Iterator[tuple[str, object]]:
    """What a thing holds, under the name a user knows it by."""
    if isinstance(value, FunctionType):
        yield from _function_children(value)
    elif isinstance(value, MethodType):
        yield f"the object of {value.__func__.__qualname__}", value.__self__
        yield "the function", value.__func__
    elif isinstance(value, partial):
        for at, item in enumerate(value.args):
            yield f"argument {at} of the partial", item
        for name, item in value.keywords.items():
            yield f"argument {name!r} of the partial", item
        yield "the function of the partial", value.func
    elif isinstance(value, Mapping):
        for key, item in list(value.items()):
            yield f"[{key!r}]", item
            yield f"the key {key!r}", key
    elif isinstance(value, list | tuple | set | frozenset):
        for at, item in enumerate(value):
            yield f"item {at}", item
    elif not isinstance(value, type | ModuleType | BuiltinFunctionType | CodeType):
        for name, item in _attributes(value):
            yield f"attribute {name!r}", item


def _function_children(function: FunctionType) -> Iterator[tuple[str, object]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield f"closure variable {name!r}", cell.cell_contents
        except ValueError:
            pass  # not assigned yet
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield f"global variable {name!r}", function.__globals__[name]
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty:
            yield f"default of {name!r}", parameter.default


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _attributes(value: object) -> Iterator[tuple[str, object]]:
    yield from list(getattr(value, "__dict__", {}).items())
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            try:
                yield name, getattr(value, name)
            except AttributeError:
                pass
