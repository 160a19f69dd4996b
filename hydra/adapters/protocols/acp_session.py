"""What an agent offers in a session of the Agent Client Protocol, and how one of it is chosen.

Two forms are in use, and agents give either or both: `modes` and `models` with a method each, and
`configOptions` in categories with one method for all. Where both are there the second is taken.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import join, normpath, realpath
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hydra import __version__
from hydra.adapters.json_fields import Object, first, integer, mapping, objects, string
from hydra.records.request import Permission

MODE, MODEL, EFFORT = "mode", "model", "effort"
_CATEGORIES = {"mode": MODE, "model": MODEL, "thought_level": EFFORT}
_MOST = 2000
"""Values of one choice that are looked at."""


class AcpSetting(NamedTuple):
    """A request that sets one thing. `what` is mode, model or effort, `value` its new value."""

    what: str
    method: str
    params: Mapping[str, object]
    value: str


@dataclass
class AcpOption:
    """One thing that can be set: its values by id, each with its name. `option` is its id where
    it is one of the `configOptions`, "" where it has a method of its own."""

    option: str = ""
    current: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    def find(self, text: str) -> str:
        """The id of the value meant by `text`, by its id, its name or its last part; "" for
        none. Copilot's ids are URLs (`...#plan`), others have a provider before the name."""
        if text in self.values:
            return text
        for id, name in self.values.items():
            if text in (name, short(id)) or id.endswith((f"/{text}", f":{text}")):
                return id
        return ""


def short(id: str) -> str:
    """`plan` of `https://.../session-modes#plan`."""
    return id.rpartition("#")[2]


class Offers:
    """What a session's answer offers, kept up to date by the answers that follow."""

    def __init__(self) -> None:
        self._choices: dict[str, AcpOption] = {}

    def __getitem__(self, what: str) -> AcpOption | None:
        return self._choices.get(what)

    def take(self, answer: Object) -> None:
        """Reads `modes`, `models` and `configOptions`, whichever are there."""
        for what, holder, many, name, current in (
            (MODE, "modes", "availableModes", "id", "currentModeId"),
            (MODEL, "models", "availableModels", "modelId", "currentModelId"),
        ):
            document = mapping(answer, holder)
            acp_option = self._choices.get(what)
            if document and not (acp_option and acp_option.option):
                values = _named(objects(document, many), name)
                self._choices[what] = AcpOption("", string(document, current), values)
        for option in objects(answer, "configOptions")[:_MOST]:
            option_kind = _CATEGORIES.get(string(option, "category"))
            if option_kind and string(option, "id"):
                self._choices[option_kind] = AcpOption(
                    string(option, "id"),
                    string(option, "currentValue"),
                    _named(_flat(option), "value"),
                )

    def setting(self, what: str, texts: Iterable[str], *, raw: bool = False) -> AcpSetting | None:
        """The request for the first of `texts` that is offered; None for none of them.

        `raw`: a value that is not listed is asked for all the same; the agent may know it.
        """
        choice = self._choices.get(what)
        if choice is None:
            return None
        names = list(texts)
        value = next((id for name in names if (id := choice.find(name))), "")
        if not value and raw and names:
            value = names[0]
        if not value:
            return None
        if choice.option:
            params = {"configId": choice.option, "value": value}
            return AcpSetting(what, "session/set_config_option", params, value)
        method, key = {
            MODE: ("session/set_mode", "modeId"),
            MODEL: ("session/set_model", "modelId"),
        }[what]
        return AcpSetting(what, method, {key: value}, value)


def _flat(option: Object) -> Iterator[Object]:
    """An option's values; they may stand in groups."""
    for value in objects(option, "options")[:_MOST]:
        yield from objects(value, "options")[:_MOST] or (value,)


def _named(values: Iterable[Object], key: str) -> dict[str, str]:
    named = ((string(value, key), string(value, "name")) for value in values)
    return dict([pair for pair in named if pair[0]][:_MOST])


# ---- Where agents that speak the Agent Client Protocol differ, as data.

SIGN_INS = ("gemini-api-key", "vertex-ai", "openai", "api-key")
"""Ids of the ways to sign in that need no person: a key of the environment."""


class AcpDialect(Struct, frozen=True, kw_only=True):
    """Where agents differ. `modes` are its words for a permission, the first that it offers is
    taken; `forgets`: of some calls the end is not told."""

    label: str
    modes: Mapping[Permission, tuple[str, ...]] = msgspec.field(default_factory=dict)
    forgets: bool = False


