"""Every adapter as it is found here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import trio

from hydra.adapters.contract import Adapter, Descriptor, Probe
from hydra.errors import NOT_INSTALLED, BinaryMissing, Failure
from hydra.model import DetectResult, ProbeOutput, SignIn
from hydra.probe.candidates import candidates, is_unfit, most_telling, passing_over
from hydra.probe.identity import identify
from hydra.probe.memory import Answer, Memory
from hydra.probe.pool import Asked, Pool, cores
from hydra.probe.questions import SIGN_IN, Question, ask, seems_signed_in
from hydra.probe.running import Views, put
from hydra.probe.silence import unanswered
from hydra.probe.surroundings import Surroundings


async def detect_all(adapters: Iterable[Adapter], around: Surroundings) -> dict[str, DetectResult]:
    """Every adapter as it is found here. One whose program is not there costs nothing."""
    adapters = list(adapters)
    memory = Memory(around.cache_file)
    found: dict[str, DetectResult] = {}

    async with trio.open_nursery() as running:
        pool = Pool(running, partial(put, around=around, views=Views(around)), memory, cores())
        desk = _Desk(pool, memory, around)

        async def one(
            adapter: Adapter, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
        ) -> None:
            found[adapter.key()] = await desk.detect(adapter, task_status.started)

        async with trio.open_nursery() as nursery:
            for adapter in adapters:
                await nursery.start(one, adapter)  # until all that it asks is in the pool
            pool.open()
    memory.save()
    return {adapter.key(): found[adapter.key()] for adapter in adapters}


class _Desk:
    """Where adapters ask, and get what is remembered or what the program says now."""

    def __init__(self, pool: Pool, memory: Memory, around: Surroundings) -> None:
        self._pool = pool
        self._memory = memory
        self._around = around

    async def detect(self, adapter: Adapter, begun: Callable[[], None]) -> DetectResult:
        """The first candidate that can race, else the most telling failure; those that were passed
        over are named with why.

        `begun` is called once its first questions are asked, or where there are none to ask.
        """
        descriptor = adapter.descriptor
        unfit: list[DetectResult] = []
        for binary in candidates(descriptor, self._around):
            questions = self._ask(descriptor, binary)
            if not unfit:
                begun()
            result = await self._read(adapter, binary, questions)
            if not is_unfit(result.error):
                return passing_over(descriptor, result, unfit)
            unfit.append(result)
        if unfit:
            return self._telling(descriptor, unfit)
        begun()
        return DetectResult(adapter=descriptor.key, error=_missing(descriptor, self._around))

    def _telling(self, descriptor: Descriptor, unfit: Sequence[DetectResult]) -> DetectResult:
        result = most_telling(descriptor, unfit)
        error, named = result.error, descriptor.key in self._around.paths
        if error is None or error.kind != "BinaryMissing" or not named:
            return result
        return replace(result, error=replace(error, hint=_named_hint(descriptor)))

    def _ask(self, descriptor: Descriptor, binary: Path) -> list[tuple[Probe, Answer | Asked]]:
        signed, _ = seems_signed_in(descriptor, self._around)
        identity = identify(binary, self._around.environ.get("PATH"))
        wanted = [probe for probe in descriptor.probes if self._wants(probe, signed)]
        questions = [ask(descriptor, probe, binary, identity, self._around) for probe in wanted]
        answers = [self._held(one) or self._pool.ask(one) for one in questions]
        return list(zip(wanted, answers, strict=True))

    async def _read(
        self, adapter: Adapter, binary: Path, asked: list[tuple[Probe, Answer | Asked]]
    ) -> DetectResult:
        descriptor = adapter.descriptor
        answers = {
            probe.name: _as_output(probe, it if isinstance(it, Answer) else await it.wait())
            for probe, it in asked
        }
        result = unanswered(adapter.detect(str(binary), answers), descriptor, answers)
        signed, detail = seems_signed_in(descriptor, self._around)
        if not signed or result.sign_in not in (SignIn.UNKNOWN, SignIn.MISSING):
            return result
        signed_out = result.error is not None and result.error.kind == "AuthMissing"
        error = None if signed_out else result.error
        return replace(result, sign_in=SignIn.SEEMS_SO, sign_in_detail=detail, error=error)

    def _wants(self, probe: Probe, signed: bool) -> bool:
        if probe.name == SIGN_IN and signed and not self._around.confirm_sign_in:
            return False
        return self._around.preflight or not probe.confined

    def _held(self, question: Question) -> Answer | None:
        """What is remembered; a race refuses no agent on an old word that it is signed out."""
        if not question.key or self._around.fresh:
            return None
        held = self._memory.answer(question.key)
        doubted = question.probe.name == SIGN_IN and not self._around.confirm_sign_in
        return None if held is not None and doubted and held.exit_code != 0 else held


def _as_output(probe: Probe, answer: Answer) -> ProbeOutput:
    told, aside = answer.stdout, answer.stderr
    if probe.stderr and not told.strip():
        told, aside = aside, told
    return ProbeOutput(
        name=probe.name,
        argv=answer.argv,
        exit_code=answer.exit_code,
        stdout=told,
        stderr=aside,
        timed_out=answer.timed_out,
        seconds=answer.seconds,
    )


def _missing(descriptor: Descriptor, around: Surroundings) -> Failure:
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
