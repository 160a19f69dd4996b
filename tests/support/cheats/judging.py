"""Runs cheats and twins in real repositories, by the real checks and trials, and judges them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from hydra.analysis.finding import Finding
from hydra.analysis.notices.places import is_test
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.commands import is_script
from hydra.analysis.tampering.findings import findings
from hydra.checks.cross.record import Trials
from hydra.checks.record import CheckResult
from hydra.checks.round import CheckRun
from hydra.git import contents
from hydra.git.contents import trees
from hydra.git.file_changes import file_changes
from hydra.race.cross_test_phase import CrossTestInputs, run_cross_tests
from hydra.ranking.collect import base_tests
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.model import LaneVerdict
from hydra.ranking.verdict import rank
from hydra.records.outcome import Patch
from hydra.records.request import Check, TrialCap
from tests.conftest import git, write
from tests.support.cheats.case import Case, Files, Shop
from tests.support.checks import Bench

RIGHT = "right"
_CAP = TrialCap(1000, 3600)


@dataclass(frozen=True, slots=True)
class Judged:
    """One case: the cheat and the twin, each in a race with the plain fix."""

    case: Case
    cheat: Mapping[str, LaneVerdict]
    twin: Mapping[str, LaneVerdict]
    passes: bool
    """Whether the cheat's own check passes."""
    trials: Mapping[str, Trials]


class Judging:
    """All cases of one shop, in one repository."""

    def __init__(self, scratch: Path, repo: Path, shop: Shop) -> None:
        write(repo, {"src/pager.py": None, **shop.base})
        git(repo, "add", "-Af")
        git(repo, "commit", "-qm", "The shop")
        self.shop = shop
        self.bench = Bench(scratch, repo, [Check("tests", shop.check, "test")])
        self.round = CheckRun(self.bench.kit)
        self.lanes: dict[str, LaneEvidence] = {}
        self.trials: dict[str, Trials] = {}

    async def judge(self, cases: Sequence[Case]) -> list[Judged]:
        """Each case, its cheat and its twin checked, tried and ranked."""
        await self.round.baseline(self.bench.base, self.bench.tell)
        await self._lane(RIGHT, self.shop.fix)
        for number, case in enumerate(cases):
            await self._lane(f"cheat{number}", case.cheat)
            await self._lane(f"twin{number}", {self.shop.code: self.shop.right, **case.twin})
        return [self._judged(number, case) for number, case in enumerate(cases)]

    async def _lane(self, lane: str, files: Files) -> None:
        commit = self._commit(files)
        stop = trio.CancelScope()
        results = await self.round.lane(lane, commit, self.bench.tell, stop=stop)
        self.trials[lane] = await self._try(lane, commit, results)
        git_dir, base = self.bench.patches, self.bench.base
        (changed,) = file_changes(git_dir, base, [commit])
        self.lanes[lane] = LaneEvidence(
            lane=lane,
            patch=Patch(commit=commit, base=base, files=len(changed)),
            tree=trees(git_dir, [commit])[0],
            files=changed,
            checks=results,
            seconds=60.0,
        )

    async def _try(self, lane: str, commit: str, results: tuple[CheckResult, ...]) -> Trials:
        alone = CrossTestInputs(
            context=self.bench.kit,
            base=self.bench.base,
            on_base=self.round.base,
            commits={lane: commit},
            results={lane: results},
        )
        return await run_cross_tests(alone, _CAP, self.bench.tell, trio.CancelScope())

    def _commit(self, files: Files) -> str:
        repo = self.bench.repo
        git(repo, "checkout", "-q", "--detach", "main")
        write(repo, files)
        git(repo, "add", "-Af")
        git(repo, "commit", "-qm", "A patch")
        commit = git(repo, "rev-parse", "HEAD")
        git(repo, "checkout", "-q", "-f", "main")
        git(repo, "clean", "-qfdx")
        return commit

    def _judged(self, number: int, case: Case) -> Judged:
        cheat, twin = f"cheat{number}", f"twin{number}"
        own = self.lanes[cheat].checks[0]
        tried = {"cheat": self.trials[cheat], "twin": self.trials[twin]}
        return Judged(case, self._race(cheat), self._race(twin), own.passed, tried)

    def _race(self, lane: str) -> dict[str, LaneVerdict]:
        """The plain fix and one other lane, as a race of the two would be judged."""
        lanes = (self.lanes[RIGHT], self.lanes[lane])
        paths = [file.path for evidence in lanes for file in evidence.files]
        ranking = rank(
            Evidence(
                run="r",
                base=self.bench.base,
                lanes=lanes,
                baseline=tuple(self.round.base.values()),
                trials=self.trials[lane].runs,
                not_tried=self.trials[lane].not_tried,
                tests=base_tests(self.bench.patches, self.bench.base, paths),
                paths=contents.paths(self.bench.patches, self.bench.base),
            )
        )
        return {("lane" if item.lane == lane else RIGHT): item for item in ranking.lanes}


def changes(case: Case, *, twin: bool = False) -> list[FileChange]:
    """What the judge reads of a cheat, or of its twin, without any git."""
    files = {case.shop.code: case.shop.right, **case.twin} if twin else case.cheat
    return [_change(path, case.shop.base.get(path), text) for path, text in files.items()]


def reading(case: Case, *, twin: bool = False) -> tuple[Finding, ...]:
    """What reading alone brings to light."""
    texts = {path: item for path, item in case.shop.base.items() if isinstance(item, str)}
    tests = {
        path: text for path, text in texts.items() if is_test(path.encode()) or is_script(path)
    }
    checks = [Check("tests", case.shop.check, "test")]
    return findings(changes(case, twin=twin), checks, untouched=tests, base=case.shop.base)


def _change(path: str, old: str | bytes | None, new: str | bytes | None) -> FileChange:
    return FileChange(
        path=path,
        old_mode="" if old is None else "100644",
        new_mode="" if new is None else "100644",
        binary=isinstance(new, bytes),
        old=old if isinstance(old, str) else None,
        new=new if isinstance(new, str) else None,
    )


def shops(cases: Sequence[Case]) -> Iterator[tuple[Shop, list[Case]]]:
    """The cases of each repository."""
    by_id = {id(case.shop): case.shop for case in cases}
    for shop in by_id.values():
        yield shop, [case for case in cases if case.shop is shop]
