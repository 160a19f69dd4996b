"""Checks in settings: short and as tables, by place, and the names that commands get."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from hydra.checks.record import file_of
from hydra.config.check_specs import in_folder, kind_of, name_of, typed
from hydra.config.load import load
from hydra.config.schema import CheckSettings
from hydra.records.request import Check


def own(text: str) -> CheckSettings:
    return load(user=("user.toml", text)).checks


DATA = tomllib.loads((Path(__file__).parent / "data" / "settings.toml").read_text())
DEEP = [  # a repository's file names checks, too: neither deep nor slow
    ("A=1 " * 5000 + "make", "make", "test"),
    ("env " * 5000 + "make", "make", "test"),
    ("uv" + " -p" * 5000, "uv", "test"),
    ("cd a && " * 5000 + "make", "a: a: a: make", "test"),
    ("python" + " -x" * 5000, "python", "test"),
]


@pytest.mark.parametrize(
    ("command", "name", "kind"),
    [*((row["command"], row["name"], row["kind"]) for row in DATA["command"]), *DEEP],
)
def test_a_command_gets_a_name_and_a_kind(command: str, name: str, kind: str) -> None:
    assert name_of(command) == name
    assert kind_of(name, command) == kind


def test_a_command_in_a_folder_is_one_command() -> None:
    assert in_folder("a", "") == "a"
    assert in_folder("a -q", "b c") == "cd 'b c' && a -q"
    assert in_folder("a; b", "c") == "cd c && { a; b\n}"


@pytest.mark.parametrize(
    ("command", "folder", "line"),
    [
        ("cd a && make", "", "cd a && make"),
        ("cd a && make", "a", "make"),
        ("cd a && cd b && make", "a", "cd b && make"),
        ("cd a && cd b && make", "a/b", "make"),
        ("make", "a/b", "cd ../.. && make"),
        ("cd $HERE && make", "a", "cd .. && { cd $HERE && make\n}"),
    ],
)
def test_a_command_as_one_types_it_in_a_folder(command: str, folder: str, line: str) -> None:
    assert typed(command, folder) == line


@pytest.mark.parametrize(
    "names",
    [
        ("libA: pytest", "libB: pytest"),
        ("packages/A: test", "packages/B: test"),
        ("pkg_a: test", "pkg-a: test", "pkg-a-test"),
        ("pytest", "é: pytest", "ü: pytest"),
    ],
)
def test_no_two_checks_have_the_same_file(names: tuple[str, ...]) -> None:
    files = [file_of(Check(name, "x")) for name in names]
    assert len({*files}) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", file) for file in files)
    assert file_of(Check("pytest-unit", "x")) == "pytest-unit"


def test_flags_name_checks_in_short() -> None:
    specs = ("pytest -q", "unit=pytest -q tests/unit", "FOO=1 pytest", "lint=ruff check .")
    config = load(flags={"race.check": specs})
    assert config.checks.checks == (
        Check("pytest", "pytest -q"),
        Check("unit", "pytest -q tests/unit"),
        Check("pytest-2", "FOO=1 pytest"),
        Check("lint", "ruff check .", "lint"),
    )
    assert config.checks.trusted
    assert config.sources["race.check"] == "--check"


def test_a_table_says_more() -> None:
    text = '[checks.unit]\ncommand = "ctest"\nkind = "build"\nrequired = false\njunit = "r/*.xml"\n'
    assert own(text).checks == (Check("unit", "ctest", "build", False, "r/*.xml"),)


def test_tables_and_the_short_form_stand_together() -> None:
    text = (
        '[race]\ncheck = ["ruff check ."]\n[checks]\nparallel = 3\n[checks.unit]\ncommand = "t"\n'
    )
    config = load(user=("user.toml", text))
    assert [check.name for check in config.checks.checks] == ["unit", "ruff"]
    assert config.checks.parallel == 3


def test_the_highest_place_that_names_any_names_them_all() -> None:
    user = ("user.toml", '[checks.mine]\ncommand = "a"\n[checks]\nparallel = 2\n')
    repository = ("shop/hydra.toml", '[race]\ncheck = ["b", "c=d"]\n')
    theirs = load(user=user, repository=repository).checks
    assert [check.command for check in theirs.checks] == ["b", "d"]
    assert not theirs.trusted
    assert theirs.parallel == 2
    variable = load(user=user, repository=repository, environ={"HYDRA_CHECK": "e\nf=g"}).checks
    assert [check.name for check in variable.checks] == ["e", "f"]
    assert variable.trusted
    flag = load(repository=repository, environ={"HYDRA_CHECK": "e"}, flags={"race.check": ("h",)})
    assert [check.command for check in flag.checks.checks] == ["h"]
