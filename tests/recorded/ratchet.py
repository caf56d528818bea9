"""Which traces are known to differ, with fusion and without: the lists may only become shorter.

``data/differing_fused.txt`` and ``data/differing_unfused.txt`` hold an id in each line. ``python -m tests.recorded --update``
writes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rx_core.queue_fusion import fusion_enabled
from rx_fusion import fusion_off
from tests.recorded.cases import Answer, Trace
from tests.recorded.running import answer, errors_ignored

FUSED: Final = "fused"
UNFUSED: Final = "unfused"
#: In this order: some differences depend on what a process ran before, because a shape that ran often is compiled.
MODES: Final = (FUSED, UNFUSED)

#: Traces that hinge on how far RxJava happens to read ahead of its demand: id and reason. They are in no list, and may differ.
READ_AHEAD: Final[Mapping[int, str]] = {
    4962: "an iterator that fails behind its last item: Java's is asked whether there is a next item before that is requested",
    8832: "combine_latest with delay_error, fused with flat_map_iterable: its output signals the delayed error before any item",
    22179: "combine_latest with delay_error, fused with publish(selector): its output signals the delayed error before any item",
    13908: "publish fused with observe_on takes items out of its queue when a subscriber comes, not on the scheduler",
    19602: "publish fused with observe_on takes items out of its queue when a subscriber comes, not on the scheduler",
    3305: "generate is not fused with zip and runs ahead by a window: its error overtakes the rows that could still be made",
    7497: "generate is not fused with zip and runs ahead by a window: its error overtakes the rows that could still be made",
    19330: "RxJava gives the end of a shared run to a subscriber that comes while it is told to others, and a repeat spins there",
    22178: "an iterator that fails at its first item: Java's is asked whether there is one when it is subscribed",
    13651: "without fusion concat_map asks an iterator for its window, where RxJava polls it, so that its error waits",
    16598: "without fusion concat_map asks an iterator for its window, where RxJava polls it, so that its error waits",
}
#: No more than this, or it is no accident of RxJava's.
MOST_READ_AHEAD: Final = 30

DATA: Final = Path(__file__).parent / "data"
COMMAND: Final = "python -m tests.recorded"
_SHOWN: Final = 5


def possible_modes() -> tuple[str, ...]:
    """Fusion can be switched off for a block, but not on when RX_FUSION=off has switched it off for the process."""
    return MODES if fusion_enabled() else (UNFUSED,)


@contextmanager
def switched(mode: str) -> Iterator[None]:
    with fusion_off() if mode == UNFUSED else nullcontext():
        yield


def differing(traces: Iterable[Trace], mode: str, *, callbacks: bool = False) -> dict[int, Answer]:
    """The traces that the library answers otherwise than RxJava: id and the library's answer."""
    with switched(mode), errors_ignored():
        answers = {trace.id: (trace, answer(trace, callbacks=callbacks)) for trace in traces}
    return {id: got for id, (trace, got) in answers.items() if got != trace.expected}


@dataclass(frozen=True, slots=True)
class Judgement:
    """How what differs now compares with the list."""

    mode: str
    #: They differ and are not listed.
    new: Mapping[int, Answer]
    #: They are listed, as known or as read ahead, and agree.
    agreeing: Collection[int]

    def text(self, traces: Iterable[Trace]) -> str:
        """What a failing test says; empty when all is as listed."""
        lines: list[str] = []
        if self.new:
            lines.append(f"{len(self.new)} recorded pipelines are not answered as RxJava answers them any more, {self.mode}:")
            lines.append(f"  {' '.join(map(str, sorted(self.new)))}")
            lines.append(f"  To look at one:  {COMMAND} --mode {self.mode} --only ID")
            shown = [trace for trace in traces if trace.id in self.new][:_SHOWN]
            lines += [f"{trace}\n{compared(trace, self.new[trace.id])}" for trace in shown]
        if self.agreeing:
            lines.append(f"{len(self.agreeing)} recorded pipelines are listed as differing, {self.mode}, and agree by now:")
            lines.append(f"  {' '.join(map(str, sorted(self.agreeing)))}")
            lines.append(f"  To take them off the list:  {COMMAND} --update")
        return "\n".join(lines)


def judge(traces: Iterable[Trace], found: Mapping[int, Answer], listed: Collection[int], mode: str) -> Judgement:
    """Compare what was ``found`` to differ among ``traces`` with the list."""
    ids = {trace.id for trace in traces}
    return Judgement(
        mode,
        new={id: got for id, got in found.items() if id not in listed and id not in READ_AHEAD},
        agreeing=sorted(id for id in listed if id in ids and id not in found),
    )


def compared(trace: Trace, got: Answer) -> str:
    return f"  RxJava    {trace.expected}\n  here      {got}"


def read(mode: str, folder: Path = DATA) -> frozenset[int]:
    """The ids that are known to differ."""
    lines = _file(mode, folder).read_text(encoding="utf-8").splitlines()
    return frozenset(int(line) for line in lines if not line.startswith("#"))


def write(mode: str, ids: Iterable[int], folder: Path = DATA) -> None:
    head = f"# Ids of the traces that are not answered as RxJava answers them, {mode}. Written by {COMMAND} --update.\n"
    _file(mode, folder).write_text(head + "".join(f"{id}\n" for id in sorted(ids)), encoding="utf-8")


def _file(mode: str, folder: Path) -> Path:
    return folder / f"differing_{mode}.txt"
