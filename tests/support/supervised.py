"""One agent under Hydra's own supervisor, for the tests of hydra/process."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hydra.process.control import ProcessControl
from hydra.process.records import End, Notice, ProcessSpec, Wrap
from hydra.process.stdin_queue import StdinQueue
from hydra.process.supervisor import supervise
from hydra.records.request import Limits
from tests.support.processes import wrap_of


async def nothing_changed(when: float) -> float | None:
    """A worktree in which nothing happens."""
    return None


@dataclass
class Watched:
    """One supervised agent of a test, and what it showed."""

    argv: tuple[str, ...]
    mode: str = "subreaper"
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path = Path("/var/tmp")
    stdin: bytes = b""
    control: ProcessControl = field(default_factory=ProcessControl)
    changed_since: Callable[[float], object] = nothing_changed
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    wrap: Wrap | None = None
    inlet: StdinQueue | None = None
    notices: list[Notice] = field(default_factory=list)
    on_output: Callable[[bytes], None] = lambda chunk: None
    on_notice: Callable[[Notice], None] = lambda notice: None

    async def run(self, limits: Limits | None = None) -> End:
        """To its end."""
        spec = ProcessSpec(
            argv=self.argv,
            env={"PATH": os.environ["PATH"], **self.env},
            cwd=self.cwd,
            stdin=self.stdin,
            wrap=self.wrap or wrap_of(self.mode),
            pid_namespace=self.mode == "pid1",
        )
        return await supervise(
            spec,
            control=self.control,
            limits=limits or Limits(),
            on_stdout=self._out,
            on_stderr=self.stderr.extend,
            changed_since=self.changed_since,  # type: ignore[arg-type]
            on_notice=self._notice,
            queue=self.inlet,
        )

    def noticed(self, kind: str) -> list[Notice]:
        """The notices of one kind."""
        return [notice for notice in self.notices if notice.kind == kind]

    def _out(self, chunk: bytes) -> None:
        self.stdout += chunk
        self.on_output(chunk)

    def _notice(self, notice: Notice) -> None:
        self.notices.append(notice)
        self.on_notice(notice)
