"""Run the recorded pipelines: ``python -m tests.recorded`` prints how many are answered otherwise than RxJava answers them."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from rx_core.queue_fusion import fusion_enabled
from tests.recorded.cases import Trace, traces
from tests.recorded.ratchet import (
    DATA,
    FUSED,
    MODES,
    READ_AHEAD,
    compared,
    differing,
    judge,
    possible_modes,
    read,
    switched,
    write,
)
from tests.recorded.running import answer, described


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m tests.recorded", description="Compare recorded pipelines with RxJava's answers."
    )
    made.add_argument("--mode", choices=MODES, help="with fusion or without; default: as RX_FUSION says")
    made.add_argument("--only", type=int, metavar="ID", help="one trace, shown whether it differs or not")
    made.add_argument("--first", type=int, default=0, metavar="N", help="leave out the first N traces")
    made.add_argument("--count", type=int, metavar="N", help="no more than N traces")
    made.add_argument("--repeat", type=int, default=1, metavar="N", help="run each N times; a shape that ran often is compiled")
    made.add_argument("--show", action="store_true", help="show those that differ")
    made.add_argument("--unlisted", action="store_true", help="only those that are not listed as known to differ")
    made.add_argument("--update", action="store_true", help="take those that agree by now off the lists, of both modes")
    made.add_argument("--add", action="store_true", help="with --update: also put those on the lists that differ anew")
    return made


def main(arguments: Sequence[str], chosen: Sequence[Trace] | None = None, folder: Path = DATA) -> int:
    options = parser().parse_args(arguments)
    everything = traces() if chosen is None else chosen
    if options.mode == FUSED and not fusion_enabled():
        print("RX_FUSION=off: nothing can be fused in this process", file=sys.stderr)
        return 2
    if options.update:
        if options.only is not None or options.first or options.count is not None:
            print("--update needs all traces", file=sys.stderr)
            return 2
        return update([options.mode] if options.mode else possible_modes(), everything, folder, add=options.add)
    mode = options.mode or possible_modes()[0]
    if options.only is not None:
        some = [trace for trace in everything if trace.id == options.only]
    else:
        some = list(islice(everything, options.first, None if options.count is None else options.first + options.count))
    for _ in range(options.repeat - 1):
        with switched(mode):
            for trace in some:
                answer(trace)
    found = differing(some, mode)
    left_out = {*read(mode, folder), *READ_AHEAD} if options.unlisted else set()
    found = {id: got for id, got in found.items() if id not in left_out}
    for trace in some:
        if trace.id == options.only or (options.show and trace.id in found):
            got = found.get(trace.id, trace.expected)
            print(trace, f"  pipeline  {described(trace)}", compared(trace, got), sep="\n", end="\n\n")
    print(f"{len(found)} of {len(some)} differ")
    return 1 if found else 0


def update(modes: Sequence[str], everything: Sequence[Trace], folder: Path, *, add: bool) -> int:
    """Rewrite the lists; exit code 1 when there are new differences that were not asked to be added."""
    refused = 0
    for mode in modes:
        listed = read(mode, folder)
        found = differing(everything, mode)
        judged = judge(everything, found, listed, mode)
        keep = {*(listed & found.keys()), *(judged.new if add else ())}
        write(mode, keep, folder)
        print(f"{mode}: {len(listed)} were listed, {len(keep)} are: {len(listed - keep)} agree now")
        if judged.new and not add:
            refused += len(judged.new)
            print(f"  {len(judged.new)} differ anew and are not listed: {' '.join(map(str, sorted(judged.new)))}")
            print("  --update --add puts them on the list, for a change that mends more than it breaks")
    return 1 if refused else 0


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # of what is dropped in garbage; a difference shows in the signals
    sys.exit(main(sys.argv[1:]))
