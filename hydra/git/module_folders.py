"""Where git keeps the repositories of submodules: below `modules`, by the names in .gitmodules."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hydra.git.runner import run, split

_ODD = frozenset(("", ".", ".."))


def module_folders(git_dir: Path, commit: str, paths: Iterable[bytes]) -> dict[bytes, Path]:
    """Each submodule's, from the gitdir that it belongs to. One without a name, or with a name that
    git would refuse, has a folder by its path."""
    names = _names(git_dir, commit)
    return {path: Path("modules", _folder(path, names)) for path in paths}


def _names(git_dir: Path, commit: str) -> dict[bytes, str]:
    terms = ("-z", "--get-regexp", r"^submodule\..*\.path$")
    answer = run(
        *("config", f"--blob={commit}:.gitmodules", *terms),
        git_dir=git_dir,
        isolated=True,
        check=False,
    )
    entries = (entry.partition(b"\n") for entry in split(answer.stdout))
    paths = {key[len(b"submodule.") : -len(b".path")]: path for key, _, path in entries}
    return {path: os.fsdecode(name) for name, path in paths.items()}


def _folder(path: bytes, names: dict[bytes, str]) -> str:
    name = names.get(path, "")
    parts = name.split("/")
    above = ("/".join(parts[:number]) for number in range(1, len(parts)))
    if _ODD.isdisjoint(parts) and not {*names.values()}.intersection(above):
        return name
    return os.fsdecode(path).replace("%", "%25").replace("/", "%2f")
