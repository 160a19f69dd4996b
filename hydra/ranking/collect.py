"""Gathers what a verdict is made of: a run's record, its patches, its checks and its trials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from hydra.analysis.notices.places import is_test
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.commands import is_script
from hydra.analysis.tampering.inline_tests import inline_brought
from hydra.checks.baseline import all_dropped, dropped, lane_rounds, newest
from hydra.checks.collected import collected, patch_files
from hydra.checks.cross.record import read as read_trials
from hydra.checks.cross.trial import NotTried, Trial, put_back
from hydra.checks.record import CheckResult
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.round import BASE
from hydra.git import commits, contents, patches
from hydra.git.file_changes import without_texts
from hydra.git.runner import GitError
from hydra.landing.hunks import Hunk, hunks
from hydra.ranking.evidence import EarlierCommit, Evidence, LaneEvidence, Note, ReviewTest
from hydra.ranking.flaky import with_flaky
from hydra.ranking.model import LaneResult

RECENT = 20
"""Commits of the base's history that a patch is held against."""


def evidence(
    folder: Path,
    base: str,
    lanes: Sequence[LaneResult],
    *,
    protected: Sequence[str] = (),
    notes: Sequence[Note] = (),
    tests: Sequence[ReviewTest] = (),
    task: str = "",
) -> Evidence:
    """All that is known of a run's lanes, given as result.json has them.

    Of each check the newest results count that say something, whichever round they are from.
    Raises `GitFailed`, `Refused` where the patches cannot be read.
    """
    git_dir = folder / "patches.git"
    values = {lane: commit for lane, commit in patches.branches(git_dir).items() if commit != base}
    named = [lane.lane for lane in lanes]
    heads = {lane: values[lane] for lane in named if lane in values}
    trees = dict(zip(heads, contents.trees(git_dir, [*heads.values()]), strict=True))
    baseline = _in_order(newest(folder, BASE), lanes)
    paths = contents.paths(git_dir, base)
    on_base = collected(baseline.values(), paths)
    moved = {lane.lane for lane in lanes if _moved(lane, values)}
    same = _same_trees({lane: tree for lane, tree in trees.items() if lane not in moved})
    results = {
        lane.lane: [*_results(folder, lane, same.get(lane.lane, ()))]
        for lane in lanes
        if lane.lane not in moved
    }
    files = patch_files(git_dir, base, heads, on_base, results)
    pieces = _pieces(git_dir, base, heads, files)
    history, changed_lines = _history(git_dir, base, [*heads.values()], files.values())
    trials, not_tried = _trials(folder, {*values} - moved, baseline, results)
    baseline, trials = with_flaky(baseline, results, files, trials)
    bases = {lane: _bases(folder, baseline, results.get(lane, ())) for lane in named}
    return Evidence(
        run=folder.name,
        base=base,
        lanes=tuple(
            _unchecked(
                replace(
                    _lane(result),
                    tree=trees.get(lane, ""),
                    files=files.get(lane, ()),
                    hunks=pieces.get(lane, ()),
                    moved=lane in moved,
                    baseline=None if bases[lane] == baseline else tuple(bases[lane].values()),
                    checks=tuple(
                        compare_to_baseline(
                            check,
                            bases[lane].get(check.check.name),
                            put_back=put_back(trials, lane, check.check.name),
                        )
                        for check in results.get(lane, ())
                    ),
                ),
                result.held_back,
            )
            for lane, result in zip(named, lanes, strict=True)
        ),
        baseline=tuple(baseline.values()),
        tests=base_tests(
            git_dir, base, [file.path for changes in files.values() for file in changes], on_base
        ),
        paths=paths,
        trials=trials,
        not_tried=not_tried,
        notes=tuple(notes),
        review_tests=tuple(tests),
        protected=tuple(protected),
        history=history,
        hunks=changed_lines,
        task=task,
    )


def _pieces(
    git_dir: Path,
    base: str,
    heads: Mapping[str, str],
    files: Mapping[str, Sequence[FileChange]],
) -> Mapping[str, tuple[Hunk, ...]]:
    """The hunks of all patches, where one brings tests in code: these are picked by hunks."""
    if len(heads) < 2 or not any(map(inline_brought, files.values())):
        return {}
    return {lane: hunks(git_dir, base, head) for lane, head in heads.items()}


def _bases(
    folder: Path, baseline: Mapping[str, CheckResult], results: Iterable[CheckResult]
) -> Mapping[str, CheckResult]:
    """The base's results that a lane's are held against: the newest, or those of the ground that
    the lane's ran on, where the base has run elsewhere since (`hydra check` of another lane)."""
    bases = dict(baseline)
    for result in results:
        name = result.check.name
        if name in bases and bases[name].differs(result):
            bases[name] = newest(folder, BASE, like=result).get(name, bases[name])
    return bases


def _history(
    git_dir: Path, base: str, patches: Sequence[str], files: Iterable[Sequence[FileChange]]
) -> tuple[tuple[EarlierCommit, ...], commits.Hunks]:
    """The base's last commits, and the hunks of what the patches have to do with."""
    with suppress(GitError):  # a partial clone has not all of it
        history = commits.recent(git_dir, base, RECENT)
        paths = {file.path.encode() for changes in files for file in changes}
        earlier = (
            EarlierCommit(commit.oid, commit.subject, tuple(map(without_texts, commit.changes)))
            for commit in history
        )
        return tuple(earlier), commits.hunks(git_dir, base, patches, history, paths)
    return (), {}


