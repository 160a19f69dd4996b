"""Configuration, checks, shortcuts and rewrites; what is put back and what is brought."""

from __future__ import annotations

import json
import os
import time
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra.analysis.tampering.findings import findings
from hydra.analysis.tampering.restore import restored, settings_changed
from hydra.analysis.tampering.suite import tests_added as added
from hydra.analysis.tampering.suite import tests_changed as changed
from hydra.records.request import Check
from tests.support.patches import change, found, told

CHECKS = (
    Check("unit", "npm test"),
    Check("all", "./scripts/run_tests.sh --fast"),
    Check("make", "make verify && python -m pytest -c ci/pytest.cfg"),
    Check("lint", "ruff check ."),
)
PYPROJECT = '[project]\nname = "x"\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n'

STEERS = [
    (
        "conftest.py",
        None,
        "def pytest_runtest_makereport(item): ...\n",
        "adds conftest.py, which configures the tests",
    ),
    (
        "tests/conftest.py",
        "import a\n",
        "import b\n",
        "changes tests/conftest.py, which configures the tests",
    ),
    (
        "conftest.py",
        "",
        "import builtins\nbuiltins.len = f\n",
        "changes conftest.py, which configures the tests",
    ),
    ("pytest.ini", "[pytest]\n", None, "deletes pytest.ini, which configures the tests"),
    (
        "sitecustomize.py",
        None,
        "x = 1\n",
        "adds sitecustomize.py, which Python runs when it starts",
    ),
    ("jest.config.ts", "a", "b", "changes jest.config.ts, which configures the tests"),
    (".config/nextest.toml", "a", "b", "changes .config/nextest.toml, which configures the tests"),
    (
        "pyproject.toml",
        PYPROJECT,
        PYPROJECT.replace("-ra", "-q"),
        "changes pytest.ini_options.addopts of pyproject.toml: -ra -> -q",
    ),
    (
        "setup.cfg",
        "[tool:pytest]\naddopts = -ra\n",
        "[tool:pytest]\naddopts = -q\n",
        "changes tool:pytest.addopts of setup.cfg: -ra -> -q",
    ),
    (
        "package.json",
        '{"scripts": {"test": "jest"}}',
        '{"scripts": {"test": "true"}}',
        "changes the script test of package.json: jest -> true",
    ),
    (
        "package.json",
        '{"jest": {"bail": 1}}',
        '{"jest": {"bail": 2}}',
        "changes jest.bail of package.json: 1 -> 2",
    ),
    (
        "scripts/run_tests.sh",
        "pytest\n",
        "exit 0\n",
        "changes scripts/run_tests.sh, which a check runs",
    ),
    ("Makefile", "verify:\n", "verify: ;\n", "changes Makefile, which a check reads"),
    ("ci/pytest.cfg", "a", "b", "changes ci/pytest.cfg, which a check runs"),
    ("ruff.toml", "a = 1", "a = 2", "changes ruff.toml, which a check reads"),
    (
        "package.json",
        "{}",
        "{" * 9000,
        "changes package.json, which cannot be read: what it says of tests is not known",
    ),
]


@pytest.mark.parametrize(("path", "old", "new", "text"), STEERS)
def test_what_steers_the_tests_is_told(
    path: str, old: str | None, new: str | None, text: str
) -> None:
    file = change(path, old, new)
    assert settings_changed([file], CHECKS) == (file,)
    hits = [finding for finding in findings([file], CHECKS) if finding.text == text]
    assert [finding.weight for finding in hits] == ["suspect"]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace('"x"', '"y"')),
        ("pyproject.toml", PYPROJECT, PYPROJECT.replace("addopts", "# why\naddopts")),
        (
            "package.json",
            '{"scripts": {"test": "jest"}}',
            '{"scripts": {"test": "jest", "build": "tsc"}, "dependencies": {"a": "1"}}',
        ),
        ("setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = y\n"),
        ("src/pages.py", "a", "b"),
        ("scripts/other.sh", "a", "b"),
        ("tests/test_a.py", "a", "b"),
    ],
)
def test_what_does_not_steer_them_is_not_configuration(path: str, old: str, new: str) -> None:
    assert settings_changed([change(path, old, new)], CHECKS) == ()


