"""Switches in the environment that are on or off."""

from __future__ import annotations

import os
from typing import Final

_ON: Final = ("on", "1", "yes", "true")
_OFF: Final = ("off", "0", "no", "false")


def switch(name: str, *, default: bool) -> bool:
    """What the environment variable ``name`` says; ValueError for what is neither on nor off, or it would not be noticed."""
    given = os.environ.get(name, "")
    said = given.strip().lower()
    if not said:
        return default
    if said in _ON or said in _OFF:
        return said in _ON
    raise ValueError(
        f"the environment variable {name}={given!r} is neither on nor off.\n"
        f"  On:   {name}={', '.join(_ON)}{' (or not set)' if default else ''}\n"
        f"  Off:  {name}={', '.join(_OFF)}{'' if default else ' (or not set)'}"
    )
