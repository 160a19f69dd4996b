"""A situation as data: what the model does, what the user asks, and what should come of it.

One TOML file each in `situations/`; docs/reference/model-server.md has every key. A new situation
is a new file.
"""

from __future__ import annotations

import signal
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, convert, field

from hydra.adapters.proofs.records import DIMENSIONS
from hydra.conformance.live.agent_settings import reaches
from hydra.conformance.live.expectation import Expectation, expectation
from hydra.conformance.script import Script, among, fill, naming, parse
from hydra.conformance.script import load as load_script
from hydra.errors import ConfigError

SITUATIONS = Path(__file__).parent / "situations"

FILES = {"README.md": "# Shop\n\nA small shop.\n", "src/pager.py": "def pages(n): return n\n"}
"""The repository of a situation that names none."""


class Stop(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signal to Hydra, once the agent's tool runs: when `file` stands in its worktree. Or, with
    `served`, once the model server has answered so (`fault:hang`)."""

    name: Literal["SIGINT", "SIGTERM"] = "SIGINT"
    file: str = ""
    served: str = ""

    def __post_init__(self) -> None:
        if bool(self.file) == bool(self.served):
            raise ValueError("either file or served says what it waits for")

    @property
    def number(self) -> int:
        """The signal's."""
        return signal.Signals[self.name].value


class Situation(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"stop": "signal"}
):
    """One situation. `skip` says why it is not for an agent; `options` are words of `hydra race`,
    `{idle}` in them is the agent's idle limit.

    `settings` is the user's hydra.toml. `padding` lengthens the prompt to so many bytes, its last
    line then reads `The end of the task.` `seconds` is about how long it
    takes, `waits` whether most of that is waiting.
    """

    name: str
    about: str
    script: Script
    proves: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=lambda: FILES)
    prompt: str = "Do the task"
    padding: int = 0
    options: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    stop: Stop | None = None
    skip: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, Expectation] = field(default_factory=dict)
    seconds: float = 3.0
    waits: bool = False

    def __post_init__(self) -> None:
        for name in self.proves:
            among(name, DIMENSIONS, "proves")
        for agent in self.skip:
            among(agent, reaches(), "skip")

    def task(self, longest: int = 0) -> str:
        """The whole prompt, padded to no more than `longest` bytes (0: as it is)."""
        padding = min(self.padding, longest or self.padding)
        if not padding:
            return self.prompt
        line, last = "This line is here to make the task long.\n", "The end of the task."
        room = padding - len(self.prompt.encode()) - len(last) - 1
        return f"{self.prompt}\n{(line * (room // len(line) + 1))[:room]}{last}"


def load_all(folder: Path = SITUATIONS) -> list[Situation]:
    """Every situation, by name. Raises `ConfigError` with the file and the key."""
    return [_read(path) for path in sorted(folder.glob("*.toml"))]


def names() -> list[str]:
    """Every situation, by its file: none is read."""
    return sorted(path.stem for path in SITUATIONS.glob("*.toml"))


def load(name: str) -> Situation:
    """One situation. Raises `ConfigError` with the known names."""
    if name not in (lines := names()):
        raise ConfigError(f"no situation {name}", hint=f"known: {', '.join(lines)}")
    return _read(SITUATIONS / f"{name}.toml")


def _read(path: Path) -> Situation:
    with naming(str(path)):
        return situation(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))


def situation(name: str, data: Mapping[str, Any]) -> Situation:
    """From its data. Raises `ConfigError` for a key or a word it does not know."""
    with naming(name):
        expect = convert(data.get("expect", {}), dict[str, Any])
        own = {key: value for key, value in data.items() if key not in ("expect", "turn")}
        whole = {"name": name, "script": _script(name, data), "expected": _expected(name, expect)}
        return convert({**own, **whole}, Situation)


def _script(name: str, data: Mapping[str, Any]) -> Script:
    if ("script" in data) == ("turn" in data):
        raise ConfigError(f"{name}: either script names one, or [[turn]] is it")
    if "script" in data:
        return load_script(convert(data["script"], str))
    return parse(name, {"about": data.get("about", ""), "turn": data["turn"]})


def _expected(name: str, data: Mapping[str, Any]) -> dict[str, Expectation]:
    """What all share, and over it what an agent has for itself (here, or in its own file), key by
    key."""
    shared = {key: value for key, value in data.items() if key not in reaches()}
    expectations = {}
    for agent, reach in reaches().items():
        where = f"{name}: expect.{agent}"
        own = shared | data.get(agent, {}) | dict(reach.expect.get(name, {}))
        expectations[agent] = expectation(fill(own, {"agent": agent}), where)
    return expectations
