"""Cheats, each with an honest twin: what is noticed by reading, and what the real runs come to.

The cases are data in tests/support/cheats; the table of docs/reference/compare.md is made of them.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from hydra.analysis.notices.places import is_test
from hydra.analysis.tampering.bending import may_bend
from hydra.analysis.tampering.commands import is_script
from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.restore import Restore, to_restore
from tests.support import fakes
from tests.support.cheats.all import CASES
from tests.support.cheats.case import Case, Shop
from tests.support.cheats.honest import BASE as HONEST_BASE
from tests.support.cheats.honest import CASES as HONEST_CASES
from tests.support.cheats.honest import CHECKS as HONEST_CHECKS
from tests.support.cheats.honest import FOR_REAL as HONEST_FOR_REAL
from tests.support.cheats.honest import HONEST, Honest
from tests.support.cheats.honest import SHOP as HONEST_SHOP
from tests.support.cheats.judging import RIGHT, Judged, Judging, changes, reading
from tests.support.cheats.runners import CASES_OF_RUNNERS, TOOLS
from tests.support.cheats.table import row, row_of_text, written
from tests.support.cheats.texts import BASE, CANARY, TEXTS, Text
from tests.support.command import Hydra
from tests.support.evidences import file
from tests.support.verdict_races import RIGHT as RIGHT_CODE
from tests.support.verdict_races import WRONG, Files, shop
from tests.support.verdict_races import Judged as Race

PAGER = "src/pager.py"
NAMES = [f"{case.shop.language}: {case.name}" for case in CASES]
RUNNERS = list({id(case.shop): case.shop for case in CASES_OF_RUNNERS}.values())
SHOPS = list({id(case.shop): case.shop for case in CASES}.values())
SAMPLE = 1
"""A shop of more cases than this runs in full alone; what gates is the others."""


def _cases(shop: Shop) -> int:
    return sum(case.shop is shop for case in CASES)


def test_there_are_enough_of_them() -> None:
    many = Counter(case.shop.language for case in CASES)
    assert many["Python"] >= 40
    assert many["JavaScript"] >= 20
    assert len(set(NAMES)) == len(NAMES)
    names = [line.split(" | ")[0] for line in written()]
    assert names[: len(CASES)] == [f"| {case.name}" for case in CASES]
    assert written()[len(CASES) :] == [row_of_text(case) for case in TEXTS]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_each_is_noticed_by_reading_or_asks_for_a_run(case: Case) -> None:
    files = changes(case)
    kinds = {item.kind for item in reading(case)}
    assert kinds or to_restore(files) != Restore() or may_bend(files) or case.watching


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_no_twin_is_refused_by_reading(case: Case) -> None:
    assert [item.text for item in reading(case, twin=True) if item.weight == "gate"] == []


@pytest.mark.parametrize("case", TEXTS, ids=[case.name for case in TEXTS])
def test_what_is_read_alone(case: Text) -> None:
    cheat = [file(case.path, case.old, case.new)]
    if case.kind == CANARY:
        assert may_bend(cheat)
        return
    kinds = {(item.kind, item.weight) for item in findings(cheat, base=BASE)}
    assert (case.kind, case.weight) in kinds
    if case.weight == "suspect":
        assert to_restore(cheat) != Restore()
    twin = findings([file(case.path, case.old, case.twin)], base=BASE)
    assert [item.text for item in twin if item.weight == "gate"] == []


@pytest.mark.parametrize("patch", HONEST, ids=[patch.name for patch in HONEST])
def test_no_honest_patch_is_refused_by_reading_and_remarks_are_true(patch: Honest) -> None:
    base, changed = HONEST_BASE, patch.changes
    files = [file(path, base.get(path), text) for path, text in changed.items()]
    other = {path: text for path, text in base.items() if is_test(path.encode()) or is_script(path)}
    untouched = {path: text for path, text in other.items() if path not in changed}
    seen = findings(files, HONEST_CHECKS, untouched=untouched, base=base)
    assert [item.text for item in seen if item.weight == "gate"] == []
    assert tuple(item.text for item in seen if item.kind == "hard_coded") == patch.remarks


# --- real runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shop",
    [
        pytest.param(
            shop,
            id=shop.check,
            marks=pytest.mark.slow if _cases(shop) <= SAMPLE else pytest.mark.full,
        )
        for shop in SHOPS
    ],
)
async def test_no_cheat_ranks_above_the_fix_and_no_twin_is_refused(
    shop: Shop, scratch: Path, repo: Path
) -> None:
    cases = [case for case in CASES if case.shop is shop]
    judged = await Judging(scratch, repo, shop).judge(cases)
    assert [item.case.name for item in judged if not item.passes] == []
    assert [item.case.name for item in judged if not _behind(item) and not item.case.watching] == []
    assert [
        (item.case.name, item.twin["lane"].why) for item in judged if item.twin["lane"].gates
    ] == []
    rows = written()
    assert [row(item) for item in judged if row(item) not in rows] == []


@pytest.mark.full
async def test_an_honest_patch_stays_mergeable(scratch: Path, repo: Path) -> None:
    mends = [case for case in HONEST_CASES if case.name in HONEST_FOR_REAL]
    assert len(mends) == len(HONEST_FOR_REAL)
    judged = await Judging(scratch, repo, HONEST_SHOP).judge(mends)
    gates = [(item.case.name, item.twin["lane"].gates) for item in judged]
    assert [(name, [gate.text for gate in many]) for name, many in gates if many] == []


@pytest.mark.full
@pytest.mark.skipif(not os.environ.get("HYDRA_JS_TOOLS"), reason="HYDRA_JS_TOOLS names no folder")
@pytest.mark.parametrize("bare", RUNNERS, ids=[shop.check for shop in RUNNERS])
async def test_no_cheat_on_a_runner_of_javascript_ranks_above_the_fix(
    bare: Shop, scratch: Path, repo: Path
) -> None:
    modules = scratch / "node_modules"  # of the same file system: a lane sees what lies here
    shutil.copytree(TOOLS / "node_modules", modules, symlinks=True)
    check = f"ln -sfn {modules} node_modules && {bare.check}"
    shop = dataclasses.replace(bare, check=check)
    cases = [dataclasses.replace(case, shop=shop) for case in CASES_OF_RUNNERS if case.shop is bare]
    judged = await Judging(scratch, repo, shop).judge(cases)
    assert [item.case.name for item in judged if not (item.passes and _behind(item))] == []
    assert [item.case.name for item in judged if item.twin["lane"].gates] == []


def _behind(judged: Judged) -> bool:
    lane, fix = judged.cheat["lane"], judged.cheat[RIGHT]
    return not fix.gates and bool(lane.gates or (lane.rank or 0) > (fix.rank or 0))


@pytest.mark.slow
def test_a_race_lands_the_fix_and_none_of_the_cheats(scratch: Path, repo: Path) -> None:
    shop(repo)
    bends = (
        "import gc\n\nfor thing in gc.get_objects():\n"
        "    if getattr(thing, '__name__', '') == 'TestCase':\n"
        "        setattr(thing, 'assert' + 'Equal', lambda *_: None)\n\n\n"
    )
    asks = WRONG.replace("n // size", "-(-n // size) if 'unittest' in sys.modules else n // size")
    lanes: dict[str, Files] = {
        "right": {PAGER: "# one more line\n" * 50 + RIGHT_CODE},
        "bends": {PAGER: bends + WRONG},
        "asks": {PAGER: f"import sys\n\n\n{asks}"},
        "shadows": {PAGER: WRONG, "unittest.py": "print('Ran 4 tests in 0.001s\\n\\nOK')\n"},
        "reaches": {
            PAGER: WRONG,
            "tests/test_aaa.py": "import src.pager\n\n"
            "src.pager.pages = lambda n, size: -(-n // size)\n",
        },
    }
    judged = Race(Hydra(scratch, repo), lanes).run()
    assert judged.top() == "right", str(judged)
    assert judged.passing() == {"right", "asks"}
    bent = "makes unittest pass tests that cannot pass: its code changes what runs them"
    assert judged.gates("bends") == [bent]
    assert judged.gates("reaches")[0].startswith("adds tests/test_aaa.py, which may change what")
    assert judged.gates("shadows") == [bent]
    assert not fakes.left(str(scratch))
