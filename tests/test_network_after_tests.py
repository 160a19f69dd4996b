"""What a check runs after its tests may need a network, which a red base cannot show."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

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
@pytest.mark.parametrize("listens", [True, False])
def test_what_comes_after_the_tests_of_a_red_base_has_the_machine_s_network(
    hydra: Hydra, listens: bool
) -> None:
    """As a package.json with `posttest: npm audit` has it: the base never comes so far."""
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
        if not listens:
            server.close()
        ask = f"import socket\nsocket.create_connection(('127.0.0.1', {port})).close()\n"
        with_tests(hydra.repo, {"test_pages.py": pages(up="(3, 2), 2"), "ask.py": ask})
        hydra.run("race", "Do it", *agents, "--check", f"test={UNITTEST} && python3 -B ask.py")
    rows = json.loads(hydra.run("compare", "--json").stdout)["lanes"]
    states = {row["lane"].removeprefix("claude-"): row["state"] for row in rows}
    right = "proved" if listens else "untested"
    assert states == {"right": right, "readme": "untested", "bends": "held_back"}
    (row,) = (row for row in result(hydra)["lanes"] if row["lane"] == "claude-right")
    (check,) = row["checks"]
    assert check["network"] == "private"
    needs = "what test runs after them needs this machine's, and passes with it"
    assert any(needs in remark for remark in check["remarks"]) is listens, check["remarks"]
