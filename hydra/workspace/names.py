"""What the folders of a lane's workspace are called."""

from __future__ import annotations

import re
from pathlib import Path

LANE_HOME = "home"
"""A lane's folder for its agent's settings, caches and files, beside its worktree."""
USER_HOME = "user"
"""What its processes have for HOME where something confines them."""


_TAKEN = frozenset((LANE_HOME, USER_HOME, "tmp", "borrowed", "layer"))


def worktree_name(root: Path) -> str:
    """The worktree's folder: named like the repository, as tools show it and name builds by it.

    Names of places are shown in lines and kept in files of lines, so no control character comes
    along.
    """
    name = re.sub(r"[\x00-\x1f\x7f]", "_", root.name) or "repository"
    return f"{name}-work" if name in _TAKEN else name
