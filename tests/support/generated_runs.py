"""Whole runs that Hypothesis makes: what each lane's code answers decides how every test ends.

A test asks the code one question and expects one answer, so that one lane's test has an end on
every other lane's code. A result may still be lost: a check stops, a trial is not made, a test is
flaky, a tool names its failures alone. Which trials there are says the real plan.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st
from msgspec.structs import replace

from hydra.analysis.code_lines import changes_code
from hydra.analysis.patch import FileChange
from hydra.checks.cross.plan import Plan, TrialJob, new_ids, plan
from hydra.checks.cross.record import TrialSubject
from hydra.checks.cross.rerun import tells
from hydra.checks.cross.trial import NotTried, Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.regressions import base_worth_again, compare_to_baseline, mends, worth_again
from hydra.checks.results import ResultCounts, TestCase, Tests
from hydra.ranking.evidence import Evidence, LaneEvidence, Note, ReviewTest
from hydra.records.outcome import Patch
from hydra.records.request import Check
from tests.support.evidences import file

LANES = ("claude", "codex", "gemini", "aider", "amp", "claude-2")
QUESTIONS = (0, 1, 2)
ANSWERS = (0, 1, 2)
SUITE, OTHER, LATE, CODE = "tests/test_a.py", "tests/test_b.py", "late/test_c.py", "a.py"
PYTEST = Check("pytest", "pytest -q tests", "test")
SLOW = Check("slow", "pytest -q late", "test", required=False)
MAKE = Check("make-test", "make test", "test")
BUILD = Check("build", "make", "build")
LINT = Check("ruff", "ruff check", "lint", required=False)
STRICT = Check("mypy", "mypy", "lint")
LIMIT = "the limit of 40 runs was reached"

Draw = st.DrawFn


@dataclass(frozen=True)
class Question:
    """What a test asks and which answer it expects; `skipped`: it is not run."""

    asks: int
    expects: int
    skipped: bool = False


@dataclass(frozen=True)
class TestFile:
    """A file of tests; without a name that it imports none of them runs."""

    __test__ = False

    tests: Mapping[str, Question] = field(default_factory=dict)
    imports: str = "f"

    def text(self) -> str:
        """The file as Python."""
        parts = [f"import pytest\nfrom a import {self.imports}\n"]
        for name, question in self.tests.items():
            skip = '@pytest.mark.skip(reason="later")\n' * question.skipped
            parts.append(
                f"{skip}def {name}():\n    assert f({question.asks}) == {question.expects}\n"
            )
        return "\n\n".join(parts)


Suite = Mapping[str, TestFile]


@dataclass(frozen=True)
class Code:
    """What a lane's code answers, what can be imported of it, and whether it builds. `settings`
    are answers that its conftest.py gives instead."""

    answers: tuple[int, ...]
    names: frozenset[str] = frozenset({"f"})
    builds: bool = True
    lints: bool = True
    settings: Mapping[int, int] = field(default_factory=dict)

    def ends(self, suite: Suite) -> dict[str, str]:
        """How each test ends; of a file that cannot be imported, the file."""
        ends: dict[str, str] = {}
        for path, test_file in suite.items():
            if test_file.imports not in self.names:
                ends[path] = "failed"
                continue
            for name, question in test_file.tests.items():
                answer = self.settings.get(question.asks, self.answers[question.asks])
                good = "passed" if answer == question.expects else "failed"
                ends[f"{path}::{name}"] = "skipped" if question.skipped else good
        return ends


@dataclass(frozen=True)
class Lane:
    """What one agent left: its code, all files of tests as they are with it, and other files."""

    name: str
    code: Code
    suite: Suite
    files: tuple[FileChange, ...]
    tree: str


@dataclass(frozen=True)
class World:
    """What is the same for all lanes; `goal` are the answers that most of them come to."""

    code: Code
    goal: tuple[int, ...]
    suite: Suite
    checks: tuple[Check, ...]
    flaky: frozenset[str]
    quiet: bool


@st.composite
def runs(draw: Draw) -> Evidence:
    """A run of one to six lanes, as the judge reads it."""
    world = _world(draw)
    lanes: list[Lane] = []
    for name in LANES[: draw(st.integers(1, len(LANES)))]:
        lanes.append(_lane(draw, world, name, lanes))
    baseline = _baseline(draw, world)
    evidences = [_evidence(draw, world, lane, baseline) for lane in lanes]
    trials, cut = _tried(draw, world, lanes, evidences, baseline)
    return Evidence(
        run="20261121t203415-k3f",
        base="b" * 40,
        lanes=tuple(evidences),
        baseline=tuple(baseline.values()),
        trials=tuple(trials),
        not_tried=tuple(cut),
        tests={path: test_file.text() for path, test_file in world.suite.items()},
        paths=frozenset({CODE, *world.suite}),
        review_tests=tuple(_asked(draw, world, lanes, evidences)),
        notes=tuple(
            Note("gemini", f"{lane.name} reads well") for lane in lanes[: _rarely(draw, 9)]
        ),
        protected=("secret/",),
    )


def _rarely(draw: Draw, times: int) -> bool:
    """True about once in so many times; what fails is made smaller towards False."""
    return draw(st.integers(1, times)) == times


def _world(draw: Draw) -> World:
    answers = tuple(draw(st.sampled_from(ANSWERS)) for _ in QUESTIONS)
    goal = tuple(draw(st.sampled_from([*ANSWERS, answer, answer])) for answer in answers)
    code = Code(answers)
    suite = {
        path: TestFile(
            {f"test_{path[-4]}{number}": _question(draw, answers, goal) for number in range(count)}
        )
        for path, count in ((SUITE, draw(st.integers(1, 4))), (OTHER, draw(st.integers(0, 2))))
        if count
    }
    late = _rarely(draw, 5)
    if late:
        names = ("test_late", "test_later")
        suite[LATE] = TestFile({name: _question(draw, answers, goal) for name in names})
    pairs = [
        (PYTEST, not _rarely(draw, 12)),
        (SLOW, late),
        *((check, _rarely(draw, 7)) for check in (MAKE, BUILD, LINT, STRICT)),
    ]
    steady = list(code.ends(suite))
    flaky = draw(st.sets(st.sampled_from(steady), max_size=2)) if _rarely(draw, 6) else set()
    code = dataclasses.replace(code, builds=not _rarely(draw, 9), lints=not _rarely(draw, 4))
    checks = tuple(check for check, is_wanted in pairs if is_wanted)
    return World(code, goal, suite, checks, frozenset(flaky), quiet=_rarely(draw, 10))


def _question(draw: Draw, base: Sequence[int], goal: Sequence[int]) -> Question:
    """One that the base passes, one that the task is about, or another."""
    asks = draw(st.sampled_from(QUESTIONS))
    other = draw(st.sampled_from(ANSWERS)) if _rarely(draw, 4) else base[asks]
    return Question(asks, other if _rarely(draw, 4) else goal[asks])


def _lane(draw: Draw, world: World, name: str, before: Sequence[Lane]) -> Lane:
    """A lane's patch: often an answer changed and a test, at times another lane's very patch."""
    if before and _rarely(draw, 5):
        twin = draw(st.sampled_from(before))
        files = twin.files
        if twin.files and _rarely(draw, 2):  # but for a comment
            files = tuple(
                file(change.path, change.old, f"{change.new}# {name}\n")
                if change.path == CODE
                else change
                for change in files
            )
        return dataclasses.replace(twin, name=name, files=files, tree=_tree(files))
    if _rarely(draw, 8):
        return Lane(name, world.code, world.suite, (), "")
    code, suite = _code(draw, world, name), dict(world.suite)
    _change_tests(draw, world, suite, code)
    _add_tests(draw, suite, code, name)
    files = tuple(_files(draw, world, code, suite, name))
    return Lane(name, code, suite, files, _tree(files))


def _tree(files: Sequence[FileChange]) -> str:
    return hashlib.sha1(repr([(change.path, change.new) for change in files]).encode()).hexdigest()


def _code(draw: Draw, world: World, name: str) -> Code:
    answers = list(world.code.answers)
    for question in QUESTIONS:
        how = draw(st.integers(0, 9))
        if how > 3:
            answers[question] = world.goal[question] if how < 9 else draw(st.sampled_from(ANSWERS))
    names = {"f"} | ({f"g_{name[:2]}"} if _rarely(draw, 4) else set())
    if _rarely(draw, 20):
        names = set()  # nothing can be imported of it
    settings = {}
    if _rarely(draw, 15):
        settings = {draw(st.sampled_from(QUESTIONS)): draw(st.sampled_from(ANSWERS))}
    return Code(
        tuple(answers),
        frozenset(names),
        builds=not _rarely(draw, 12),
        lints=not _rarely(draw, 5),
        settings=settings,
    )


def _change_tests(draw: Draw, world: World, suite: dict[str, TestFile], code: Code) -> None:
    """What it makes of tests that are there: as its code has it, as it likes, skipped or gone."""
    for path in list(suite):
        if not _rarely(draw, 5):
            continue
        tests = dict(suite[path].tests)
        name = draw(st.sampled_from(sorted(tests)))
        question = tests[name]
        how = draw(st.sampled_from(["honest"] * 4 + ["any", "skipped", "gone", "renamed"]))
        if how == "honest":
            tests[name] = dataclasses.replace(question, expects=code.answers[question.asks])
        elif how == "any":
            tests[name] = _question(draw, world.code.answers, world.goal)
        elif how == "skipped":
            tests[name] = dataclasses.replace(question, skipped=True)
        else:
            del tests[name]
            if how == "renamed":
                tests[f"{name}_new"] = question
        suite[path] = dataclasses.replace(suite[path], tests=tests)
        if not tests:
            del suite[path]


def _add_tests(draw: Draw, suite: dict[str, TestFile], code: Code, name: str) -> None:
    """New tests, most of which its own code passes; in a file of its own, or of all."""
    if draw(st.booleans()):
        return
    path = draw(st.sampled_from([f"tests/test_{name[:2]}.py", "tests/test_new.py", SUITE]))
    tests = dict(suite[path].tests) if path in suite else {}
    for number in range(draw(st.integers(1, 5))):
        asks = draw(st.sampled_from(QUESTIONS))
        wrong = _rarely(draw, 8)
        expects = draw(st.sampled_from(ANSWERS)) if wrong else code.answers[asks]
        tests[f"test_{name[:2]}_{number}"] = Question(asks, expects)
    suite[path] = TestFile(tests, draw(st.sampled_from(sorted({"f", *code.names}))))


def _files(draw: Draw, world: World, code: Code, suite: Suite, name: str) -> Iterator[FileChange]:
    if dataclasses.replace(code, lints=True) != dataclasses.replace(
        world.code, lints=True
    ) or _rarely(draw, 2):
        line = f"ANSWERS = {sorted(zip(QUESTIONS, code.answers, strict=True))}\n"
        names = "".join(f"def {name}(x):\n    return look(x)\n" for name in sorted(code.names))
        literal = f"def h(x):\n    if x == 0:\n        return {code.answers[0]}\n"
        literal = literal * _rarely(draw, 10)
        comment = "# noted\n" * _rarely(draw, 3)
        more = "y = 1\n" * draw(st.sampled_from([0, 0, 1, 9, 60]))
        flags = f"FLAGS = {code.builds}, {code.lints}\n"
        same = code == world.code and not (literal or more)
        text = f"{line}{names}{literal}{more}{flags}" if not same else _BASE_CODE
        yield file(CODE, _BASE_CODE, f"{text}{comment or '# same' * same}")
    for path in dict.fromkeys((*world.suite, *suite)):
        old, new = world.suite.get(path), suite.get(path)
        if old != new:
            yield file(path, old.text() if old else None, new.text() if new else None)
    if code.settings:
        yield file("tests/conftest.py", None, f"import a\na.ANSWERS.update({code.settings})\n")
    if _rarely(draw, 60):
        yield file("secret/key.py")
    if _rarely(draw, 10):
        yield file("README.md", "a\n", f"{name}\n")


_BASE_CODE = "ANSWERS = []\n\n\ndef f(x):\n    return look(x)\n"


_STOPPED = (
    (CheckStatus.TIMED_OUT, "over 5:00"),
    (CheckStatus.PROGRAM_MISSING, "its program was not there"),
    (CheckStatus.SETUP_FAILED, "npm ci exited with 1"),
    (CheckStatus.INTERRUPTED, "it was interrupted"),
    (CheckStatus.NOT_RUN, "no space left"),
)


def _result(draw: Draw, world: World, check: Check, code: Code, suite: Suite) -> CheckResult:
    """One run of one check."""
    if _rarely(draw, 40):
        status, why = draw(st.sampled_from(_STOPPED))
        return CheckResult(check=check, status=status, reason=why)
    if check.kind != "test":
        return _plain(check, code.builds if check is BUILD else code.lints)
    folder = "late/" if check is SLOW else "tests/"
    ends = code.ends(
        {path: test_file for path, test_file in suite.items() if path.startswith(folder)}
    )
    for name in sorted(world.flaky & ends.keys()):
        ends[name] = draw(st.sampled_from(["passed", "failed"]))
    good = "failed" not in ends.values()
    if check is MAKE or _rarely(draw, 60):
        return _plain(check, good)
    return _named(check, ends, good and not _rarely(draw, 60), quiet=world.quiet)


def _plain(check: Check, good: bool) -> CheckResult:
    return CheckResult(
        check=check,
        status=CheckStatus.PASSED if good else CheckStatus.FAILED,
        reason="" if good else "it exited with 1",
        exit_code=int(not good),
    )


def _named(check: Check, ends: Mapping[str, str], good: bool, *, quiet: bool) -> CheckResult:
    if not ends:
        return CheckResult(check=check, status=CheckStatus.NO_TESTS, exit_code=5)
    cases = tuple(TestCase(id, end) for id, end in ends.items())  # type: ignore[arg-type]
    unserved = ["no service" for id, end in ends.items() if end == "skipped" and "test_b" in id]
    tests = Tests("junit", cases, unserved=tuple(unserved))
    if quiet:  # `pytest -q`: failures alone have names
        counts = ResultCounts(tests.passed, tests.failed, tests.skipped)
        failed = tuple(case for case in cases if case.status == "failed")
        unnamed = frozenset(case.status for case in cases if case.status != "failed")
        tests = Tests("text", failed, counts=counts, unnamed=unnamed, unserved=tests.unserved)
    return replace(_plain(check, good), tests=tests)


def _with_again(
    draw: Draw,
    world: World,
    code: Code,
    suite: Suite,
    now: CheckResult,
    base: CheckResult | None,
    *,
    has_code: bool = True,
) -> CheckResult:
    if not (worth_again(now, base) or (mends(now, base) and not has_code)):
        return now
    again = _result(draw, world, now.check, code, suite)
    return now if again.status is CheckStatus.INTERRUPTED else replace(now, again=again)


def _baseline(draw: Draw, world: World) -> dict[str, CheckResult]:
    """The base's own results; at times it has none."""
    if _rarely(draw, 25):
        return {}
    results = {}
    for check in world.checks:
        if _rarely(draw, 40):
            continue
        result = _result(draw, world, check, world.code, world.suite)
        if base_worth_again(result):
            again = _result(draw, world, check, world.code, world.suite)
            result = replace(result, again=again)
        results[check.name] = compare_to_baseline(result, result)
    return results


