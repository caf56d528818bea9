"""Operators from other distributions: found by entry point, loaded when first used.

Group ``rx.operators``, one entry per operator: ``"Flowable.pairs" = "rx_pairs._impl:pairs"``. The function takes the stream
first.
"""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from rx_core import OperatorNotFoundError
from rx_ops._entry_points import entries, owner_of
from rx_ops._generated_names_elsewhere import CALLED, WRITTEN

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def bind_operator(stream: object, name: str) -> Callable[..., Any]:
    """The plugin's operator called ``name``, bound to ``stream``.

    Raises OperatorNotFoundError (an AttributeError) with the closest names; for an operator whose module fails to import, with
    the distribution's name.
    """
    kinds = type(stream).__mro__
    function = _operator(kinds, name)
    if function is None:
        raise OperatorNotFoundError(unknown(kinds, name), name=name, obj=stream)
    return partial(function, stream)


class _Offered:
    """A plugin's operator as a method of a mixin: imported when it is looked up."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, stream: object, kind: type) -> Callable[..., Any]:
        if stream is None:  # as before: an operator is called on a stream
            raise AttributeError(f"type object {kind.__name__!r} has no attribute {self._name!r}", name=self._name, obj=kind)
        return bind_operator(stream, self._name)


def settle(base: type) -> None:
    """Make all operators that are offered methods of the mixins under ``base``, and take away its ``__getattr__``.

    With one, CPython 3.11 reads every attribute of a stream the slow way. It stays when a plugin offers an operator for another
    class than those that have a mixin, or what is installed cannot be read: then it says so when one is looked for.
    """
    subclasses: list[type] = base.__subclasses__()
    mixins = {mixin.__name__.removesuffix("Plugged"): mixin for mixin in subclasses}
    try:
        offered = [entry.rpartition(".") for entry in entries()]
    except Exception:
        return
    if all(kind in mixins for kind, _, _ in offered) and "__getattr__" in vars(base):
        for kind, _, name in offered:
            if not name.startswith("_") and not hasattr(mixins[kind], name):  # it may add an operator, never replace one
                setattr(mixins[kind], name, _Offered(name))
        del base.__getattr__  # type: ignore[attr-defined]  # mypy is not told that it is there


@lru_cache(maxsize=1024)
def _operator(kinds: tuple[type, ...], name: str) -> Callable[..., Any] | None:
    """The function that is ``name`` for streams with these bases, loaded once; None when no plugin offers it."""
    for base in kinds:
        offers = entries().get(f"{base.__name__}.{name}")
        if offers:
            return _load(*offers)
    return None


def _load(entry: EntryPoint, *others: EntryPoint) -> Callable[..., Any]:
    owner = owner_of(entry)
    if others:
        warnings.warn(
            f"{entry.name}() is offered by {owner} and by {', '.join(map(owner_of, others))}; {owner} is used.\n"
            f"  To choose another in a chain:  .pipe(function, ...)   or uninstall {owner}",
            RuntimeWarning,
            stacklevel=5,
        )
    try:
        function = entry.load()
    except (Exception, SystemExit) as error:
        raise OperatorNotFoundError(
            f"{entry.name}() is offered by {owner} ({entry.value}), which cannot be imported: {error!r}\n"
            f"  Update or remove it:  pip install -U {owner}"
        ) from error
    if not callable(function):
        raise OperatorNotFoundError(
            f"{entry.name}() is offered by {owner} ({entry.value}), but that is no function: {function!r}\n"
            f"  Update or remove it:  pip install -U {owner}"
        )
    loaded: Callable[..., Any] = function
    return loaded


@lru_cache(maxsize=256)
def unknown(kinds: tuple[type, ...], name: str) -> str:
    """What is said of a stream with these bases, or of its type, that has nothing of that name."""
    kind = kinds[0]
    told = _elsewhere(kind, name)
    if told:
        return f"{kind.__name__} has no operator {name!r}.\n{told}"
    bases = {base.__name__ for base in kinds}
    return (
        f"{kind.__name__} has no operator {name!r}.\n{_close(kind, bases, name)}{_stale(bases, name)}"
        f"  Your own function in a chain:  .pipe({name}, ...)\n"
        f"  Operators of installed plugins:  python -m rx_core plugins"
    )


def _elsewhere(kind: type, name: str) -> str:
    """Ours for an operator that has this name in another library, or what to write instead."""
    ours = CALLED.get(name, ())
    own = [each for each in ours if hasattr(kind, each)]
    if name in WRITTEN and not own:
        return f"  Here it is written so:  {WRITTEN[name]}"
    lines = []
    for each in own or ours:
        owner = kind if hasattr(kind, each) else next((found for found in _types(kind) if hasattr(found, each)), None)
        if owner is None:
            lines.append(each)
        elif isinstance(inspect.getattr_static(owner, each), classmethod):
            lines.append(f"{owner.__name__}.{each}(...)")
        else:
            lines.append(f".{each}(...)" if owner is kind else f".{each}(...) of a {owner.__name__}")
    return f"  Here it is called:  {', '.join(lines)}" if lines else ""


def _types(kind: type) -> Iterator[type]:
    """The five types, each the first that was made of its mixin."""
    for base in kind.__mro__:
        if base.__name__ == "_Plugged":
            mixins: list[type] = base.__subclasses__()
            yield from (mixin.__subclasses__()[0] for mixin in mixins)


def _close(kind: type, bases: set[str], name: str) -> str:
    own = [each for each in dir(kind) if not each.startswith("_")]
    plugged = [entry.rpartition(".")[2] for entry in entries() if entry.rpartition(".")[0] in bases]
    close = difflib.get_close_matches(name, dict.fromkeys([*own, *plugged]), n=3)  # plugged ones may be methods by now
    return f"  Did you mean:  {', '.join('.' + each for each in close)}\n" if close else ""


def _stale(bases: set[str], name: str) -> str:
    """An editable distribution that declares the operator by now, but was installed before it did."""
    from rx_ops._declared import declared

    for each in declared():
        if each.name == name and each.face in bases:
            return f"  {each.distribution} declares it since it was installed:  pip install --no-deps -e <its folder>\n"
    return ""
