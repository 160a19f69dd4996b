"""What a situation should come to, as data: the keys of a situation's `[expect]`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, field

from hydra.conformance.live.data import mapping, only, text_list, texts, value_of
from hydra.errors import KINDS, ConfigError
from hydra.records.events import AGENT_KINDS, SESSION_FIELDS
from hydra.records.outcome import Status, Usage

USAGE = tuple(Usage.__struct_fields__)


class ExpectedEvent(Struct, frozen=True):
    """One event: `kind/sub`, and what stands in its data. A text may have `*` for anything."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        text = ", ".join(f"{key}={value}" for key, value in self.data.items())
        return f"{self.name} ({text})" if text else self.name

    def same_name(self, event: Mapping[str, Any]) -> bool:
        """Whether the event is of this kind and sub; a sub of `*` is any."""
        kind, _, sub = self.name.partition("/")
        return bool(event["kind"] == kind and (sub == "*" or event["sub"] == sub))

    def wrong(self, event: Mapping[str, Any]) -> str:
        """The first field that is not as wanted, in words; "" where all are."""
        for key, value in self.data.items():
            if key not in event["data"]:
                return f"{self.name}.{key} is missing"
            if not like(value, event["data"][key]):
                return f"{self.name}.{key} is {brief(event['data'][key])}, expected {brief(value)}"
        return ""


def like(value: object, content: object) -> bool:
    """Whether a value is as wanted; in a wanted text `*` stands for anything."""
    if not isinstance(value, str):
        return isinstance(value, bool) == isinstance(content, bool) and value == content
    if value == "*":
        return True
    first, *others = value.split("*")
    text = content if isinstance(content, str) else ""
    if not others:
        return value == content
    if not text.startswith(first) or not text.endswith(others[-1]):
        return False
    at = len(first)
    for part in others[:-1]:
        at = text.find(part, at) + len(part)
        if at < len(part):
            return False
    return at <= len(text) - len(others[-1])


def brief(value: object) -> str:
    """A value as it stands in a sentence."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:120]}…"


class Expectation(Struct, frozen=True, kw_only=True):
    """How it should end for one agent.

    `error` is `Kind/reason`, "" for none; `numbers` are figures the error must name, the text
    `idle` is the agent's idle limit. `exit` is Hydra's own exit code. `events` must come in this
    order, with others in between; `never` must not come. In `usage` true means told and more than
    0, false not told, a number exactly this. `served` is what the model server must have answered,
    in this order. `waited` is the least time in seconds between the first fault and the request
    after it. `warnings` are patterns of the lane's that must be there, `may_warn` of those that
    may. `session` are the fields of its session event, None for those in `agents/<key>.toml`.
    `refused` is in what Hydra says where it starts no race at all. `may_be_killed` is for an agent
    that SIGKILL may end. Texts may have `{agent}` in them.
    """

    status: str = Status.COMPLETED.value
    error: str = ""
    numbers: Mapping[str, float | str] = field(default_factory=dict)
    exit: int = 0
    events: tuple[ExpectedEvent, ...] = ()
    never: tuple[ExpectedEvent, ...] = ()
    usage: Mapping[str, int | float | bool] = field(default_factory=dict)
    patch: Mapping[str, str] = field(default_factory=dict)
    content: Mapping[str, str] = field(default_factory=dict)
    sent: tuple[str, ...] = ()
    not_sent: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    waited: float = 0.0
    warnings: tuple[str, ...] = ()
    may_warn: tuple[str, ...] = ()
    malformed: int = 0
    session: tuple[str, ...] | None = None
    refused: str = ""
    may_be_killed: bool = False


KEYS = tuple(Expectation.__struct_fields__)


def expectation(data: Mapping[str, Any], where: str) -> Expectation:
    """From its table. Raises `ConfigError` for a key or a word it does not know."""
    only(data, KEYS, where)
    status = value_of(data, "status", "completed", where)
    _among(status, [status.value for status in Status], f"{where}: status")
    error = value_of(data, "error", "", where)
    _among(error.partition("/")[0], ["", *KINDS], f"{where}: error")
    usage = mapping(data.get("usage", {}), f"{where}: usage")
    only(usage, USAGE, f"{where}: usage")
    return Expectation(
        status=status,
        error=error,
        numbers=mapping(data.get("numbers", {}), f"{where}: numbers"),
        exit=value_of(data, "exit", 0, where),
        events=_events(data.get("events", ()), f"{where}: events"),
        never=_events(data.get("never", ()), f"{where}: never"),
        usage=usage,
        patch=texts(data.get("patch", {}), f"{where}: patch"),
        content=texts(data.get("content", {}), f"{where}: content"),
        sent=text_list(data.get("sent", ()), f"{where}: sent"),
        not_sent=text_list(data.get("not_sent", ()), f"{where}: not_sent"),
        served=text_list(data.get("served", ()), f"{where}: served"),
        waited=value_of(data, "waited", 0.0, where),
        warnings=text_list(data.get("warnings", ()), f"{where}: warnings"),
        may_warn=text_list(data.get("may_warn", ()), f"{where}: may_warn"),
        malformed=value_of(data, "malformed", 0, where),
        session=session_fields(data["session"], where) if "session" in data else None,
        refused=value_of(data, "refused", "", where),
        may_be_killed=value_of(data, "may_be_killed", False, where),
    )


def session_fields(value: object, where: str) -> tuple[str, ...]:
    """Fields of a session event. Raises `ConfigError` for one that none has."""
    names = text_list(value, f"{where}: session")
    for name in names:
        _among(name, SESSION_FIELDS, f"{where}: session")
    return names


def _events(value: object, where: str) -> tuple[ExpectedEvent, ...]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{where} is {value!r}, not a list")
    return tuple(_expected(item, f"{where}: {n}") for n, item in enumerate(value, 1))


def _expected(item: object, where: str) -> ExpectedEvent:
    value = {"event": item} if isinstance(item, str) else dict(mapping(item, where))
    name = value.pop("event", "")
    if not isinstance(name, str):
        raise ConfigError(f"{where}: event is {name!r}, not a text")
    _among(name.partition("/")[0], AGENT_KINDS, f"{where}: event")
    return ExpectedEvent(name, value)


def _among(term: str, names: Collection[str], where: str) -> None:
    if term not in names:
        text = ", ".join(name or '""' for name in names)
        raise ConfigError(f"{where} {term!r} is unknown; known: {text}")
