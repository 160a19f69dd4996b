"""What a situation should come to, as data: the keys of a situation's `[expect]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert, field

from hydra.conformance.script import among, naming
from hydra.errors import KINDS
from hydra.records.events import AGENT_KINDS, SESSION_FIELDS, Event
from hydra.records.outcome import Status, Usage

USAGE = tuple(Usage.__struct_fields__)


class ExpectedEvent(Struct, frozen=True):
    """One event: `kind/sub`, and what stands in its data. A text may have `*` for anything."""

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        among(self.name.partition("/")[0], AGENT_KINDS, "event")

    def __str__(self) -> str:
        text = ", ".join(f"{key}={value}" for key, value in self.data.items())
        return f"{self.name} ({text})" if text else self.name

    def same_name(self, event: Event) -> bool:
        """Whether the event is of this kind and sub; a sub of `*` is any."""
        kind, _, sub = self.name.partition("/")
        return event.kind == kind and sub in ("*", event.sub)

    def wrong(self, event: Event) -> str:
        """The first field that is not as wanted, in words; "" where all are."""
        for key, value in self.data.items():
            if key not in event.data:
                return f"{self.name}.{key} is missing"
            if not like(value, event.data[key]):
                return f"{self.name}.{key} is {brief(event.data[key])}, expected {brief(value)}"
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


class Expectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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

    def __post_init__(self) -> None:
        among(self.status, list(Status), "status")
        among(self.error.partition("/")[0], ["", *KINDS], "error")
        for name in self.usage:
            among(name, USAGE, "usage")
        for name in self.session or ():
            among(name, SESSION_FIELDS, "session")


def expectation(data: Mapping[str, Any], where: str) -> Expectation:
    """From its table. Raises `ConfigError` for a key or a word it does not know."""
    with naming(where):
        lists = {key: list(map(_event, data[key])) for key in ("events", "never") if key in data}
        return convert({**data, **lists}, Expectation)


def _event(item: Any) -> ExpectedEvent:
    document = {"event": item} if isinstance(item, str) else dict(item)
    return ExpectedEvent(str(document.pop("event", "")), document)
