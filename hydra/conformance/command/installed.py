"""Which CLIs are installed, asked as `hydra doctor` asks, but with nothing of the user's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import trio
from msgspec import Struct, field
from msgspec.structs import replace

from hydra.adapters.probe import settings
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.detect import detect_all
from hydra.adapters.probe.sandbox import try_confinement
from hydra.conformance.live.agent_settings import reaches
from hydra.process.sandbox.trial import judge

if TYPE_CHECKING:
    from hydra.adapters.contract import Adapter
    from hydra.records.agent import DetectResult, ProbeOutput

NOBODY = "http://127.0.0.1:9"
"""The discard port: nothing listens there, and a client is refused at once."""


class InstalledAgent(Struct, frozen=True, kw_only=True):
    """One CLI as it was found. `program` is None where there is none; `problem` says why it
    cannot be raced, "" where it can. `answers` is what it said to the probes, by their names.
    """

    program: Path | None
    version: str = ""
    problem: str = ""
    hint: str = ""
    answers: Mapping[str, ProbeOutput] = field(default_factory=dict)

    @property
    def differences(self) -> tuple[str, ...]:
        """What is not as it should be: the problem, else each probe that had to be ended."""
        late = (answer for answer in self.answers.values() if answer.timed_out)
        lines = (
            f"`{' '.join(output.argv)}` did not answer in {output.seconds:.0f} s" for output in late
        )
        return (self.problem,) if self.problem else tuple(lines)


def installed(
    adapters: Sequence[Adapter],
    environ: Mapping[str, str],
    folder: Path,
    programs: Mapping[str, Path] | None = None,
) -> dict[str, InstalledAgent]:
    """Each adapter's CLI, by key. `programs` names them; else the user's settings, then PATH.

    `folder` is made, and holds their HOME. They are led to a port of loopback where nobody listens,
    as the situations lead them to the model server: `claude auth status` asks its service else.
    """
    home, state = folder / "home", folder / "state"
    for file in (home, state):
        file.mkdir(parents=True, exist_ok=True)
    config = settings.load(None, environ, {})
    named = {key: str(path) for key, path in (programs or settings.programs(config)).items()}
    listening = {adapter.key(): _RecordingAdapter(adapter) for adapter in adapters}
    around = _surroundings(_led(adapters, environ, home), home, state, named)
    results = trio.run(_detect, list(listening.values()), around)
    return {key: _installed(results[key], adapter.answers) for key, adapter in listening.items()}


def _led(adapters: Sequence[Adapter], environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """PATH, a HOME of their own, and made-up keys: nothing of the user's."""
    led = {"PATH": environ.get("PATH", os.defpath), "HOME": str(home), "LANG": "C.UTF-8"}
    for adapter in adapters:
        if reach := reaches().get(adapter.key()):
            led |= reach.prepare(home, NOBODY)
    return led


def _surroundings(
    environ: Mapping[str, str], home: Path, state: Path, programs: Mapping[str, str]
) -> ProbeContext:
    return ProbeContext(
        environ=environ,
        home=home,
        confinement=judge("", 127, ""),
        state=state,
        paths=programs,
        extra_names={},
        confirm_sign_in=True,
    )


async def _detect(
    adapters: Sequence[_RecordingAdapter], around: ProbeContext
) -> dict[str, DetectResult]:
    context = replace(around, confinement=await try_confinement(around.environ))
    return await detect_all(cast("Sequence[Adapter]", adapters), context)


def _installed(result: DetectResult, answers: Mapping[str, ProbeOutput]) -> InstalledAgent:
    error = result.error
    if error is not None and error.kind == "AuthMissing":
        error = None  # a made-up key is given to it later
    missing = error is not None and error.kind == "BinaryMissing"
    return InstalledAgent(
        program=None if missing or result.binary is None else Path(result.binary),
        version=result.version or "",
        problem=error.message if error else "",
        hint=error.hint if error else "",
        answers=dict(answers),
    )


class _RecordingAdapter:
    """An adapter that keeps the answers which its `detect` was shown last."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.answers: Mapping[str, ProbeOutput] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._adapter, name)

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        """The adapter's own word."""
        self.answers = probes
        return self._adapter.detect(binary, probes)
