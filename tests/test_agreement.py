"""Patches that are the same but for their form, and what several of them changed."""

# ruff: noqa: E501  (tables of programs read best a row a line)
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


SAME = [
    ("a.py", "x=1 # c\n", "x = 1\n"),
    ("a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
    ("a.py", "x = 'a'\n", 'x = "a"\n'),
    ("a.py", "import b\nimport a\n", "import a\nimport b\n"),
    ("a.py", "from x import b, a\n", "from x import (\n    b,\n    a,\n)\n"),
    ("a.py", 'def f():\n    """Old."""\n', 'def f():\n    """New."""\n'),
    ("a.py", 'def f():\n    """Say."""\n    return 1\n', "def f():\n    return 1\n"),
    ("a.py", 'class A:\n    def f(self):\n        "x"\n        g()\n', "class A:\n  def f(self): g()\n"),
    ("a.py", "x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
    ("a.py", "type X = int  # c\n", "type X = int\n"),
    ("a.js", "let a = /[/]/ // x\nfoo()", "let  a=/[/]/\nfoo( )"),
    ("a.js", "let u = 'http://x' // see\n", 'let u = "http://x"\n'),
    ("a.js", "f(a,\n  b,\n);\n", "f(a, b);\n"),
    ("a.js", "import b from 'x';\nimport c from 'c';\n", 'import c from "c"\nimport b from "x"\n'),
    ("a.js", "if (a) { b() }\n/* c */ else { d() }", "if (a) { b(); } else { d(); }"),
    ("a.ts", "const a: A<B> = x\n  .map(y)\n  .z();\n", "const a: A<B> = x.map(y).z();\n"),
    ("a.ts", "`a ${b} // c`; // d\n", "`a ${b} // c`;\n"),
    ("a.tsx", "const a = <p>x</p>;  \n\n\nb();\n", "const a = <p>x</p>;\nb();\n"),
    ("a.go", 'import (\n\t"b"\n\n\tx "a"\n)\nfunc f() {\n\tg(1,\n\t\t2,\n\t)\n}\n',
     'import (\n\tx "a"\n\t"b"\n)\n\nfunc f() { g(1, 2) } // c\n'),
    ("a.go", "a := `// \n#` // b\n", "a:=`// \n#`\n"),
    ("a.rs", "use z;\nuse a::b;\nfn f(x: &'a u8,) {}\n", "use a::b;\nuse z;\nfn f(x: &'a u8) { /* n */ }\n"),
    ("a.rs", "let c = '\"'; let d = '\\''; // x", "let c = '\"';\nlet d = '\\'';"),
    ("A.java", "import b.E;\nimport static a.c.d;\nclass A { /* x */ int[] y = {1,}; }",
     "import static a.c.d;\nimport b.E;\nclass A {\n  int[] y = { 1 };\n}\n"),
    ("A.java", 'String s = """\n  // x\n  """; // y', 'String s = """\n  // x\n  """;'),
    ("a.rb", "# x\ndef f\n  1\nend\n", "def f\n    1 # y\n\nend\n"),
    ("a.kt", "val a = 1  // a\n\n\nval b = 2\r\n", "val a = 1\nval b = 2\n"),
]  # fmt: skip

OTHER = [
    ("a.py", "x = '# a'\n", "x = '# b'\n"),
    ("a.py", "x = f'{a # 1}'\n", "x = f'{a # 2}'\n"),
    ("a.py", "x = f'a {b}'\n", "x = f'a {c}'\n"),
    ("a.py", "@a\n@b\ndef f(): pass\n", "@b\n@a\ndef f(): pass\n"),
    ("a.py", "from a import x\nfrom b import x\n", "from b import x\nfrom a import x\n"),
    ("a.py", "from a import *\nfrom b import x\n", "from b import x\nfrom a import *\n"),
    ("a.py", "import a\nf()\nimport b\n", "import b\nf()\nimport a\n"),
    ("a.py", "x = (1)\n", "x = (1,)\n"),
    ("a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
    ("a.py", "x = 1\n", "x = 1.0\n"),
    ("a.py", "x = 1\n", "x = True\n"),
    ("a.py", "x = b'a'\n", "x = 'a'\n"),
    ("a.py", 'def f():\n    """\n    >>> 1\n    1\n    """\n', "def f():\n    pass\n"),
    ("a.py", '@click.command()\ndef f():\n    """A"""\n', '@click.command()\ndef f():\n    """B"""\n'),
    ("a.py", '"""A"""\nprint(__doc__)\n', '"""B"""\nprint(__doc__)\n'),
    ("a.py", "x = y  # type: ignore\n", "x = y\n"),
    ("a.py", "def f(a): return a\n", "def f(b): return b\n"),
    ("a.js", "return\nx", "return x"),
    ("a.js", "a\n++b", "a ++\nb"),
    ("a.js", "let u = 'http://x'", "let u = 'http://y'"),
    ("a.js", "let r = /[/] a/", "let r = /[/]  a/"),
    ("a.js", "x = [,]", "x = []"),
    ("a.js", "x = [1,,]", "x = [1,]"),
    ("a.js", "f(`a  b`)", "f(`a b`)"),
    ("a.js", "f(`${`a // 1`}`)", "f(`${`a // 2`}`)"),
    ("a.js", "const a = <a>http://b</a>", "const a = <a>http://c</a>"),
    ("a.jsx", "const a = <p>a  b</p>;", "const a = <p>a b</p>;"),
    ("a.js", "a + +b", "a ++b"),
    ("a.js", "// a\u2028b()", "// a\u2028c()"),
    ("a.js", "import a from 'a'; b(); import c from 'c'", "import c from 'c'; b(); import a from 'a'"),
    ("a.ts", "a = b! // c\nd", "a = b! / c\nd"),
    ("a.ts", "let a: A<B>\nfoo()", "let a: A<B> foo()"),
    ("a.go", "return\nx", "return x"),
    ("a.go", "a := `x  y`", "a := `x y`"),
    ("a.go", "// #include <a.h>\nimport \"C\"\n", "// #include <b.h>\nimport \"C\"\n"),
    ("a.go", "//go:build linux\n\npackage a\n", "//go:build darwin\n\npackage a\n"),
    ("a_test.go", "f()\n// Output: 1\n", "f()\n// Output: 2\n"),
    ("a.rs", "let a = (1,);", "let a = (1);"),
    ("a.rs", "m!(1,);", "m!(1);"),
    ("a.rs", "/// ```\n/// a()\n/// ```\nfn f() {}", "/// ```\n/// b()\n/// ```\nfn f() {}"),
    ("a.rs", 'r"\\"; a() //"', 'r"\\"; b() //"'),
    ("a.rs", "let a = 'a'; b::<'c>()", "let a = 'a'; b::<'d>()"),
    ("A.java", '"""\n  a\n  """', '"""\n   a\n  """'),
    ("A.java", "a(); // \\u000a b();", "a(); // \\u000a c();"),
    ("A.java", "/** @deprecated x */ void f() {}", "void f() {}"),
    ("a.c", "#define F(x) x\n", "#define F (x) x\n"),
    ("a.rb", "x = <<~A\n  # a\nA\n", "x = <<~A\n  # b\nA\n"),
    ("a.rb", "x = %q(\n# a\n)\n", "x = %q(\n# b\n)\n"),
    ("a.rb", "foo [1]\n", "foo[1]\n"),
    ("a.rb", 'x = "a\n# b"\n', 'x = "a\n# c"\n'),
    ("a.sh", "cat <<E\n# a\nE\n", "cat <<E\n# b\nE\n"),
    ("a.sh", "#!/bin/sh\n", "#!/bin/bash\n"),
    ("a.yaml", "a: 'b\n  # c\n  d'\n", "a: 'b\n  # e\n  d'\n"),
    ("a.json", '{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
    ("a.json", '{"a": 1}', '{"a": 1.0}'),
    ("Makefile", "# a \\\nb = 1\n", "b = 1\n"),
    ("a.kt", 'a = """\n\nb"""', 'a = """\nb"""'),
    ("a.md", "a  \nb\n", "a\nb\n"),
    ("a.md", "a\n\nb\n", "a\nb\n"),
    ("LICENSE", "a\n\nb\n", "a\nb\n"),
    ("tests/fixtures/a.py", "x=1\n", "x = 1\n"),
    ("pkg/testdata/a.go", "a() // 1", "a() // 2"),
    ("a.py", "x = f(a,  # noqa\n      b)\n", "x = f(a, b)\n"),
    ("a.py", "x = 1  # noqa\ny = 2\n", "x = 1\ny = 2  # noqa\n"),
    ("a.py", "x = a[1]\n", "x = a[1,]\n"),
    ("a.py", "if x:\n\ta()\n        b()\n", "if x:\n\ta()\n\tb()\n"),
    ("a.py", 'class A(B):\n    """A"""\n', 'class A(B):\n    """B"""\n'),
    ("a.ts", "// @ts-ignore\na = b\n", "a = b\n"),
    ("a.js", "// c\n", "// d \0\n"),
    ("a.js", "class A { get\nx() {} }", "class A { get x() {} }"),
    ("a.rs", "m!(+ =);", "m!(+=);"),
    ("a.rb", "foo -1\n", "foo - 1\n"),
    ("a.kt", "val a = b\n-c\n", "val a = b - c\n"),
    ("a.py", "def f(:  # a\n", "def f(:  # b\n"),
    ("a.c", "a(); // b\n", "a();\n"),
    ("a.py", "x = 1  # \udc80\n", "x = 1  # \udc81\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "name", "other"), SAME)
def test_form_is_not_told(path: str, name: str, other: str) -> None:
    assert name != other
    assert same(path, name, other)


@pytest.mark.parametrize(("path", "name", "other"), OTHER)
def test_what_differs_is_told(path: str, name: str, other: str) -> None:
    assert not same(path, name, other)


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
    [
        ("a.py", "def f():\n    return 1\n", "def f():\n    return 2\n", "f"),
        ("a.ts", "class A {\n  f() { return 1 }\n}\n", "class A {\n  f() { return 2 }\n}\n", "A.f"),
        ("a.js", "it('a', () => { f(1) })\n", "it('a', () => { f(2) })\n", "a"),
        ("a.go", "func (p *P) F() int { return 1 }\n", "func (p *P) F() int { return 2 }\n", "P.F"),
        ("a.rs", "impl P { fn f() { 1 } }\n", "impl P { fn f() { 2 } }\n", "P.f"),
        (
            "A.java",
            "class A { int f() { return 1; } }\n",
            "class A { int f() { return 2; } }\n",
            "A.f",
        ),
        ("a.kt", "fun f() {\n    g(1)\n}\n", "fun f() {\n    g(2)\n}\n", "f"),
        ("a.rb", "class A\n  def f = 1\nend\n", "class A\n  def f = 2\nend\n", "A.f"),
        ("a.py", "def f():\n    g()\n", "def f():\n    g()  # c\n", ""),
        ("a.c", "int f() { return 1; }\n", "int f() { return 2; }\n", ""),
        ("a.py", "x = 1\n", "x = 2\n", ""),
    ],
)
def test_what_two_lanes_changed_is_named_in_each_language(
    path: str, old: str, new: str, name: str
) -> None:
    lanes = {lane: [change(path, old, new)] for lane in "ab"}
    assert [(overlap.name, overlap.lanes) for overlap in shared(lanes)] == [(name, ("a", "b"))]
