"""Sentences of docs/ that a run shows and no other test holds."""

from __future__ import annotations

from pathlib import Path

from tests.support import fakes
from tests.support.command import Hydra


def everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """All below it: kind and mode, time, content."""
    seen = {}
    for path in sorted(folder.glob("**/*")):
        stat = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        seen[str(path.relative_to(folder))] = (stat.st_mode, stat.st_mtime_ns, content)
    return seen


def test_a_race_leaves_nothing_in_home_but_hydras_own_two_folders(
    scratch: Path, repo: Path
) -> None:
    """docs/trust.md: where nothing moves them, the cache and the state lie in HOME."""
    hydra = Hydra(scratch, repo, extra={"HYDRA_STATE_DIR": "", "HYDRA_CACHE_DIR": ""})
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish("done")])
    (hydra.home / ".claude").mkdir()
    (hydra.home / ".claude" / "settings.json").write_text("{}\n")
    for folder in (".cache", ".local/state"):
        (hydra.home / folder).mkdir(parents=True)
    before = everything(hydra.home)
    race = hydra.race()
    assert race.code == 0, race.document
    after = everything(hydra.home)
    own = (".cache/hydra", ".local/state/hydra")
    new = {name for name in after if name not in before}
    assert new
    assert {name for name in new if not name.startswith(own)} == set()
    assert {name for name in new if name.endswith("probes.json")} == {".cache/hydra/probes.json"}
    parents = {".cache", ".local/state"}  # whose times say that a folder was made in them
    assert {
        name: looks for name, looks in after.items() if name in before and name not in parents
    } == {name: looks for name, looks in before.items() if name not in parents}
    assert Path(race.document["folder"]).is_relative_to(hydra.home / own[1])


def test_the_log_is_of_housekeeping_alone() -> None:
    """docs/architecture.md, decision 12: all else is an error, an event or a warning of the run."""
    rooms = Path(__file__).parent.parent.glob("hydra/**/*.py")
    logging = [path.stem for path in rooms if "logging.getLogger(__name__)" in path.read_text()]
    assert logging == ["housekeeping"]
