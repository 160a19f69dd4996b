"""Brings scripted attacks into a lane, and their loot out of it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from tests.support import fakes
from tests.support.command import Race
from tests.support.trust import Place


def arm(place: Place, *modules: str) -> None:
    """Commits the attacks' modules to the repository that is raced on."""
    folder = place.repo / "tests" / "support"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    for module in ("attack_tools", *modules):
        shutil.copy(Path(__file__).with_name(f"{module}.py"), folder)
    place.hand_over()
    place.git("add", "-A")
    place.git("commit", "-qm", "Attacks")


def attack(place: Place, module: str, **facts: object) -> fakes.Step:
    """One shell tool call that carries out a module's attacks."""
    python = os.path.realpath(place.python)
    line = (python, "-m", f"tests.support.{module}", json.dumps(facts))
    return fakes.shell("sh", "-c", 'exec "$@" >said 2>&1', "sh", *line, show="attacks")


def loot_of(place: Place, race: Race, name: str) -> Any:
    """What an attack's module has reported."""
    assert "folder" in race.document, race
    folder = race.document["folder"]
    try:
        return json.loads(place.taken(folder, "claude", f"{name}.json"))
    except Exception:
        raise AssertionError(place.taken(folder, "claude")) from None
