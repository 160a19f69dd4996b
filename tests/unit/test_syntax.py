"""What a text of a program is, as a child with tree-sitter reads it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hydra.analysis import syntax
from hydra.analysis.syntax import Syntax, language_of, read_syntax
from tests.support.tables import table_rows

FUNCTIONS = table_rows("syntax", "functions")


def read(path: str, text: str) -> Syntax:
    (value,) = read_syntax([(path, text)])
    assert value is not None
    return value


@pytest.mark.parametrize(("path", "text", "names", "tests"), FUNCTIONS)
def test_functions_and_tests_by_their_lines(
    path: str, text: str, names: tuple[str, ...], tests: tuple[tuple[int, int], ...]
) -> None:
    value = read(path, text)
    lines = (
        f"{row.name} {row.start}-{row.end}{' test' if row.is_test else ''}"
        for row in value.functions
    )
    assert (tuple(lines), value.tests) == (names, tests)
    assert not value.is_broken


@pytest.mark.parametrize(("path", "text"), [(row[0], row[1]) for row in FUNCTIONS])
def test_what_is_blanked_leaves_all_else_where_it_was(path: str, text: str) -> None:
    value = read(path, text)
    for other in (value.code, value.bare):
        pairs = zip(text, other, strict=True)
        assert all(new in (old, " ") for old, new in pairs)
        assert other.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("path", "text", "code", "bare"),
    [
        ("a.py", 'x = "# é"  # é\n', 'x = "# é"     \n', 'x = "   "     \n'),
        ("a.py", 'def f():\n    "d"\n    "e"\n', 'def f():\n       \n    "e"\n', None),
        ("a.py", "f'a{b + \"c\"}'\n", "f'a{b + \"c\"}'\n", "f' {b + \" \"}'\n"),
        ("a.js", "`a${b}` // c\n", "`a${b}`     \n", "` ${b}`     \n"),
        ("a.jsx", "<p>it's {/* c */}</p>\n", "<p>it's {       }</p>\n", None),
        ("a.rs", 'r#"a"# /* b /* c */ */\n', 'r#"a"#                \n', None),
        ("a.rb", "x <<~A\n  # b\nA\n", "x <<~A\n  # b\nA\n", "x <<~A\n     \nA\n"),
        ("a.py", "x = '\ud800' # \ud800\n", "x = '\ud800'    \n", "x = ' '    \n"),
    ],
)
def test_comments_and_strings_are_blanked(
    path: str, text: str, code: str, bare: str | None
) -> None:
    value = read(path, text)
    assert value.code == code
    assert bare is None or value.bare == bare


def test_a_language_without_a_grammar_is_not_read() -> None:
    assert [language_of(name) for name in ("a.c", "a", ".py", "x/B.PY", "Rakefile")] == [
        *("", "", "", "python", "ruby")
    ]
    assert read_syntax([("a.c", "int x;"), ("a.py", "x = 1\n")])[0] is None
    assert read_syntax([]) == ()


HOSTILE = [
    "(" * 20_000,
    "[" * 20_000 + "]" * 20_000,
    "x" * 500_000,
    "x = 1 + " + "1 + " * 10_000 + "1\n",
    "class a:\n" * 3000,
    "\0" * 1000,
    "x = '\0'\n",
    "\ud800\udfff = '\udc80'\n",
    '"""' * 5001,
    "/*" * 5000,
    "`${" * 5000,
    "a<" * 5000,
    "".join(" " * n + "if x:\n" for n in range(150)),
    "\ufeffx = 1\r\n",
    "",
]


@pytest.mark.parametrize("path", ["a.py", "a.tsx", "a.rs", "a.kt"])
def test_hostile_text_is_only_text(path: str) -> None:
    *values, plain = read_syntax([*((path, text) for text in HOSTILE), ("b.py", "x = 1\n" * 9)])
    assert plain is not None
    for text, value in zip(HOSTILE, values, strict=True):
        if value is not None:
            assert len(value.code) == len(value.bare) == len(text)


def test_a_text_of_more_than_half_a_mebibyte_is_not_read() -> None:
    assert read_syntax([("a.py", "x = 1\n" * 200_000)]) == (None,)


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Another program in the child's place."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(syntax, "_read", {})


@pytest.mark.parametrize(
    "script",
    ["exit 1", "kill -SEGV $$", "exec sleep 60", "echo '{'", "echo null", "printf 'x\\377\\n'"],
)
def test_a_child_that_dies_hangs_or_says_nonsense_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    stand_in(tmp_path, monkeypatch, script)
    monkeypatch.setattr(syntax, "SECONDS", 1.0)
    assert read_syntax([("a.py", "x = 1\n"), ("b.py", "x = 2\n")]) == (None, None)


def test_a_text_that_ends_the_child_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A child that is asked for a text with `boom` in it ends after the shorter ones before it.
    ends = tmp_path / "ends.py"
    ends.write_text(
        "import json, subprocess, sys\n"
        "texts = json.load(sys.stdin)\n"
        "at = next((n for n, row in enumerate(texts) if 'boom' in row[1]), len(texts))\n"
        "rest = json.dumps(texts[:at]).encode()\n"
        f"subprocess.run([{sys.executable!r}, *sys.argv[1:]], input=rest)\n"
    )
    stand_in(tmp_path, monkeypatch, f'exec {sys.executable} -I {ends} "$@"')
    texts = [("a.py", "x\n"), ("b.py", "boom\n"), ("c.py", "xxxxxxx\n")]
    values = read_syntax(texts)
    assert [value is None for value in values] == [False, True, False]


def test_a_child_writes_nothing_and_sees_no_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sys.executable
    monkeypatch.setenv("HYDRA_SYNTAX_SECRET", "x")
    stand_in(tmp_path, monkeypatch, f'env >{tmp_path}/env; pwd >{tmp_path}/pwd; exec {real} "$@"')
    assert read_syntax([("a.py", "x = 1\n")])[0] is not None
    assert "SECRET" not in (tmp_path / "env").read_text()
    assert (tmp_path / "pwd").read_text() == "/\n"
