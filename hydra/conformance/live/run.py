"""Runs situations with the installed CLIs, several at once, and gives what each came to.

Loopback only, made-up keys, a scratch HOME. A race is a program of its own, so several run at once
from threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra.adapters.contract import Adapter
from hydra.adapters.probe.sandbox import try_confinement
from hydra.conformance.live.observation import Observation
from hydra.conformance.live.scenario_run import meet
from hydra.conformance.live.situation import Situation, load, load_all
from hydra.conformance.race_run import WAKES, end_all
from hydra.conformance.results import Case, CaseVerdict

Progress = Callable[[Observation], None]
Pair = tuple[Adapter, Situation]


def observe(
    adapters: Iterable[Adapter],
    programs: Mapping[str, Path],
    *,
    only: Sequence[str] = (),
    jobs: int = 2,
    folder: Path,
    progress: Progress | None = None,
) -> list[Observation]:
    """Every situation (or those named in `only`) with every agent that has a program.

    `jobs` run at once, and beside them as many of those that mostly wait. Each runs in a folder of
    its own below `folder`, which must be none that Hydra refuses for its state, and which stays
    until the caller removes it. `progress` is told of each as it ends, one at a time. The answer
    is in the order of the agents, then of the situations. Raises `ConfigError` for a situation
    that nobody knows.
    """
    situations = [load(name) for name in only] if only else load_all()
    pairs = [(a, s) for a in adapters if a.key() in programs for s in situations]
    unconfined = _unconfined()
    one_at_a_time = threading.Lock()
    ended: dict[tuple[str, str], Observation] = {}

    def meet_pair(pair: Pair) -> None:
        adapter, situation = pair
        met = meet(adapter, programs[adapter.key()], situation, folder, unconfined)
        with one_at_a_time:
            ended[adapter.key(), situation.name] = met
            if progress is not None:
                progress(met)

    _all(meet_pair, sorted(pairs, key=lambda pair: -pair[1].seconds), max(1, jobs))
    return _versioned([ended[adapter.key(), situation.name] for adapter, situation in pairs])


def _all(function: Callable[[Pair], None], longest_first: Sequence[Pair], jobs: int) -> None:
    # What mostly waits (for a retry, for a limit) takes no core from the others.
    with ThreadPoolExecutor(jobs) as busy, ThreadPoolExecutor(jobs) as idle:
        try:
            begun = [
                (idle if pair[1].waits else busy).submit(function, pair) for pair in longest_first
            ]
            # A wait without an end does not hear a Ctrl-C that another thread was given.
            while wait(begun, timeout=WAKES).not_done:
                pass
            for running in begun:
                running.result()
        except KeyboardInterrupt:  # what runs is ended, what waits is not begun
            for pool in (busy, idle):
                pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise


def _unconfined() -> str:
    confinement = trio.run(try_confinement, os.environ)
    return "" if confinement.holds else f"nothing confines agents here: {confinement.reason}"


def _versioned(met: list[Observation]) -> list[Observation]:
    """Where a race was refused nothing tells the version: it is that of the agent's others."""
    versions = {observed.agent: observed.version for observed in met if observed.version}
    return [
        replace(observed, version=observed.version or versions.get(observed.agent, ""))
        for observed in met
    ]


def case(observed: Observation, *, keep: bool = True) -> Case:
    """One observation as a case of the report; its evidence lies in the scratch folder, and is
    named only where that is kept."""
    verdict = CaseVerdict.FAILED if observed.differences else CaseVerdict.PASSED
    return Case(
        suite="live",
        agent=observed.agent,
        name=observed.situation,
        verdict=CaseVerdict.SKIPPED if observed.reason else verdict,
        version=observed.version,
        differences=observed.differences,
        reason=observed.reason,
        seconds=observed.seconds,
        evidence=str(observed.run.raw or "") if keep else "",
    )
