"""`python -m benchmarks.fixes mine|race|score|separate|calibrate`: see benchmarks/README.md."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.fixes import mining, task
from benchmarks.fixes.checkout import GATING, PROJECTS, Checkout


def main() -> int:
    """Exit 1 where something could not be done for one of the projects or tasks."""
    options = _options()
    work: dict[str, object] = {
        "mine": _mine,
        "race": _race,
        "score": _score,
        "separate": _separate,
        "calibrate": _calibrate,
    }
    chosen = work[options.what]
    assert callable(chosen)
    return int(chosen(options))


def _mine(options: argparse.Namespace) -> int:
    from benchmarks.fixes.roles import EVERY, lanes

    def fits(item: task.Task) -> bool:
        return not options.gating or len(lanes(item, checkout, EVERY)) == len(EVERY)

    exit = 0
    item = {item.name: item for item in task.read(options.list)} if options.list.exists() else {}
    for repository in options.projects or (GATING if options.gating else PROJECTS):
        checkout = Checkout(options.clones, options.work, repository)
        try:
            checkout.make()
            numbers = {"tasks": options.tasks, "changed": options.changed}
            for entry in mining.mine(checkout, **numbers, fits=fits):
                item[entry.name] = entry
                task.write(item.values(), options.list)
        except (subprocess.CalledProcessError, OSError) as problem:
            print(f"{repository}: {problem}", file=sys.stderr)
            exit = 1
    return exit


def _race(options: argparse.Namespace) -> int:
    from benchmarks.fixes.races import race
    from benchmarks.fixes.roles import EVERY, PARTIAL

    def run(item: task.Task, clones: Path, work: Path, runs: Path) -> None:
        race(item, clones, work, runs, roles, needs=roles)

    roles = EVERY if options.gating else PARTIAL if options.partial else ()
    return _each(options, task.of_half(task.read(options.list), options.half), run)


def _separate(options: argparse.Namespace) -> int:
    from benchmarks.fixes.separating import separate, table

    # Where an old test must change, no right patch without tests is mergeable.
    tasks = task.of_half(task.read(options.list), options.half)
    exit = _each(options, (item for item in tasks if not item.contradicted), separate)
    print(table(options.runs))
    return exit


def _each(
    options: argparse.Namespace,
    tasks: Iterable[task.Task],
    work: Callable[[task.Task, Path, Path, Path], None],
) -> int:
    exit = 0
    for item in tasks:
        if options.projects and item.repository not in options.projects:
            continue
        try:
            work(item, options.clones, options.work, options.runs)
        except (subprocess.SubprocessError, OSError, ValueError) as problem:
            print(f"{item.name}: {problem}", file=sys.stderr)
            exit = 1
    return exit


def _score(options: argparse.Namespace) -> int:
    from benchmarks.fixes.scores import score

    print(score(options.runs, options.half))
    return 0


def _calibrate(options: argparse.Namespace) -> int:
    from benchmarks.fixes.chances import calibrate

    print(calibrate([options.runs, *filter(Path.is_dir, [options.runs.with_name("partial")])]))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixes")
    kinds = ["mine", "race", "score", "separate", "calibrate"]
    parser.add_argument("what", choices=kinds)
    parser.add_argument("projects", nargs="*", help="owner/name; all by default")
    parser.add_argument("--clones", type=Path, default=Path("clones"), help="a folder of clones")
    parser.add_argument("--work", type=Path, default=Path("work"), help="checkouts and venvs")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the races that were run")
    item = "what needs no clones, where a fix gives every lane"
    parser.add_argument("--gating", action="store_true", help=item)
    parser.add_argument("--list", type=Path, help="of tasks; else the one that is kept here")
    parser.add_argument("--half", choices=["", "design", "confirm"], default="")
    parser.add_argument("--tasks", type=int, default=10, help="of one project")
    parser.add_argument("--changed", type=int, default=5, help="that change an expectation")
    item = "race what is wrong and brings tests of its own, in a folder of --runs of its own"
    parser.add_argument("--partial", action="store_true", help=item)
    options = parser.parse_args()
    options.list = options.list or (task.GATING if options.gating else task.LIST)
    for name in ("clones", "work", "runs", "list"):
        setattr(options, name, getattr(options, name).absolute())
    return options


if __name__ == "__main__":
    sys.exit(main())
