"""What patches.git reads from the user's repository, and how it comes to hold it itself.

git writes no object that an alternate has: what a patch shares with another branch of the user's,
a stash, or a blob that was only added would lie in their repository alone, where a `git gc` takes
it away. The base's own objects stay there, as refs/hydra/RUN/base keeps them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from hydra.git.runner import object_path, run

_SYNCED = (("core.fsync", "pack,pack-metadata"), ("pack.window", "0"))


def borrowed(patches: Path, objects: Collection[str]) -> list[str]:
    """Those of these objects that patches.git does not hold itself. Raises `GitFailed`."""
    own = patches / "objects"
    not_loose = [oid for oid in objects if not (own / oid[:2] / oid[2:]).exists()]
    if not not_loose:
        return []
    with tempfile.TemporaryDirectory(dir=patches, prefix="own-") as folder:
        Path(folder, "pack").symlink_to(own / "pack")  # and no info/alternates beside it
        listed = run(
            *("cat-file", "--batch-check"),
            git_dir=patches,
            isolated=True,
            stdin=_lines(not_loose),
            extra_env={"GIT_OBJECT_DIRECTORY": folder},
        ).stdout.decode()
    return [line.split(" ")[0] for line in listed.splitlines() if line.endswith(" missing")]


def pack(patches: Path, objects: Iterable[str], *, also: Path | None = None) -> None:
    """Copies objects into patches.git for good, wherever they lie: one pack, whole and synced.

    `also` is one more objects folder that is looked in. Raises `GitFailed` where one is gone.
    """
    near = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": object_path(also)} if also else {}
    run(
        *("pack-objects", "--quiet", patches / "objects" / "pack" / "pack"),
        git_dir=patches,
        isolated=True,
        stdin=_lines(objects),
        timeout=600,
        extra_env=near,
        config=_SYNCED,
    )


def _lines(objects: Iterable[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in objects).encode()
