"""Runs cheats and twins in real repositories, by the real checks and trials, and judges them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from hydra.analysis.notices.places import is_test
from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering.commands import is_script
from hydra.analysis.tampering.findings import findings
from hydra.checks.cross.record import Trials
from hydra.checks.record import CheckResult
from hydra.git import contents
from hydra.git.contents import trees
from hydra.git.file_changes import file_changes
from hydra.race.cross_test_phase import CrossTestInputs
from hydra.ranking.collect import base_tests
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.model import LaneVerdict
from hydra.ranking.verdict import rank
from hydra.records.outcome import Patch
from hydra.records.request import Check, TrialCap
from tests.conftest import commit, write
from tests.support.cheats.case import Case, Shop
from tests.support.trials import Trying

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
        write(repo, {".gitignore": None, "src/pager.py": None, **shop.base})
        commit(repo, "The shop")
        self.shop = shop
        self.bench = Trying(scratch, repo, [Check("tests", shop.check, "test")])
        self.lanes: dict[str, LaneEvidence] = {}
        self.trials: dict[str, Trials] = {}
        self.baseline: tuple[CheckResult, ...] = ()

    async def judge(self, cases: Sequence[Case]) -> list[Judged]:
        """Each case, its cheat and its twin checked, tried and ranked."""
        patches = {RIGHT: self.shop.fix}
        for number, case in enumerate(cases):
            patches[f"cheat{number}"] = case.cheat
            patches[f"twin{number}"] = {self.shop.code: self.shop.right, **case.twin}
        works = {lane: partial(write, files=files) for lane, files in patches.items()}
        every = await self.bench.check(works)
        self.baseline = tuple(every.on_base.values())
        for lane in works:
            await self._lane(lane, every)
        return [self._judged(number, case) for number, case in enumerate(cases)]

    async def _lane(self, lane: str, every: CrossTestInputs) -> None:
        """Tried alone."""
        results, oid = every.results[lane], every.commits[lane]
        alone = replace(every, commits={lane: oid}, results={lane: results})
        self.trials[lane] = await self.bench.again(alone, _CAP)
        git_dir, base = self.bench.patches, self.bench.base
        (changed,) = file_changes(git_dir, base, [oid])
        self.lanes[lane] = LaneEvidence(
            lane=lane,
            patch=Patch(commit=oid, base=base, files=len(changed)),
            tree=trees(git_dir, [oid])[0],
            files=changed,
            checks=results,
            seconds=60.0,
        )

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
                baseline=self.baseline,
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
