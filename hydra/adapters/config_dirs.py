"""Where an agent's own settings folders are: by their variables, else under HOME. And where a lane
has a folder of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from hydra.adapters.contract import ConfigFolder, Descriptor
from hydra.records.agent import SpawnRequest


def folders_of(descriptor: Descriptor) -> tuple[ConfigFolder, ...]:
    """Every folder of an agent's, its configuration first."""
    own = (descriptor.config,) if descriptor.config else ()
    return (*own, *descriptor.folders)


def further(names: Sequence[str], folders: Collection[ConfigFolder]) -> tuple[ConfigFolder, ...]:
    """Folders that the user names for an agent, as `~/.my-agent`: no variable moves them, and all
    that is in them comes along.

    What `folders` has of the same folder of another agent holds: of its sign-in goes back what does
    there.
    """
    return tuple(_further(name.removeprefix("~/"), folders) for name in names)


def _further(place: str, folders: Collection[ConfigFolder]) -> ConfigFolder:
    same = [folder for folder in folders if folder.default == place]
    return ConfigFolder(
        variable="",
        default=place,
        credentials=tuple(dict.fromkeys(name for folder in same for name in folder.credentials)),
        renewals=tuple(dict.fromkeys(item for folder in same for item in folder.renewals)),
        copied=(".",),
        home_files=tuple(dict.fromkeys(name for folder in same for name in folder.home_files)),
        trust=tuple(dict.fromkeys(item for folder in same for item in folder.trust)),
        writable=next((folder.writable for folder in same if folder.writable), None),
    )


def place_of(folder: ConfigFolder, environ: Mapping[str, str], home: Path) -> Path:
    """Where the user's own is."""
    return named_place(folder, environ.get(folder.variable), home)


def named_place(folder: ConfigFolder, named: str | None, home: Path) -> Path:
    """The same by the value of its variable; None or "" for one that is not set.

    A relative one is for the current folder to the agents' own, and counts for nothing to XDG's.
    """
    if not named or (folder.parent and not Path(named).is_absolute()):
        return home / folder.default
    place = Path(named).absolute()
    return place / Path(folder.default).name if folder.parent else place


def places(descriptor: Descriptor, environ: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Where all of them are, its configuration first."""
    return tuple(place_of(folder, environ, home) for folder in folders_of(descriptor))


def lane_home(request: SpawnRequest) -> Path:
    """The lane's own folder; beside its worktree where the request names none."""
    return request.home or request.worktree.parent / "home"
