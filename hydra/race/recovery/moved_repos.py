"""Races of a repository that was moved since: their records lie under its old path, and their pins
came along with it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hydra.errors import UsageError
from hydra.git.runner import run
from hydra.records.store.files import read_object
from hydra.report.text import quote
from hydra.text import plural


def moved(state: Path, root: Path) -> UsageError | None:
    """What is to be said instead of "no races yet"; None where no race of it is recorded elsewhere.

    The lanes' patches borrow the base from the old path, so that has to lead here again.
    """
    pins = run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/hydra", cwd=root).line
    ids = {pin.partition("/")[0] for pin in pins.splitlines()}
    folders = [folder for folder in state.glob("*/runs/*") if folder.name in ids]
    for folder in sorted(folders, key=lambda folder: folder.name, reverse=True):
        with suppress(OSError, ValueError, KeyError):
            old = Path(str(read_object(folder / "manifest.json")["repository"]))
            if not old.exists():
                link = f"ln -s {quote(str(root))} {quote(str(old))} && "
                return _sentence(f"{old}, where it is no more", link, folder, len(folders))
            if old != root and old.samefile(root):
                return _sentence(f"{old}, which is a link to it now", "", folder, len(folders))
    return None


def _sentence(place: str, link: str, folder: Path, count: int) -> UsageError:
    races = plural(count, "race")
    return UsageError(
        f"this repository has no races here: {races} of it began at {place}",
        hint=f"move it back; or look at the latest: {link}"
        f"git fetch {quote(str(folder / 'patches.git'))} LANE && git show FETCH_HEAD",
    )
