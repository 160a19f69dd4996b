"""The adapters Hydra knows, and how a person names them: `claude`, `codex:gpt-5.5`, `2xclaude`.

A new adapter is one line in `OWN`. Those of third parties are found by
`plugins.py`, and handed in where a name is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from msgspec.structs import replace

from hydra.adapters.contract import Adapter, names
from hydra.errors import UsageError
from hydra.records.agent import Tier
from hydra.records.request import Effort, Lane
from hydra.redaction import redacted
from hydra.text import nearest

# ---- Hydra's own adapters by key, each loaded when it is first asked for.
#
# A race has two or three agents, and reading thirty adapters would take as long as all else before
# the first of them starts.

Rows = Mapping[str, str]
"""Key to the module, beside this one, that has it as ADAPTER or among its ADAPTERS."""


class LazyRegistry(Mapping[str, Adapter]):
    """A mapping whose keys cost nothing and whose values are loaded once."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._taken: dict[str, Adapter] = {}

    def __getitem__(self, key: str) -> Adapter:
        if key not in self._taken:
            module = import_module(f"hydra.adapters.{self._rows[key]}")
            several = getattr(module, "ADAPTERS", None) or (module.ADAPTER,)
            self._taken |= {adapter.key(): adapter for adapter in several}
        return self._taken[key]

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


TIER1 = ("claude", "codex")
"""The keys of those that race when nobody names any."""

_OTHERWISE = {"cursor-agent": "cursor", "opencode-http": "opencode", "hermes": "acp"}
OWN: Mapping[str, Adapter] = LazyRegistry(
    {
        key: _OTHERWISE.get(key, key)
        for key in names(
            "claude codex cursor-agent gemini qwen opencode opencode-http aider copilot pi omp"
            " hermes openclaw droid cline acp"
        )
    }
)
"""By key, each with its module here, in the order in which they are listed and raced."""

_OVER_ACP = {
    "gemini-acp": ("gemini", "gemini", '["--acp"]'),
    "qwen-acp": ("qwen", "qwen", '["--acp"]'),
    "opencode-acp": ("opencode", "opencode", '["acp"]'),
    "copilot-acp": ("copilot", "copilot", '["--acp"]'),
    "omp-acp": ("omp", "omp", '["--mode", "acp"]'),
    "claude-acp": ("claude", "claude-agent-acp", "[]"),
    "codex-acp": ("codex", "codex-acp", "[]"),
}
"""Each with the agent, and with the program and words that make it speak the protocol."""

NOT_RUN: Mapping[str, tuple[str, str]] = {
    "pi-rpc": ("pi itself does the same work", "race pi"),
    "hermes-acp": ("hermes itself does the same work", "race hermes"),
    "amp": (
        "it works only signed in to ampcode.com, so no run of it could be tried",
        "race another agent: `hydra agents` lists them",
    ),
    "claude-remote-control": (
        "it is led from claude.ai and takes no task of Hydra's",
        "race claude itself",
    ),
    "agent-mux-remote": (
        "it starts agents elsewhere, whose work would not be in the lane's worktree",
        "race an agent on another machine: `remote` in its own [agents.KEY]",
    ),
    **{
        key: (
            f"{agent} itself does the same work",
            f"race {agent}; over the protocol it is `-a acp`, with the path of {program} and"
            f" args = {args} in [agents.acp] of your hydra.toml",
        )
        for key, (agent, program, args) in _OVER_ACP.items()
    },
}
"""Agents that Hydra knows by name and does not run, each with why, and what to do instead."""

VARIABLES = names(
    "CLAUDE_CONFIG_DIR CLINE_DIR CODEX_HOME COPILOT_HOME CURSOR_CONFIG_DIR FACTORY_HOME_OVERRIDE"
    " GEMINI_CLI_HOME HERMES_HOME OPENCLAW_STATE_DIR PI_CODING_AGENT_DIR QWEN_HOME XDG_CONFIG_HOME"
    " XDG_DATA_HOME XDG_STATE_HOME"
)
"""Those by which any of them keeps its settings elsewhere; known without loading it."""

COPIES = 32
"""Copies of one agent at most: more is a slip of the finger."""

_COUNT = re.compile(r"(?P<count>\d+)x(?P<rest>.+)", re.DOTALL)
_ID = 40


def everyone() -> tuple[Adapter, ...]:
    """All of Hydra's own, loaded."""
    return tuple(OWN.values())


def get(key: str, adapters: Mapping[str, Adapter] = OWN) -> Adapter:
    """The adapter of that name. Raises `UsageError`, with the nearest one named."""
    if key in adapters:
        return adapters[key]
    raise unknown(key, adapters)