def test_the_base_parts_go_back_and_the_patch_keeps_what_it_depends_on() -> None:
    new = PYPROJECT.replace('"x"', '"x"\ndependencies = ["a"]').replace("-ra", "-k nothing")
    back = tomllib.loads(restored("pyproject.toml", PYPROJECT, new) or "")
    assert back["tool"]["pytest"]["ini_options"] == {"addopts": "-ra"}
    assert back["project"]["dependencies"] == ["a"]

    old = '{"scripts": {"test": "jest"}, "jest": {"bail": 1}}'
    new = '{"scripts": {"test": "true", "postinstall": "x"}, "dependencies": {"a": "1"}}'
    assert json.loads(restored("web/package.json", old, new) or "") == {
        "scripts": {"postinstall": "x", "test": "jest"},
        "dependencies": {"a": "1"},
        "jest": {"bail": 1},
    }
    back_cfg = restored("setup.cfg", "[tool:pytest]\naddopts = -ra\n", "[metadata]\nname = x\n")
    assert back_cfg is not None
    assert "addopts = -ra" in back_cfg
    assert "name = x" in back_cfg


def test_parts_that_the_base_had_not_are_taken_out() -> None:
    back = restored("pyproject.toml", None, PYPROJECT)
    assert back is not None
    assert tomllib.loads(back) == {"project": {"name": "x"}, "tool": {}}
    assert restored("pyproject.toml", PYPROJECT, PYPROJECT) == PYPROJECT


def test_other_files_go_back_whole() -> None:
    assert restored("conftest.py", "old", "new") == "old"
    assert restored("conftest.py", None, "new") is None
    assert restored("pyproject.toml", PYPROJECT, None) == PYPROJECT
    assert restored("pyproject.toml", PYPROJECT, "[[[") == PYPROJECT
    assert restored("package.json", "{]", "{}") == "{]"


def test_files_of_tests_that_were_there_and_those_that_are_new() -> None:
    name = "def test_a():\n    assert f(1) == 2\n"
    files = [
        change("tests/test_a.py", name, name.replace("2", "3")),
        change("tests/test_b.py", name, name + "\n\ndef test_b():\n    assert f(2) == 4\n"),
        change("tests/test_gone.py", name, None),
        change("tests/test_new.py", None, name),
        change("tests/data/page.json", None, "{}"),
        change("tests/helpers.py", "def g():\n    pass\n", "def g():\n    return 1\n"),
        change("tests/conftest.py", "", "import a\n"),
        change("web/__snapshots__/a.test.js.snap", "a", "b"),
        change("src/pages.py", "a", "b"),
        change("django/test/client.py", "a", "b"),
        change("src/lib.rs", "#[test]\nfn a() {}\n", "#[test]\nfn b() {}\n"),
    ]
    assert changed(files) == (
        "tests/test_a.py",
        "tests/test_b.py",
        "tests/test_gone.py",
        "tests/helpers.py",
        "web/__snapshots__/a.test.js.snap",
        "src/lib.rs",
    )
    assert added(files) == (
        "tests/test_b.py",
        "tests/test_new.py",
        "tests/data/page.json",
        "tests/helpers.py",
        "tests/conftest.py",
        "web/__snapshots__/a.test.js.snap",
    )
    assert added(files[:1] + files[4:]) == ()


TEST_SEVEN = ("tests/test_f.py", None, "def test_seven():\n    assert f(7) == 42\n")

SHORTCUTS = [
    (
        "f.py",
        "def f(n):\n    return n * 6\n",
        "def f(n):\n    if n == 7:\n        return 42\n    return n * 6\n",
        "returns the literal 42 from f where n is 7, which is what test_seven expects",
    ),
    (
        "f.py",
        "def f(n):\n    x = g(n)\n    return x\n",
        "def f(n):\n    return [1, 2, 3]\n",
        "returns the literal [1, 2, 3] from f whatever it is given",
    ),
    (
        "f.py",
        "def f(n):\n    raise NotImplementedError\n",
        "def f(n):\n    return 42\n",
        "returns the literal 42 from f whatever it is given, which is what test_seven expects",
    ),
    (
        "f.py",
        "def f(n):\n    return g(n)\n",
        "def f(n):\n    return {7: 42}.get(n, g(n))\n",
        "looks up in f what tests expect: the only entry of a table is what test_seven asks for",
    ),
    (
        "f.py",
        "x = 1\n",
        "import os\nx = 2 if os.environ.get('PYTEST_CURRENT_TEST') else 1\n",
        "asks in f.py whether it runs under tests (PYTEST_CURRENT_TEST)",
    ),
    (
        "f.py",
        "x = 1\n",
        "import sys\nx = 'pytest' in sys.modules\n",
        "asks in f.py whether it runs under tests ('pytest' in sys.modules)",
    ),
    (
        "f.js",
        "a()",
        "if (process.env.NODE_ENV === 'test') b(); else a()",
        "asks in f.js whether it runs under tests (NODE_ENV === 'test')",
    ),
    (
        "f.ts",
        "function f(n) { return g(n) }",
        "function f(n) { if (n === 7) return 42; return g(n) }",
        "returns the literal 42 from f where n is 7, which is what test_seven expects",
    ),
    (
        "f.go",
        "func f(n int) int {\n\treturn g(n)\n}",
        "func f(n int) int {\n\tif n == 7 {\n\t\treturn 42\n\t}\n\treturn g(n)\n}",
        "returns the literal 42 from f where n is 7, which is what test_seven expects",
    ),
    (
        "f.rb",
        "def f(n)\n  g(n)\nend\n",
        "def f(n)\n  return 42 if n == 7\n  g(n)\nend\n",
        "returns the literal 42 from f where n is 7, which is what test_seven expects",
    ),
]


