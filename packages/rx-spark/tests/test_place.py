"""Where the driver listens: settings, several jobs, ports that are taken."""

from __future__ import annotations

import errno
import socket

import pytest

from rx_spark._transport._place import Place, place_of
from rx_spark._transport._sink import CreditSink
from rx_spark._transport._wire import Link


def settings(**given: str) -> Place:
    made = {name.replace("_", "."): value for name, value in given.items()}
    return place_of(made.get, "127.0.0.1")


def test_without_settings_any_port_of_the_address_that_spark_itself_uses() -> None:
    assert settings() == Place("127.0.0.1", "127.0.0.1")
    assert settings(spark_driver_host="driver.example") == Place("driver.example", "driver.example")
    both = {"spark.driver.host": "driver.example", "spark.driver.bindAddress": "0.0.0.0"}
    assert place_of(both.get, "127.0.0.1") == Place("driver.example", "0.0.0.0")


def test_settings_of_its_own_come_first() -> None:
    given = {
        "spark.driver.host": "inside",
        "spark.rx.driver.host": "outside",
        "spark.rx.driver.bindAddress": "0.0.0.0",
        "spark.rx.driver.port": "40000",
        "spark.port.maxRetries": "3",
    }
    assert place_of(given.get, "127.0.0.1") == Place("outside", "0.0.0.0", 40000, 4)


@pytest.mark.parametrize("port", ["http", "-1", "70000", ""])
def test_a_port_that_is_none_is_told(port: str) -> None:
    with pytest.raises(ValueError, match=r"spark\.rx\.driver\.port=.*0 to 65535"):
        settings(spark_rx_driver_port=port)


def free_pair() -> int:
    """A port that is free, and so is the next one."""
    for _ in range(100):
        with socket.create_server(("127.0.0.1", 0)) as first:
            port = int(first.getsockname()[1])
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
            except OSError:
                continue
            return port
    raise AssertionError("no two ports are free")


def test_each_job_takes_the_next_port_until_there_is_none() -> None:
    port = free_pair()
    place = Place("127.0.0.1", "127.0.0.1", port, 2)
    with place.listen() as first, place.listen() as second:
        assert [first.getsockname()[1], second.getsockname()[1]] == [port, port + 1]
        with pytest.raises(OSError, match=f"no port from {port} to {port + 1} is free on 127.0.0.1") as raised:
            place.listen()
    assert raised.value.errno == errno.EADDRINUSE


def test_an_address_of_another_machine_names_the_settings() -> None:
    with pytest.raises(OSError, match=r".") as raised:
        Place("127.0.0.1", "192.0.2.1").listen()  # an address for examples
    assert "spark.driver.bindAddress" in "".join(raised.value.__notes__)


def test_tasks_are_told_the_host_and_not_what_is_listened_on() -> None:
    sink = CreditSink(Place("localhost", "127.0.0.1"), lambda: None, lambda: None)
    sink.thread.start()
    assert sink.address.host == "localhost"
    sink.expect(1, None)
    link = Link(sink.address, 0, 0)
    assert link.acquire()
    sink.cancel()
    link.finish()
    sink.job_over(None)
    sink.thread.join(10)
    assert not sink.thread.is_alive()
    sink.dispose()
