"""Every adapter as it is found here."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra.adapters.contract import Adapter, Descriptor, Probe
from hydra.adapters.probe.cache import Memory, identify, output_for
from hydra.adapters.probe.candidates import candidates, is_unfit, most_telling, passing_over
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.probes import (
    SIGN_IN,
    Question,
    ask,
    seems_signed_in,
    unanswered,
    with_sign_in,
)
from hydra.adapters.probe.run_probe import Views, put
from hydra.errors import NOT_INSTALLED, BinaryMissing, Failure
from hydra.log import get_logger
from hydra.paths import user_config_file
from hydra.process.sandbox.hidden_output import missing_places
from hydra.process.sandbox.places import entry_for
from hydra.records.agent import DetectResult, ProbeOutput

_log = get_logger(__name__)


async def detect_all(adapters: Iterable[Adapter], around: ProbeContext) -> dict[str, DetectResult]:
    """Every adapter as it is found here. One whose program is not there costs nothing."""
    adapters = list(adapters)
    memory = Memory(around.cache_file)
    results: dict[str, DetectResult] = {}

    desk = _Desk(memory, around)

    async def detect(adapter: Adapter) -> None:
        results[adapter.key()] = await desk.detect(adapter)

    async with trio.open_nursery() as nursery:
        for adapter in adapters:
            nursery.start_soon(detect, adapter)
    memory.save()
    return {adapter.key(): results[adapter.key()] for adapter in adapters}


def cores() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on macOS
        return os.cpu_count() or 1


class _Desk:
    """Where adapters ask, and get what is remembered or what the program says now: each question
    once, and no more at a time than the cores can serve."""

    def __init__(self, memory: Memory, around: ProbeContext) -> None:
        self._memory = memory
        self._around = around
        self._views = Views(around)
        self._places = trio.CapacityLimiter(cores())
        self._locks: defaultdict[str, trio.Lock] = defaultdict(trio.Lock)
        self._answers: dict[str, ProbeOutput] = {}

    async def detect(self, adapter: Adapter) -> DetectResult:
        """The first candidate that can race, else the most telling failure; those that were passed
        over are named with why."""
        result = await self._detect(adapter)
        _log.info(
            "agent is ready" if result.ready else "agent is not ready",
            agent=result.adapter,
            version=result.version,
            why=result.error.message if result.error else None,
            more={"sign_in": result.sign_in.value, "warnings": result.warnings},
        )
        return result

    async def _detect(self, adapter: Adapter) -> DetectResult:
        descriptor = adapter.descriptor
        unfit: list[DetectResult] = []
        for binary in candidates(descriptor, self._around):
            result = await self._read(adapter, binary)
            if not is_unfit(result.error):
                return passing_over(descriptor, result, unfit)
            unfit.append(result)
        if unfit:
            return self._telling(descriptor, unfit)
        return DetectResult(adapter=descriptor.key, error=_missing(descriptor, self._around))

    def _telling(self, descriptor: Descriptor, unfit: Sequence[DetectResult]) -> DetectResult:
        result = most_telling(descriptor, unfit)
        error, named = result.error, descriptor.key in self._around.paths
        if error is None or error.kind != "BinaryMissing" or not named:
            return result
        return replace(result, error=replace(error, hint=_named_hint(descriptor)))

    async def _ask(self, descriptor: Descriptor, binary: Path) -> dict[str, ProbeOutput]:
        signed = bool(seems_signed_in(descriptor, self._around))
        identity = identify(binary)
        probes = [probe for probe in descriptor.probes if self._wants(probe, signed)]
        answers: dict[str, ProbeOutput] = {}

        async def put_one(probe: Probe) -> None:
            question = ask(descriptor, probe, binary, identity, self._around)
            answers[probe.name] = await self._answer(question)

        async with trio.open_nursery() as nursery:
            for probe in probes:
                nursery.start_soon(put_one, probe)
        return {probe.name: output_for(answers[probe.name], probe) for probe in probes}

    async def _answer(self, question: Question) -> ProbeOutput:
        async with self._locks[question.key] if question.key else trio.Lock():
            answer = self._answers.get(question.key) or self._remembered(question)
            if answer is None:
                async with self._places:
                    answer = await put(question, self._around, self._views)
                if question.key and (lasts := question.lasts(answer)):
                    self._memory.keep(question.key, answer, lasts)
            if question.key:
                self._answers[question.key] = answer
            return answer

    async def _read(self, adapter: Adapter, binary: Path) -> DetectResult:
        descriptor = adapter.descriptor
        answers = await self._ask(descriptor, binary)
        result = unanswered(adapter.detect(str(binary), answers), descriptor, answers)
        if result.error is not None and result.error.kind == "SpawnFailed":
            hint = await self._way_to_show(binary, result.error.stderr)
            return replace(result, error=replace(result.error, hint=hint or result.error.hint))
        return with_sign_in(result, seems_signed_in(descriptor, self._around))

    async def _way_to_show(self, binary: Path, text: str) -> str:
        """What shows a program the files that it missed and that are hidden from it; "" where it
        named none: to install it anew would not help."""
        if not (text and self._around.confinement.holds):
            return ""
        view = await trio.to_thread.run_sync(self._views.of(binary).result)
        places = missing_places(text, view.home, view.is_visible, (self._around.state,))
        if not places:
            return ""
        names = ", ".join(
            json.dumps(entry_for(path, view.home), ensure_ascii=False) for path in places
        )
        file = entry_for(user_config_file(self._around.environ), view.home)
        return f"[confine] show = [{names}] in {file}: agents do not see what it needs there"

    def _wants(self, probe: Probe, signed: bool) -> bool:
        return probe.name != SIGN_IN or not signed or self._around.confirm_sign_in

    def _remembered(self, question: Question) -> ProbeOutput | None:
        """What is remembered; a race refuses no agent on an old word that it is signed out."""
        if not question.key or self._around.fresh:
            return None
        holds = self._memory.answer(question.key)
        doubted = question.probe.name == SIGN_IN and not self._around.confirm_sign_in
        if holds is not None and doubted and holds.exit_code != 0:
            holds = None
        if holds is not None:
            _log.debug("remembered", agent=question.descriptor.key, probe=question.probe.name)
        return holds


def _missing(descriptor: Descriptor, around: ProbeContext) -> Failure:
    configured = around.paths.get(descriptor.key)
    if configured and Path(configured).exists():
        return BinaryMissing(
            f"{descriptor.label} cannot be run: {configured} is no program that may be executed",
            adapter=descriptor.key,
            command=(configured,),
            hint=_named_hint(descriptor),
        ).failure
    tried = configured or ", ".join((*descriptor.binaries, *descriptor.generic_binaries))
    where = f"{configured} is not there" if configured else f"no {tried} on PATH"
    return BinaryMissing(
        f"{descriptor.label} is not installed ({where})",
        adapter=descriptor.key,
        command=(tried.split(", ")[0],),
        hint=_named_hint(descriptor) if configured else descriptor.install_hint,
        reason="" if configured else NOT_INSTALLED,
    ).failure


def _named_hint(descriptor: Descriptor) -> str:
    """Of a program that the user's settings name: one that is installed would not be asked."""
    return f"set agents.{descriptor.key}.path to its program"
