"""A live run sends nothing off loopback, and what a CLI tried to reach is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.live.conftest import MakePlace
from tests.live.support import BIN, PYTHON, Place, hydra_program, unmet

pytestmark = pytest.mark.live

# It tries nothing where it is not in another network than the test.
TRIES = """\
#!{python}
import os, socket, sys
if os.readlink("/proc/self/ns/net") != {outside!r}:
    for attempt in (
        lambda: socket.getaddrinfo("example.invalid", 443),
        lambda: socket.create_connection(("192.0.2.1", 443), timeout=60),
    ):
        try:
            attempt()
        except OSError:
            pass
os.execv({real!r}, [{real!r}, *sys.argv[1:]])
"""


def test_what_a_cli_tried_is_named_and_refused_at_once(make_place: MakePlace) -> None:
    place = make_place("edit")
    folder = place.root / "bin"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(
        TRIES.format(
            python=PYTHON,
            outside=str(Path("/proc/self/ns/net").readlink()),
            real=str(BIN / "claude"),
        )
    )
    program.chmod(0o755)
    place.hand_over()

    document = _conformance(place, folder, "claude")

    network = document["network"]
    if not network["watched"]:
        unmet(f"uid {place.uid}: {network['reason']}")
    assert "example.invalid (DNS)" in network["tried"], network
    assert "192.0.2.1:443 (TCP)" in network["tried"], network
    assert network["packets"] >= 1
    (edit,) = [case for case in document["cases"] if case["name"] == "edit"]
    assert edit["verdict"] == "passed", json.dumps(edit)
    # Unanswered, each start of it would have waited for more than a minute.
    assert edit["seconds"] < 50


def _conformance(place: Place, folder: Path, *agents: str) -> dict[str, Any]:
    place.variables["PATH"] = f"{folder}:{place.environment['PATH']}"
    line = [hydra_program(), "conformance", "--live", "--situation", "edit", "--json", *agents]
    process = place.start(*line)
    stdout, stderr = place.finish(process, 120)
    document = json.loads(stdout)
    assert document["kind"] != "error", f"{document}\n{stderr}"
    assert isinstance(document, dict)
    return document
