"""`--calibrate`: how often winners are right, by where they stand, for hydra/ranking/measured.py.

`--confidence` holds that table against pools: what it says of winners, and how often it is so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.pools import Pool
from benchmarks.rules import RULES, pass1, winners
from hydra.ranking.confidence import WinnerKind, confidence, situation

_HEAD = '''"""How often winners were right, on published samples (docs/why/selection.md says which).

Written by `python -m benchmarks.selection --calibrate FILE...`: do not edit. From {pools} pools:
{names}.
"""

from __future__ import annotations

WINNERS: dict[tuple[int, int, bool], tuple[int, float]] = {{
    # lanes, those that agree, tied: winners measured, share of them that was right
'''


def module(files: Mapping[Path, Sequence[Pool]]) -> str:
    """The text of hydra/ranking/measured.py. Every file weighs as much as any other."""
    numbers: Counter[WinnerKind] = Counter()
    weights: dict[WinnerKind, float] = defaultdict(float)
    right: dict[WinnerKind, float] = defaultdict(float)
    for pools in files.values():
        for pool in pools:
            scores = RULES["hydra"](pool)
            case = situation(len(scores), pool.tests, winners(scores), pool.counts)
            if case is not None:
                numbers[case] += 1
                weights[case] += 1 / len(pools)
                right[case] += pass1(pool, scores) / len(pools)
    lines = [
        f"    ({case.lanes}, {case.agree}, {case.tied}): "
        f"({numbers[case]}, {right[case] / weights[case]:.2f}),\n"
        for case in sorted(numbers)
    ]
    names = ", ".join(path.stem for path in files)
    head = _HEAD.format(pools=sum(map(len, files.values())), names=names)
    return head + "".join(lines) + "}\n"


def held_against(files: Mapping[Path, Sequence[Pool]]) -> str:
    """A few lines for each file."""
    return "\n".join(_held(path.stem, pools) for path, pools in files.items())


def _held(name: str, pools: Sequence[Pool]) -> str:
    numbers: Counter[str] = Counter()
    item: dict[str, float] = defaultdict(float)
    right: dict[str, float] = defaultdict(float)
    for pool in pools:
        scores = RULES["hydra"](pool)
        shown = confidence(len(scores), pool.tests, winners(scores), pool.counts)
        numbers[shown.word] += 1
        item[shown.word] += shown.share or 0.0
        right[shown.word] += pass1(pool, scores)
    lines = [name]
    for entry in ("high", "fair", "low", "unknown"):
        if number := numbers[entry]:
            this_item = "  -" if entry == "unknown" else f"{100 * item[entry] / number:3.0f}"
            share = f"{100 * right[entry] / number:3.0f}"
            lines.append(f"  {entry:<8}{number:7} winners, said {this_item}%, right {share}%")
    return "\n".join(lines)