TESTS, TEST_BYTES, ALL_TEST_BYTES = 300, 64 * 1024, 2 * 1024**2
"""The base's files of tests that are read, the bytes of one, and of all."""


def base_tests(
    git_dir: Path, base: str, touched: Sequence[str], on_base: Set[str] = frozenset()
) -> dict[str, str]:
    """Texts of the base's tests, those first whose names have to do with what is touched, and of
    its scripts. `on_base` are files that its run names."""
    stems = {PurePosixPath(path).stem.lower() for path in touched} - {"__init__", "index", "mod"}
    files = contents.files(git_dir, base).items()
    named = ((path, path.decode("utf-8", "backslashreplace"), oid) for path, oid in files)
    values = {
        name: oid
        for path, name, oid in named
        if is_test(path) or is_script(name) or name in on_base
    }
    near = {path: not any(stem in path.lower() for stem in stems) for path in values}
    names = sorted(values, key=lambda path: (near[path], path))[:TESTS]
    remaining, mapping = ALL_TEST_BYTES, {}
    items = contents.sizes(git_dir, (values[path] for path in names))
    for path in names:
        size = items.get(values[path], TEST_BYTES + 1)
        if size <= min(TEST_BYTES, remaining):
            mapping[path] = values[path]
            remaining -= size
    texts = contents.contents(git_dir, mapping.values())
    return {
        path: texts[oid].decode("utf-8", "backslashreplace")
        for path, oid in mapping.items()
        if oid in texts and b"\0" not in texts[oid]
    }


def _moved(lane: LaneResult, values: Mapping[str, str]) -> bool:
    """Whether a lane's branch is not the patch that its race has recorded."""
    return lane.patch is not None and values.get(lane.lane, lane.patch.commit) != lane.patch.commit


def _same_trees(trees: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """By lane the others that left the same tree, where there are any."""
    others = {
        lane: tuple(other for other in trees if other != lane and trees[other] == tree)
        for lane, tree in trees.items()
    }
    return {lane: same for lane, same in others.items() if same}


def _results(folder: Path, lane: LaneResult, same: Sequence[str]) -> Iterator[CheckResult]:
    """A lane's checks in the order of its race; one that could not begin has no file of its own."""
    results, gone = newest(folder, lane.lane, same=same), all_dropped(folder)
    for check in lane.checks:
        if check.check in results:
            yield results.pop(check.check)
        elif check.check not in gone:
            yield check.result()
    yield from results.values()


def _in_order(
    results: dict[str, CheckResult], lanes: Sequence[LaneResult]
) -> dict[str, CheckResult]:
    """As the race's own checks stand in its lanes; files know no order."""
    named = [check.check for lane in lanes for check in lane.checks]
    names = [name for name in dict.fromkeys(named) if name in results]
    return {
        name: results[name] for name in (*names, *(name for name in results if name not in names))
    }


def _trials(
    folder: Path,
    lanes: set[str],
    baseline: Mapping[str, CheckResult],
    results: Mapping[str, Sequence[CheckResult]],
) -> tuple[tuple[Trial, ...], tuple[NotTried, ...]]:
    """The newest of each trial; what was not tried in one round may have been in another. One that
    ran otherwise than the lane's own checks by now, or than the base does, was not tried."""
    latest: dict[tuple[object, ...], Trial] = {}
    cut: dict[tuple[str, str, str], NotTried] = {}
    for round in reversed(lane_rounds(folder)):
        gone = dropped(round)
        latest = {key: item for key, item in latest.items() if item.result.check.name not in gone}
        trials, not_tried = read_trials(round, folder)
        for trial in trials:
            # A check that runs two languages has tests that must fail in each.
            file = trial.paths[:1] if trial.kind == "canary" else ()
            name = trial.result.check.name
            latest[trial.kind, trial.on, trial.author, name, trial.configuration, file] = trial
            cut.pop((trial.kind, trial.on, trial.author), None)
        tried = {key[:3] for key in latest}
        for item in not_tried:
            if (item.kind, item.on, item.author) not in tried:
                cut[item.kind, item.on, item.author] = item
    for key, trial in [*latest.items()]:
        name = trial.result.check.name
        own = {result.check.name: result for result in results.get(trial.on or trial.author, ())}
        base = own.get(name, baseline.get(name))
        if base is not None and (differs := trial.result.differs(base)):
            del latest[key]
            cut[trial.kind, trial.on, trial.author] = NotTried(
                kind=trial.kind, on=trial.on, author=trial.author, why=f"not compared: {differs}"
            )
    names = {*lanes, ""}
    return (
        tuple(item for item in latest.values() if item.on in names and item.author in names),
        tuple(tried for tried in cut.values() if tried.on in names and tried.author in names),
    )


def _lane(result: LaneResult) -> LaneEvidence:
    return LaneEvidence(
        lane=result.lane,
        adapter=result.adapter,
        status=result.status,
        ended="" if result.status in ("completed", "no_changes") else _ended(result),
        patch=result.patch,
        usage=result.usage,
        seconds=result.seconds,
    )


def _unchecked(lane: LaneEvidence, held_back: Sequence[str]) -> LaneEvidence:
    """Where its race has recorded why its checks could not run, and none has since."""
    if lane.ended or lane.moved or lane.checks:
        return lane
    return replace(lane, ended=next(iter(held_back), ""))


def _ended(result: LaneResult) -> str:
    text = result.failure.message if result.failure else ""
    term = result.status.replace("_", " ")
    # Of an interrupted lane its message has the word, of an empty one its state.
    if text and (result.status == "interrupted" or result.patch is None or result.patch.empty):
        return text
    return f"{term}: {text}" if text else term
