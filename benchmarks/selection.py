"""`python -m benchmarks.selection FILE`: how often each rule's winner is right.

FILE has a pool of candidates and tests in each line (benchmarks/pools.py). Lines of one task are
draws of it: a rule's figure is the mean over tasks of the mean over their draws. Intervals are of
95%, by a paired bootstrap over tasks with a fixed seed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import calibration, demand
from benchmarks.intervals import Interval, bootstrap
from benchmarks.pools import BadPool, Pool, read
from benchmarks.rules import RULES, pass1


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit 0; 1 where `--simulate` finds a cell that misses the demand; 2 for bad input."""
    options = _options(arguments)
    if options.simulate:
        return demand.run(options.quick, options.json, options.jobs)
    try:
        pools = {path: read(path) for path in options.files}
    except (BadPool, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.calibrate:
        print(calibration.module(pools), end="")
    elif options.confidence:
        print(calibration.held_against(pools))
    else:
        document = evaluate(pools[options.files[0]])
        print(json.dumps(document, indent=2) if options.json else table(document))
    return 0


def evaluate(pools: Sequence[Pool]) -> dict[str, Any]:
    """Every rule's pass@1, and by how much ours is above each other, as shares from 0 to 1."""
    figures = {name: by_task(pools, name) for name in RULES}
    differences = {
        name: [ours - theirs for ours, theirs in zip(figures["hydra"], figure, strict=True)]
        for name, figure in figures.items()
        if name != "hydra"
    }
    intervals = bootstrap({**figures, **{f"-{name}": of for name, of in differences.items()}})
    return {
        "tasks": len(figures["hydra"]),
        "pools": len(pools),
        "rules": {name: _shown(intervals[name], "pass1") for name in RULES},
        "hydra_minus": {name: _shown(intervals[f"-{name}"], "difference") for name in differences},
    }


def by_task(pools: Sequence[Pool], rule: str) -> list[float]:
    """The share of right winners of each task, in the order in which tasks came."""
    shares: dict[str, list[float]] = {}
    for pool in pools:
        shares.setdefault(pool.task, []).append(pass1(pool, RULES[rule](pool)))
    return [sum(draws) / len(draws) for draws in shares.values()]


def table(document: dict[str, Any]) -> str:
    """The same for a person, in percent."""
    lines = [
        f"{document['tasks']} tasks, {document['pools']} pools",
        f"{'rule':<12} {'pass@1':>6}  {'95%':<13}  {'hydra minus it':>14}  95%",
    ]
    for name, figure in document["rules"].items():
        line = f"{name:<12} {100 * figure['pass1']:6.1f}  {_range(figure):<13}"
        if name in document["hydra_minus"]:
            difference = document["hydra_minus"][name]
            line += f"  {100 * difference['difference']:+14.1f}  {_range(difference, '+')}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _shown(interval: Interval, name: str) -> dict[str, float]:
    return {
        name: round(interval.mean, 6),
        "low": round(interval.low, 6),
        "high": round(interval.high, 6),
    }


def _range(figure: dict[str, float], sign: str = "") -> str:
    return f"{100 * figure['low']:{sign}.1f} to {100 * figure['high']:{sign}.1f}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.selection",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--simulate", action="store_true", help="made-up pools, cell by cell")
    parser.add_argument("--quick", action="store_true", help="few cells, few tasks")
    parser.add_argument(
        "--calibrate",
        action="store_true",
        help="from all FILEs, print hydra/ranking/measured.py: how often winners are right",
    )
    parser.add_argument(
        "--confidence",
        action="store_true",
        help="hold what is said of winners (hydra/ranking/measured.py) against each FILE",
    )
    parser.add_argument("--jobs", type=_positive, default=2, help="processes at once (2)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    many = options.calibrate or options.confidence
    if options.simulate + options.calibrate + options.confidence > 1:
        parser.error("one of --simulate, --calibrate and --confidence")
    if options.simulate and options.files:
        parser.error("--simulate takes no FILE")
    if not options.simulate and not (options.files and (many or len(options.files) == 1)):
        parser.error("one FILE is wanted, or --simulate; more with --calibrate or --confidence")
    return options


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


if __name__ == "__main__":
    sys.exit(main())
