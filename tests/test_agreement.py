"""Patches that are the same but for their form, and what several of them changed."""

from __future__ import annotations

import ast
import hashlib
import itertools
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hydra
from hydra.analysis.equivalence.groups import groups, normal_forms, same
from hydra.analysis.equivalence.model import Group, Shared
from hydra.analysis.equivalence.overlap import alone, shared
from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import read_syntax
from tests.support.tables import table

FILE, EXECUTABLE = "100644", "100755"


def oid(text: str) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass")).hexdigest()


def change(path: str, old: str | None, new: str | None, mode: str = FILE) -> FileChange:
    return FileChange(
        path=path,
        old_mode="" if old is None else FILE,
        new_mode="" if new is None else mode,
        old_oid="" if old is None else oid(old),
        new_oid="" if new is None else oid(new),
        old=old,
        new=new,
    )


def trees(lanes: dict[str, list[FileChange]]) -> dict[str, str]:
    """A name for each tree, as git would give it."""
    seen = {
        lane: repr(sorted((file.path, file.new_mode, file.new_oid) for file in files))
        for lane, files in lanes.items()
    }
    return {lane: oid(text) for lane, text in seen.items()}


SAME = table("agreement", "same")  # fmt: skip

OTHER = table("agreement", "other")  # fmt: skip


def told_apart(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str, str], bool]:
    """Which of these pairs of texts are not the same; all are parsed by one child."""
    rows = [*rows]
    read_syntax([(path, text) for path, *texts in rows for text in texts])
    return {row: not same(*row) for row in rows}


def test_form_is_not_told() -> None:
    assert [row for row, differs in told_apart(SAME).items() if differs] == []


def test_what_differs_is_told() -> None:
    assert [row for row, differs in told_apart(OTHER).items() if not differs] == []


def test_bytes_that_are_no_characters_differ() -> None:
    assert not same("a.py", "x = 1  # \udc80\n", "x = 1  # \udc81\n")


def test_python_is_the_same_program_only_where_its_own_parser_says_so() -> None:
    paths = sorted(Path(hydra.__file__).parent.rglob("[!_]*.py"))
    texts = [path.read_text() for path in paths if path.stat().st_size < 12_000][::9]
    # A line more, a line less, one that stands elsewhere: what a reader without a grammar trips on.
    others = [
        text.replace(old, new, 1)
        for text in texts
        for old, new in (
            ("\n\n\n", "\n# c\n"),
            ("\n    return", "\n        return"),
            ("(self", "(\nself"),
        )
    ]
    forms = normal_forms(("a.py", text) for text in (*texts, *others))
    trees: dict[str, set[str]] = {}
    for (_, text), form in forms.items():
        try:
            trees.setdefault(form, set()).add(ast.dump(ast.parse(text)))
        except SyntaxError:
            trees.setdefault(form, set()).add(text)
    assert len(trees) > len(texts) / 2
    assert all(len(programs) == 1 for programs in trees.values())


BASE = "def f():\n    return 1\n"


def group(kind: str, *lanes: str) -> Group:
    return Group(kind=kind, lanes=lanes)  # type: ignore[arg-type]


def test_groups_of_identical_and_of_equivalent() -> None:
    lanes = {
        "d": [change("a.py", BASE, "def f():\n    return 2  # two\n")],
        "a": [change("a.py", BASE, "def f():\n    return 2\n")],
        "c": [change("a.py", BASE, "def f():\n    return 3\n")],
        "b": [change("a.py", BASE, "def f():\n    return 2\n")],
    }
    assert groups(lanes, trees(lanes)) == (
        group("identical", "a", "b"),
        group("equivalent", "a", "b", "d"),
    )


def test_identical_alone_are_not_called_equivalent_too() -> None:
    lanes = {name: [change("a.py", BASE, "x\n")] for name in "ab"}
    assert groups(lanes, trees(lanes)) == (group("identical", "a", "b"),)


def test_a_file_that_only_one_touches_without_a_word_changes_nothing() -> None:
    lanes = {
        "a": [change("a.py", BASE, "y = 1\n")],
        "b": [change("a.py", BASE, "y = 1\n"), change("b.py", BASE, "# f\n" + BASE)],
        "c": [change("a.py", BASE, "y = 1\n"), change("b.py", None, "")],
        "d": [change("a.py", BASE, "y = 1\n"), change("b.py", BASE, None)],
    }
    assert groups(lanes, trees(lanes)) == (group("equivalent", "a", "b"),)


def test_modes_links_and_what_nobody_reads_are_compared_as_they_are() -> None:
    run = change("a.py", BASE, "y = 1\n", EXECUTABLE)
    plain = change("a.py", BASE, "y=1\n")
    assert groups({"a": [run], "b": [plain]}, {}) == ()
    binary = [
        FileChange(path="a.png", new_mode=FILE, new_oid=oid(name), binary=True) for name in "12"
    ]
    assert groups({"a": [binary[0]], "b": [binary[1]]}, {"a": "1", "b": "2"}) == ()
    unknown = FileChange(path="a.png", new_mode=FILE, binary=True)
    assert groups({"a": [unknown], "b": [unknown]}, {}) == ()
    links = [change("a.py", None, text, "120000") for text in ("x #1", "x #2")]
    assert groups({"a": [links[0]], "b": [links[1]]}, {}) == ()


