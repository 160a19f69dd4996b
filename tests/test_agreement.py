"""Patches that are the same but for their form, and what several of them changed."""

# ruff: noqa: E501  (tables of programs read best a row a line)
from __future__ import annotations

import ast
import hashlib
import itertools
import random
import tokenize
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hydra
from hydra.analysis.equivalence.changes import changed, functions
from hydra.analysis.equivalence.groups import groups
from hydra.analysis.equivalence.languages import DIRECTIVE, language, word_set
from hydra.analysis.equivalence.lexer import RULES, tokens
from hydra.analysis.equivalence.model import Group, Shared
from hydra.analysis.equivalence.normalize import form, same
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


EQUIVALENT = [
    ("a.py", "x=1 # c\n", "x = 1\n"),
    ("a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n"),
    ("a.py", "x = 'a'\n", 'x = "a"\n'),
    ("a.py", "import b\nimport a\n", "import a, b\n"),
    ("a.py", "from x import b, a\n", "from x import (\n    a,\n    b,\n)\n"),
    ("a.py", "from x import a\nfrom x import b\n", "from x import b, a\n"),
    ("a.py", 'def f():\n    """Say."""\n    return 1\n', "def f():\n    return 1\n"),
    ("a.py", 'def f():\n    """Old."""\n', 'def f():\n    """New."""\n'),
    ("a.py", 'class A:\n    def f(self):\n        "x"\n        g()\n', "class A:\n  def f(self): g()\n"),
    ("a.py", "x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
    ("a.py", "if x:\n\ty = (1)\n", "if x:\n    y = 1\n"),
    ("a.py", "try:\n    import b\n    import a\nexcept E: pass\n", "try:\n    import a, b\nexcept E:\n    pass\n"),
    ("a.js", "let a = /[/]/ // x\nfoo()", "let  a=/[/]/;\nfoo( )".replace(";", "")),
    ("a.js", "let u = 'http://x' // see\n", 'let u = "http://x"\n'),
    ("a.js", "f(a,\n  b,\n);\n", "f(a, b);\n"),
    ("a.js", "import {b, a} from 'x';\nimport c from 'c';\n", 'import c from "c"\nimport { a, b, } from "x"\n'),
    ("a.js", "if (a) { b() }\n/* c */ else { d() }", "if (a) { b(); } else { d(); }"),
    ("a.ts", "const a: A<B> = x\n  .map(y)\n  .z();\n", "const a: A<B> = x.map(y).z();\n"),
    ("a.ts", "`a ${b} // c`; // d\n", "`a ${b} // c`;\n"),
    ("a.tsx", "const a = <p>x</p>;  \n\n\nb();\n", "const a = <p>x</p>;\nb();\n"),
    ("a.go", 'import (\n\t"b"\n\n\tx "a"\n)\nfunc f() {\n\tg(1,\n\t\t2,\n\t)\n}\n',
     'import x "a"\nimport "b"\n\nfunc f() { g(1, 2) } // c\n'),
    ("a.go", "a := `// \n#` // b\n", "a:=`// \n#`\n"),
    ("a.rs", "use a::{c, b::{self, d}};\nuse z;\nfn f(x: &'a u8,) {}\n",
     "use a::b::d;\nuse z;\nuse a::{b::{self}};\nuse a::c;\nfn f(x: &'a u8) { /* n */ }\n"),
    ("a.rs", 'let a = r#"// " "#; // x\nvec![1,\n 2,\n];', 'let a = r#"// " "#;\nvec![1, 2];'),
    ("a.rs", "let c = '\"'; let d = '\\''; // x", "let c = '\"';\nlet d = '\\'';"),
    ("A.java", "import b.*;\nimport static a.c.d;\nclass A { /* x */ int[] y = {1,}; }",
     "import static a.c.d;\nimport b.*;\nclass A {\n  int[] y = { 1 };\n}\n"),
    ("A.java", 'String s = """\n  // x\n  """; // y', 'String s = """\n  // x\n  """;'),
    ("a.cs", "using B;\nusing A.C;\n#region x\nclass D { }\n", "using A.C;\nusing B;\n#region x\nclass D\n{\n}\n"),
    ("a.c", "#include <b.h>\n#include \"a.h\" // x\nint a='\\'';", "#include  \"a.h\"\n# include <b.h>\nint a = '\\'' ;"),
    ("a.cpp", 'auto s = R"x(// )" )x"; // c\nint n = 1\'000;', 'auto s = R"x(// )" )x";\nint n = 1\'000;'),
    ("a.rb", "require 'b'\nrequire 'a'\n# x\ndef f\n  1\nend\n", "require 'a'\nrequire 'b'\n\ndef f\n    1\nend\n"),
    ("a.sh", "#!/bin/sh\n# say\nif a; then\n  b 'c # d'\nfi\n", "#!/bin/sh\nif a; then\n\tb 'c # d'\n\nfi\n"),
    ("a.yaml", "# a\na: 1\n\nb:\n  # c\n  - d   \n", "a: 1\nb:\n  - d\n"),
    ("a.yml", "a: |\n  # text\n\n  x\n# c\nb: 1\n", "a: |\n  # text\n\n  x\nb: 1\n"),
    ("a.toml", "a = 1 # x\n[b]\nc='d'\n", 'a=1\n\n[b]\nc = "d"\n'),
    ("a.json", '{"a": [1, 2.50]}', '{\n  "a": [\n 1, 2.50]\n}\n'),
    ("Makefile", "# x\na: b\n\n\tc\n", "a: b\n\tc\n"),
    ("a.kt", "val a = 1  \n\n\nval b = 2\r\n", "val a = 1\nval b = 2\n"),
]  # fmt: skip

DIFFERENT = [
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
    ("a.py", "print 'a'  # 2\n", "print 'a'\n"),
    ("a.js", "return\nx", "return x"),
    ("a.js", "a\n++b", "a ++\nb"),
    ("a.js", "let u = 'http://x'", "let u = 'http://y'"),
    ("a.js", "let r = /[/] a/", "let r = /[/]  a/"),
    ("a.js", "if (a) /'/.test(b) // 1'", "if (a) /'/.test(b) // 2'"),
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
    ("a.rs", "/* a /* b */ c() */", "/* a /* b */ d() */"),
    ("a.rs", 'r"\\"; a() //"', 'r"\\"; b() //"'),
    ("a.rs", "let a = 'a'; b::<'c>()", "let a = 'a'; b::<'d>()"),
    ("A.java", '"""\n  a\n  """', '"""\n   a\n  """'),
    ("A.java", "a(); // \\u000a b();", "a(); // \\u000a c();"),
    ("A.java", "/** @deprecated x */ void f() {}", "void f() {}"),
    ("a.cs", 'var a = $"{b("//")} 1";', 'var a = $"{b("//")} 2";'),
    ("a.c", "#define F(x) x\n", "#define F (x) x\n"),
    ("a.c", '#define S "a  b"\n', '#define S "a b"\n'),
    ("a.c", "// a \\\nb();\n", "// a\nb();\n"),
    ("a.c", "a = b /*c*/ / d; //*x*/ e\n", "a = b /*c*/ / f; //*x*/ e\n"),
    ("a.c", "#define A 1\nint b;\n", "#define A 1 int b;\n"),
    ("a.cpp", 'auto s = R"(a // 1)";', 'auto s = R"(a // 2)";'),
    ("a.h", 'L"a"', 'L "a"'),
    ("a.rb", "x = <<~A\n  # a\nA\n", "x = <<~A\n  # b\nA\n"),
    ("a.rb", "x = %q(\n# a\n)\n", "x = %q(\n# b\n)\n"),
    ("a.rb", "foo [1]\n", "foo[1]\n"),
    ("a.rb", 'x = "a\n# b"\n', 'x = "a\n# c"\n'),
    ("a.sh", "cat <<E\n# a\nE\n", "cat <<E\n# b\nE\n"),
    ("a.sh", "awk '\n# a\n'\n", "awk '\n# b\n'\n"),
    ("a.sh", 'x="$(a "\n# b\n")"\n', 'x="$(a "\n# c\n")"\n'),
    ("a.sh", "a \\\n# b\nc\n", "a \\\nc\n"),
    ("a.sh", "a\\\n  b\n", "a\\\nb\n"),
    ("a.sh", "a\r\n", "a\n"),
    ("a.sh", "#!/bin/sh\n", "#!/bin/bash\n"),
    ("a.yaml", "a:\n  b: 1\n", "a:\nb: 1\n"),
    ("a.yaml", "a: |\n  # b\n", "a: |\n  # c\n"),
    ("a.yaml", "a: |\n  b\n\n  c\n", "a: |\n  b\n  c\n"),
    ("a.yaml", '--- |\n# a\n', '--- |\n# b\n'),
    ("a.yaml", "a: 'b\n  # c\n  d'\n", "a: 'b\n  # e\n  d'\n"),
    ("a.yaml", "a: b\n\n  c\n", "a: b\n  c\n"),
    ("a.toml", "a = 1\nb = 2\n", "b = 2\na = 1\n"),
    ("a.toml", "a = '#1'\n", "a = '#2'\n"),
    ("a.json", '{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
    ("a.json", '{"a": 1}', '{"a": 1.0}'),
    ("a.json", '{"a": 1}', '{"a": "1"}'),
    ("a.json", '{"a": true}', '{"a": 1}'),
    ("a.json", '{"a": 1, "a": 2}', '{"a": 2}'),
    ("a.json", '[["a", 1]]', '{"a": 1}'),
    ("Makefile", "a:\n\t# b\n", "a:\n"),
    ("Makefile", "a:\n\tb\n", "a:\n    b\n"),
    ("Makefile", "# a \\\nb = 1\n", "b = 1\n"),
    ("Makefile", "define A\n\n# b\nendef\n", "define A\nendef\n"),
    ("a.kt", "// a\n", "// b\n"),
    ("a.kt", 'a = """\n\nb"""', 'a = """\nb"""'),
    ("a.md", "a  \nb\n", "a\nb\n"),
    ("a.md", "a\n\nb\n", "a\nb\n"),
    ("LICENSE", "a\n\nb\n", "a\nb\n"),
    ("tests/fixtures/a.py", "x=1\n", "x = 1\n"),
    ("pkg/testdata/a.go", "a() // 1", "a() // 2"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "name", "other"), EQUIVALENT)
def test_form_is_not_told(path: str, name: str, other: str) -> None:
    assert name != other
    assert form(path, name) == form(path, other)
    assert same(path, name, other)


def test_a_comment_of_c_goes_on_after_a_backslash() -> None:
    assert form("a.c", "// a \\\nb();\nc();\n") == form("a.c", "// d\nc();\n")


@pytest.mark.parametrize(("path", "name", "other"), DIFFERENT)
def test_what_differs_is_told(path: str, name: str, other: str) -> None:
    assert form(path, name) != form(path, other)
    assert not same(path, name, other)


def own_sources() -> list[str]:
    paths = sorted(Path(hydra.__file__).parent.rglob("*.py"))
    return [path.read_text() for path in paths if path.stat().st_size < 12_000][::9]


@pytest.mark.parametrize("text", own_sources())
def test_python_written_anew_is_the_same_program(text: str) -> None:
    anew = ast.unparse(ast.parse(text))
    # Comments that tools obey are kept, and unparse drops them.
    is_told = any(
        DIRECTIVE.search(line, line.index("#")) for line in text.split("\n") if "#" in line
    )
    # Not `same`: its first look takes a quote in an f-string's own quotes (3.12) for its end.
    assert form("a.py", text) == form("a.py", anew) or is_told


WORDS = {
    "python": ["x = y + z", "if x:\n    f(1, 'a')", "def f(a, b):\n    return a", "y = [1, 2]"],
    "javascript": ["let x = y + z;", "if (x) { f(1, 'a'); }", "a = b ? /x/ : [1, 2];", "`t`;"],
    "go": ["x := y + z", "if x { f(1, `a`) }", "func f(a int) int { return a }"],
    "rust": ["let x = y + z;", "if x { f(1, 'a') }", "let s = r#\"t\"#;"],
    "java": ["int x = y + z;", "if (x) { f(1, \"a\"); }", "char c = 'd';"],
    "c": ["int x = y + z;", "#define A(x) 1", "if (x) { f(1, \"a\"); }"],
}  # fmt: skip
ENDING = {"python": "py", "javascript": "js", "go": "go", "rust": "rs", "java": "java", "c": "c"}
programs = st.sampled_from(sorted(WORDS)).flatmap(
    lambda name: st.tuples(
        st.just(name), st.lists(st.sampled_from(WORDS[name]), min_size=1, max_size=5)
    )
)


def pieces(name: str, text: str) -> list[tuple[int, int]]:
    """Where the words and numbers of a program stand that are worth a change."""
    if name != "python":
        names = [name for name in (tokens(text, name) or []) if name.strip("_").isalnum()]
        places, at = [], 0
        for key in names:
            at = text.index(key, at)
            places.append((at, at + len(key)))
            at += len(key)
        return places
    lines = [0, *itertools.accumulate(len(line) for line in text.splitlines(True))]
    read = tokenize.generate_tokens(StringIO(text).readline)
    return [
        (lines[info.start[0] - 1] + info.start[1], lines[info.end[0] - 1] + info.end[1])
        for info in read
        if info.type in (tokenize.NAME, tokenize.NUMBER)
    ]


@given(programs, st.randoms(use_true_random=False))
def test_a_word_that_changes_is_always_told(
    program: tuple[str, list[str]], rng: random.Random
) -> None:
    name, statements = program
    text = "\n".join(statements) + "\n"
    places = pieces(name, text)
    assume(places)
    start, end = rng.choice(places)
    other = f"{text[:start]}{text[start:end]}7{text[end:]}"
    assert form(f"a.{ENDING[name]}", text) != form(f"a.{ENDING[name]}", other)


@given(programs, st.randoms(use_true_random=False))
def test_comments_and_blank_lines_are_never_told(
    program: tuple[str, list[str]], rng: random.Random
) -> None:
    name, statements = program
    mark = "#" if name == "python" else "//"
    other = "\n".join(
        f"{statement}{rng.choice(['', '  ', f'  {mark} say so'])}{rng.choice(['', chr(10)])}"
        for statement in statements
    )
    path = f"a.{ENDING[name]}"
    if not any(line.startswith("#define") and mark in line for line in other.split("\n")):
        assert same(path, "\n".join(statements), other)


hostile = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="\"'`/*#\\\n (){}[]<>$rRb:|-=\t\r\0\u2028", max_size=300),
    st.sampled_from(
        [
            "(" * 5000,
            "[" * 5000 + "]" * 5000,
            "-" * 20_000 + "1",
            "x" + ".a" * 20_000,
            "1+" * 20_000 + "1",
            '{"a":' * 5000,
            "9" * 5000,
            '"""' * 3001,
            "/*" * 5000,
            "#" * 5000,
            "`${" * 3000,
            'r#"' * 3000,
            'R"(' * 3000,
            "a: |\n" * 1000,
            "use a::{" * 500,
            "import {" * 500,
            "import (" * 500,
            "'" * 4001,
            "\\" * 4001,
            "a.b=" * 3000,
            "\ud800",
            "class a:\n" * 300,
            "if x:\n".join(" " * n for n in range(120)),
        ]
    ),
)
ENDINGS = sorted(word_set("py js ts tsx go rs java cs c cpp rb sh yaml toml json mk kt md xyz css"))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(ENDINGS), hostile, hostile)
def test_hostile_text_is_only_text(ending: str, one: str, other: str) -> None:
    path = f"a.{ending}"
    assert same(path, one, one)
    assert same(path, one, other) in (True, False)
    assert form(path, one) == form(path, one)
    assert functions(change(path, one, other))
    bunches = groups({"a": [change(path, "", one)], "b": [change(path, "", other)]}, {})
    assert all(group.lanes == ("a", "b") for group in bunches)


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 200_000,
        "#" * 400_000,
        "# /*" * 100_000,
        'R"(' * 130_000,
        'r#"x" ' * 80_000,
        "\"'" * 200_000,
        "a " * 200_000,
        "<" * 400_000,
        "a(" * 200_000,
        "{," * 200_000,
        "x: " * 130_000,
        '"\\' * 200_000,
        "{import a" * 50_000,
        "a<b> " * 20 + "\n" + ("impl<" + ">" * 240 + "\n") * 300,
        "".join(" " * n + "a<b> c(\n" for n in range(400)),
    ],
)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.full
def test_no_text_takes_more_than_a_moment(ending: str, text: str) -> None:
    path, text = f"a.{ending}", text[:100_000]
    form(path, text)
    same(path, text, text + "x")
    functions(change(path, text, "\n" + text))


