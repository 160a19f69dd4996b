"""The user's own commands around a race: before it, after it, and for each lane that failed.

Each gets what it is about as one JSON document on stdin (docs/reference/configuration.md), runs
confined as a check does and in the repository's folder, which it may read, and has a limit of
time. Nothing of what it prints is taken but the end of its errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import mkdtemp

import trio

from hydra import executables
from hydra.adapters.environment import SHARED, matches
from hydra.errors import Refused
from hydra.log import get_logger, hide
from hydra.paths import make_private
from hydra.process.records import CannotStart, CommandResult
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.process.sandbox.policy import SandboxPolicy
from hydra.process.sandbox.view import View
from hydra.race.command_context import view_source
from hydra.race.preflight import RaceInputs
from hydra.records.events import Event, encode
from hydra.records.plan import Confinement
from hydra.redaction import Redactor, redacted, secret_variables
from hydra.report.text import clean
from hydra.workspace import tree

_log = get_logger(__name__)

_OUTPUT = 64 * 1024
_TEXT_LIMIT = 300
"""Characters of a hook's errors that are shown."""


class Hooks:
    """One race's hooks. `problems` are sentences on those that went wrong."""

    def __init__(self, inputs: RaceInputs, confinement: Confinement) -> None:
        self._inputs = inputs
        self._settings = inputs.config.hooks
        self._confinement = confinement
        # Unlike a lane's commands they are the user's own, and about the repository itself.
        self._view = view_source(
            *(inputs.config, inputs.environ, inputs.state, inputs.repository, inputs.adapters),
            show=(str(inputs.repository.root),),
        )
        secrets = tuple(_secrets(inputs))
        self._redactor = Redactor(secrets)
        hide(secrets)
        self.problems: list[str] = []

    async def before(self, plan: Mapping[str, object]) -> None:
        """`pre_run`. Raises `Refused` where one of them does not end with 0: no race then."""
        for command in self._settings.pre_run:
            if problem := await self._run("pre_run", command, _document("pre_run", plan)):
                raise Refused(
                    f"no race was begun: {problem}",
                    hint="mend the command, or take it out of [hooks] in your hydra.toml",
                )

    async def after(self, result: Mapping[str, object]) -> None:
        """`post_run`, once the result stands."""
        for command in self._settings.post_run:
            self._note(await self._run("post_run", command, _document("post_run", result)))

    def wants(self, event: Event) -> bool:
        """Whether there is something to run for this event."""
        failed = event.kind == "lane_ended" and event.data.get("error") is not None
        return failed and bool(self._settings.on_error)

    async def failed(self, event: Event) -> None:
        """`on_error`, for the end of a lane that failed."""
        for command in self._settings.on_error:
            self._note(await self._run("on_error", command, encode(event)))

    def _note(self, problem: str) -> None:
        if problem:
            self.problems.append(problem)

    async def _run(self, hook: str, command: str, document: bytes) -> str:
        """What went wrong, in a sentence; "" for nothing."""
        path = self._inputs.state / "g"
        make_private(path)
        folder = Path(mkdtemp(prefix="_hook-", dir=path))
        try:
            return await self._ran(hook, command, document, folder)
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(tree.remove, folder)

    async def _ran(self, hook: str, command: str, document: bytes, folder: Path) -> str:
        named = f"the {hook} hook `{redacted(command)[:80]}`"
        _log.info("hook", hook=hook, command=command)
        names = (*SHARED, *self._settings.environment)
        environ = {n: v for n, v in self._inputs.environ.items() if matches(n, names)}
        environ["PATH"] = executables.trusted_path(environ.get("PATH"))
        try:
            ran = await run(
                ("/bin/sh", "-c", command),
                env={**environ, "TMPDIR": str(folder), "HYDRA_HOOK": hook},
                cwd=self._inputs.repository.root,
                timeout=self._settings.timeout,
                stdin=document,
                output_limit=_OUTPUT,
                wrap=lambda argv: confine(self._confinement, self._policy(folder), argv),
            )
        except CannotStart as error:
            return f"{named} could not be started: {error}"
        if ran.exit_code == 0:
            return ""
        how = _how(ran)
        text = self._redactor.text(ran.stderr.decode("utf-8", "replace"))
        line = clean(" ".join(text.split())[-_TEXT_LIMIT:])
        return f"{named} {how}" + (f": {line}" if line else "")

    def _policy(self, folder: Path) -> SandboxPolicy:
        inputs = self._inputs
        return SandboxPolicy(
            state=inputs.state,
            view=self._view() if self._confinement.holds else View(home=inputs.home),
            home_folder=folder / "home",
            cwd=inputs.repository.root,
            writable=(folder,),
        )


def _how(ran: CommandResult) -> str:
    if ran.timed_out or ran.exit_code is None:
        return "took too long"
    if ran.exit_code < 0:
        return f"was ended by signal {-ran.exit_code}"
    return f"ended with {ran.exit_code}"


def _secrets(inputs: RaceInputs) -> Iterator[str]:
    """What no hook's errors show: of what was named for hooks everything, a webhook's address is
    as good as a key."""
    named, environ = inputs.config.hooks.environment, inputs.environ
    yield from secret_variables(environ)
    yield from (value for name, value in environ.items() if matches(name, named))


def _document(hook: str, about: Mapping[str, object]) -> bytes:
    return json.dumps({"hook": hook, **redacted(about)}).encode() + b"\n"