def test_trees_that_differ_where_nothing_is_seen_to_differ_are_apart() -> None:
    lanes = {name: [change("a.py", BASE, "y = 1\n")] for name in "ab"}
    assert groups(lanes, {"a": "1", "b": "2"}) == ()


def test_lanes_without_a_patch_are_in_no_group() -> None:
    assert groups({"a": [], "b": []}, {"a": "1", "b": "1"}) == ()
    assert groups({}, {}) == ()


VARIANTS = ["x = 1\n", "x=1\n", "x = 1  # c\n", "x = 2\n", "x = (2)\n", BASE, "# c\n" + BASE]
patches = st.dictionaries(
    st.sampled_from(["a.py", "b.py"]), st.sampled_from(VARIANTS[:-1]), min_size=1
)


@given(st.lists(patches, min_size=2, max_size=6), st.permutations(range(6)))
def test_groups_are_classes_and_names_change_nothing(
    many: list[dict[str, str]], order: list[int]
) -> None:
    def lanes_of(names: Iterable[str]) -> dict[str, list[FileChange]]:
        return {
            name: [change(path, BASE, text) for path, text in patch.items()]
            for name, patch in zip(names, many, strict=False)
        }

    lanes = lanes_of("abcdef")
    bunches = groups(lanes, trees(lanes))
    for kind in ("identical", "equivalent"):
        names = [lane for bunch in bunches if bunch.kind == kind for lane in bunch.lanes]
        assert len(names) == len(set(names))
    assert all(
        len(bunch.lanes) > 1 and list(bunch.lanes) == sorted(bunch.lanes) for bunch in bunches
    )
    # Two lanes are together in a pair if and only if they are together among all.
    together = {
        frozenset(pair) for bunch in bunches for pair in itertools.combinations(bunch.lanes, 2)
    }
    for pair in itertools.combinations(lanes, 2):
        two = {name: lanes[name] for name in pair}
        assert bool(groups(two, trees(two))) == (frozenset(pair) in together)
    others = lanes_of("abcdef"[place] for place in order)
    renamed = dict(zip("abcdef", ("abcdef"[place] for place in order), strict=True))
    assert {
        (bunch.kind, frozenset(renamed[lane] for lane in bunch.lanes)) for bunch in bunches
    } == {(bunch.kind, frozenset(bunch.lanes)) for bunch in groups(others, trees(others))}


PAGER = '''"""Pages."""
import os

LIMIT = 3

class Pager:
    size = 10

    def page(self, n):
        """
def not_here(): pass
        """
        def inner():
            return n

        return inner()

    @property
    def count(self):
        return 3


def free():
    return 1
'''


def test_shared_names_the_narrowest_thing_that_lanes_have_in_common() -> None:
    lanes = {
        "d": [change("a.py", PAGER, PAGER.replace("return n", "return 4"))],
        "a": [change("a.py", PAGER, PAGER.replace("return n", "return 5"))],
        "b": [change("a.py", PAGER, PAGER.replace("return inner()", "return 1"))],
        "c": [change("a.py", PAGER, PAGER.replace("return 1", "return 2"))],
    }
    assert shared(lanes) == (Shared(path="a.py", name="Pager.page", lanes=("a", "b", "d")),)
    rows = {
        "a": [change("a.py", PAGER, PAGER.replace("return n", "return 5"))],
        "b": [change("a.py", PAGER, PAGER.replace("return 3", "return 6"))],
    }
    assert shared(rows) == (Shared(path="a.py", name="Pager", lanes=("a", "b")),)
    far = {
        "a": [change("a.py", PAGER, PAGER.replace("return 1", "return 5"))],
        "b": [change("a.py", PAGER, PAGER.replace("return 3", "return 6"))],
    }
    assert shared(far) == (Shared(path="a.py", name="", lanes=("a", "b")),)
    assert shared({"a": far["a"]}) == ()


def test_shared_puts_what_most_lanes_changed_first() -> None:
    lanes = {name: [change("b.py", None, "x\n")] for name in "abc"}
    lanes["a"] = [*lanes["a"], change("a.bin", None, None)]
    lanes["b"] = [*lanes["b"], change("a.bin", None, None)]
    assert [(overlap.path, overlap.lanes) for overlap in shared(lanes)] == [
        ("b.py", ("a", "b", "c")),
        ("a.bin", ("a", "b")),
    ]


def test_alone_names_what_no_other_lane_touched() -> None:
    lanes = {
        "a": [change("x", "1", "2"), change("z", "1", "2"), change("y", "1", "2")],
        "b": [change("x", "1", "3")],
        "c": [],
    }
    assert alone(lanes) == {"a": ("y", "z"), "b": ()}
    assert alone({"a": lanes["a"], "c": []}) == {}


@pytest.mark.parametrize(
    ("path", "old", "new", "name"),
    table("agreement", "what_two_lanes_changed_is_named_in_each_language"),
)
def test_what_two_lanes_changed_is_named_in_each_language(
    path: str, old: str, new: str, name: str
) -> None:
    lanes = {lane: [change(path, old, new)] for lane in "ab"}
    assert [(overlap.name, overlap.lanes) for overlap in shared(lanes)] == [(name, ("a", "b"))]
