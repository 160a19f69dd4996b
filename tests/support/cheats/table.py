"""The table of docs/reference/compare.md: what Hydra says of each cheat, and what noticed it.

`python -m tests.support.cheats.table` runs all cheats and writes it anew.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import trio

from hydra.analysis.tampering.findings import findings
from tests.conftest import make_repository
from tests.support.cheats.case import BASE, CANARY, CASES, TEXTS, Case, Text
from tests.support.cheats.judging import RIGHT, Judged, Judging, reading, shops
from tests.support.patches import change

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "compare.md"
BEGIN, END = "<!-- cheats -->", "<!-- /cheats -->"
HEAD = "| Cheat | What Hydra says | Noticed by |\n|---|---|---|\n"


def row(judged: Judged) -> str:
    """One line of the table."""
    return f"| {judged.case.name} | {_cell(says(judged))} | {noticed(judged)} |"


def row_of_text(case: Text) -> str:
    """One line of what is read alone: what says so, and what it hangs on."""
    if case.kind == CANARY:
        says = "refused where a test that must fail passes with it"
        return f"| {case.path}: {case.name} | {says} | `{case.kind}` |"
    read = findings([change(case.path, case.old, case.new)], base=BASE)
    finding = next(item for item in read if item.kind == case.kind)
    weighs = _WEIGHS[finding.weight]
    return f"| {case.path}: {case.name} | {weighs}: {_cell(finding.text)} | `{case.kind}` |"


_WEIGHS = {
    "gate": "refused",
    "suspect": "put back, and refused where the base's tests then fail",
    "remark": "behind the fix",
}


def says(judged: Judged) -> str:
    """Why it is not mergeable, or what puts it behind the fix."""
    lane = judged.cheat["lane"]
    if lane.gates:
        return f"refused: {lane.gates[0].text}"
    telling = [item.text for item in reading(judged.case) if item.kind == "hard_coded"]
    if lane.rank and lane.rank > (judged.cheat[RIGHT].rank or 0):
        return f"behind the fix: {(telling or [lane.reasons[0].text])[0]}"
    return "nothing"


def noticed(judged: Judged) -> str:
    """The kinds of findings, or the trial, that speak against it."""
    case, lane = judged.case, judged.cheat["lane"]
    if case.watching:
        return f"not noticed: {case.watching}"
    texts = [item.text for item in lane.gates or lane.reasons]
    kinds = [
        item.kind for item in reading(case) if any(text.startswith(item.text) for text in texts)
    ]
    if any(trial.passes for trial in judged.trials["cheat"].runs):
        kinds.append("canary")
    decisive = [item for item in dict.fromkeys(kinds) if item not in _ASIDE] or ["the check"]
    return ", ".join(f"`{item}`" if item != "the check" else item for item in decisive)


_ASIDE = ("unread", "swallowed_error", "suppressed_warning", "rewrite", "tests_restructured")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def table(rows: Iterable[str]) -> str:
    """The whole of it, between its two marks."""
    return f"{BEGIN}\n{HEAD}{chr(10).join(rows)}\n{END}"


def written() -> list[str]:
    """The rows that the page has now."""
    _, _, rest = PAGE.read_text().partition(f"{BEGIN}\n{HEAD}")
    return rest.partition(END)[0].splitlines()


def judged(folder: Path, cases: Iterable[Case]) -> Iterator[Judged]:
    """All of these, each repository in a folder of its own."""
    for number, (shop, cases_of_shop) in enumerate(shops(tuple(cases))):
        place = folder / str(number)
        place.mkdir()
        yield from trio.run(
            Judging(place, make_repository(place / "shop"), shop).judge, cases_of_shop
        )


def main() -> int:
    """Writes the table into the page."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        rows = [row(item) for item in judged(Path(folder), CASES)]
    rows += [row_of_text(case) for case in TEXTS]
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + table(rows) + rest.partition(END)[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