def unknown(key: str, keys: Iterable[str]) -> UsageError:
    """The error for a name that is none of these."""
    if key in NOT_RUN:
        why, instead = NOT_RUN[key]
        return UsageError(f"Hydra does not run {key}: {why}", hint=instead)
    keys = list(keys)
    near = nearest(key.lower(), keys)
    meant = f"; did you mean {near}?" if near else ""
    doubled = re.fullmatch(r"(\d+)(\D.*)", key)
    if doubled and doubled[2] in keys:
        meant = f"; did you mean {doubled[1]}x{doubled[2]}?"
    return UsageError(f"no agent is called {key!r}{meant}", hint="`hydra agents` lists them")


def key_of(text: str) -> str:
    """The agent, or the profile, that `text` names, whether or not there is one of that name."""
    return _parts(text)[1]


def _parts(text: str) -> tuple[str, str, str | None, Effort | None]:
    """Count, name, model (None for no colon) and effort of one `-a`."""
    counted = _COUNT.fullmatch(text.strip())
    count, rest = (counted["count"], counted["rest"]) if counted else ("1", text.strip())
    effort = None
    front, at, last = rest.rpartition("@")
    if at and last in tuple(Effort):
        # Else it is part of the model: some have an @ in their names.
        rest, effort = front, Effort(last)
    name, colon, model = rest.partition(":")
    return count, name, model if colon else None, effort


def parse_agent(
    text: str,
    adapters: Mapping[str, Adapter] = OWN,
    profiles: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Lane, int]:
    """`[<count>x]<agent>[:<model>][@<effort>]`, split at the first colon and the last `@`: the
    first of its lanes, and how many there are.

    `profiles` are names that stand for an agent, to its key. Raises `UsageError`.
    """
    count, name, model, effort = _parts(text)
    if not 1 <= int(count[:9]) <= COPIES:
        raise UsageError(f"{text!r}: 1 to {COPIES} copies of an agent", hint="for example 2xclaude")
    if model is not None and not _sane(model):
        raise UsageError(f"{text!r}: that is no model's name", hint="for example codex:gpt-5.5")
    profile = name if name in profiles else ""
    agent = profiles.get(name, name)
    if agent not in adapters:
        raise unknown(name, (*adapters, *profiles))
    key, model = adapters[agent].key(), model or None
    id = _base(profile or key, model, effort)
    return Lane(id=id, adapter=key, model=model, effort=effort, profile=profile), int(count)


def lanes(
    specs: Iterable[str | Sequence[str]],
    adapters: Mapping[str, Adapter] = OWN,
    profiles: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Lane, ...]:
    """The lanes of a race, in the order asked for; ids are unique and safe as refs.

    A copy is numbered among all lanes that would have the same id: `claude`, `claude-2`.
    """
    items: list[Lane] = []
    taken: set[str] = set()
    for spec in specs:
        text = spec if isinstance(spec, str) else ":".join(spec)
        lane, count = parse_agent(text, adapters, profiles)
        for _ in range(count):
            items.append(replace(lane, id=_free(lane.id, taken)))
            taken.add(items[-1].id)
    return tuple(items)


def _sane(model: str) -> bool:
    """Not empty, not an option, and nothing that a terminal or an argv would stumble over."""
    return bool(model) and not model.startswith("-") and model.isprintable() and " " not in model


def _base(*parts: str | None) -> str:
    """The lane's name: the agent's key or the profile's, and the model and effort if named. Of a
    model that is an address no password is in it."""
    name = "-".join(filter(None, parts))
    safe = re.sub(r"[^a-z0-9.]+", "-", redacted(name).lower())
    return re.sub(r"\.{2,}", ".", safe).strip("-.")[:_ID].rstrip("-.")


def _free(base: str, taken: set[str]) -> str:
    copy, id = 1, _safe_end(base)
    while id in taken:
        copy += 1
        tail = f"-{copy}"
        id = base[: _ID - len(tail)].rstrip("-.") + tail
    return id


def _safe_end(id: str) -> str:
    """git refuses a branch that ends in `.lock`."""
    while id.endswith(".lock"):
        id = id.removesuffix(".lock").rstrip("-.")
    return id


EXPERIMENTAL_FLAG = "--allow-experimental-adapters"


def check_experimental(
    lanes: tuple[Lane, ...], adapters: Mapping[str, Adapter], allowed: bool, to: str = "race"
) -> None:
    """Raises `UsageError` where a lane's adapter is experimental and that was not allowed. `to` is
    what they are wanted for, as the hint says it."""
    for lane in lanes:
        if adapters[lane.adapter].descriptor.tier is Tier.EXPERIMENTAL and not allowed:
            raise UsageError(
                f"{lane.adapter} is experimental",
                hint=f"add {EXPERIMENTAL_FLAG} to {to} it all the same",
            )
