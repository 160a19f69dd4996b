"""What a check runs after its tests may need a network, which a red base cannot show."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import fakes
from tests.support.checks import confinement
from tests.support.command import Hydra
from tests.support.trials import RIGHT, UNITTEST, pages, with_tests

DONE = fakes.finish("done")


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
