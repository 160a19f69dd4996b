"""Commits of a clone that mend code and say so in tests, tried before they are believed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.fixes.checkout import NEWEST, Checkout, Ends
from benchmarks.fixes.task import Task

MOST_COMMITS = 1200
"""So many commits are looked at, the newest first: older ones do not run on this Python."""

MOST_LINES = 80
"""More lines of source make a feature, not a fix."""

MOST_SECONDS = 12.0
"""A suite that takes longer is left out: a race runs it some thirty times."""


@dataclass(frozen=True, slots=True)
class Files:
    """What a commit changes, by its use: `tests` with the files that they read."""

    source: tuple[str, ...]
    tests: tuple[str, ...]


def mine(
    checkout: Checkout, *, tasks: int, changed: int, fits: Callable[[Task], bool]
) -> Iterator[Task]:
    """Up to so many fixes that fit, `changed` of them kept for those that contradict a test of the
    base."""
    item, left_changed = tasks - changed, changed
    entry = ("rev-list", "--no-merges", "--min-parents=1", f"-n{MOST_COMMITS}", NEWEST)
    for commit in checkout.git(*entry).split():
        if item <= 0 and left_changed <= 0:
            return
        files = files_of(checkout, commit)
        if files and item <= 0 and not _takes_from_tests(checkout, commit, files):
            continue  # it only adds to them: it contradicts none
        task = prove(checkout, commit, files) if files else None
        if task is None or task.seconds > MOST_SECONDS or not fits(task):
            continue
        if task.contradicted and left_changed > 0:
            left_changed -= 1
        elif item > 0:
            item -= 1
        else:
            continue
        yield task


def files_of(checkout: Checkout, commit: str) -> Files | None:
    """What it changes, where it is a small change of sources with tests."""
    item = checkout.git("diff", "--numstat", "--no-renames", f"{commit}^", commit)
    lines = 0
    source: list[str] = []
    tests: list[str] = []
    for line in item.splitlines():
        added, gone, path = line.split("\t")
        if not added.isdigit():
            continue  # not a text
        if any(f"{path}/".startswith(f"{place}/") for place in checkout.project["tests"]):
            tests.append(path)
        elif path.endswith(".py") and path.startswith(checkout.project["source"]):
            source.append(path)
            lines += int(added) + int(gone)
    fits = source and _collected(tests) and lines <= MOST_LINES
    return Files(tuple(source), tuple(tests)) if fits else None


def _takes_from_tests(checkout: Checkout, commit: str, files: Files) -> bool:
    item = ("diff", "-U0", "--no-renames", f"{commit}^", commit, "--", *files.tests)
    return bool(re.search(r"^-(?!--)", checkout.git(*item), re.MULTILINE))


def prove(checkout: Checkout, commit: str, files: Files) -> Task | None:
    """What running its tests says of it; None where it passes none that the base fails, twice, or
    fails one that the base passes."""
    base = f"{commit}^"
    new = {path: checkout.read(commit, path) for path in files.tests}
    old = {path: checkout.read(base, path) for path in files.tests}
    fixed = _ends(checkout, commit, {}, there(new))
    if fixed is None or fixed.failed or not fixed.passed:
        return None
    before = _ends(checkout, base, new, there(new))
    again = _ends(checkout, commit, {}, there(new))  # an id may tell the time of day
    telling = again.passed & fixed.passed - before.passed if before and again else set()
    if not telling:
        return None
    own = _ends(checkout, base, {}, there(old)) if there(old) else Ends({}, 0)
    put_back = _ends(checkout, commit, old, there(old)) if there(old) else Ends({}, 0)
    if own is None or put_back is None:
        return None
    contradicted = own.passed - put_back.passed  # a file that does not load names no test
    checkout.at(base)
    whole = checkout.tests()
    checkout.at(commit)
    after = checkout.tests()
    if whole is None or after is None or after.failed - whole.failed:
        return None
    print(
        f"{checkout.repository} {commit[:10]} telling {len(telling)} "
        f"contradicted {len(contradicted)} {whole.seconds:.1f} s",
        file=sys.stderr,
        flush=True,
    )
    if len(whole.failed) > len(whole.passed):
        return None
    return Task(
        repository=checkout.repository,
        commit=commit,
        telling=tuple(sorted(telling)[:20]),
        contradicted=tuple(sorted(contradicted)[:20]),
        seconds=round(whole.seconds, 1),
    )


def there(files: Mapping[str, str | None]) -> list[str]:
    """Files of tests that are not deleted."""
    return _collected([path for path, text in files.items() if text is not None])


def _collected(paths: Sequence[str]) -> list[str]:
    """Those that pytest collects by their names."""
    names = {path: path.rpartition("/")[2] for path in paths}
    return [
        path
        for path, name in names.items()
        if name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
    ]


def _ends(
    checkout: Checkout, commit: str, files: dict[str, str | None], paths: Sequence[str]
) -> Ends | None:
    if not paths:
        return None
    checkout.at(commit, files)
    return checkout.tests(paths)