def test_a_text_of_two_mebibytes_is_its_own_form() -> None:
    text = "x = 1\n" * 400_000
    assert not same("a.py", text, text + "# c\n")
    assert functions(change("a.py", text, text + "y\n")) == {""}


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_text_of_nothing_has_a_form(name: str) -> None:
    assert tokens("", name) == []


def test_languages() -> None:
    assert language("a/B.PY") == "python"
    assert language("fixtures/a.py") == "exact"
    assert language("LICENSE") == "exact"
    assert language("Makefile") == "make"
    assert language("a.unheard") == ""


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


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return n", "return n + 1", {"Pager.page"}),
        ("return inner()", "return inner() + 1", {"Pager.page"}),
        ("not_here(): pass", "not_here(): 1", {"Pager.page"}),
        ("size = 10", "size = 11", {"Pager"}),
        ("@property", "@cached_property", {"Pager.count"}),
        ("LIMIT = 3", "LIMIT = 4", {""}),
        ("return 1", "return 2", {"free"}),
        ("def free", "def unfree", {"free", "unfree"}),
        ("\n\n\ndef free", "\n\n\ndef more():\n    return 2\n\n\ndef free", {"more"}),
        ("        return 3\n", "", {"Pager.count"}),
    ],
)
def test_functions_of_python(old: str, new: str, names: set[str]) -> None:
    assert PAGER.count(old) == 1
    assert functions(change("a.py", PAGER, PAGER.replace(old, new))) == names


