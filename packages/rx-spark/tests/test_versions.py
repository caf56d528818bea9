"""Executors with other versions than the driver's: named, before anything of the pipeline runs."""

from __future__ import annotations

import threading

import pytest

from rx_spark import VersionsError
from rx_spark._transport._place import Place
from rx_spark._transport._sink import CreditSink
from rx_spark._transport._wire import ERROR, unpack_error
from rx_spark._workers._passes import Program
from rx_spark._workers._versions import check_versions, differences, versions_here

HERE = dict(versions_here())


def other(**changes: str) -> tuple[tuple[str, str], ...]:
    return tuple({**HERE, **changes}.items())


def test_all_that_takes_part_has_a_version() -> None:
    assert set(HERE) == {"Python", "rx_core", "rx_fusion", "rx_ops", "rx_spark", "cloudpickle", "pyarrow"}
    assert all(HERE.values())


def test_the_same_versions_and_other_releases_of_the_same_major_one_go_together() -> None:
    check_versions(versions_here(), "here")
    check_versions((), "here")
    major = HERE["pyarrow"].partition(".")[0]
    check_versions(other(pyarrow=f"{major}.99"), "here")


@pytest.mark.parametrize("name", ["Python", "rx_core", "rx_spark", "cloudpickle", "pyarrow"])
def test_a_difference_names_both_versions_and_the_machine(name: str) -> None:
    with pytest.raises(VersionsError, match=rf"an executor on node-7 .*{name} {HERE[name]} \(the driver has 0\.0\.1\)") as raised:
        check_versions(other(**{name: "0.0.1"}), "node-7")
    assert "Right:" in str(raised.value)


def test_what_is_missing_is_said_to_be() -> None:
    assert "polars is missing (the driver has 1.2)" in differences((("polars", "1.2"),), versions_here(), "node-7")


def test_a_task_tells_the_driver_before_it_opens_the_pipeline() -> None:
    arrived = threading.Event()
    sink = CreditSink(Place("127.0.0.1", "127.0.0.1"), arrived.set, lambda: None)
    sink.thread.start()
    sink.expect(1, None)
    program = Program(b"no pickle", (), sink.address, writes=True, versions=other(rx_core="0.0.1"))
    with pytest.raises(VersionsError, match="rx_core"):
        list(program(iter(())))
    assert arrived.wait(10)
    frame = sink.take()
    assert frame is not None
    assert frame.kind == ERROR
    told = unpack_error(frame.payload)
    assert isinstance(told, VersionsError)
    assert "(the driver has 0.0.1)" in str(told)
    sink.cancel()
    sink.job_over(None)
    sink.thread.join(10)
    assert not sink.thread.is_alive()
    sink.dispose()
