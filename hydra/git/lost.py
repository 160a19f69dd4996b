"""What is raised where there is no tree to take: apart, for a race begins without the collector."""

from __future__ import annotations

from hydra.errors import HydraError


class WorktreeLost(HydraError):
    """The lane's folder is gone, empty, or no folder any more: there is nothing to take."""

    reason = "worktree_lost"
