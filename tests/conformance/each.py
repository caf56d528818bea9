"""Parameters of a test that are looped over inside it.

To set a test up takes pytest half a millisecond, several times what most of these take, and there would be ninety thousand of
them. So a line of the table is a test, and the sources and modes under which it is tried are a loop. A failure has a note that
says which.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str | tuple[str, ...], values: Iterable[Any], *, ids: Iterable[object] | None = None) -> Callable[[Test], Test]:
    """As ``pytest.mark.parametrize``, in one test. It is skipped when each of the values was."""
    several = isinstance(names, tuple)
    keys: tuple[str, ...] = names if isinstance(names, tuple) else (names,)
    rows = [tuple(row) if several else (row,) for row in values]
    shown = [", ".join(map(repr, row)) for row in rows] if ids is None else [str(each) for each in ids]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @wraps(test)
        def loop(*args: Any, **kwargs: Any) -> None:
            skipped: list[BaseException] = []
            for row, text in zip(rows, shown, strict=True):
                try:
                    test(*args, **kwargs, **dict(zip(keys, row, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except BaseException as error:
                    error.add_note(f"with {', '.join(keys)} = {text}")
                    raise
            if len(skipped) == len(rows):
                raise skipped[0]

        kept = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        loop.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]  # what pytest asks for
        return loop

    return decorate
