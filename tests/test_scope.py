"""How far a patch reaches, in sentences."""

from __future__ import annotations

import pytest

from hydra.analysis.generated import generated, vendored
from hydra.analysis.patch import FileChange, Finding
from hydra.ranking.scope import scope
from tests.support.tables import table_rows

FILE = "100644"


def change(
    path: str, old: str | None = "a\n", new: str | None = "b\n", lines: int = 1
) -> FileChange:
    return FileChange(
        path=path,
        old_mode="" if old is None else FILE,
        new_mode="" if new is None else FILE,
        old=old,
        new=new,
        insertions=lines,
        deletions=0,
    )


@pytest.mark.parametrize("is_so", [True, False])
def test_generated(is_so: bool) -> None:
    for path, text in table_rows("generated", "generated" if is_so else "not_generated"):
        assert generated(path, text) is is_so, path


@pytest.mark.parametrize("is_so", [True, False])
def test_vendored(is_so: bool) -> None:
    for path in table_rows("generated", "vendored" if is_so else "not_vendored"):
        assert vendored(path) is is_so, path


def found(kind: str, lane: str, lanes: dict[str, list[FileChange]]) -> list[Finding]:
    return [finding for finding in scope(lane, lanes) if finding.kind == kind]


def test_files_that_nobody_else_touched() -> None:
    lanes = {
        "a": [change(path) for path in ("e", "d", "c", "b", "x")],
        "b": [change("x"), change("y")],
    }
    finding = found("alone", "a", lanes)[0]
    assert (finding.text, finding.path) == ("is alone in touching 4 files: b, c, d and 1 more", "")
    finding = found("alone", "b", lanes)[0]
    assert (finding.text, finding.path) == ("is alone in touching y", "y")
    assert scope("a", {"a": lanes["a"]}) == ()


def test_what_is_gone_is_named_unless_it_moved_or_is_told_of_elsewhere() -> None:
    gone = [change(path, new=None) for path in ("prices.txt", "tests/test_a.py", "vendor/a.go")]
    moved = [change("src/a.py", new=None), change("lib/a.py", old=None, new="a = 2\n")]
    (finding,) = found("deleted", "a", {"a": [*gone, *moved]})
    assert (finding.text, finding.path) == ("deletes prices.txt", "prices.txt")


def test_generated_and_vendored_files_are_named() -> None:
    lanes = {"a": [change("a_pb2.py"), change("vendor/b.go"), change("vendor/a.go", new=None)]}
    assert [(finding.kind, finding.text, finding.path) for finding in scope("a", lanes)] == [
        ("generated", "changes a generated file: a_pb2.py", "a_pb2.py"),
        ("vendored", "changes 2 vendored files: vendor/a.go, vendor/b.go", ""),
    ]
