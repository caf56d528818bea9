"""``python -m rx_ops stubs``: types of plugins' operators for pyright."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0; 2 for a command that does not exist or a folder that cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m rx_ops", description="Tools for operators of other distributions.")
    commands = parser.add_subparsers(dest="command", required=True)
    stubs = commands.add_parser(
        "stubs",
        help="write a stub package with the operators of installed distributions, for pyright",
        description="Write a stub package with the operators of installed distributions, for checkers without plugins. "
        "mypy needs none: it has the plugin rx_ops.mypy_plugin. Run it again when a distribution was installed or removed.",
    )
    stubs.add_argument("--out", type=Path, default=Path("typings"), metavar="DIR", help="where; default: %(default)s, pyright's")
    return _stubs(parser.parse_args(arguments).out)


def _stubs(folder: Path) -> int:
    from rx_ops._declared import declared
    from rx_ops._stubs import write

    operators = declared()
    try:
        package = write(folder, operators)
    except OSError as error:
        print(f"python -m rx_ops stubs: cannot write into {folder}: {error}", file=sys.stderr)
        return 2
    for each in operators:
        print(f"{each.face}.{each.name}  {each.distribution}  {each.module}:{each.attribute}")
    print(f"{package}: {len(operators)} operator{'' if len(operators) == 1 else 's'} of installed distributions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
