"""What the user has granted to their checkout by its path is not a lane's that stands there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hydra.adapters import copilot
from hydra.adapters.contract import PathTrust
from hydra.workspace.trust import withdraw_trust
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.trust import needs_bwrap

CODEX = PathTrust("config.toml", "projects")
CLAUDE = PathTrust(".claude.json", "projects")
LIST = PathTrust("config.json", "trusted_folders")
COPILOT = """// User settings belong in settings.json.
// This file is managed automatically.
{
  "firstLaunchAt": "2026-11-27T07:52:54.700Z", /* https://"x" */
  "home": "https://x/*y*/,]",
  "trustedFolders": [
    "%s",
    "/elsewhere",
  ]
}
"""
"""As 1.0.102 wrote it when its user chose to remember a folder; with what else it reads."""


def test_the_checkout_what_holds_it_and_what_it_holds_go_and_others_stay(tmp_path: Path) -> None:
    place = tmp_path / "code" / "shop"
    place.mkdir(parents=True)
    (tmp_path / "link").symlink_to(place)
    gone = [place, place / "sub", tmp_path / "code", tmp_path / "link"]
    other = tmp_path / "code" / "shop-2"
    table = "".join(f'[projects."{path}"]\ntrust_level = "trusted"\n' for path in (*gone, other))
    (tmp_path / "config.toml").write_text(f'model = "x"\n{table}')
    document = {"theme": "dark", "projects": {str(path): {} for path in (*gone, other, "odd")}}
    (tmp_path / ".claude.json").write_text(json.dumps(document))
    (tmp_path / "config.json").write_text(json.dumps({LIST.key: [str(place), str(other)]}))
    withdraw_trust([tmp_path, tmp_path / "nowhere"], [CODEX, CLAUDE, LIST], place)
    codex = tomllib.loads((tmp_path / "config.toml").read_text())
    assert codex == {"model": "x", "projects": {str(other): {"trust_level": "trusted"}}}
    claude = json.loads((tmp_path / ".claude.json").read_text())
    assert claude == {"theme": "dark", "projects": {str(other): {}, "odd": {}}}
    assert json.loads((tmp_path / "config.json").read_text()) == {LIST.key: [str(other)]}


@pytest.mark.parametrize("text", ["", "[", "[]", '{"projects": 1}', '{"projects": [1, null]}'])
def test_a_file_that_is_none_of_its_kind_stays_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / ".claude.json").write_text(text)
    withdraw_trust([tmp_path], [CLAUDE], tmp_path)
    assert (tmp_path / ".claude.json").read_text() == text


@pytest.mark.parametrize(
    ("text", "stays"),
    [("{'trusted_folders': []}", False), ('{"trusted_folders": [', False), ("{'x': 1}", True)],
)
def test_what_grants_something_and_cannot_be_read_is_not_the_lanes(
    tmp_path: Path, text: str, stays: bool
) -> None:
    (tmp_path / LIST.file).write_text(text)
    withdraw_trust([tmp_path], [LIST], tmp_path)
    assert (tmp_path / LIST.file).exists() is stays


@pytest.mark.slow
def test_what_copilot_wrote_itself_is_withdrawn(hydra: Hydra) -> None:
    needs_bwrap(hydra.uid)
    own = hydra.home / ".copilot" / "config.json"
    own.parent.mkdir()
    own.write_text(COPILOT % hydra.repo)
    (hydra.scratch / "agents").mkdir()
    program = hydra.scratch / "agents" / "copilot"
    flags = " ".join(flag.name for flag in copilot.ADAPTER.table)
    program.write_text(
        f"#!/bin/sh\ncase $1 in --version) echo GitHub Copilot CLI 1.0.102.;;\n"
        f'--help) printf "  %s\\n" {flags};; *) cat "$HOME/.copilot/config.json" > seen;; esac\n'
    )
    program.chmod(0o755)
    hydra.path.insert(0, program.parent)
    hydra.race("-a", "copilot", "--allow-experimental-adapters")
    patch = hydra.run("diff", "copilot").stdout.splitlines()
    seen = "\n".join(line[1:] for line in patch if line.startswith("+") and line[:3] != "+++")
    assert json.loads(seen) == {
        "firstLaunchAt": "2026-11-27T07:52:54.700Z",
        "home": "https://x/*y*/,]",
        "trustedFolders": ["/elsewhere"],
    }
    assert own.read_text() == COPILOT % hydra.repo


@pytest.mark.slow
def test_a_lane_has_no_trust_in_the_checkout_and_the_user_keeps_theirs(hydra: Hydra) -> None:
    needs_bwrap(hydra.uid)
    codex = hydra.home / ".codex"
    codex.mkdir()
    own = f'[projects."{hydra.repo}"]\ntrust_level = "trusted"\n'
    (codex / "config.toml").write_text(own)
    look = "cat $HOME/.codex/config.toml > said; echo end >> said"
    hydra.agent("codex", [fakes.shell("sh", "-c", look), fakes.finish("done")])
    race = hydra.race("-a", "codex")
    assert race.lane("codex")["patch"]["files"] == 1
    text = hydra.run("diff", "codex").stdout
    assert "+end" in text
    assert "trusted" not in text
    assert (codex / "config.toml").read_text() == own
