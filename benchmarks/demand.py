"""`--simulate`: our rule on made-up pools, held against what is demanded of it in every cell."""

from __future__ import annotations

import json
import multiprocessing
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.intervals import Interval, normal
from benchmarks.rules import RULES, pass1
from benchmarks.simulation import Cell, cells, pools, shouting

TASKS = 500
QUICK_TASKS = 60
MARGIN = 0.005
"""A cell misses where all of the interval of a difference is further below 0 than this."""

PEERS = ("most_passed", "codet")
"""What ours must not fall behind; where a right lane shouts, which all believe who count tests,
ours without the tests of that lane."""

TOGETHER = (8, 16)
"""The lanes for which ours must be above both, with all of the interval."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One cell: each rule's share of right winners, and ours minus a peer's, pool by pool."""

    cell: Cell
    shares: dict[str, float]
    differences: dict[str, list[float]]

    @property
    def misses(self) -> list[str]:
        """What ours falls behind here: a peer, or itself without the tests of a right lane."""
        demanded = ("without",) if self.cell.honest else PEERS
        return [item for item in demanded if normal(self.differences[item]).high < -MARGIN]


def run(quick: bool, as_json: bool, jobs: int) -> int:
    """Prints the table, or JSON; exit 1 where the demand is missed."""
    tasks = QUICK_TASKS if quick else TASKS
    item = [(cell, tasks) for cell in (*cells(quick), *shouting(quick))]
    with multiprocessing.get_context("spawn").Pool(jobs) as workers:
        measured = workers.starmap(measure, item, chunksize=1)
    document = _document(measured, tasks)
    print(json.dumps(document, indent=2) if as_json else _table(document))
    return 0 if document["met"] else 1


def measure(cell: Cell, tasks: int) -> Measured:
    """All rules on one cell. Of a cell with a lane that shouts: ours with and without its tests."""
    shares: dict[str, list[float]] = defaultdict(list)
    for pool in pools(cell, tasks):
        for name, rule in RULES.items():
            shares[name].append(pass1(pool, rule(pool)))
        if cell.shout:
            quiet = pool.without(cell.lanes - 1)
            shares["without"].append(pass1(pool, RULES["hydra"](quiet)))
    return Measured(
        cell,
        {name: sum(values) / tasks for name, values in shares.items()},
        {
            peer: [a - b for a, b in zip(shares["hydra"], shares[peer], strict=True)]
            for peer in ((*PEERS, "without") if cell.shout else PEERS)
        },
    )


def _document(measured: Sequence[Measured], tasks: int) -> dict[str, Any]:
    plain = [item for item in measured if not item.cell.shout]
    loud = [item for item in measured if item.cell.shout]
    missed = [
        {
            "cell": item.cell.name,
            "peer": peer,
            **item.shares,
            **_shown(normal(item.differences[peer])),
        }
        for item in measured
        for peer in item.misses
    ]
    together = {
        peer: _shown(_all(peer, (item for item in plain if item.cell.lanes in TOGETHER)))
        for peer in PEERS
    }
    shouted = {
        who: _shown(_all("without", (item for item in loud if item.cell.honest is honest)))
        for who, honest in (("wrong", False), ("right", True))
    }
    above = all(figure["low"] > 0 for figure in together.values())
    return {
        "tasks_a_cell": tasks,
        "cells": len(plain),
        "missed": missed,
        "together": together,
        "shouting": shouted,
        "met": above and not missed and shouted["right"]["high"] >= 0,
        "summary": _summary(plain, loud),
        "all": [{**asdict(item.cell), **item.shares} for item in measured],
    }


def _all(peer: str, measured: Iterable[Measured]) -> Interval:
    return normal([value for item in measured for value in item.differences[peer]])


def _summary(plain: Sequence[Measured], loud: Sequence[Measured]) -> list[dict[str, Any]]:
    """The mean of all cells that have one thing in common."""
    kinds: dict[str, list[Measured]] = defaultdict(list)
    for entry in plain:
        cell = entry.cell
        kinds[f"{cell.kind}: {cell.lanes} lanes"].append(entry)
        kinds[f"{cell.tests} tests a lane"].append(entry)
        kinds[f"right {cell.right:g}"].append(entry)
        kinds[f"true {cell.true:g}"].append(entry)
    for entry in loud:
        who = "right" if entry.cell.honest else "wrong"
        kinds[f"{entry.cell.lanes} lanes, a {who} one shouts"].append(entry)
    return [
        {"cells": name, **{rule: _mean(rule, ones) for rule in ones[0].shares}}
        for name, ones in sorted(kinds.items(), key=lambda item: _place(item[0]))
    ]


def _place(name: str) -> tuple[str, float]:
    item = name.replace(",", "").split()
    number = next(float(item) for item in item if item.replace(".", "").isdigit())
    return name.translate({ord(digit): None for digit in "0123456789."}), number


def _mean(rule: str, ones: Sequence[Measured]) -> float:
    return round(sum(item.shares[rule] for item in ones) / len(ones), 4)


def _table(document: dict[str, Any]) -> str:
    names = [*RULES, "without"]
    lines = [f"{document['cells']} cells of {document['tasks_a_cell']} tasks; pass@1 in percent"]
    lines.append(f"{'cells':<30}" + "".join(f"{name:>13}" for name in names))
    for row in document["summary"]:
        cells_of = "".join(f"{100 * row[name]:13.1f}" for name in names if name in row)
        lines.append(f"{row['cells']:<30}{cells_of}")
    lines.append("")
    for peer, figure in document["together"].items():
        lines.append(f"8 and 16 lanes together, hydra minus {peer}: {_points(figure)}")
    lines += [
        f"a {who} lane shouts, hydra with minus without its tests: {_points(figure)}"
        for who, figure in document["shouting"].items()
    ]
    lines.append(f"cells that miss the demand: {len(document['missed'])}")
    lines += [
        f"  {miss['cell']}: hydra minus {miss['peer']} {_points(miss)}"
        for miss in document["missed"]
    ]
    lines.append("met" if document["met"] else "NOT MET")
    return "\n".join(lines)


def _shown(interval: Interval) -> dict[str, float]:
    return {
        "difference": round(interval.mean, 5),
        "low": round(interval.low, 5),
        "high": round(interval.high, 5),
    }


def _points(figure: dict[str, float]) -> str:
    low, high = 100 * figure["low"], 100 * figure["high"]
    return f"{100 * figure['difference']:+.1f} ({low:+.1f} to {high:+.1f})"