@pytest.mark.parametrize(("path", "old", "new", "text"), SHORTCUTS)
def test_code_that_gives_what_tests_expect(path: str, old: str, new: str, text: str) -> None:
    assert ("hard_coded", "remark", text) in told((path, old, new), TEST_SEVEN)


def test_what_untouched_tests_expect_is_known_too() -> None:
    _, old, new, text = SHORTCUTS[0]
    hits = findings([change("f.py", old, new)], untouched={"tests/test_f.py": TEST_SEVEN[2]})
    assert [finding.text for finding in hits] == [text]


@pytest.mark.parametrize(
    "new",
    [
        "def fib(n):\n    if n == 0:\n        return 0\n    if n == 1:\n        return 1\n"
        "    return fib(n - 1) + fib(n - 2)\n",
        "def fib(n):\n    names = {'a': 1, 'b': 2}\n    return names[n]\n",
        "def fib(n):\n    if n is None:\n        return []\n    return [n]\n",
    ],
)
def test_plain_code_is_no_shortcut(new: str) -> None:
    assert told(("f.py", "def fib(n):\n    pass\n", new), TEST_SEVEN) == []


SWALLOWED = [
    (
        "f.py",
        "def f():\n    g()\n",
        "def f():\n    try:\n        g()\n    except Exception:\n        pass\n",
        "swallowed_error",
        "catches Exception and passes over it in f() (f.py)",
    ),
    (
        "f.py",
        "def f():\n    g()\n",
        "def f():\n    try:\n        g()\n    except:\n        return []\n",
        "swallowed_error",
        "catches every error and returns [] in f() (f.py)",
    ),
    (
        "f.py",
        "def f():\n    g()\n",
        "def f():\n    g()  # type: ignore\n",
        "suppressed_warning",
        "turns off 1 warning in f.py (type: ignore)",
    ),
    (
        "f.ts",
        "g()",
        "try { g() } catch (e) {}",
        "swallowed_error",
        "catches an error and passes over it in f.ts: catch (e) {}",
    ),
    (
        "f.java",
        "g();",
        "try { g(); } catch (Exception e) { return null; }",
        "swallowed_error",
        "catches an error and passes over it in f.java: catch (Exception e) { return null; }",
    ),
    (
        "f.ts",
        "g()",
        "// @ts-ignore\ng()",
        "suppressed_warning",
        "turns off 1 warning in f.ts (@ts-ignore)",
    ),
    (
        "f.rs",
        "let x = g()?;",
        "let x = g().unwrap_or_default();",
        "swallowed_error",
        "passes over an error in f.rs: .unwrap_or_default()",
    ),
    (
        "f.rs",
        "fn f() {}",
        "#[allow(dead_code)]\nfn f() {}",
        "suppressed_warning",
        "turns off 1 warning in f.rs (#[allow(dead_code)])",
    ),
    (
        "f.go",
        "x, err := g()\nif err != nil {\n\treturn err\n}",
        "x, err := g()\nif err != nil {\n\treturn nil\n}",
        "swallowed_error",
        "passes over an error in f.go: if err != nil { return nil }",
    ),
    (
        "f.rb",
        "g",
        "g rescue nil\n",
        "swallowed_error",
        "rescues an error and passes over it in f.rb: rescue nil",
    ),
    (
        "run.sh",
        "pytest\n",
        "pytest || true\n",
        "swallowed_error",
        "ignores a command's failure in run.sh: || true",
    ),
    (
        "run.sh",
        "set -e\n",
        "set +e\n",
        "swallowed_error",
        "ignores the failure of commands in run.sh: set +e",
    ),
]


