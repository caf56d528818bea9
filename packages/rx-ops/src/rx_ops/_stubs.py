"""``python -m rx_ops stubs``: operators of other distributions for checkers that have no plugins, such as pyright.

The stub package is partial: it replaces one file, the one with the empty mixins, and leaves everything else to the package. An
operator in it refers to the plugin's function, so a changed signature needs no new stubs; a new operator does.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rx_ops._declared import FACES, MODULE, Declared

PACKAGE: Final = "rx_ops-stubs"
_HEAD: Final = '''\
"""Operators of installed distributions. Written by `python -m rx_ops stubs`: run it again instead of changing this."""

from typing import TypeVar

{imports}

T_co = TypeVar("T_co", covariant=True)
'''


def stub(operators: Iterable[Declared]) -> str:
    """Return the stub of the module with the mixins."""
    known = sorted(operators)
    imports = [f"import {module}" for module in sorted({each.module for each in known})]
    bases = ", ".join(f"{face}Base" for face in sorted(FACES))
    lines = [_HEAD.format(imports="\n".join([*imports, f"from rx_core import {bases}"]))]
    for face, mixin in sorted(FACES.items()):
        parameters = "" if face == "Completable" else "[T_co]"
        own = [f"    {each.name} = {each.module}.{each.attribute}" for each in known if each.face == face]
        lines += ["", f"class {mixin}({face}Base{parameters}):", *(own or ["    ..."])]
    return "\n".join(lines) + "\n"


def write(folder: Path, operators: Iterable[Declared]) -> Path:
    """Write the stub package into ``folder`` and return where it is."""
    package = folder / PACKAGE
    file = package.joinpath(*MODULE.split(".")[1:]).with_suffix(".pyi")
    file.parent.mkdir(parents=True, exist_ok=True)
    (package / "py.typed").write_text("partial\n", encoding="utf-8")
    file.write_text(stub(operators), encoding="utf-8")
    return package