def _evidence(
    draw: Draw, world: World, lane: Lane, baseline: Mapping[str, CheckResult]
) -> LaneEvidence:
    """How the lane ended, and its checks; without any where it did not complete."""
    ended, status = "", "completed" if lane.files else "no_changes"
    if _rarely(draw, 25):
        ended, status = draw(
            st.sampled_from(
                [
                    ("timed out: idle for 10:00", "timed_out"),
                    ("failed: the agent exited with 1", "failed"),
                    ("interrupted by SIGINT", "interrupted"),
                ]
            )
        )
    patch = Patch(
        commit="c" * 40,
        base="b" * 40,
        files=len(lane.files),
        insertions=sum(change.insertions or 0 for change in lane.files),
        deletions=sum(change.deletions or 0 for change in lane.files),
        incomplete="over 1 GB" if lane.files and _rarely(draw, 60) else "",
    )
    moved = bool(lane.files) and _rarely(draw, 60)
    checks: list[CheckResult] = []
    if lane.files and not moved and (not ended or _rarely(draw, 3)) and not _rarely(draw, 25):
        for check in world.checks:
            base = baseline.get(check.name)
            now = _result(draw, world, check, lane.code, lane.suite)
            has_code = changes_code(lane.files)
            now = _with_again(draw, world, lane.code, lane.suite, now, base, has_code=has_code)
            checks.append(
                compare_to_baseline(replace(now, details=f"checks/1/{lane.name}.json"), base)
            )
    return LaneEvidence(
        lane=lane.name,
        adapter="claude",
        status=status,
        ended=ended,
        patch=patch if lane.files or not _rarely(draw, 3) else None,
        tree=lane.tree,
        files=lane.files,
        checks=tuple(checks),
        seconds=draw(st.sampled_from([None, 10.0, 11.0, 60.0, 300.0])),
        moved=moved,
    )