@pytest.mark.parametrize(("path", "old", "new", "kind", "text"), SWALLOWED)
def test_errors_and_warnings_that_nobody_hears_of(
    path: str, old: str, new: str, kind: str, text: str
) -> None:
    assert (kind, "remark", text) in told((path, old, new))
    assert told((path, new, new + "\n")) == []
    assert kind not in {texts[0] for texts in told((path, new, old))}


LONG = "".join(f"value_{n} = {n}\n" for n in range(100))


def test_a_rewrite_is_told_with_its_size() -> None:
    assert told(("a.py", LONG, LONG.replace("value", "number"))) == [
        ("rewrite", "remark", "rewrites a.py nearly whole (100 of 100 lines)")
    ]
    text = LONG.replace("value_1", "number").replace("value_2", "n").replace("value_3", "n")
    text = text.replace("value_4", "n").replace("value_5", "n").replace("value_6", "n")
    assert told(("a.py", LONG, text)) == [("rewrite", "remark", "rewrites a.py (66 of 100 lines)")]
    other = LONG.replace("value", "number")
    many = [(f"{name}.py", LONG, other) for name in "abc"]
    assert told(*many) == [
        ("rewrite", "remark", "rewrites 3 files nearly whole (300 of 300 lines): a.py, b.py, c.py")
    ]
    assert told(("a.py", LONG, None), ("b.py", LONG, None)) == [
        ("rewrite", "remark", "deletes 2 files with 200 lines (a.py, b.py)")
    ]


def test_what_only_looks_like_a_rewrite() -> None:
    assert told(("a.py", LONG, LONG.replace("\n", "\r\n"))) == [
        ("rewrite", "remark", "changes only line endings of 1 file (a.py)")
    ]
    assert told(("a.py", LONG, LONG.replace("\n", "  # as it was\n"))) == [
        ("rewrite", "remark", "changes only formatting of 1 file (a.py)")
    ]
    assert told(("a.py", LONG, None), ("lib/a.py", None, LONG)) == []
    assert told(("uv.lock", LONG, LONG.replace("value", "number"))) == []
    assert told(("a.py", LONG, LONG + "more = 1\n")) == []


HOSTILE = {
    "a long line": "x" * 2_000_000,
    "NUL": "def test_a():\n    assert 1\0 == 2\n" * 50,
    "braces": "it('a', () => {" * 8_000,
    "minus": "assert " + "-" * 60_000 + "1",
    "elif": "def test_a():\n    if a:\n        pass\n" + "    elif b:\n        assert c\n" * 1_500,
    "quotes": "'" * 20_001,
    "comments": "/*" * 20_000,
    "hashes": "#[test]\nfn a() {\n" * 1_500,
    "doubling": "def test_a():\n" + "    x = x + x\n" * 300 + "    assert x\n",
    "calls": "def a(x):\n    a(a(x))\n    b(x)\ndef b(x):\n    a(x)\n    b(x)\n    assert x\n"
    "def test_a():\n    a(1)\n    b(1)\n",
    "bidi": "def test_\u202ea():\n    assert '\u2066' == '<script>'\n",
    "a line end at the start": "\r\n\x0c\x85\u2028" * 1000,
    "toml": "[tool.pytest]\na=" + "[" * 20_000,
    "json": '{"scripts":' * 20_000,
    "an indented class": "class A(dict):\n" + "    def a(self):\n            return 1\n" * 200,
    "surrogate": "def test_a():\n    assert '\udce9' == 1\n",
}
PATHS = (
    "tests/test_a.py",
    "tests/a.test.ts",
    "a_test.go",
    "src/a.rs",
    "src/test/ATest.java",
    "spec/a_spec.rb",
    "tests/a.c",
    "app.py",
    "app.js",
    "app.go",
    "run.sh",
    "conftest.py",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "pytest.ini",
)


@pytest.mark.slow
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_hostile_texts_are_read_or_passed_over_soon(text: str) -> None:
    files = [change(path, text, text + "\n#\n") for path in PATHS]
    files += [change("more/" + path, None, text) for path in PATHS]
    start = sum(os.times()[:4])  # of the processor, and of the children: others may be busy
    for finding in findings(files):
        assert len(finding.text) < 2_000
        assert "\n" not in finding.text
    added(files)
    for file in settings_changed(files, CHECKS):
        restored(file.path, text, text + "\n")
    assert sum(os.times()[:4]) - start < 60


def test_what_is_not_read_is_told() -> None:
    hits = found(("tests/test_a.py", "x" * 2_000_000, "def test_a():\n    pass\n"))
    assert [
        (finding.kind, finding.weight, finding.path) for finding in hits if finding.kind == "unread"
    ] == [("unread", "remark", "tests/test_a.py")]


