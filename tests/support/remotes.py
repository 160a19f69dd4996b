"""Another machine, for tests: its folder, its agents, and a hydra.toml that leads there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support import fakes
from tests.support.command import Hydra

_STAND_IN = """#!/bin/sh
# A {name} that runs here what it would run there. It writes down its words, one to a line, all of
# them in one write: another may be called at the same time.
{{ for word do printf '%s\\n' "$word"; done; echo; }} >{log}.$$
cat {log}.$$ >>{log}; rm {log}.$$
export PATH={path} HOME={home}
case "$*" in
  *" sh -c "*|*"--entrypoint=sh "*)
    while [ "$1" != -c ] && [ $# -gt 0 ]; do shift; done
    exec env -u ANTHROPIC_API_KEY sh "$@" ;;
  *rm*) exit 0 ;;
esac
echo "{name}: no such place" >&2; exit 1
"""


@dataclass
class Away:
    """What is there, and the `Hydra` that races there as the profile `far`."""

    hydra: Hydra
    options: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root = self.hydra.scratch / "there"
        self.mark = f"left-{self.hydra.scratch.name}"  # of no other test's processes
        for name in ("tmp", "home", "agents"):
            (self.root / name).mkdir(parents=True)

    @property
    def folders(self) -> list[str]:
        """What lies in the workdir there."""
        return [path.name for path in (self.root / "tmp").iterdir()]

    def agent(self, steps: list[fakes.Step], key: str = "claude") -> Path:
        """Places a scripted agent there, and nowhere else."""
        return fakes.place(self.root / "agents", key, steps)

    @property
    def path(self) -> str:
        """PATH there."""
        return f"{self.root}/agents/bin:/usr/local/bin:/usr/bin:/bin"

    def lead(self, agent: str = "claude", **remote: Any) -> None:
        """Writes the user's own hydra.toml."""
        document: Mapping[str, Any] = {
            "mode": "ssh",
            "workdir": str(self.root / "tmp"),
            "options": self.options,
            **remote,
        }
        lines = [f"{key} = {json.dumps(value)}" for key, value in document.items() if value]
        text = "[remotes.box]\n" + "\n".join(lines)
        text += f'\n[profiles.far]\nagent = "{agent}"\nremote = "box"\n'
        (self.hydra.home / "hydra.toml").write_text(text)

    def stand_in(self, name: str) -> Path:
        """Puts a `docker` or a `kubectl` on Hydra's PATH that runs it all here; its record."""
        folder, log = self.hydra.scratch / "stand-ins", self.hydra.scratch / f"{name}.log"
        folder.mkdir(exist_ok=True)
        program = folder / name
        home = self.root / "home"
        program.write_text(_STAND_IN.format(name=name, log=log, path=self.path, home=home))
        program.chmod(0o755)
        self.hydra.path.insert(0, folder)
        return log


def said(log: Path) -> list[list[str]]:
    """Every line that a stand-in was called with."""
    return [call.split("\n") for call in log.read_text().split("\n\n") if call.strip()]