def _tried(
    draw: Draw,
    world: World,
    lanes: Sequence[Lane],
    evidences: Sequence[LaneEvidence],
    baseline: Mapping[str, CheckResult],
) -> tuple[list[Trial], list[NotTried]]:
    """What the real plan would try; some of it is cut off."""
    subjects = [
        TrialSubject(
            lane=evidence.lane,
            commit="c",
            tree=evidence.tree,
            files=evidence.files,
            results=evidence.checks,
        )
        for evidence in evidences
        if evidence.files and evidence.checks and not evidence.moved
    ]
    if not subjects or _rarely(draw, 12):
        return [], []
    planned = plan(subjects, world.checks)
    trying = _Trying(draw, world, {lane.name: lane for lane in lanes}, planned, baseline)
    for job in planned.protected:
        trying.make(job)
    for job in planned.on_base:
        trying.make(job)
    for job in planned.cross:
        if trying.crosses(job):
            trying.make(job)
    return trying.trials, [*planned.not_tried, *trying.cut]


class _Trying:
    """Trials as they are made, each on the tree that its job says."""

    def __init__(
        self,
        draw: Draw,
        world: World,
        lanes: Mapping[str, Lane],
        planned: Plan,
        baseline: Mapping[str, CheckResult],
    ) -> None:
        self.trials: list[Trial] = []
        self.cut: list[NotTried] = []
        self._draw = draw
        self._world = world
        self._lanes = lanes
        self._plan = planned
        self._baseline = baseline
        self._lossy = draw(st.sampled_from([1000, 1000, 12, 4]))

    def make(self, job: TrialJob) -> None:
        """Runs it, or does not come to it."""
        self._keep(job, self._run(job))

    def crosses(self, job: TrialJob) -> bool:
        """Whether it brings a new test, or one that asks more of the base."""
        own = self._own(job.author, job)
        on_base = next(
            (
                item.result
                for item in self.trials
                if item.kind == "cross" and not item.on and item.author == job.author
                if item.result.check == job.check
            ),
            None,
        )
        return own is not None and (any(new_ids(own).values()) or tells(on_base, own, job.paths))

    def _own(self, lane: str, job: TrialJob) -> CheckResult | None:
        results = self._plan.subjects[lane].results
        return next((result for result in results if result.check == job.check), None)

    def _run(self, job: TrialJob) -> CheckResult | None:
        if _rarely(self._draw, self._lossy):
            return None
        code, suite = self._tree(job)
        base = self._baseline.get(job.check.name)
        result = _result(self._draw, self._world, job.check, code, suite)
        result = _with_again(self._draw, self._world, code, suite, result, base)
        return compare_to_baseline(replace(result, details=f"checks/1/{job.folder}.json"), base)

    def _tree(self, job: TrialJob) -> tuple[Code, Suite]:
        """The code and the tests that the job runs: the base's own put back, or an author's."""
        lane = self._lanes.get(job.on)
        code = lane.code if lane else self._world.code
        suite = dict(lane.suite if lane else self._world.suite)
        bringing = self._lanes[job.author].suite if job.author else self._world.suite
        for path in job.paths:
            suite.pop(path, None)
            if path in bringing:
                suite[path] = bringing[path]
        return (dataclasses.replace(code, settings={}) if job.settings else code), suite

    def _keep(self, job: TrialJob, result: CheckResult | None) -> None:
        for on in self._plan.same.get(job.on, ("",)):
            for author in self._plan.same.get(job.author, ("",)):
                if result is None:
                    self.cut.append(NotTried(kind=job.kind, on=on, author=author, why=LIMIT))
                    continue
                self.trials.append(
                    Trial(
                        kind=job.kind,
                        on=on,
                        author=author,
                        result=result,
                        paths=job.paths,
                        configuration=bool(job.settings),
                    )
                )


def _asked(
    draw: Draw, world: World, lanes: Sequence[Lane], evidences: Sequence[LaneEvidence]
) -> Iterator[ReviewTest]:
    """Tests that an agent was asked for, of those that tell patches apart."""
    for number in range(draw(st.integers(1, 3)) if _rarely(draw, 8) else 0):
        question = _question(draw, world.code.answers, world.goal)
        patched = [lane for lane in lanes if lane.files]
        tried = [lane for lane in patched if not _rarely(draw, 6)]
        ends = {lane.name: lane.code.answers[question.asks] == question.expects for lane in tried}
        if len({*ends.values()}) == 2:
            yield ReviewTest(
                id=f"tests/test_apart.py::test_apart_{number}",
                agent="codex",
                ends=ends,
                on_base=world.code.answers[question.asks] == question.expects,
                check=PYTEST.name,
                file="consult/1/separated.json",
            )
