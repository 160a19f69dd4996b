"""What a check talks to is its own: no agent's, lane's or user's server answers its tests or takes
their port. The machine's network is for what fails without it, and then for one at a time."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra.checks.junit import read_junit
from hydra.checks.network import local_services, seeks_network, skipped_for_service, unreached
from hydra.checks.record import CheckStatus
from hydra.records.request import Check
from tests.support import fakes
from tests.support.checks import Bench, confinement
from tests.support.command import Hydra
from tests.support.ports import free_port
from tests.support.processes import wait_until
from tests.support.tables import table_rows
from tests.support.trials import RIGHT, UNITTEST, pages, with_tests

DONE = fakes.finish("done")
README = fakes.edit("README.md", "# What pages are\n")
OTHER = RIGHT.replace("-(-n // size)", "(n + size - 1) // size")

SERVES = """\
import pathlib
import socket
import time
import unittest

PORT = ("127.0.0.1", {port})


def setUpModule():
    while not pathlib.Path("{held}").exists():
        time.sleep(0.02)


class Serves(unittest.TestCase):
    def test_serves(self):
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(PORT)
        with socket.create_server(PORT):
            socket.create_connection(PORT).close()
"""
ASKS = """\
import socket
import unittest


class Asks(unittest.TestCase):
    def test_asks(self):
        socket.create_connection(("127.0.0.1", {port})).close()
"""
ASKS_AND_COUNTS = """\
import socket
from src.pager import pages

socket.create_connection(("127.0.0.1", {port})).close()
assert pages(3, 2) == 2
"""
SKIPS = """\
import socket
import unittest

from src.pager import pages


class Stored(unittest.TestCase):
    def setUp(self):
        try:
            socket.create_connection(("127.0.0.1", {port})).close()
        except OSError:
            self.skipTest("no store at 127.0.0.1:{port}")

    def test_even(self):
        self.assertEqual(pages(4, 2), 2)
"""
ONE_MORE = "def pages(n, size):\n    return n // size + 1\n"
"""Right for 3 of 2, and wrong for 4."""
HOLDS = """\
import pathlib, socket, sys, time
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
pathlib.Path(sys.argv[2], "reached").write_text(".")
while not pathlib.Path(sys.argv[2], "open").exists():
    time.sleep(0.02)
"""


@pytest.fixture
def service() -> Iterator[int]:
    """The port of what listens on this machine for as long as the test takes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def confined() -> None:
    if not confinement().holds:
        pytest.skip("nothing confines here")


def has(hydra: Hydra, kind: str, lane: str, **data: object) -> bool:
    return any(
        (event["kind"], event.get("lane", "")) == (kind, lane)
        and data.items() <= event["data"].items()
        for event in hydra.recorded()
    )


def base_runs(hydra: Hydra) -> int:
    return sum(
        (event["kind"], event.get("lane", "")) == ("check_started", "")
        for event in hydra.recorded()
    )


def at_once(hydra: Hydra, *, after_agents: bool = False) -> list[int]:
    """How many agents and checks ran when a check began, itself among them."""
    running, numbers = 0, []
    for event in hydra.recorded():
        running += event["kind"] in ("agent_started", "check_started", "trial_started")
        if event["kind"] in ("check_started", "trial_started"):
            numbers.append(running)
        if after_agents and event["kind"] == "agent_exited":
            numbers.clear()
        running -= event["kind"] in ("agent_exited", "check_ended", "trial_ended")
    return numbers


def result(hydra: Hydra) -> Mapping[str, Any]:
    folder = Path(hydra.run("runs", "path").stdout.strip())
    document: Mapping[str, Any] = json.loads((folder / "result.json").read_text())
    return document


def states(hydra: Hydra) -> dict[str, str]:
    lanes = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    return {lane["lane"].removeprefix("claude-"): lane["state"] for lane in lanes}


def networks(document: Mapping[str, Any]) -> set[str]:
    lanes = document["lanes"]
    checks = [*document["baseline"], *(check for lane in lanes for check in lane["checks"])]
    return {check["network"] for check in checks}


def place(hydra: Hydra, lanes: Mapping[str, list[fakes.Step]]) -> list[str]:
    """The agents of these lanes; what names them on the command line."""
    cases = [(f"--model\n{does}\n", steps) for does, steps in lanes.items()]
    hydra.agent("claude", [fakes.fail()], cases=cases)
    return [term for does in lanes for term in ("-a", f"claude:{does}")]


