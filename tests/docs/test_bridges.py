"""The functions of the guide about bridges, where it is not shown: a subscriber that leaves, an error, a process that fails."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rx_core import hooks
from rx_ops import Flowable
from rx_testing import TestSubscriber
from tests.docs.blocks import ROOT, examples, run

LIMIT = 30.0  # seconds, for what comes soon


@pytest.fixture(scope="module")
def guide() -> dict[str, Any]:
    return run(examples(ROOT / "docs/guides/bridges.md"))


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    found: list[Exception] = []
    monkeypatch.setattr(hooks, "on_error", lambda error, _origin, _late: found.append(error))
    return found


@pytest.fixture
def connected(guide: dict[str, Any]) -> Iterator[tuple[TestSubscriber[bytes], socket.socket]]:
    """What receives from a socket, and its peer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        got = TestSubscriber[bytes]()
        guide["received"](partial(socket.create_connection, server.getsockname())).subscribe(got)
        peer, _ = server.accept()
        with peer:
            peer.settimeout(LIMIT)
            yield got, peer


def test_who_leaves_wakes_the_thread_that_receives(
    connected: tuple[TestSubscriber[bytes], socket.socket], dropped: list[Exception]
) -> None:
    got, peer = connected
    peer.sendall(b"hello")
    got.await_count(1, LIMIT)
    got.cancel()
    assert peer.recv(1) == b""  # it was hung up
    got.assert_values(b"hello").assert_not_terminated()
    assert dropped == []


def test_a_peer_that_goes_is_the_end(connected: tuple[TestSubscriber[bytes], socket.socket]) -> None:
    got, peer = connected
    peer.close()
    got.await_terminal(LIMIT)
    got.assert_result()


def test_a_connection_that_is_refused_is_the_error(guide: dict[str, Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
    with pytest.raises(ConnectionRefusedError):
        guide["received"](partial(socket.create_connection, address)).blocking_list()


PRINTS = "import os, sys; print(os.getpid(), flush=True); sys.stdin.readline(); print('more')"


def has_ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_who_has_enough_ends_the_process(guide: dict[str, Any], dropped: list[Exception]) -> None:
    endless = "import os\nwhile True: print(os.getpid(), flush=True)"
    first, second = guide["output_of"](sys.executable, "-c", endless).take(2).blocking_list()
    assert first == second
    assert has_ended(int(first))
    assert dropped == []


def test_who_leaves_while_a_line_is_awaited_ends_the_process(guide: dict[str, Any], dropped: list[Exception]) -> None:
    got = TestSubscriber[str]()
    silent = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    thread = threading.Thread(target=lambda: guide["output_of"](sys.executable, "-c", silent).subscribe(got))
    thread.start()
    got.await_count(1, LIMIT)
    got.cancel()
    thread.join(LIMIT)
    assert not thread.is_alive()
    assert has_ended(int(got.values[0]))
    got.assert_not_terminated()
    assert dropped == []


def test_a_program_that_is_not_there_is_the_error(guide: dict[str, Any]) -> None:
    with pytest.raises(FileNotFoundError):
        guide["output_of"]("there is no such program").blocking_list()


def test_a_file_is_closed_where_its_reader_leaves_or_fails(guide: dict[str, Any], tmp_path: Path) -> None:
    opened: list[Any] = []

    class Kept:
        def open(self, mode: str = "r") -> Any:
            opened.append((tmp_path / "file").open(mode))
            return opened[-1]

    (tmp_path / "file").write_text("one\ntwo\nthree\n")
    assert guide["lines_of"](Kept()).take(1).blocking_list() == ["one\n"]
    assert guide["chunks_of"](Kept(), 4).first_element().blocking_get() == b"one\n"
    with pytest.raises(ValueError, match="invalid literal"):
        guide["lines_of"](Kept()).map(int).blocking_list()
    assert [file.closed for file in opened] == [True, True, True]


def test_writing_that_fails_closes_the_file_and_cancels(guide: dict[str, Any], tmp_path: Path) -> None:
    left: list[str] = []
    source = Flowable.of("a", 3, "b").do_on_cancel(lambda: left.append("cancelled"))
    with pytest.raises(TypeError):
        guide["written"](source, tmp_path / "file").blocking_await()
    assert (tmp_path / "file").read_text() == "a"


def test_a_watcher_ends_with_its_subscriber(guide: dict[str, Any]) -> None:
    stopped = threading.Event()

    def watch(stop: threading.Event) -> Iterator[frozenset[str]]:
        yield frozenset({"a"})
        assert stop.wait(LIMIT)
        stopped.set()

    assert guide["watched"](watch).take(1).blocking_list() == [frozenset({"a"})]
    assert stopped.wait(LIMIT)


def test_a_watcher_that_fails_is_the_error(guide: dict[str, Any]) -> None:
    def watch(_stop: threading.Event) -> Iterator[frozenset[str]]:
        yield frozenset({"a"})
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        guide["watched"](watch).blocking_list()


def test_a_lookup_that_is_called_off_never_answers(guide: dict[str, Any]) -> None:
    before = threading.active_count()
    guide["looked_up"]("ulm").subscribe(lambda _item: None).dispose()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(LIMIT)
            assert not thread.is_alive()
    assert threading.active_count() <= before
