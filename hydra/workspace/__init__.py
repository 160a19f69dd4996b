"""A lane's ground: where one agent works, and the only place it may write.

`Ground` is what the rest of Hydra knows of it; today there is one kind, a private repository
with a worktree. A layered one comes later, so nothing outside this room may assume a plain folder.
"""

from hydra.git.lost import WorktreeLost
from hydra.workspace.contract import Ground, SignInNotice
from hydra.workspace.grounds import (
    give_back_standing,
    private_ground,
    standing_ground,
    worktree_name,
)
from hydra.workspace.private import LANE_HOME, PrivateGround

__all__ = [
    "LANE_HOME",
    "Ground",
    "PrivateGround",
    "SignInNotice",
    "WorktreeLost",
    "give_back_standing",
    "private_ground",
    "standing_ground",
    "worktree_name",
]
