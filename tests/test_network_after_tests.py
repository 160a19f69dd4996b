"""What a check runs after its tests may need a network, which a red base cannot show."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.checks.network import lacks_network_after_tests
from hydra.checks.record import CheckStatus
from hydra.records.request import Check
from tests.support import evidences, fakes
from tests.support.checks import confinement
from tests.support.command import Hydra
from tests.support.trials import RIGHT, UNITTEST, pages, with_tests

DONE = fakes.finish("done")


@pytest.mark.parametrize(
    ("command", "follows"),
    [
        ("pytest -q && npm audit", True),
        ("make test", True),
        ("npm test", True),
        ("pytest -q tests", False),
        ("python3 -B -m unittest -v", False),
        (".venv/bin/python -m pytest", False),
        ("CI=1 pytest", False),
    ],
)
def test_after_a_runner_alone_comes_nothing_but_the_patch_s_own(
    command: str, follows: bool
) -> None:
    check = Check("test", command, "test")
    base = evidences.result({"up": False}, check)
    own = evidences.result({"up": True}, check, status=CheckStatus.FAILED)
    own = replace(own, network="private", unreached=("a service",))
    assert lacks_network_after_tests(own, base) is follows


def result(hydra: Hydra) -> Mapping[str, Any]:
    folder = Path(hydra.run("runs", "path").stdout.strip())
    document: Mapping[str, Any] = json.loads((folder / "result.json").read_text())
    return document


@pytest.mark.slow
@pytest.mark.parametrize("after", [pytest.param("ask.py", marks=pytest.mark.full), "words.py"])
def test_what_a_patch_prints_opens_no_network(hydra: Hydra, after: str) -> None:
    """As a package.json with `posttest: npm audit` has it: the base never comes so far, so it does
    not show what that needs, and what a patch says of it may be made up."""
    if not confinement().holds:
        pytest.skip("nothing confines here")
    steps = {
        "right": fakes.edit("src/pager.py", RIGHT),
        "readme": fakes.edit("README.md", "# What pages are\n"),
        "bends": fakes.edit("test_pages.py", pages(up="(3, 2), 1")),
    }
    cases = [(f"--model\n{does}\n", [step, DONE]) for does, step in steps.items()]
    hydra.agent("claude", [fakes.fail()], cases=cases)
    agents = [term for does in steps for term in ("-a", f"claude:{does}")]
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ask = f"import socket\nsocket.create_connection(('127.0.0.1', {port})).close()\n"
        end = "raise SystemExit('connect ECONNREFUSED 127.0.0.1')\n"
        words = f"try:\n {ask.replace(chr(10), chr(10) + ' ')}\nfinally:\n {end}"
        files = {"test_pages.py": pages(up="(3, 2), 2"), "ask.py": ask, "words.py": words}
        with_tests(hydra.repo, files)
        hydra.run("race", "Do it", *agents, "--check", f"test={UNITTEST} && python3 -B {after}")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    rows = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    states = {row["lane"].removeprefix("claude-"): row["state"] for row in rows}
    assert states == {"right": "untested", "readme": "untested", "bends": "held_back"}
    (row,) = (row for row in result(hydra)["lanes"] if row["lane"] == "claude-right")
    (check,) = row["checks"]
    assert check["network"] == "private"
    assert "what it runs after its tests could not reach" in check["untested"]


@pytest.mark.slow
def test_a_set_up_has_the_machine_s_network_and_checks_have_their_own(hydra: Hydra) -> None:
    if not confinement().holds:
        pytest.skip("nothing confines here")
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = server.getsockname()
        reach = f"python3 -c 'import socket; socket.create_connection({place!r})' 2>/dev/null"
        reach = reach.replace("'127.0.0.1'", '"127.0.0.1"')
        hydra.agent("claude", [fakes.edit("a.py", "x = 1\n"), DONE])
        race = hydra.race("-a", "claude", "--setup", reach, "--check", f"alone=! {reach}")
    (check,) = race.lane("claude")["checks"]
    assert (check["status"], check["network"]) == ("passed", "private"), race
