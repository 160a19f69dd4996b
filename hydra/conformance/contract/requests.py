"""What a lane may ask of an adapter's line, by name; and the line or the refusal it gets."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hydra.adapters.contract import Adapter
from hydra.adapters.supported import check_supported
from hydra.errors import AgentError
from hydra.records.agent import BuiltCommand, DetectResult, SpawnRequest
from hydra.records.request import Budget, Effort, Permission

WORKTREE = Path("/lane/shop")
PROMPT = "Fix the pager"
SESSION = "00000000-0000-4000-8000-00000000000a"
EXTRA = ("--made-up-extra", "made up value")

PERMISSIONS = (Permission.PLAN, Permission.EDIT, Permission.FULL_AUTO, Permission.UNRESTRICTED)
"""From the narrowest to the widest; `default` and `config` grant what the CLI's own settings do."""

REQUESTS: Mapping[str, Mapping[str, Any]] = {
    **{str(permission): {"permission": permission} for permission in PERMISSIONS},
    **{f"{p}, as root": {"permission": p, "as_root": True} for p in PERMISSIONS},
    **{f"{p}, not confined": {"permission": p, "confined": False} for p in PERMISSIONS},
    **{
        f"{p}, as root, not confined": {"permission": p, "as_root": True, "confined": False}
        for p in PERMISSIONS
    },
    **{f"{p}, with network": {"permission": p, "network": True} for p in PERMISSIONS},
    **{f"{p}, no network": {"permission": p, "network": False} for p in PERMISSIONS},
    "a model": {"model": "made-up-model"},
    "instructions": {"instructions": ("CLAUDE.md",)},
    "instructions, other": {"instructions": ("AGENTS.md",)},
    "instructions, two": {"instructions": ("CLAUDE.md", "AGENTS.md")},
    "instructions, two of a kind": {"instructions": ("CLAUDE.md", ".claude/CLAUDE.md")},
    "extra arguments": {"extra_args": EXTRA},
    "a prompt with a slash": {"prompt": "/clear"},
    "a prompt with a dash": {"prompt": "--version"},
    **{f"{p}, resumed": {"permission": p, "resume": SESSION} for p in PERMISSIONS},
    **{f"{p}": {"permission": p} for p in (Permission.DEFAULT, Permission.CONFIG)},
    **{f"effort {effort}": {"effort": effort} for effort in Effort},
    "a preface": {"preface": "Mind the tests.\nAll of them."},
    "forked": {"resume": SESSION, "fork": True},
    "a budget": {"budget": Budget(turns=7, cost_usd=1.25, seconds=90.0, tool_calls=11)},
    "a service tier": {"service_tier": "fast"},
    "a session that could be an option": {"resume": "--made-up"},
    "a session of two words": {"resume": "made up"},
    "everything": {
        "model": "made-up-model",
        "instructions": ("CLAUDE.md",),
        "extra_args": EXTRA,
        "as_root": True,
    },
}
"""Every request by what is special in it."""


ALSO: Mapping[str, Mapping[str, Any]] = {
    "with network": {"network": True},
    "no network": {"network": False},
    "resumed": {"resume": SESSION},
}
"""What else is asked of a line that has lost a flag."""


def request(**changes: Any) -> SpawnRequest:
    """A lane's request, with these changes."""
    return replace(SpawnRequest(prompt=PROMPT, worktree=WORKTREE), **changes)


class BuiltLine(Struct, frozen=True):
    """The line that came of a request, or why it was refused; exactly one of the two."""

    command: BuiltCommand | None = None
    refused: AgentError | None = None

    @property
    def options(self) -> frozenset[str]:
        """Everything on the line, in its environment and in its conversation that can carry a
        meaning."""
        if self.command is None:
            return frozenset()
        pairs = (*self.command.env, *self.command.session_params)
        return frozenset((*self.command.args, *(f"{name}={value}" for name, value in pairs)))

    def as_data(self, base: BuiltLine | None = None) -> Any:
        """As the expectation has it: whole, or what is other than on the line of `base`."""
        if self.command is None:
            assert self.refused is not None
            failure = self.refused.failure
            return {"refused": [failure.kind, failure.reason, failure.message, failure.hint]}
        mine, other = _fields(self.command), {}
        if base is not None and base.command is not None:
            other = _fields(base.command)
            terms = _changes(other.pop("args").split(" "), mine.pop("args").split(" "))
            mine |= {"args": terms} if terms else {}
        return {name: value for name, value in mine.items() if value != other.get(name, [])}


def _fields(built: BuiltCommand) -> dict[str, Any]:
    return {
        "args": " ".join(arg.replace(str(WORKTREE), "/lane/shop") for arg in built.args),
        "env": dict(built.env),
        "dropped": list(built.dropped),
        "warnings": list(built.warnings),
        "expects": [list(pair) for pair in built.expected_settings],
        "stdin": repr(built.stdin),
        **(
            {"files": [[str(path), repr(data)] for path, data in built.files]}
            if built.files
            else {}
        ),
        **({"dialogue": dict(built.session_params)} if built.session_params else {}),
    }


def _changes(before: list[str], after: list[str]) -> list[str]:
    """`9: - --cd /lane/shop`: what went and what came, by the place on the line before."""
    names = []
    for tag, i, j, m, n in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            went = f" - {' '.join(before[i:j])}" if j > i else ""
            came = f" + {' '.join(after[m:n])}" if n > m else ""
            names.append(f"{i}:{went}{came}")
    return names


def ask(adapter: Adapter, result: DetectResult, spawn_request: SpawnRequest) -> BuiltLine:
    """The line for one request. Anything but an `AgentError` goes through to the caller."""
    try:
        check_supported(adapter.descriptor, spawn_request)  # as a plan does
        return BuiltLine(command=adapter.build_command(spawn_request, result))
    except AgentError as refused:
        return BuiltLine(refused=refused)
