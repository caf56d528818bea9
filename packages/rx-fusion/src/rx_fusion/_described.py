"""A pipeline as the modules below it know it."""

from __future__ import annotations

from typing import Any, Protocol


class Assembled(Protocol):
    """A head, and stages with their arguments behind it. Modules say what they expect of each."""

    _head: Any
    _shape: Any
    _args: tuple[Any, ...]


class Described(Assembled, Protocol):
    """The same, which can run."""

    @property
    def _discarding(self) -> object: ...

    def _resolve(self) -> tuple[Any, Any, tuple[Any, ...]]: ...

    def _rules_applied(self) -> tuple[str, ...]: ...

    def _subscribe_items(self, subscriber: Any, /) -> None: ...

    def _subscribe_many(self, subscriber: Any, plan: tuple[Any, Any, tuple[Any, ...]] | None = None, /) -> None: ...