def other_waits(hydra: Hydra) -> tuple[subprocess.Popen[str], fakes.Barrier]:
    """A race under way: one lane is right, the other's agent at work until its gate opens."""
    gate = fakes.Barrier(hydra.scratch, "working")
    lanes = {
        "right": [fakes.edit("src/pager.py", RIGHT), DONE],
        "other": [fakes.edit("src/pager.py", OTHER), *gate.stop(), DONE],
    }
    race = hydra.start("race", "Do it", *place(hydra, lanes), "--check", UNITTEST)
    gate.wait()
    return race, gate


@pytest.mark.slow
def test_no_server_of_an_agent_meets_a_test(hydra: Hydra, confined: None) -> None:
    """It has the tests' port while the base and its neighbour are checked."""
    port = free_port()
    gate = fakes.Barrier(hydra.scratch, "holding")
    held = gate.path.parent / "held"
    with_tests(hydra.repo, {"test_serves.py": SERVES.format(port=port, held=held)})
    holding = fakes.shell("python3", "-c", HOLDS, str(port), str(gate.path.parent))
    lanes = {
        "holds": [README, holding, DONE],
        "right": [fakes.edit("src/pager.py", RIGHT), DONE],
    }
    race = hydra.start("race", "Do it", *place(hydra, lanes), "--check", UNITTEST)
    gate.wait()
    held.touch()
    assert wait_until(lambda: has(hydra, "lane_ended", "claude-right"))
    gate.open()
    race.communicate(timeout=120)
    document = result(hydra)
    assert [check["says"] for check in document["baseline"]] == ["2 passed, 1 failed"]
    assert states(hydra) == {"holds": "untested", "right": "proved"}
    assert networks(document) == {"private"}
    assert base_runs(hydra) == 2  # and no more where it fails for its own reasons


@pytest.mark.slow
def test_what_fails_without_the_machine_s_network_has_it_alone_and_it_is_said(
    hydra: Hydra, service: int, confined: None
) -> None:
    with_tests(hydra.repo, {"test_asks.py": ASKS.format(port=service)})
    hydra.extra["HYDRA_CHECKS_PARALLEL"] = "2"
    race, gate = other_waits(hydra)
    assert wait_until(lambda: has(hydra, "check_waiting", "", **{"for": "agents"}))
    assert wait_until(lambda: has(hydra, "check_waiting", "claude-right"))
    gate.open()
    _, stderr = race.communicate(timeout=120)
    said = (
        f"unittest uses this machine's network (what listens on localhost:{service}), one run at "
        "a time once no agent runs: without it, it fails on the base"
    )
    assert has(hydra, "run_warning", "", text=said), stderr
    assert stderr.count("uses this machine's network") == 1
    document = result(hydra)
    assert [check["says"] for check in document["baseline"]] == ["2 passed, 1 failed"]
    assert states(hydra) == {"right": "proved", "other": "proved"}
    assert networks(document) == {"host"}
    assert base_runs(hydra) == 3  # without, with, and a failure again
    numbers = at_once(hydra, after_agents=True)
    assert (len(numbers) >= 4, {*numbers}) == (True, {1})

    again = hydra.run("check", "--json")
    document = json.loads(again.stdout)
    assert (again.returncode, document["baseline_recorded"]) == (0, True)
    assert networks(document) == {"host"}
    hydra.extra["HYDRA_CHECKS_NETWORK"] = "private"
    document = json.loads(hydra.run("check", "--json").stdout)
    assert document["baseline_recorded"] is False  # another network is another measure
    assert networks(document) == {"private"}


@pytest.mark.slow
def test_on_the_machine_s_network_nothing_is_checked_beside_an_agent(
    hydra: Hydra, confined: None
) -> None:
    """Where bwrap can give no network, too."""
    with_tests(hydra.repo)
    refusing = hydra.scratch / "refusing" / "bwrap"
    refusing.parent.mkdir()
    refusing.write_text(
        '#!/bin/sh\ncase "$*" in *--unshare-net*)\n'
        '  echo "bwrap: Creating new namespace failed: Operation not permitted" >&2; exit 1 ;;\n'
        f'esac\nexec {shutil.which("bwrap")} "$@"\n'
    )
    refusing.chmod(0o755)
    hydra.path.insert(0, refusing.parent)
    hydra.extra["HYDRA_CHECKS_PARALLEL"] = "2"
    race, gate = other_waits(hydra)
    for lane in ("", "claude-right"):
        assert wait_until(lambda: has(hydra, "check_waiting", lane, **{"for": "agents"}))  # noqa: B023
    assert not any(event["kind"] == "check_started" for event in hydra.recorded())
    gate.open()
    _, stderr = race.communicate(timeout=120)
    assert "none of their own can be had here (the kernel or the container refuses" in stderr
    assert states(hydra) == {"right": "proved", "other": "proved"}
    assert networks(result(hydra)) == {"host"}
    assert {*at_once(hydra)} == {1}
    assert base_runs(hydra) == 2
    hydra.extra["HYDRA_CHECKS_NETWORK"] = "private"
    refused = hydra.run("race", "Do it", "-a", "claude", "--check", UNITTEST)
    assert (refused.returncode, "cannot be had here" in refused.stderr) == (3, True)


