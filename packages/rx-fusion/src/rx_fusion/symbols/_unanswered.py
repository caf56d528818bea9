"""What Python asks of a symbol and turns into a value at once (``if``, ``len()``, ``in``, ``str()``): there is no answer yet."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn

from rx_fusion.symbols._text import written

if TYPE_CHECKING:
    from rx_fusion.symbols._nodes import Node

#: ``depth`` is how many functions sym() is calling in this thread.
TRACING: Final = threading.local()


class SymbolError(TypeError):
    """Something cannot be said with symbols; the message says what to write instead."""


class Unanswered:
    """Raises a SymbolError for each such question that says what to write instead: a wrong answer would be a wrong stream."""

    __slots__ = ()

    __rx_node__: Node

    if TYPE_CHECKING:
        # What raises is no method for checkers either: __getattr__ would promise them all.
        def __bool__(self) -> NoReturn: ...

        __len__: ClassVar[None]
        __next__: ClassVar[None]
        __contains__: ClassVar[None]
        __hash__: ClassVar[None]  # type: ignore[assignment]  # object has one
        __int__: ClassVar[None]
        __float__: ClassVar[None]
        __complex__: ClassVar[None]
        __index__: ClassVar[None]
        __bytes__: ClassVar[None]
        __fspath__: ClassVar[None]
        __enter__: ClassVar[None]
        __exit__: ClassVar[None]
        __await__: ClassVar[None]
        __aiter__: ClassVar[None]
        __anext__: ClassVar[None]
        __length_hint__: ClassVar[None]
        __iter__: ClassVar[None]
    else:

        def __bool__(self) -> NoReturn:
            raise unanswered(
                self,
                "is asked for its truth (if, and, or, not, a chained comparison like 1 < it < 9, min, max, sorted, assert)",
                "(it > 1) & (it < 9)        for 'and' of two comparisons; | for 'or', (it > 1) ^ True for 'not'",
                "two .filter() one after another, or a function:  lambda x: a if x else b",
            )

        def __len__(self) -> NoReturn:
            raise unanswered(self, "is asked for its len()", "call(len, it)")

        def __contains__(self, _item: object, /) -> NoReturn:
            raise unanswered(self, "is asked for 'x in it'", "call(operator.contains, it, x)")

        def __hash__(self) -> NoReturn:
            raise unanswered(
                self,
                "is looked up in a set or dict (x in {...}, table[it])",
                "call(operator.contains, {...}, it)",
                "call(table.get, it)",
            )

        def __iter__(self) -> NoReturn:
            raise unanswered(
                self,
                "is iterated (a for, unpacking a, b = it, *it, list(), sum(), max(), 'x in it')",
                "it[0], it[1]       instead of unpacking",
                "call(sum, it)      for a function of an iterable",
            )

        def __str__(self) -> NoReturn:
            raise unanswered(
                self, "is turned into text by str(), print() or %s", "call(str, it)", "repr(it)  to see the expression itself"
            )

        def __format__(self, _spec: str, /) -> NoReturn:
            raise unanswered(self, "stands in an f-string or format()", 'call("{} EUR".format, it)')

        def __bytes__(self) -> NoReturn:
            raise unanswered(self, "is turned into bytes", "call(bytes, it)")

        def __int__(self) -> NoReturn:
            raise unanswered(self, "is turned into an int", "call(int, it)")

        def __float__(self) -> NoReturn:
            raise unanswered(
                self, "is turned into a float (float(), a function of math)", "call(float, it)", "call(math.sqrt, it)"
            )

        def __complex__(self) -> NoReturn:
            raise unanswered(self, "is turned into a complex number", "call(complex, it)")

        def __index__(self) -> NoReturn:
            raise unanswered(self, "is used as an index or a range", "call(names.__getitem__, it)", "call(range, it)")

        def __fspath__(self) -> NoReturn:
            raise unanswered(self, "is used as a path", "call(open, it)", "call(pathlib.Path, it)")

        def __enter__(self) -> NoReturn:
            raise unanswered(self, "stands in a with statement", "a function (def)")

        def __exit__(self, *_details: object) -> None: ...

        def __await__(self) -> NoReturn:
            raise unanswered(self, "is awaited", "flat_map to a Single made of the coroutine")

        def __setattr__(self, name: str, _value: object) -> NoReturn:
            raise unanswered(self, f"has its attribute {name!r} set", f"call(setattr, it, {name!r}, value), or a function (def)")

        def __delattr__(self, name: str) -> NoReturn:
            raise unanswered(self, f"has its attribute {name!r} deleted", "a function (def)")

        def __setitem__(self, _index: object, _value: object, /) -> NoReturn:
            raise unanswered(self, "has an item set", "call(operator.setitem, it, index, value), or a function (def)")

        def __delitem__(self, _index: object, /) -> NoReturn:
            raise unanswered(self, "has an item deleted", "a function (def)")

        #: numpy leaves ``array + it`` to us.
        __array_ufunc__ = None

        @property
        def __class__(self) -> type:
            # isinstance() looks here when the type itself is no answer: a wrong False would choose a wrong branch. Only while a
            # function is traced: test runners and debuggers ask this of everything they show.
            if getattr(TRACING, "depth", 0):
                raise unanswered(
                    self, "is examined (isinstance(), an abstract class, single dispatch)", "call(isinstance, it, kind)"
                )
            return type(self)


def unanswered(symbol: Unanswered, what: str, *instead: str) -> SymbolError:
    shown = written(symbol.__rx_node__)
    lines = "".join(f"\n  Instead:  {each}" for each in instead)
    return SymbolError(f"the expression {shown} {what}, but it has no value yet: it only describes a function.{lines}")
