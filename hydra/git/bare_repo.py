"""A repository of Hydra's own that borrows the user's objects: the run's, which is bare, or a
lane's, whose settings say that it is not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from hydra.git.attributes import freeze
from hydra.git.repository import Repository
from hydra.git.runner import run

_QUIET = (("gc.auto", "0"), ("maintenance.auto", "false"), ("core.splitindex", "false"))


Alias = Callable[[Path], Path]
"""A name for an objects folder that is good wherever the repository is used."""


def as_they_are(folder: Path) -> Path:
    """Where its name is good everywhere."""
    return folder


def make(
    path: Path,
    repo: Repository,
    *,
    alias: Alias = as_they_are,
    config: Iterable[tuple[str, str]] = (),
    attributes: bytes = b"",
) -> None:
    """Makes `path`: no template, no remote, the user's object format, objects and file settings.

    `alias` gives the names by which the user's are borrowed; `config` goes on top of what is frozen
    in; `attributes` are lines that win over every .gitattributes.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    run(
        *("init", "--quiet", "--bare", "--template=", f"--object-format={repo.object_format}"),
        *("--initial-branch=main", path),
        cwd=path.parent,
        extra_env={"GIT_DEFAULT_REF_FORMAT": "files"},  # tags are handed over as packed-refs
    )
    path.chmod(0o700)
    borrow_objects(path, map(alias, repo.objects))
    if repo.shallow:
        # Without it git takes the parents that a shallow clone cut off for missing objects.
        shutil.copyfile(repo.common_dir / "shallow", path / "shallow")
    freeze(repo, path, (*_QUIET, *config), attributes)


def borrow_objects(git_dir: Path, folders: Iterable[Path]) -> None:
    """Lets `git_dir` read objects from these folders; it writes only its own."""
    info = git_dir / "objects" / "info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "alternates").write_bytes(b"".join(_line(folder) for folder in folders))


def _line(folder: Path) -> bytes:
    name = os.fsencode(folder)
    if name.startswith((b'"', b"#")) or b"\n" in name:
        quoted = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        name = b'"' + quoted + b'"'
    return name + b"\n"
