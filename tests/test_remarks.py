"""A word on every patch: what deserves a look before it lands."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hydra.analysis.notices.manifests import MOST_BYTES, dependencies, install_scripts, is_manifest
from hydra.analysis.notices.notice import remarks
from hydra.analysis.notices.places import PLACES, TouchedPath, is_test, kind_of
from hydra.git.patch_facts import touched
from hydra.records.outcome import Remark
from tests.conftest import git
from tests.support.grounds import race_on, take
from tests.support.landings import Shelf
from tests.support.picks_cases import EXEC, FILE, LINK, MODULE, Tree, commits
from tests.support.tables import table_rows


@pytest.mark.parametrize(
    ("path", "kind"),
    table_rows("remarks", "files_are_known_by_their_names"),
)
def test_files_are_known_by_their_names(path: str, kind: str) -> None:
    assert kind_of(path.encode(), hooks="tools/hooks/") == kind
    assert not kind or kind in PLACES


HABITS = """
    tests/helper.py test_a.py a_test.go web/a.test.tsx a_spec.rb lib/up.bats ext/up.phpt up.robot
    main.tftest.hcl Pager.t.sol Pager.Tests.ps1 src/pager_test.clj pager_tests.erl pager_SUITE.erl
    PagerTest.groovy pager_spec.cr PagerSpecification.groovy TestPager.hs runtests.jl
    test_pager.nim pager_test.zig lib/test_pager.rb test-pager.R PagerTests.fs pager_test.gleam
    up.vader
