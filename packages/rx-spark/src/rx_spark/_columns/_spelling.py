"""How values are spelled in files of text: the options of Spark that readers and writers of CSV and JSON have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Spark reads 12:30 as a time of today and 2020 as the first of January, and writes no more of a time than milliseconds.
TIMES_READ: Final = {
    "timestampFormat": "yyyy-MM-dd[['T'][' ']HH:mm[:ss][.SSSSSS][XXX]]",
    "dateFormat": "yyyy-MM-dd",
    "enableDateTimeParsingFallback": "false",
}
TIMES_WRITTEN: Final = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}


def chosen(options: Mapping[str, str], *names: str, otherwise: str) -> str:
    """The option by one of these names, in small letters."""
    return next((value for name, value in options.items() if name.lower() in names), otherwise)


def unless_chosen(ours: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    """Ours, where none by that name was given."""
    said = {name.lower() for name in options}
    return {name: value for name, value in ours.items() if name.lower() not in said}


def doubled_quotes(options: Mapping[str, str]) -> dict[str, str]:
    """RFC 4180: a quote inside quotes is doubled."""
    quote = chosen(options, "quote", otherwise='"')
    return {"escape": quote} if len(quote) == 1 else {}
