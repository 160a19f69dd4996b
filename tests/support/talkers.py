"""An agent that is talked to, with its adapter as a package."""

from __future__ import annotations

import json
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.support.command import Hydra, Race
from tests.support.thirdparties import install, install_toy

HERE = Path(__file__).parent / "talker"
ARGS = ("--allow-experimental-adapters",)


def placed(scratch: Path, repo: Path) -> Hydra:
    """`hydra` with it installed."""
    site, programs = scratch / "site", scratch / "programs"
    site.mkdir()
    programs.mkdir()
    hydra = Hydra(scratch, repo, extra={"PYTHONPATH": str(site)})
    install_toy(site)
    shutil.copy(HERE / "talker_adapter.py", site)
    install(site, "dist-talker", {"talker": "talker_adapter:TALKER"})
    program = programs / "talker"
    program.write_text(f"#!{sys.executable} -S\n{(HERE / 'talker.py').read_text()}")
    program.chmod(0o755)
    hydra.path.insert(0, programs)
    return hydra


def talk(hydra: Hydra, task: str, *args: str, agent: str = "talker") -> Race:
    """One race of that agent alone."""
    done = hydra.run("race", task, "--json", "-a", agent, *ARGS, *args)
    assert done.stdout, done.stderr
    return Race(done.returncode, json.loads(done.stdout), done.stderr)


def lane_file(race: Race, name: str) -> bytes:
    """A file of the only lane's record."""
    (lane,) = race.document["lanes"]
    return Path(race.document["folder"], "lanes", lane["lane"], name).read_bytes()


def sent(race: Race) -> list[dict[str, Any]]:
    """What was said to it; without what a limit has cut."""
    lines = lane_file(race, "sent.jsonl").splitlines()
    return [json.loads(line) for line in lines if line[:7] == b'{"act":' and line[-1:] == b"}"]


def adapter(key: str, site: Path) -> Any:
    """Its adapter, loaded here."""
    sys.path.insert(0, str(site))
    try:
        return getattr(import_module("talker_adapter"), key.upper())
    finally:
        sys.path.remove(str(site))


def replayed(item: Any, raw: bytes) -> list[Any]:
    """What its parser makes of the record's bytes alone."""
    parser = item.parser()
    return [event for line in raw.splitlines() for event in parser.parse_line(line)]