"""


def test_tests_are_known_by_their_names_in_each_language() -> None:
    for path in HABITS.split():
        assert is_test(path.encode()), path
    for ending in ("java", "kt", "groovy", "scala"):
        for name in ("PagerSpec", "HTTPSpec", "V2Spec"):
            assert is_test(f"src/{name}.{ending}".encode()), (name, ending)
        assert not is_test(f"src/Spec.{ending}".encode()), ending
        assert not is_test(f"src/Inspec.{ending}".encode()), ending
    code = ("src/contest.clj", "lib/acrobat.pm", "Testing.hs", "src/Latest.hs", "run.jl", "up.sol")
    for path in ("tests/data.json", "src/latest.py", "src/contest.go", "testing.md", *code):
        assert not is_test(path.encode()), path


MANIFESTS = table_rows("remarks", "manifests")


@pytest.mark.parametrize(("name", "text", "names"), MANIFESTS, ids=[m[0] for m in MANIFESTS])
def test_manifests_name_their_packages(name: str, text: str, names: str) -> None:
    expected = frozenset(names.split("|"))
    assert is_manifest(name.encode())
    assert dependencies(name.encode(), text.encode()) == expected


HOSTILE = [
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe\0\0",
    b'{"dependencies": ["no", "table"]}',
    b'{"dependencies": 1e999, "scripts": 7}',
    b"<dependency>" * 15_000,
    b"require " * 30_000,
    b"dependencies = 7\n[project]\ndependencies = 7\n",
    b"a" * (MOST_BYTES + 1),
    b"",
]


@pytest.mark.parametrize("name", [manifest[0] for manifest in MANIFESTS])
def test_no_text_of_a_manifest_breaks_or_holds_up_the_reading(name: str) -> None:
    began = time.process_time()
    for data in HOSTILE:
        names = dependencies(name.encode(), data)
        assert names is None or isinstance(names, frozenset)
        install_scripts(name.encode(), data)
    assert time.process_time() - began < 20


def _remarks(tmp_path: Path, base: Tree, new: Tree, hooks: str = "") -> list[tuple[str, str, str]]:
    git_dir = tmp_path / "bare.git"
    git(tmp_path, "init", "-q", "--bare", str(git_dir))
    old, now = commits(git_dir, base, new)
    stats, files = touched(git_dir, old, now)
    assert {path for path, _, _ in stats} == {file.path for file in files}
    return [(remark.kind, remark.path, remark.text) for remark in remarks(files, hooks)]


def test_every_kind_is_told_with_its_path(tmp_path: Path) -> None:
    base: Tree = {
        b"a.sh": (FILE, b"x\n"),
        b"package.json": (FILE, b'{"dependencies": {"old": "1"}, "scripts": {"test": "jest"}}'),
        b"pyproject.toml": (FILE, b"[project]\ndependencies = ['kept']\n"),
        b"sub": (MODULE, b"1" * 40),
        b"gone": (MODULE, b"1" * 40),
        b"tests/test_gone.py": (FILE, b"gone\n"),
        b"tests/test_moved.py": (FILE, b"moved\n"),
        b"src/plain.py": (FILE, b"1\n"),
        b"already.sh": (EXEC, b"x\n"),
    }
    new: Tree = {
        b"a.sh": (EXEC, b"x\n"),
        b"already.sh": (EXEC, b"y\n"),
        b"package.json": (
            FILE,
            b'{"dependencies": {"old": "2", "new": "1"}, "scripts": {"postinstall": "x"}}',
        ),
        b"pyproject.toml": (FILE, b"[project\n"),
        b"sub": (MODULE, b"2" * 40),
        b"tests/unit/test_moved.py": (FILE, b"moved, and changed\n"),
        b"src/plain.py": (FILE, b"2\n"),
        b"Makefile": (FILE, b"all:\n"),
        b"big.bin": (FILE, b"\0" * (2 << 20)),
        b"tool": (EXEC, b"#!\n"),
        b"in/link": (LINK, b"../src/plain.py"),
        b"in/out": (LINK, b"../../secret"),
        b"in/abs": (LINK, b"/etc/passwd"),
        b"in/git": (LINK, b"../.git/config"),
        b"odd \xff": (LINK, b"\xfe"),
    }
    assert _remarks(tmp_path, base, new) == [
        ("build", "Makefile", "new: runs when the project is built or installed"),
        ("executable", "a.sh", "made executable"),
        ("binary", "big.bin", "a binary file, 2.0 MiB"),
        ("large", "big.bin", "2.0 MiB"),
        ("submodule", "gone", "a submodule is removed"),
        ("symlink_outside", "in/abs", "points outside the tree: /etc/passwd"),
        ("symlink_outside", "in/git", "points into git's own folder: ../.git/config"),
        ("symlink", "in/link", "points to ../src/plain.py"),
        ("symlink_outside", "in/out", "points outside the tree: ../../secret"),
        ("symlink", "odd \\xff", "points to \\xfe"),
        ("dependency", "package.json", "new dependency: new"),
        ("build", "package.json", "runs on install: postinstall"),
        ("dependency", "pyproject.toml", "cannot be read: its dependencies are not known"),
        ("submodule", "sub", "a submodule, at 222222222222"),
        ("deleted_test", "tests/test_gone.py", "a test's file is deleted"),
        ("executable", "tool", "a new executable"),
    ]


def test_a_manifest_whose_old_text_is_unknown_claims_nothing() -> None:
    file = TouchedPath(
        path=b"go.mod", old_mode=FILE, new_mode=FILE, old_oid="a", new_oid="b", new=b"module m\n"
    )
    assert remarks([file]) == (
        Remark("dependency", "go.mod", "cannot be read: its dependencies are not known"),
    )


def test_the_user_s_own_hooks_folder_is_known(repo: Path, scratch: Path) -> None:
    git(repo, "config", "core.hooksPath", "tools/hooks")
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    (ground.worktree / "tools/hooks").mkdir(parents=True)
    (ground.worktree / "tools/hooks/pre-push").write_text("x\n")
    patch = take(ground)
    ground.remove()
    assert patch.remarks == (
        Remark("hook", "tools/hooks/pre-push", "new: git hooks run on your machine"),
    )


@pytest.mark.slow
def test_a_landing_says_it_before_and_after(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", _workflow)
    dry = shelf.command("merge", "claude", "--dry-run", "--no-check")
    assert "it touches what deserves a look:" in dry.stdout, dry.stderr
    assert ".github/workflows/ci.yml: new: runs in CI, with what CI may do (ci)" in dry.stdout
    landed = json.loads(shelf.command("merge", "claude", "--json", "--no-check").stdout)
    assert landed["remarks"] == [
        {
            "kind": "ci",
            "path": ".github/workflows/ci.yml",
            "text": "new: runs in CI, with what CI may do",
        }
    ]


def _workflow(tree: Path) -> None:
    (tree / ".github/workflows").mkdir(parents=True)
    (tree / ".github/workflows/ci.yml").write_text("on: push\n")
