"""What Hydra answers when an agent asks whether it may: from the lane's permission alone.

Nobody sits there to be asked. `allow_once` and never `allow_always`: the next one is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from posixpath import isabs, join, normpath

from hydra.adapters.jsonlines import Object, first, mapping, objects, string
from hydra.model import Permission

LOOKING = frozenset({"read", "search", "think"})
CHANGING = frozenset({"edit", "delete", "move"})
PATHS = ("path", "file_path", "filePath", "fileName", "absolute_path", "notebook_path")
_KEPT = 4096


def allows(permission: Permission, call: Object, kind: str, root: str) -> bool:
    """Whether the call may be made. `root` is the worktree, "" where it is not known (a recorded
    stream): then every path counts as inside."""
    if permission in (Permission.FULL_AUTO, Permission.UNRESTRICTED):
        return True
    if kind in LOOKING:
        return True
    if permission is Permission.PLAN or kind not in CHANGING:
        return False
    named = list(paths(call))
    return bool(named) and all(_inside(name, root) for name in named)


def paths(call: Object) -> Iterable[str]:
    """Every path that a tool call names."""
    for holder in (*objects(call, "locations"), *objects(call, "content")):
        if name := string(holder, "path"):
            yield name
    raw = mapping(call, "rawInput")
    for given in (raw, mapping(raw, "arguments")):
        if name := first(given, PATHS):
            yield name


def _inside(name: str, root: str) -> bool:
    if not root or len(name) > _KEPT:
        return not root
    place = normpath(name if isabs(name) else join(root, name))
    return place.startswith(root.rstrip("/") + "/")


def outcome(request: Object, allowed: bool) -> Mapping[str, object]:
    """The result for `session/request_permission`: one of the options it gives, else cancelled."""
    kinds = ("allow_once", "allow_always") if allowed else ("reject_once", "reject_always")
    options = objects(request, "options")
    for kind in kinds:
        for option in options:
            if string(option, "kind") == kind and string(option, "optionId"):
                chosen = {"outcome": "selected", "optionId": string(option, "optionId")}
                return {"outcome": chosen}
    return {"outcome": {"outcome": "cancelled"}}
