"""What the model says, as data: one TOML file per situation, the same for every agent.

A script is an ordered list of turns. A turn is what a model gives back to one request: text,
thinking, tool uses in neutral words, or a fault. docs/reference/model-server.md has every key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from hydra.errors import ConfigError


@contextmanager
def naming(where: str) -> Iterator[None]:
    """What the body finds to be wrong in some data as a `ConfigError` that begins with `where`."""
    try:
        yield
    except (ValidationError, ValueError, TypeError) as error:
        raise ConfigError(f"{where}: {error}") from error


def among(term: str, names: Collection[str], what: str) -> None:
    """Raises `ValueError` for a word that is not one of `names`, and names those."""
    if term not in names:
        text = ", ".join(name or '""' for name in names)
        raise ValueError(f"{what} {term!r} is unknown; known: {text}")


SCRIPTS = Path(__file__).parent / "scripts"

TOOL_ARGUMENTS: Mapping[str, frozenset[str]] = {
    "shell": frozenset({"command"}),
    "read_file": frozenset({"path"}),
    "write_file": frozenset({"path", "text"}),
    "edit_file": frozenset({"path", "old", "new"}),
    "delete_file": frozenset({"path"}),
    "call": frozenset({"name", "input"}),
}
"""The neutral tools and what each needs. `call` names an agent's own tool and its input."""

FAULTS: Mapping[str, str] = {
    "status": "an HTTP error before anything is streamed: status, retry_after, error, message",
    "overflow": "the service's own answer to a conversation that is too long",
    "hang": "the request is read, and never answered",
    "stall": "half the reply, then silence on an open connection",
    "drop": "the connection is cut: at once, or halfway through what the turn says",
    "garbage": "half the reply, then bytes that are no event stream",
    "malformed": "half the reply, then an event whose JSON is cut",
    "error_event": "half the reply, then the stream's own error event",
}
"""Every fault and what the server does."""

IN_STREAM = frozenset({"stall", "drop", "garbage", "malformed", "error_event"})
"""The faults that strike halfway through a turn's reply, so that the turn may say something."""


class ScriptTool(Struct, frozen=True, kw_only=True):
    """One tool use in neutral words. `agent` limits it to one agent, "" is every agent."""

    kind: str
    arguments: Mapping[str, Any]
    agent: str = ""

    def __getitem__(self, name: str) -> str:
        return str(self.arguments[name])


