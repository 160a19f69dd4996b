"""All that comes of reading patches: cheats, honest patches, and those of tests/data/patches.

A row there has its files as `[path, before, after]`, false where a file is not there; `=name` is
one of the texts at the head, and `[cut, put]` the text before with that piece replaced.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hydra.analysis.notices.places import is_test
from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.syntax import read_syntax
from hydra.analysis.tampering.assertion_lines import asserts_alone
from hydra.analysis.tampering.bending import may_bend, may_reach
from hydra.analysis.tampering.commands import is_script
from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.named_data import data_alone
from hydra.analysis.tampering.restore import Restore, to_restore
from hydra.analysis.tampering.suite import tests_added, tests_changed
from hydra.records.request import Check
from tests.support.cheats import case as cheats
from tests.support.cheats.judging import changes
from tests.support.evidences import file
from tests.support.golden_text import alike

DATA = Path(__file__).parents[1] / "data" / "patches"


class Read(NamedTuple):
    """A patch, and what is read with it."""

    name: str
    files: Sequence[FileChange]
    checks: Sequence[Check] = ()
    untouched: Mapping[str, str] = {}
    base: Any = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        return findings(self.files, self.checks, untouched=self.untouched, base=self.base)

    @property
    def restore(self) -> Restore:
        return to_restore(self.files, self.checks)


@cache
def patches() -> tuple[Read, ...]:
    """Every patch that is read; their texts are parsed by one child."""
    every = (*_cheats(), *_rows())
    sides = [
        (side.path, text) for read in every for side in read.files for text in (side.old, side.new)
    ]
    for at in range(0, len(sides), 300):
        read_syntax([(path, text) for path, text in sides[at : at + 300] if text])
    return every


def readings() -> str:
    """A heading for each patch, and a line for each thing that comes of reading it; those of which
    the same comes have one entry."""
    text = alike((read.name, "".join(_lines(read))) for read in patches())
    return text.replace(f"{sys.implementation.cache_tag}.pyc", "PYTHON.pyc")


def _cheats() -> Iterator[Read]:
    for case in cheats.CASES:
        texts = {path: text for path, text in case.shop.base.items() if isinstance(text, str)}
        checks = [Check("tests", case.shop.check, "test")]
        for twin in (False, True):
            name = f"{'twin' if twin else 'cheat'}, {case.shop.language}: {case.name}"
            yield Read(name, changes(case, twin=twin), checks, _of_tests(texts), case.shop.base)
    for text in cheats.TEXTS:
        for kind, new in (("cheat", text.new), ("twin", text.twin)):
            name = f"{kind}, {text.path}: {text.name}"
            yield Read(name, [file(text.path, text.old, new)], base=cheats.BASE)
    for patch in cheats.HONEST:
        base = cheats.HONEST_BASE
        files = [file(path, base.get(path), text) for path, text in patch.changes.items()]
        others = {path: text for path, text in base.items() if path not in patch.changes}
        yield Read(f"honest, {patch.name}", files, cheats.HONEST_CHECKS, _of_tests(others), base)


def _of_tests(texts: Mapping[str, str]) -> Mapping[str, str]:
    return {path: text for path, text in texts.items() if is_test(path.encode()) or is_script(path)}


def _rows() -> Iterator[Read]:
    for path in sorted(DATA.glob("*.toml")):
        data = tomllib.loads(path.read_text("utf-8"))
        for row in data["patch"]:
            files = [file(name, *_sides(sides, data["text"])) for name, *sides in row["files"]]
            checks = [Check(f"c{at}", line) for at, line in enumerate(row.get("checks", ()))]
            name = f"{path.stem}, {row['name']}"
            yield Read(name, files, checks, row.get("untouched", {}), row.get("base", ()))


def _sides(sides: Sequence[Any], texts: Mapping[str, str]) -> tuple[str | None, str | None]:
    old, new = (_text(side, texts) for side in sides)
    if isinstance(new, list):
        cut, put = new
        assert isinstance(old, str)
        assert cut in old
        new = old.replace(cut, put, 1)
    return old, new


def _text(side: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(side, str) and side.startswith("="):
        return texts[side[1:]]
    return None if side is False else side


def _lines(read: Read) -> Iterator[str]:
    for finding in read.findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        tests = f" [{', '.join(finding.tests)}]" if finding.tests else ""
        yield f"  {finding.weight} {finding.kind} {place} {finding.text}{tests}\n"
    back = read.restore
    reach = [side.path for side in read.files if may_reach(side)]
    of_all = {
        "put back": [side.path for side in back.tests],
        "put back as settings": [side.path for side in back.settings],
        "tests changed": tests_changed(read.files),
        "tests added": tests_added(read.files),
        "may bend what runs": may_bend(read.files),
        "may change what others run on": reach,
        "lines that assert": ["alone"] if asserts_alone(read.files) else [],
        "data": ["alone"] if data_alone(read.files) else [],
    }
    yield from (f"  {name}: {', '.join(texts)}\n" for name, texts in of_all.items() if texts)
