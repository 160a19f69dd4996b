"""What is said of a view: `hydra doctor --view`, a kernel without scopes, dropped variables."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hydra.adapters.probe.sandbox import OPEN_SOCKETS
from hydra.process.fence import scopes_work
from tests.conftest import git
from tests.support import fakes, without_calls
from tests.support.command import Hydra
from tests.support.processes import namespaces_work

needs_bwrap = pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here")


def program(path: Path) -> Path:
    """A script that may be run."""
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_view_is_listed_for_a_person_with_what_was_not_followed(hydra: Hydra) -> None:
    home = hydra.home
    tool = program(home / "tools" / "tool")
    tool.with_name("letter.txt").write_text("to nobody")
    (home / ".npmrc").write_text("_auth=made-up\n")
    (home / "lib").mkdir()
    key = program(home / ".aws" / "bin" / "key")
    hydra.path = [tool.parent, key.parent]
    hydra.extra["HYDRA_SHOW"] = f"{home}:~/lib:~/gone"
    lines = hydra.run("doctor", "--view").stdout.splitlines()
    assert lines[0] == (
        "Read-only, beyond the system's own folders; the rest of this machine is not there."
    )
    assert lines[-1] == "To show more: [confine] show in your own hydra.toml (1 now)."
    titles = {line: lines[number + 1 :] for number, line in enumerate(lines) if line[:1] != " "}
    assert titles["on PATH"][0] == "  ~/tools"
    assert titles["[confine] show"][0] == "  ~/lib"
    assert "  ~/.npmrc" in titles["made anew of harmless keys"]
    assert titles["with lines left out"][0] == "  ~/.npmrc"
    assert "  ~/tools/letter.txt" in titles["covered"]
    assert titles["remarks"][:3] == [
        f"  not shown: {key.parent} (on PATH)",
        f"  [confine] show names your whole home folder, and is not followed: {home}",
        "  [confine] show names what is not there: ~/gone",
    ]


@pytest.mark.slow
@needs_bwrap
def test_a_kernel_without_scopes_is_told_and_the_race_goes_on(hydra: Hydra) -> None:
    hydra.agent("claude", [fakes.edit("new.txt", "x\n"), fakes.finish("done")])
    assert (OPEN_SOCKETS in hydra.race("-a", "claude").document["warnings"]) is not scopes_work()
    hydra.wrap = [sys.executable, without_calls.__file__, "landlock"]
    race = hydra.race("-a", "claude")
    assert race.code == 0, race
    assert race.document["warnings"].count(OPEN_SOCKETS) == 1
    checked = json.loads(hydra.run("doctor", "--json").stdout)["confinement"]
    assert (checked["kind"], checked["reason"]) == ("bwrap", OPEN_SOCKETS)


@pytest.mark.slow
@needs_bwrap
def test_a_race_drops_variables_of_hidden_files_and_says_which(hydra: Hydra) -> None:
    hook = hydra.home / "hook.js"
    hook.write_text("")
    command = 'echo "($NODE_OPTIONS)($REQUESTS_CA_BUNDLE)"'
    hydra.extra |= {"NODE_OPTIONS": f"--require {hook}", "REQUESTS_CA_BUNDLE": "/etc/ssl/none.pem"}
    hydra.agent("claude", [fakes.shell("sh", "-c", f"{command} > out"), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--check", f"t={command}")
    lane = race.lane("claude")
    assert [text for text in lane["warnings"] if "not passed on" in text] == [
        f"NODE_OPTIONS is not passed on: it names {hook}, which is hidden; "
        'to show it: [confine] show = ["~/hook.js"]'
    ]
    folder = Path(race.document["folder"])
    assert git(folder / "patches.git", "show", "claude:out") == "()(/etc/ssl/none.pem)"
    assert "()(/etc/ssl/none.pem)" in (folder / lane["checks"][0]["output"]).read_text()


UNSHARE = "unshare failed: Operation not permitted"
READ_ONLY = "lanes have the checkout's dependencies read-only, and can install nothing into them"


@pytest.mark.slow
@needs_bwrap
def test_why_dependencies_can_only_be_read_is_said(hydra: Hydra) -> None:
    """As where AppArmor lets bwrap make namespaces and no other program."""
    (hydra.repo / ".gitignore").write_text("node_modules/\n")
    (hydra.repo / "node_modules").mkdir()
    (hydra.repo / "node_modules" / "kept.js").write_text("")
    refusing = program(hydra.scratch / "refusing" / "unshare")
    refusing.write_text(f'#!/bin/sh\necho "unshare: {UNSHARE}" >&2\nexit 1\n')
    hydra.path.append(refusing.parent)
    hydra.agent("claude", [fakes.finish("done")])
    warnings = hydra.race("-a", "claude").document["warnings"]
    assert f"no overlays here (unshare: {UNSHARE}): {READ_ONLY}" in warnings
