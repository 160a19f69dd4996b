"""What the user has granted to their checkout by its path is not a lane's that stands there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hydra.adapters.contract import PathTrust
from hydra.workspace.trust import withdraw_trust
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.trust import needs_bwrap

CODEX = PathTrust("config.toml", "projects")
CLAUDE = PathTrust(".claude.json", "projects")
LIST = PathTrust("config.json", "trusted_folders")


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