@pytest.mark.slow
def test_what_does_not_start_without_the_machine_s_network_is_known_before_an_agent(
    hydra: Hydra, service: int, confined: None
) -> None:
    asks = ASKS.format(port=service)
    at_import = f"{asks}\n\nsocket.create_connection(('127.0.0.1', {service})).close()\n"
    with_tests(hydra.repo, {"test_asks.py": at_import})
    hydra.agent("claude", [README, DONE])
    check = f"{sys.executable} -m pytest -q test_asks.py"
    race = hydra.race("-a", "claude", "--check", check)
    said = [text for text in race.document["warnings"] if "machine's network" in text]
    assert said == [
        "pytest uses this machine's network, one run at a time once no agent runs: without it, "
        "it does not start on the base"
    ]
    assert [check["says"] for check in race.lane("claude")["checks"]] == ["1 passed"]
    assert (base_runs(hydra), {*at_once(hydra)}) == (1, {1})


def reasons(hydra: Hydra) -> dict[str, tuple[str, str]]:
    """By lane what its patch is, and why."""
    lanes = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    return {lane["lane"]: (lane["state"], lane["reason"]) for lane in lanes}


@pytest.mark.slow
def test_results_of_two_networks_are_not_held_against_each_other(
    hydra: Hydra, service: int, confined: None
) -> None:
    with_tests(hydra.repo, {"test_asks.py": ASKS.format(port=service)})
    lanes = {
        "right": [fakes.edit("src/pager.py", RIGHT), DONE],
        "other": [fakes.edit("src/pager.py", OTHER), DONE],
        "tests": [
            README,
            fakes.edit("test_new.py", pages(odd="(9, 2), 4")),
            fakes.edit("test_asks_too.py", ASKS.format(port=service)),
            DONE,
        ],
    }
    hydra.extra["HYDRA_CHECKS_NETWORK"] = "private"
    hydra.run("race", "Do it", *place(hydra, lanes), "--check", UNITTEST)
    before = reasons(hydra)
    hydra.extra["HYDRA_CHECKS_NETWORK"] = "host"
    hydra.run("check", "claude-right", "claude-tests")
    after = reasons(hydra)
    assert after["claude-right"] != before["claude-right"]
    assert after["claude-right"][0] == "proved"
    assert after["claude-other"] == before["claude-other"]  # by the base as it ran where it did
    lanes = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    (why,) = (lane["why"] for lane in lanes if lane["lane"] == "claude-tests")
    assert "of its own fail on the base" not in why  # its trial there had another network
    hydra.run("check")
    assert states(hydra) == {"right": "proved", "other": "proved", "tests": "untested"}


@pytest.mark.slow
def test_a_base_that_is_red_and_lacks_a_service_has_the_machine_s_network(
    hydra: Hydra, service: int, confined: None
) -> None:
    """As many tests pass with it as without, and each check has it for its own sake."""
    asks = ASKS_AND_COUNTS.format(port=service)
    with_tests(hydra.repo, {"asks.py": asks, "again.py": asks, "later.py": asks})
    agents = place(hydra, {"right": [fakes.edit("src/pager.py", RIGHT), DONE]})
    checks = ("--check", "one=python3 -B asks.py", "--check", "two=python3 -B again.py")
    hydra.race(*agents, *checks)
    for name in ("one", "two"):
        said = (
            f"{name} uses this machine's network (what listens on localhost:{service}), one run at "
            "a time once no agent runs: without it, it fails on the base"
        )
        assert has(hydra, "run_warning", "", text=said), hydra.recorded()
    assert states(hydra) == {"right": "proved"}
    assert networks(result(hydra)) == {"host"}
    assert all(check["again"]["network"] == "host" for check in result(hydra)["baseline"])
    document = json.loads(hydra.run("check", "--json", "--check", "python3 -B later.py").stdout)
    assert (networks(document), states(hydra)) == ({"host"}, {"right": "proved"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "listens"),
    [
        ("(3, 2), 2", True),
        pytest.param("(1, 2), 0", True, marks=pytest.mark.full),
        ("(3, 2), 2", False),
    ],
)
def test_what_is_skipped_for_lack_of_a_service_is_no_proof(
    hydra: Hydra, service: int, test: str, listens: bool, confined: None
) -> None:
    """On a red base, and on a green one."""
    port = service if listens else free_port()
    files = {"test_pages.py": pages(up=test), "test_store.py": SKIPS.format(port=port)}
    with_tests(hydra.repo, files)
    agents = place(hydra, {"breaks": [fakes.edit("src/pager.py", ONE_MORE), DONE]})
    hydra.run("race", "Do it", *agents, "--check", UNITTEST)
    (lane,) = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    if listens:
        assert (lane["state"], "test_even" in lane["reason"]) == ("broken", True), lane["reason"]
        assert networks(result(hydra)) == {"host"}
        return
    assert lane["reason"] == (
        "fixes the failing test, breaks nothing that ran (1 passed); "
        "1 test skipped for lack of a service"
    )
    (base,) = result(hydra)["baseline"]
    assert base["remarks"] == [f"1 test was skipped for lack of localhost:{port}"]
    assert base_runs(hydra) == 2  # nothing listens there


