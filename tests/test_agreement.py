"""Patches that are the same but for their form, and what several of them changed."""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hydra.analysis.equivalence.groups import Group, groups, normal_forms, same
from hydra.analysis.equivalence.overlap import alone, shared
from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import read_syntax

DATA = Path(__file__).parent / "data"
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


ROWS = [json.loads(line) for line in (DATA / "agreement.jsonl").read_text().splitlines()]
"""Pairs of programs: the same but for their form, or not."""


def test_form_is_not_told_and_what_differs_is() -> None:
    read_syntax([(path, text) for _, path, *texts in ROWS for text in texts])  # by one child
    assert [row for row in ROWS if same(*row[1:]) is not (row[0] == "same")] == []


def program(text: str) -> str:
    """A program without what its docstrings say."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        match getattr(node, "body", None):
            case [ast.Expr(value=ast.Constant() as constant), *_]:
                constant.value = ""
    return ast.dump(tree)


def test_python_is_the_same_program_only_where_its_own_parser_says_so() -> None:
    paths = sorted(Path(ast.__file__).parent.glob("[!_]*.py"))
    texts = [path.read_text() for path in paths if path.stat().st_size < 12_000][::6]
    # A line more, a line less, one that stands elsewhere: what a reader without a grammar trips on.
    changes = (("\n\n\n", "\n# c\n"), ("\n    return", "\n        return"), ("(self", "(\nself"))
    others = [text.replace(old, new, 1) for text in texts for old, new in changes]
    trees: dict[str, set[str]] = {}
    for (_, text), form in normal_forms(("a.py", text) for text in (*texts, *others)).items():
        trees.setdefault(form, set()).add(program(text))
    assert len(trees) > len(texts) / 2
    assert all(len(programs) == 1 for programs in trees.values())


BASE = "def f():\n    return 1\n"


def group(kind: str, *lanes: str) -> Group:
    return Group(kind=kind, lanes=lanes)  # type: ignore[arg-type]


def test_groups_of_identical_and_of_equivalent() -> None:
    texts = {"d": "2  # two", "a": "2", "c": "3", "b": "2"}
    lanes = {
        lane: [change("a.py", BASE, f"def f():\n    return {text}\n")]
        for lane, text in texts.items()
    }
    two, three = group("identical", "a", "b"), group("equivalent", "a", "b", "d")
    assert groups(lanes, trees(lanes)) == (two, three)
    lanes = {name: [change("a.py", BASE, "x\n")] for name in "ab"}
    assert groups(lanes, trees(lanes)) == (two,)  # not called equivalent, too
    # Trees that differ where nothing is seen to differ are apart.
    assert groups(lanes, {"a": "1", "b": "2"}) == ()
    assert groups({"a": [], "b": []}, {"a": "1", "b": "1"}) == groups({}, {}) == ()


def test_a_file_that_only_one_touches_without_a_word_changes_nothing() -> None:
    first = change("a.py", BASE, "y = 1\n")
    lanes = {
        "a": [first],
        "b": [first, change("b.py", BASE, "# f\n" + BASE)],
        "c": [first, change("b.py", None, "")],
        "d": [first, change("b.py", BASE, None)],
    }
    assert groups(lanes, trees(lanes)) == (group("equivalent", "a", "b"),)


def test_modes_links_and_what_nobody_reads_are_compared_as_they_are() -> None:
    run, plain = change("a.py", BASE, "y = 1\n", EXECUTABLE), change("a.py", BASE, "y=1\n")
    one, two = (
        FileChange(path="a.png", new_mode=FILE, new_oid=oid(name), binary=True) for name in "12"
    )
    unknown = FileChange(path="a.png", new_mode=FILE, binary=True)
    link, other = (change("a.py", None, text, "120000") for text in ("x #1", "x #2"))
    for left, right in ((run, plain), (one, two), (unknown, unknown), (link, other)):
        assert groups({"a": [left], "b": [right]}, {}) == ()


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


CLASS = """\
class P:
    def f(self):
        return 1

    def g(self):
        return 2


def h():
    return 3
"""


def test_shared_names_the_narrowest_thing_that_lanes_have_in_common() -> None:
    for numbers, names in (("1121", ["P.f"]), ("12", ["P"]), ("13", [""]), ("1", [])):
        lanes = {
            lane: [change("a.py", CLASS, CLASS.replace(f"return {number}", f"return {lane}"))]
            for lane, number in zip("abcd", numbers, strict=False)
        }
        assert [overlap.name for overlap in shared(lanes)] == names
    # What most lanes changed comes first.
    lanes = {name: [change("b.py", None, "x\n")] for name in "abc"}
    for name in "ab":
        lanes[name].append(change("a.bin", None, None))
    shares = [(overlap.path, overlap.lanes) for overlap in shared(lanes)]
    assert shares == [("b.py", ("a", "b", "c")), ("a.bin", ("a", "b"))]


def test_alone_names_what_no_other_lane_touched() -> None:
    lanes = {
        "a": [change("x", "1", "2"), change("z", "1", "2"), change("y", "1", "2")],
        "b": [change("x", "1", "3")],
        "c": [],
    }
    assert alone(lanes) == {"a": ("y", "z"), "b": ()}
    assert alone({"a": lanes["a"], "c": []}) == {}