# ---- What Hydra answers when an agent asks whether it may: from the lane's permission alone.
#
# Nobody sits there to be asked. `allow_once` and never `allow_always`: the next one is asked again.

LOOKING = frozenset({"read", "search", "think"})
CHANGING = frozenset({"edit", "delete", "move"})
PATHS = ("path", "file_path", "filePath", "fileName", "absolute_path", "notebook_path")
_PATH_LIMIT = 4096


def allows(
    permission: Permission, call: Object, kind: str, root: str, *, masked: bool = False
) -> bool:
    """Whether the call may be made. `root` is the worktree, "" where it is not known (a recorded
    stream): then every path counts as inside. A repository may have links that lead out of it: they
    are followed, but for a lane that is `masked`. That one sees its worktree at another place than
    Hydra does, and what keeps it inside is its confinement."""
    if permission in (Permission.FULL_AUTO, Permission.UNRESTRICTED):
        return True
    if kind in LOOKING:
        return True
    if permission is Permission.PLAN or kind not in CHANGING:
        return False
    named = list(paths(call))
    return bool(named) and all(_inside(name, root, masked) for name in named)


def paths(call: Object) -> Iterable[str]:
    """Every path that a tool call names."""
    for holder in (*objects(call, "locations"), *objects(call, "content")):
        if name := string(holder, "path"):
            yield name
    raw = mapping(call, "rawInput")
    for document in (raw, mapping(raw, "arguments")):
        if name := first(document, PATHS):
            yield name


def _inside(name: str, root: str, masked: bool) -> bool:
    if not root or len(name) > _PATH_LIMIT:
        return not root
    place = normpath if masked else realpath
    try:
        return place(join(root, name)).startswith(place(root).rstrip("/") + "/")
    except ValueError:  # no file can be called that
        return False


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


# ---- What Hydra says of itself in the Agent Client Protocol, and what one attempt wants.

VERSION = 1
"""Of the protocol."""


class AcpRequest(Struct, frozen=True, kw_only=True):
    """What one attempt wants of its session."""

    root: str = ""
    prompt: str = ""
    permission: Permission | None = None
    model: str = ""
    effort: str = ""
    resume: str = ""
    fork: str = ""
    masked: str = ""
    """As in `SpawnRequest`."""


def introduction() -> Object:
    """The parameters of `initialize`: neither files nor a terminal are offered."""
    return {
        "protocolVersion": VERSION,
        "clientCapabilities": {},
        "clientInfo": {"name": "hydra", "title": "Hydra", "version": __version__},
    }


# ---- JSON-RPC 2.0, one message a line: what a line is, and how one is written.

METHOD_NOT_FOUND = -32601

_MESSAGE = 2000
"""Characters of an error's message and of its data that are kept."""


def message_kind(line: Object) -> str:
    """`result`, `error`, `request` or `notification`; "" for what is no message of JSON-RPC."""
    id = line.get("id")
    if isinstance(line.get("method"), str):
        asks = isinstance(id, str | int) and not isinstance(id, bool)
        return "request" if asks else "notification"
    if not isinstance(id, str):  # every id that Hydra gives is a text
        return ""
    if isinstance(line.get("error"), dict):
        return "error"
    return "result" if "result" in line else ""


def fault(line: Object) -> tuple[int, str]:
    """The code of the error in an answer, and what it says: its message and its data's words, which
    are not said twice."""
    error = mapping(line, "error")
    message, details = string(error, "message")[:_MESSAGE], _details(error.get("data"))[:_MESSAGE]
    texts = [message] if details in message else [message, details]
    return integer(error, "code") or 0, ": ".join(filter(None, texts))


def _details(data: object) -> str:
    """The words in an error's data: agents differ in where they put them."""
    if isinstance(data, str):
        return data
    if not isinstance(data, dict):
        return ""
    values = (data.get(key) for key in ("details", "message", "error", "reason"))
    return _details(
        next((value for value in values if value and isinstance(value, str | dict)), "")
    )


def encoded(**fields: object) -> bytes:
    """One message, as a line."""
    # As ASCII: whatever a prompt holds, it stays one line, and valid UTF-8.
    return json.dumps({"jsonrpc": "2.0", **fields}).encode("ascii") + b"\n"
