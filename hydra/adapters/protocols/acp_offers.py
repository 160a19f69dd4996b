"""What an agent offers in a session of the Agent Client Protocol, and how one of it is chosen.

Two forms are in use, and agents give either or both: `modes` and `models` with a method each, and
`configOptions` in categories with one method for all. Where both are there the second is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hydra.adapters.jsonlines import Object, mapping, objects, string

MODE, MODEL, EFFORT = "mode", "model", "effort"
_CATEGORIES = {"mode": MODE, "model": MODEL, "thought_level": EFFORT}
_MOST = 2000
"""Values of one choice that are looked at."""


class Setting(NamedTuple):
    """A request that sets one thing. `what` is mode, model or effort, `value` its new value."""

    what: str
    method: str
    params: Mapping[str, object]
    value: str


@dataclass
class Choice:
    """One thing that can be set: its values by id, each with its name. `option` is its id where
    it is one of the `configOptions`, "" where it has a method of its own."""

    option: str = ""
    current: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    def find(self, wanted: str) -> str:
        """The id of the value meant by `wanted`, by its id, its name or its last part; "" for
        none. Copilot's ids are URLs (`...#plan`), others have a provider before the name."""
        if wanted in self.values:
            return wanted
        for id, name in self.values.items():
            if wanted in (name, short(id)) or id.endswith((f"/{wanted}", f":{wanted}")):
                return id
        return ""


def short(id: str) -> str:
    """`plan` of `https://.../session-modes#plan`."""
    return id.rpartition("#")[2]


class Offers:
    """What a session's answer offers, kept up to date by the answers that follow."""

    def __init__(self) -> None:
        self._choices: dict[str, Choice] = {}

    def __getitem__(self, what: str) -> Choice | None:
        return self._choices.get(what)

    def take(self, answer: Object) -> None:
        """Reads `modes`, `models` and `configOptions`, whichever are there."""
        for what, holder, many, one, current in (
            (MODE, "modes", "availableModes", "id", "currentModeId"),
            (MODEL, "models", "availableModels", "modelId", "currentModelId"),
        ):
            held = mapping(answer, holder)
            known = self._choices.get(what)
            if held and not (known and known.option):
                values = _named(objects(held, many), one)
                self._choices[what] = Choice("", string(held, current), values)
        for option in objects(answer, "configOptions")[:_MOST]:
            option_kind = _CATEGORIES.get(string(option, "category"))
            if option_kind and string(option, "id"):
                self._choices[option_kind] = Choice(
                    string(option, "id"),
                    string(option, "currentValue"),
                    _named(_flat(option), "value"),
                )

    def setting(self, what: str, wanted: Iterable[str], *, raw: bool = False) -> Setting | None:
        """The request for the first of `wanted` that is offered; None for none of them.

        `raw`: a value that is not listed is asked for all the same; the agent may know it.
        """
        choice = self._choices.get(what)
        if choice is None:
            return None
        names = list(wanted)
        value = next((id for name in names if (id := choice.find(name))), "")
        if not value and raw and names:
            value = names[0]
        if not value:
            return None
        if choice.option:
            params = {"configId": choice.option, "value": value}
            return Setting(what, "session/set_config_option", params, value)
        method, key = {
            MODE: ("session/set_mode", "modeId"),
            MODEL: ("session/set_model", "modelId"),
        }[what]
        return Setting(what, method, {key: value}, value)


def _flat(option: Object) -> Iterator[Object]:
    """An option's values; they may stand in groups."""
    for value in objects(option, "options")[:_MOST]:
        yield from objects(value, "options")[:_MOST] or (value,)


def _named(values: Iterable[Object], key: str) -> dict[str, str]:
    named = ((string(value, key), string(value, "name")) for value in values)
    return dict([pair for pair in named if pair[0]][:_MOST])