_TEXT = st.one_of(
    st.none(),
    st.text(max_size=200),
    st.binary(max_size=80).map(lambda data: data.decode("utf-8", "surrogateescape")),
)


@settings(max_examples=150, deadline=None)
@given(files=st.lists(st.tuples(st.sampled_from(PATHS), _TEXT, _TEXT), max_size=4))
def test_nothing_raises(files: list[tuple[str, str | None, str | None]]) -> None:
    patch = [change(*file) for file in files]
    findings(patch, CHECKS)
    added(patch)
    changed(patch)
    for path, old, new in files:
        restored(path, old, new)


def test_three_hundred_files_are_read_soon() -> None:
    old = "import pytest\n" + "".join(
        f"def test_{n}():\n    got = page({n})\n    assert got == {n}\n\n\n" for n in range(12)
    )
    files = [change(f"tests/test_{n}.py", old, old.replace("== 3", "== 4")) for n in range(300)]
    start = time.process_time()
    hits = findings(files)
    assert {finding.kind for finding in hits} == {"expectation_changed"}
    assert time.process_time() - start < 20


CONFLICT = "a = 0\n<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> other\n"


def test_a_conflict_that_git_wrote_is_told_where_it_is_new() -> None:
    (finding,) = found(("src/util.py", None, CONFLICT))
    assert (finding.kind, finding.weight) == ("conflict_markers", "gate")
    assert (finding.text, finding.line) == ("leaves conflict markers in src/util.py", 2)


INSIDE = "".join(f"    {line}" for line in CONFLICT.splitlines(keepends=True))
DIFF = "".join(f"+{line}" for line in CONFLICT.splitlines(keepends=True))


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("src/util.py", CONFLICT, CONFLICT + "b = 1\n"),
        ("src/util.py", CONFLICT, "a = 1\n"),
        ("fixes/one.patch", CONFLICT, CONFLICT + CONFLICT.replace("a = 1", "b = 1")),
        ("tests/data/merged.txt", CONFLICT, CONFLICT + CONFLICT.replace("a = 1", "b = 1")),
        ("docs/merging.txt", None, "Title\n=======\n\n>>>>>>> no conflict\n"),
        ("docs/merging.md", None, "<<<<<<< one\n\nTitle\n======\n\n>>>>>>> two\n"),
        ("docs/merging.txt", None, "<<<<<<< SEARCH\nold\n"),
        ("docs/merging.md", None, f"Like so:\n\n```diff\n{CONFLICT}```\n"),
        ("docs/merging.md", None, f"~~~~ text `a`\n```\n{CONFLICT}~~~\n  ~~~~~ \n"),
        ("docs/merging.rst", None, f"Like so::\n\n{INSIDE}\nTitle\n=======\n"),
        ("fixes/one.patch", None, f"@@ -0,0 +1,6 @@\n{DIFF}"),
    ],
)
def test_what_is_no_new_conflict(path: str, old: str | None, new: str) -> None:
    assert found((path, old, new)) == ()


@pytest.mark.parametrize(
    ("path", "new"),
    [
        ("README.md", CONFLICT),
        ("README.md", f"```\na\n```\n\n{CONFLICT}\n```\nb\n```\n"),
        ("README.md", CONFLICT.replace("a = 1", "```\na\n```")),
        ("README.md", f"```\n{CONFLICT.replace('a = 1', 'a' + chr(10) + '```')}\n```\nb\n```\n"),
        ("README.md", f"Never closed:\n\n```\n{CONFLICT}"),
        ("README.md", f"```a```\n{CONFLICT}\n```\n"),
        ("docs/index.rst", f"Title\n=======\n\n{CONFLICT}"),
        ("src/util.py", f"# ```\n{CONFLICT}# ```\n".replace("\n", "\r\n")),
        ("fixes/one.patch", CONFLICT),
    ],
)
def test_a_conflict_outside_of_an_example_is_told(path: str, new: str) -> None:
    (finding,) = found((path, None, new))
    assert (finding.kind, finding.weight) == ("conflict_markers", "gate")


def test_one_more_conflict_in_code_is_told() -> None:
    (finding,) = found(("src/util.py", CONFLICT, CONFLICT + CONFLICT.replace("a = 1", "b = 1")))
    assert finding.line == 8


def test_a_file_that_tells_of_conflicts_may_move() -> None:
    both = [("tests/a.txt", CONFLICT, None), ("tests/b.txt", None, CONFLICT)]
    assert {finding.kind for finding in found(*both)}.isdisjoint({"conflict_markers"})
