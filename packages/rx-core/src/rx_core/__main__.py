"""``python -m rx_core plugins``: what is installed, what it provides, what failed to load."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0; 1 when a plugin failed to load, so that a build can check; 2 for a command that does not exist."""
    parser = argparse.ArgumentParser(prog="python -m rx_core", description="Information about this installation of rx.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("plugins", help="list the installed plugins; exit code 1 when one failed to load")
    parser.parse_args(arguments)
    return _plugins()


def _plugins() -> int:
    from rx_core._plugins import manager, plugins_disabled

    infos = manager().describe(check_operators=True)
    if plugins_disabled():
        print("RX_DISABLE_PLUGINS is set: schedulers, hooks and fusion rules of installed plugins are not loaded.")
    rows = [("distribution", "version", "entry point", "provides")]
    for info in infos:
        if info.failure is None:
            rows.append((info.distribution, info.version, info.entry_point, "; ".join(info.provides)))
        else:
            rows.append((info.distribution, info.version, info.entry_point, "FAILED " + " ".join(info.failure.split())))
    if len(rows) == 1:
        print("No plugins are installed. Thread schedulers:  pip install rx-schedulers")
        return 0
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]))
    failed = [info for info in infos if info.failure is not None]
    if failed:
        names = sorted({info.distribution for info in failed})
        print(f"\n{len(failed)} failed to load.  To get versions that work:  pip install --upgrade {' '.join(names)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