@pytest.mark.parametrize("line", ["    return \"'''\"\n", '    return 1  # it\'s """\n'])
def test_quotes_inside_a_text_or_a_comment_begin_no_text(line: str) -> None:
    text = f"def one():\n{line}\n\ndef two():\n    return 2\n"
    assert functions(change("a.py", text, text.replace("return 2", "return 3"))) == {"two"}


OTHERS = [
    ("a.js", "class A {\n  page(n) {\n    return 1;\n  }\n}\n", {"A.page"}),
    ("a.ts", "export class A<T> {\n  async page(n: number): Promise<T> {\n    return 1;\n  }\n}\n", {"A.page"}),
    ("a.js", "export const f = async (a) => {\n  g(1);\n};\n", {"f"}),
    ("a.js", "export default function f(a) {\n  if (a) {\n    g(1);\n  }\n}\n", {"f"}),
    ("a.go", "func (p *Pager) Page(n int) int {\n\tif n > 0 {\n\t\treturn 1\n\t}\n}\n", {"Pager.Page"}),
    ("a.go", "func Page[T any](n T) {\n\tf(1)\n}\n", {"Page"}),
    ("a.rs", "impl<T> Show for Pager<T> {\n    pub fn page(&self) -> u8\n    where\n        T: A,\n    {\n        1\n    }\n}\n", {"Pager.page"}),
    ("A.java", "public class A {\n    @Override\n    public List<B> page(int n) {\n        return 1;\n    }\n}\n", {"A.page"}),
    ("a.cs", "namespace N\n{\n    class A\n    {\n        public int Page(int n)\n        {\n            return 1;\n        }\n    }\n}\n", {"N.A.Page"}),
    ("a.c", "static int\npage(int n)\n{\n", set()),
    ("a.c", "static int page(struct a *b,\n                int n)\n{\n#ifdef X\n    return 1;\n#endif\n}\n", {"page"}),
    ("a.cpp", "int Pager::page(int n) {\n    return 1;\n}\n", {"Pager.page"}),
    ("a.rb", "class A\n  def page?(n)\n    if n\n      1\n    end\n  end\nend\n", {"A.page"}),
    ("a.sh", "page() {\n  echo 1\n}\n", {"page"}),
    ("a.kt", "class A {\n    fun <T> page(n: T): Int {\n        return 1\n    }\n}\n", {"A.page"}),
    ("a.php", "class A {\n    public static function page($n) {\n        return 1;\n    }\n}\n", {"A.page"}),
    ("a.c", "int f(void) {\n    return 0;\n}\nint x = 1;\n", {""}),
    ("a.js", "foo(a,\n    1);\n", {""}),
    ("a.txt", "def f():\n    1\n", {""}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "names"), [row for row in OTHERS if row[2]])
def test_functions_of_other_languages(path: str, text: str, names: set[str]) -> None:
    assert text.count("1") == 1
    assert functions(change(path, text, text.replace("1", "2"))) == names


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


lines = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(lines, lines)
def test_changed_lines_make_the_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    rows = changed(old, new)
    assert rows is not None
    gone, come = rows
    stays = [line for at, line in enumerate(old) if at not in gone]
    assert stays == [line for at, line in enumerate(new) if at not in come]


def test_a_diff_that_would_cost_too_much_is_not_made() -> None:
    assert changed(["a"] * 300 + ["b"], ["c"] + ["a"] * 299 + ["d"]) is None
    assert changed([str(n) for n in range(5000)], [str(-n - 1) for n in range(5000)]) is None
