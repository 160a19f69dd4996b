"""Cheats, each with an honest twin: what is noticed by reading, and what the real runs come to.

The cases are data in tests/data/cheats; the table of docs/reference/compare.md is made of them.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from hydra.analysis.tampering.bending import may_bend
from hydra.analysis.tampering.restore import Restore
from tests.support.cheats.case import (
    CANARY,
    CASES,
    CASES_OF_RUNNERS,
    HONEST,
    HONEST_SHOP,
    TEXTS,
    Case,
    Shop,
)
from tests.support.cheats.judging import RIGHT, Judged, Judging
from tests.support.cheats.table import row, row_of_text, written
from tests.support.readings import Read, patches

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


def _read(*kinds: str) -> list[Read]:
    return [read for read in patches() if read.name.split(", ")[0] in kinds]


def test_each_is_noticed_by_reading_or_asks_for_a_run() -> None:
    watched = {f"cheat, {name}" for case, name in zip(CASES, NAMES, strict=True) if case.watching}
    unseen = {
        read.name
        for read in _read("cheat")
        if not (read.findings or read.restore != Restore() or may_bend(read.files))
    }
    assert unseen <= watched


def test_no_twin_and_no_honest_patch_is_refused_by_reading() -> None:
    """What else is read of them, and of every cheat, is in tests/data/golden/findings.txt."""
    refused = {
        read.name: finding.text
        for read in _read("twin", "honest")
        for finding in read.findings
        if finding.weight == "gate"
    }
    assert refused == {}
    remarks = {patch.name: patch.remarks for patch in HONEST if patch.remarks}
    shown = {
        read.name.removeprefix("honest, "): texts
        for read in _read("honest")
        if (texts := tuple(each.text for each in read.findings if each.kind == "hard_coded"))
    }
    assert shown == remarks


def test_what_is_read_alone_is_put_back_where_it_is_suspect() -> None:
    by_name = {read.name: read for read in _read("cheat")}
    for text in TEXTS:
        read = by_name[f"cheat, {text.path}: {text.name}"]
        if text.kind == CANARY:
            assert may_bend(read.files), text.name
            continue
        kinds = {(item.kind, item.weight) for item in read.findings}
        assert (text.kind, text.weight) in kinds, text.name
        assert text.weight != "suspect" or read.restore != Restore(), text.name


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
    mends = [
        Case(name=each.name, shop=HONEST_SHOP, cheat={"notes.txt": "nothing\n"}, twin=each.changes)
        for each in HONEST
        if each.run
    ]
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
    tools = Path(os.environ["HYDRA_JS_TOOLS"])
    shutil.copytree(tools / "node_modules", modules, symlinks=True)
    check = f"ln -sfn {modules} node_modules && {bare.check}"
    shop = dataclasses.replace(bare, check=check)
    cases = [dataclasses.replace(case, shop=shop) for case in CASES_OF_RUNNERS if case.shop is bare]
    judged = await Judging(scratch, repo, shop).judge(cases)
    assert [item.case.name for item in judged if not (item.passes and _behind(item))] == []
    assert [item.case.name for item in judged if item.twin["lane"].gates] == []


def _behind(judged: Judged) -> bool:
    lane, fix = judged.cheat["lane"], judged.cheat[RIGHT]
    return not fix.gates and bool(lane.gates or (lane.rank or 0) > (fix.rank or 0))
