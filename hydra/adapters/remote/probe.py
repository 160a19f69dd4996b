"""What is known of an agent elsewhere before a race: one look at the place, then its own probes.

The look tells whether the place can be reached and what the program is, so that answers can be
remembered for as long as that program stays the same there.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

import trio
from msgspec import Struct
from msgspec.structs import asdict

from hydra import __version__, executables
from hydra.adapters.contract import Adapter, Probe
from hydra.adapters.probe.cache import WRAPPER_LASTS, Memory, output_for
from hydra.adapters.probe.probes import unanswered, with_sign_in
from hydra.adapters.remote import scripts, transport
from hydra.adapters.remote.shell import last_words
from hydra.adapters.remote.spec import RemoteDetection, carried
from hydra.config.schema import Remote
from hydra.errors import AgentError, BinaryMissing, SpawnFailed
from hydra.process.records import CannotStart, CommandResult
from hydra.process.run import run
from hydra.records.agent import DetectResult, ProbeOutput

REACH = 30.0
"""Seconds to reach a place and be told what is there."""

_AT_ONCE = 4
"""Lines to one place at once: sshd drops some beyond ten that have not signed in yet."""

_SIGN_IN = "sign_in"


class RemoteAgent(Struct, frozen=True, kw_only=True):
    """An agent to look for, and the variables that the user gives it beyond its own."""

    adapter: Adapter
    remote: Remote
    extra: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """By which it is found again."""
        return (self.adapter.key(), self.remote.name)


async def look_for(
    agents: Iterable[RemoteAgent], environ: Mapping[str, str], cache_file: Path
) -> dict[tuple[str, str], RemoteDetection]:
    """Each of them, by agent and remote, all at once."""
    memory = Memory(cache_file)
    detections: dict[tuple[str, str], RemoteDetection] = {}

    async def look(want: RemoteAgent) -> None:
        detections[want.key] = await _Look(want, environ, memory).look()

    async with trio.open_nursery() as nursery:
        for want in {want.key: want for want in agents}.values():
            nursery.start_soon(look, want)
    memory.save()
    return detections


class _Look:
    def __init__(self, want: RemoteAgent, environ: Mapping[str, str], memory: Memory) -> None:
        self._adapter, self._remote = want.adapter, want.remote
        self._descriptor = want.adapter.descriptor
        self._environ = environ
        self._names = carried(self._descriptor, environ, want.extra)
        self._extra = want.extra
        self._memory = memory
        self._limit = trio.CapacityLimiter(_AT_ONCE)

    async def look(self) -> RemoteDetection:
        try:
            facts = await self._facts()
        except AgentError as error:
            return RemoteDetection(
                result=DetectResult(adapter=self._descriptor.key, error=error.failure)
            )
        program, identity = facts["program"], facts["identity"]
        answers: dict[str, ProbeOutput] = {}
        signed = self._signed_in()

        async def ask(probe: Probe) -> None:
            answers[probe.name] = await self._answer(probe, program, identity)

        async with trio.open_nursery() as nursery:
            for probe in self._descriptor.probes:
                if probe.name != _SIGN_IN or not signed:
                    nursery.start_soon(ask, probe)
        result = unanswered(self._adapter.detect(program, answers), self._descriptor, answers)
        result = with_sign_in(result, signed and f"{signed} is carried there")
        return RemoteDetection(
            result=result, root=facts["uid"] == "0", remarks=self._remarks(facts)
        )

    def _signed_in(self) -> str:
        names = (*self._descriptor.sign_in_environment, *self._extra)
        return next((name for name in names if name in self._names and self._environ[name]), "")

    def _remarks(self, facts: Mapping[str, str]) -> tuple[str, ...]:
        if "git" in facts["has"].split():
            return ()
        return (
            f"git is not on {self._remote.target}: all of its files come back, ignored ones too",
        )

    async def _facts(self) -> dict[str, str]:
        """Raises `AgentError` where the place or the program is not there."""
        programs = (self._remote.program,) if self._remote.program else self._descriptor.binaries
        nonce = secrets.token_hex(16)
        result = await self._run(scripts.look(programs, nonce), REACH)
        lines = _between(result.stdout, nonce)
        target = self._remote.target
        if lines is None:
            raise self._unreachable(result)
        facts = {"program": "", "identity": "", "uid": "", "has": ""}
        for line in lines[0].decode("utf-8", "replace").splitlines():
            term, _, rest = line.partition(" ")
            facts[term] = f"{facts['has']} {rest}" if term == "has" else rest
        has = facts["has"].split()
        if "tar" not in has or not {"setsid", "perl"} & set(has):
            missing = "tar" if "tar" not in has else "setsid (or perl)"
            raise SpawnFailed(
                f"{missing} is not there on {target}",
                adapter=self._descriptor.key,
                hint="install it there: docs/how-to/remote.md has what a remote needs",
            )
        if not facts["program"]:
            names = ", ".join(programs)
            raise BinaryMissing(
                f"{self._descriptor.label} was not found on {target} (looked for {names})",
                adapter=self._descriptor.key,
                command=(programs[0],),
                hint=f"install it there, or set program in [remotes.{self._remote.name}]",
            )
        return facts

    def _unreachable(self, result: CommandResult) -> SpawnFailed:
        why = f"no answer in {REACH:g} s" if result.timed_out else last_words(result.stderr)
        line = transport.once(self._remote)
        return SpawnFailed(
            f"{self._remote.target} cannot be reached: {why}",
            adapter=self._descriptor.key,
            reason="unreachable",
            command=line[:-1],
            hint=f"try it by hand, and see [remotes.{self._remote.name}] in your hydra.toml",
        )

    async def _answer(self, probe: Probe, program: str, identity: str) -> ProbeOutput:
        argv = (program, *probe.args)
        key = _key(self._remote, argv, identity, self._environ, self._names)
        keeps = bool(identity) and probe.name != _SIGN_IN and not probe.settings
        answer = self._memory.answer(key) if keeps else None
        if answer is None:
            answer = await self._ask(probe, argv)
            if keeps and answer.exit_code == 0:
                # What `ls` tells of a program there tells little of what it starts.
                self._memory.keep(key, answer, WRAPPER_LASTS)
        return output_for(answer, probe)

    async def _ask(self, probe: Probe, argv: tuple[str, ...]) -> ProbeOutput:
        nonce = secrets.token_hex(16)
        values = {name: self._environ[name] for name in self._names}
        script = scripts.ask(argv, values, nonce, probe.timeout)
        result = await self._run(script, probe.timeout + REACH)
        parts = _between(result.stdout, nonce)
        code = int(parts[1]) if parts and parts[1].isdigit() else None
        return ProbeOutput(
            argv=argv,
            exit_code=code,
            stdout=parts[0].decode("utf-8", "replace") if parts else "",
            stderr=result.stderr.decode("utf-8", "replace"),
            timed_out=result.timed_out or code is None,
            seconds=result.seconds,
        )

    async def _run(self, script: str, seconds: float) -> CommandResult:
        line = transport.once(self._remote)
        path = executables.trusted_path(self._environ.get("PATH"))
        async with self._limit:
            try:
                return await run(
                    line,
                    env={**self._environ, "PATH": path},
                    cwd=Path("/"),
                    timeout=seconds,
                    stdin=transport.shell_text(script),
                )
            except CannotStart as error:
                return CommandResult(None, b"", str(error).encode(), False, 0.0)


def _between(stdout: bytes, nonce: str) -> tuple[bytes, bytes] | None:
    """What was said between Hydra's two lines, and the second's code; None without the first."""
    pattern = rb"%b hello\n(.*?)(?:%b ended (\d+)\n.*)?\Z" % (nonce.encode(), nonce.encode())
    match = re.search(pattern, stdout, re.DOTALL)
    return (match[1], match[2] or b"") if match else None


def _key(
    remote: Remote,
    argv: tuple[str, ...],
    identity: str,
    environ: Mapping[str, str],
    names: Iterable[str],
) -> str:
    # An address may lead to another machine, a name of a variable that is set to another answer.
    lines = [__version__, *map(str, asdict(remote).values()), identity, *argv, *sorted(names)]
    return "\x1f".join([*lines, environ.get("HOME", "")])