class ModelFault(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One of `FAULTS`. `times` is how often a conversation meets it before it passes; 0: always."""

    kind: str
    status: int = 500
    retry_after: float | None = None
    error: str = ""
    message: str = ""
    times: int = 0

    def __post_init__(self) -> None:
        among(self.kind, FAULTS, "fault")


class ModelTurn(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"tools": "tool"}
):
    """What the model gives back to one request. Tokens are what the usage report claims.

    `repeat` says it so many times over, for a reply that is large.
    """

    say: str = ""
    think: str = ""
    repeat: int = 1
    tools: tuple[ScriptTool, ...] = ()
    fault: ModelFault | None = None
    wait: float = 0.0
    agent: str = ""
    input_tokens: int = 1200
    output_tokens: int = 80

    @property
    def empty(self) -> bool:
        """Whether the model neither says nor does anything in it."""
        return not (self.say or self.think or self.tools)


class Script(Struct, frozen=True, kw_only=True):
    """A named situation: the turns in the order a conversation meets them."""

    name: str
    about: str
    turns: tuple[ModelTurn, ...]

    def turn(self, answered: int, *, spent: Callable[[int], int]) -> tuple[int, ModelTurn]:
        """The turn that follows turn `answered` (-1: none yet), and its place.

        Stateless but for faults that pass: `spent(place)` says how often this conversation has
        met the fault at `place`. After the last turn the model says that the script has ended.
        """
        for place, turn in enumerate(self.turns):
            passed = turn.fault and turn.fault.times and spent(place) >= turn.fault.times
            if place > answered and not passed and (turn.fault or not turn.empty):
                return place, turn
        return len(self.turns), ModelTurn(say="The script has ended.")

    def for_agent(self, agent: str, values: Mapping[str, str]) -> Script:
        """This script as one agent meets it: others' turns emptied (places stay), words filled."""
        return replace(self, turns=tuple(_turn_for(turn, agent, values) for turn in self.turns))

    def filled(self, values: Mapping[str, str]) -> Script:
        """This script with further words filled in, for every agent."""
        return replace(self, turns=tuple(_filled(turn, values) for turn in self.turns))


def _filled(turn: ModelTurn, values: Mapping[str, str]) -> ModelTurn:
    tools = tuple(replace(tool, arguments=fill(tool.arguments, values)) for tool in turn.tools)
    return replace(turn, tools=tools, say=fill(turn.say, values), think=fill(turn.think, values))


def _turn_for(turn: ModelTurn, agent: str, values: Mapping[str, str]) -> ModelTurn:
    if turn.agent not in ("", agent):
        return ModelTurn()
    mine = tuple(tool for tool in turn.tools if tool.agent in ("", agent))
    turn = _filled(replace(turn, tools=mine), values)
    return replace(turn, say=turn.say * turn.repeat)


def fill(value: Any, values: Mapping[str, str]) -> Any:
    """`value` with each `{name}` in its texts and keys replaced, at any depth."""
    if isinstance(value, str):
        for name, term in values.items():
            value = value.replace("{" + name + "}", term)
        return value
    if isinstance(value, Mapping):
        return {fill(key, values): fill(item, values) for key, item in value.items()}
    return [fill(item, values) for item in value] if isinstance(value, list) else value


def names() -> list[str]:
    """The scripts that come with Hydra, sorted."""
    return sorted(path.stem for path in SCRIPTS.glob("*.toml"))


def load(name: str) -> Script:
    """A script that comes with Hydra. Raises `ConfigError` with the place."""
    if name not in names():
        raise ConfigError(f"no script {name}", hint=f"known: {', '.join(names())}")
    path = SCRIPTS / f"{name}.toml"
    with naming(str(path)):
        return parse(name, tomllib.loads(path.read_text(encoding="utf-8")))


def parse(name: str, data: Mapping[str, Any]) -> Script:
    """A script from its data. Raises `ConfigError` for a key or a value it does not know."""
    if unknown := data.keys() - {"about", "turn"}:
        raise ConfigError(f"{name}: unknown {', '.join(sorted(unknown))}; known: about, turn")
    turns = tuple(_turn(item, f"{name}: turn {n}") for n, item in enumerate(data.get("turn", ())))
    if not turns:
        raise ConfigError(f"{name}: a script needs at least one [[turn]]")
    return Script(name=name, about=str(data.get("about", "")), turns=turns)


def _turn(data: Mapping[str, Any], where: str) -> ModelTurn:
    with naming(where):
        turn = convert({**data, "tool": list(map(_tool, data.get("tool", ())))}, ModelTurn)
    fault = turn.fault
    if turn.empty and (fault is None or fault.kind in IN_STREAM - {"drop"}):
        raise ConfigError(f"{where} neither says nor does anything")
    if fault and fault.kind not in IN_STREAM and not turn.empty:
        raise ConfigError(f"{where}: with the fault {fault.kind} nothing is said or done")
    return turn


def _tool(data: Mapping[str, Any]) -> ScriptTool:
    kind = data.get("kind", "")
    among(kind, TOOL_ARGUMENTS, "tool")
    arguments = {key: data[key] for key in data if key not in ("kind", "agent")}
    if wrong := TOOL_ARGUMENTS[kind] ^ arguments.keys():
        raise ValueError(f"{kind} needs {', '.join(sorted(TOOL_ARGUMENTS[kind]))}: {wrong}")
    return ScriptTool(kind=kind, arguments=arguments, agent=data.get("agent", ""))
