"""One operator of Single, Maybe or Completable: what differs from the method of Flowable that it is made of.

Read by ``tools/generate_one_item.py``. A row takes its signature, its body and the fields of its docstring from the
method of that name in Flowable's families, unless it says otherwise. In signatures ``Type`` stands for the type that is
made, ``Base`` for its abstract base; ``{Type}`` and ``{name}`` are its name, in texts and bodies. What is said for one
type (``S``, ``M``, ``C``) counts for it alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

FIELDS: Final = ("demand", "errors", "memory", "thread", "fusion", "source")
KINDS: Final = ("S", "M", "C")


@dataclass(frozen=True)
class Row:
    """One operator of one type. What is empty is taken from ``family``, the method of Flowable."""

    name: str
    family: str
    #: What it does, in a sentence or more; a drawing, with notes on it in brackets behind it.
    says: str = ""
    marble: str = ""
    #: The type of the result where it is not the type itself.
    result: str = ""
    #: The overloads, if there are any, and the signature of the method.
    signatures: tuple[str, ...] = ()
    body: str = ""
    #: Fields of the docstring that the family's does not fit.
    fields: dict[str, str] = field(default_factory=dict)

    def but(self, said: dict[str, Any]) -> Row:
        """The same with what is said otherwise."""
        fields = {key: value for key, value in said.items() if key in FIELDS}
        others = {key: value for key, value in said.items() if key not in FIELDS}
        signature = others.pop("signature", None)
        if signature is not None:
            others["signatures"] = (signature,)
        return replace(self, **others, fields=self.fields | fields)


@dataclass(frozen=True)
class Part:
    """A part of the table: the rows of each type, in order."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def row(self, name: str, kinds: str, says: str, marble: str, *, family: str | None = None, **said: Any) -> None:
        """An operator of ``kinds``. ``family``: the method that it is made of; "" for none: then all is said here."""
        row = Row(name, name if family is None else family, says, marble)
        row = row.but({key: value for key, value in said.items() if key not in KINDS})
        for kind in kinds:
            self.rows[kind].append(row.but(said.get(kind, {})))
