"""Which question runs when: each once, and no more at a time than the cores can serve.

All probes of thirty agents at once would make each of them slow, and the last of them would be
ready no sooner.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import trio

from hydra.adapters.probe.cache import CachedAnswer, Memory
from hydra.adapters.probe.probes import Question

OnSleep = Callable[[bool], None]
"""Told True when a program sleeps and needs no core, False when it wants one again."""

Put = Callable[[Question, OnSleep], Awaitable[CachedAnswer]]
"""Runs a question."""


def cores() -> int:
    """How many this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on macOS
        return os.cpu_count() or 1


class Pool:
    """Questions in, answers out. On `cores` places the longest that waits is run, by how long it
    took last time (one that never ran first of all), and on one more the shortest, so that what is
    quick has not to wait for all that is slow. What sleeps holds no place: it takes no core."""

    def __init__(self, nursery: trio.Nursery, put: Put, memory: Memory, cores: int) -> None:
        self._nursery = nursery
        self._put = put
        self._memory = memory
        self._cores = cores
        self._questions: dict[str, ProbeQuestion] = {}
        self._waiting: list[ProbeQuestion] = []
        self._running: list[ProbeQuestion] = []
        self._open = False

    def open(self) -> None:
        """Begins. What was asked before is put in its order first."""
        self._open = True
        self._fill()

    def ask(self, question: Question) -> ProbeQuestion:
        """Takes a question, to be waited for. One that is asked already is not asked again."""
        probe_question = self._questions.get(question.key) if question.key else None
        if probe_question is not None:
            probe_question.question.timeout = max(probe_question.question.timeout, question.timeout)
            return probe_question
        probe_question = ProbeQuestion(question, self._memory.seconds(question.line))
        if question.key:
            self._questions[question.key] = probe_question
        self._waiting.append(probe_question)
        if self._open:
            self._fill()
        return probe_question

    def _fill(self) -> None:
        while self._waiting and (taken := self._next()) is not None:
            self._waiting.remove(taken)
            self._running.append(taken)
            self._nursery.start_soon(self._run, taken)

    def _next(self) -> ProbeQuestion | None:
        awake = [question for question in self._running if not question.asleep]
        quick = sum(1 for question in awake if question.quick)
        if len(awake) > self._cores:  # some have slept meanwhile
            return None
        if len(awake) - quick < self._cores:
            taken = max(self._waiting, key=_length)
        elif not quick:
            taken = min(self._waiting, key=_length)
            taken.quick = True
        else:
            return None
        return taken

    async def _run(self, question: ProbeQuestion) -> None:
        def on_sleep(asleep: bool) -> None:
            question.asleep = asleep
            self._fill()

        question.answer = await self._put(question.question, on_sleep)
        self._remember(question.question, question.answer)
        self._running.remove(question)
        question.done.set()
        self._fill()

    def _remember(self, question: Question, answer: CachedAnswer) -> None:
        self._memory.took(question.line, answer.seconds)
        lasts = question.lasts(answer)
        if question.key and lasts != 0:
            self._memory.keep(question.key, answer, lasts)


class ProbeQuestion:
    """One question on its way. `seconds` is how long it took last time, None for never run."""

    def __init__(self, question: Question, seconds: float | None) -> None:
        self.question = question
        self.seconds = seconds
        self.quick = False
        self.asleep = False
        self.answer: CachedAnswer | None = None
        self.done = trio.Event()

    async def wait(self) -> CachedAnswer:
        """The program's answer."""
        await self.done.wait()
        assert self.answer is not None
        return self.answer


def _length(question: ProbeQuestion) -> float:
    return float("inf") if question.seconds is None else question.seconds