async def test_a_new_test_that_lacks_a_service_does_not_break_the_patch(
    scratch: Path, repo: Path, confined: None, service: int
) -> None:
    with_tests(repo, {"test_pages.py": pages(even="(4, 2), 2")})
    bench = Bench(scratch, repo, [Check("t", UNITTEST)], network="auto")
    commit = bench.commit({"test_asks.py": ASKS.format(port=service)})
    result = (await bench.checked(commit))["t"]
    why = f"1 new test could not reach localhost:{service} from a network of the check's own"
    assert (result.untested, result.held_back) == (why, f"t: {why}")
    other = Bench(scratch, repo, [Check("t", UNITTEST)], network="auto")
    commit = other.commit({"test_bad.py": pages(odd="(3, 2), 7")})
    assert (await other.checked(commit))["t"].untested == ""


async def test_a_patch_alone_that_reaches_nothing_is_told_what_helps(
    scratch: Path, repo: Path, confined: None, service: int
) -> None:
    """The base does without: its check keeps its own network."""
    command = "test ! -e ask.py || python3 ask.py"
    bench = Bench(scratch, repo, [Check("t", command)], network="auto")
    ask = f"import socket\nsocket.create_connection(('127.0.0.1', {service}))\n"
    result = (await bench.checked(bench.commit({"ask.py": ask})))["t"]
    assert (result.status, result.network) == (CheckStatus.FAILED, "private")
    assert any('checks.network = "host"' in remark for remark in result.remarks), result.remarks


def test_what_seeks_a_network_is_known_by_its_words_and_named_where_it_listens(
    service: int,
) -> None:
    for text in table_rows("network", "what_could_not_be_reached_on_this_machine_is_named"):
        output = text.format(service).encode()
        assert seeks_network(output)
        assert unreached(output) == (f"localhost:{service}",)
        assert local_services(unreached(output)) == (f"what listens on localhost:{service}",)
    assert local_services([f"localhost:{free_port()}"]) == ()
    for text in table_rows("network", "what_seeks_a_network_says_so_in_many_ways"):
        assert seeks_network(text.encode()), text
    for text in table_rows("network", "words_that_hold_the_words_of_a_network_seek_none"):
        assert not seeks_network(text.encode()), text


def test_a_test_that_is_skipped_for_lack_of_a_service_gives_it_as_its_reason() -> None:
    output = b"""
test_a (t.T.test_a) ... skipped 'no redis here'
test_b (t.T.test_b) ... skipped 'not on this platform'
ok 3 - rows # SKIP cannot connect to db
SKIPPED [2] tests/test_server.py:5: slow
SKIPPED [1] tests/test_a.py:5: needs 127.0.0.1:5432
test_skip_redis (t.T.test_skip_redis) ... ok
"""
    assert skipped_for_service(output) == [
        "'no redis here'",
        "cannot connect to db",
        "needs 127.0.0.1:5432",
    ]
    report = b"""<testsuite name="pytest">
<testcase classname="t" name="a"><skipped type="pytest.skip" message="no network"/></testcase>
<testcase classname="t" name="b"><skipped type="pytest.xfail" message="server bug"/></testcase>
<testcase classname="t" name="c"><skipped type="pytest.skip" message="later"/></testcase>
</testsuite>"""
    assert read_junit(report).unserved == ("no network",)
