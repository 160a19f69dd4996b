"""What people report of agents' patches, in other shapes: what git and builds leave in them.

The reported case itself stands beside the others of its kind: `test_nothing_tested` (conflict
markers, a red base, a commit taken back), `test_made_folders`, `test_repositories` (LFS).
"""

from __future__ import annotations

import shlex
import shutil

import pytest

from tests.conftest import git, make_repository
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdict_races import Files, Judged
from tests.support.wild import PAGES, PAGES_RIGHT, PAGES_TESTS, commit, paste

DONE = fakes.finish("done")
MEND = fakes.edit("pager.py", PAGES_RIGHT)
PAGER = {"pager.py": PAGES, "test_pager.py": PAGES_TESTS}
USER = "[user]\n\tname = Ada\n\temail = ada@example.com\n"

Lanes = dict[str, Files | list[fakes.Step]]


def sh(script: str) -> fakes.Step:
    return fakes.shell("sh", "-ec", script)


def in_app(word: str, more: str = "commit -qam work") -> str:
    return f"echo 'let a = {word};' >app.js; git {more}; "


@pytest.mark.slow
def test_an_unfinished_merge_of_any_kind_is_held_back(hydra: Hydra) -> None:
    """A merge in the style of diff3, a stash on top of another change, and lines that end in CRLF;
    a title in a document is none."""
    commit(hydra.repo, {"app.js": "let a = 0;\n", "menu.json": '{\r\n  "a": 0\r\n}\r\n'})
    apart = f"git checkout -qb other; {in_app('two')} git checkout -q -; {in_app('one')}"
    crlf = '{\n<<<<<<< ours\n  "a": 1\n=======\n  "a": 2\n>>>>>>> theirs\n}\n'
    lanes: Lanes = {
        "merges": [sh(f"{apart} git -c merge.conflictStyle=diff3 merge other || :"), DONE],
        "pops": [sh(f"{in_app('one', 'stash -q')} {in_app('two')} git stash pop || :"), DONE],
        "crlf": [fakes.edit("menu.json", crlf.replace("\n", "\r\n")), DONE],
        "titles": [fakes.edit("notes.rst", "Notes\n=======\n\n::\n\n    <<<<<<< HEAD\n"), DONE],
    }
    item = Judged(hydra, lanes).run("--no-check", checks=())
    for does, path in {"merges": "app.js", "pops": "app.js", "crlf": "menu.json"}.items():
        assert item.of(does)["state"] == "held_back", str(item)
        assert f"leaves conflict markers in {path}" in item.gates(does)
    assert item.passing() == {"titles"}


@pytest.mark.slow
def test_a_base_that_is_red_breaks_no_patch(hydra: Hydra) -> None:
    """Its check of make names no test, and the one of node one of two."""
    node = "require('node:test').test('NAME', () => require('assert')(CODE));\n"
    files = {
        "a.test.js": node.replace("NAME", "stays red").replace("CODE", "false"),
        "b.test.js": node.replace("NAME", "stays green").replace("CODE", "true"),
        "Makefile": "lint:\n\t@echo src/pager.py: line 3 is too long >&2; exit 1\n",
    }
    commit(hydra.repo, files)
    adds = node.replace("NAME", "adds").replace("CODE", "require('./cart').add(1, 2) === 3")
    lanes: Lanes = {
        "notes": {"CHANGES.md": "# Changes\n"},
        "adds": {"cart.js": "exports.add = (a, b) => a + b;\n", "cart.test.js": adds},
    }
    item = Judged(hydra, lanes).run(checks=("make lint", "node --test"))
    assert {item.of(does)["state"] for does in lanes} == {"untested"}, str(item)
    assert [*item.ranks()] == ["adds", "notes"]
    for does in ("notes", "adds"):  # and on the branch that has moved
        landed = paste(hydra, f"hydra merge claude-{does}")
        assert landed.returncode == 0, landed.stderr


@pytest.mark.slow
def test_what_takes_back_commits_is_said_whatever_does_it(hydra: Hydra) -> None:
    commit(hydra.repo, {**PAGER, "tax.py": "TAX = 1\n"})
    commit(hydra.repo, {"tax.py": "TAX = 2\n", "web/tax.js": "exports.TAX = 2;\n"}, "Taxes")
    commit(hydra.repo, {"prices.txt": "apple 1\n"}, "Prices")
    prices, taxes = git(hydra.repo, "log", "-2", "--format=%H").split()
    lanes: Lanes = {
        "resets": [sh("git reset -q --hard HEAD~2"), MEND, DONE],
        "reverts": [MEND, sh("git commit -qam Mend; git revert --no-edit HEAD~1"), DONE],
        "restores": [sh("git checkout -q HEAD~2 -- tax.py"), MEND, DONE],
        "goes-on": [fakes.edit("prices.txt", "apple 1\npear 2\n"), MEND, DONE],
    }
    item = Judged(hydra, lanes).run("--no-check", checks=())
    assert {does: item.of(does).get("decision") for does in lanes} == {
        "resets": f"undoes {prices[:7]}: Prices (and 1 more)",
        "reverts": f"undoes {prices[:7]}: Prices",
        "restores": f"undoes {taxes[:7]} in tax.py: Taxes",
        "goes-on": None,
    }
    for does in ("resets", "restores"):
        shown = hydra.run("merge", "--dry-run", f"claude-{does}")
        assert item.of(does)["decision"] in shown.stderr


LEAVES = {
    "node": (
        "mkdir -p node_modules/left 'web app/dist'; touch 'web app/main.js';"
        "(cd node_modules/left; touch $(seq -f %g.js 40)); cd 'web app/dist'; touch $(seq 12)"
    ),
    "python": "mkdir -p .venv/lib; (cd .venv/lib; touch $(seq -f %g.py 30)); touch new.py",
    "rust": (
        "mkdir -p target/debug/deps build/obj; touch src/lib.rs;"
        "(cd target/debug/deps; touch $(seq 20)); cd build/obj; touch $(seq -f %g.o 110)"
    ),
}


@pytest.mark.slow
def test_what_is_made_is_counted_whatever_made_it_and_can_be_left_out(hydra: Hydra) -> None:
    commit(hydra.repo, {**PAGER, ".gitignore": "__pycache__\n"})
    lanes: Lanes = {does: [MEND, sh(script), DONE] for does, script in LEAVES.items()}
    item = Judged(hydra, lanes).run("--no-check", checks=())
    notes = {note.split()[0]: note for note in item.document["warnings"] if "ignore" in note}
    for does, folders, own in (
        ("node", {"node_modules": 40, "web app/dist": 12}, "web app/main.js"),
        ("python", {".venv": 30}, "new.py"),
        ("rust", {"build": 110, "target": 20}, "src/lib.rs"),
    ):
        counted = ", ".join(f"{folder} ({count} files)" for folder, count in folders.items())
        assert f"adds {counted}, which git does not ignore" in notes[f"claude-{does}"]
        options = " ".join(f"--except {shlex.quote(folder)}" for folder in folders)
        shown = paste(hydra, f"hydra merge --dry-run claude-{does} {options}")
        rows = shown.stdout.splitlines()[2:4]
        assert rows == sorted(["  M pager.py", f"  A {own}"], key=lambda row: row[4:]), shown


def lfs_clone(hydra: Hydra) -> None:
    """Goes on in a clone of one who fetches no file of LFS but the one that is asked for."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    origin, clone = hydra.scratch / "origin.git", hydra.scratch / "clone"
    git(hydra.repo, "lfs", "install", "--local")
    (hydra.repo / "art").mkdir()
    for number in range(3):
        (hydra.repo / f"art/{number}.bin").write_bytes(b"%d\n" % number * 500)
    rules = "*.bin filter=lfs diff=lfs merge=lfs -text\n"
    commit(hydra.repo, {**PAGER, "art/.gitattributes": rules, ".gitignore": "__pycache__/\n"})
    git(hydra.scratch, "clone", "-q", "--bare", str(hydra.repo), str(origin))
    shutil.copytree(hydra.repo / ".git/lfs", origin / "lfs")
    (hydra.home / ".gitconfig").write_text(USER)
    hydra.extra["GIT_LFS_SKIP_SMUDGE"] = "1"
    for line in (
        ("lfs", "install"),
        ("clone", "-q", f"file://{origin}", str(clone)),
        ("-C", str(clone), "lfs", "pull", "--include", "art/0.bin"),
    ):
        done = hydra.execute("git", *line)
        assert done.returncode == 0, done.stderr
    hydra.repo = clone


@pytest.mark.slow
def test_a_checkout_that_fetched_a_part_of_its_lfs_files(hydra: Hydra) -> None:
    """One lane draws a new file, and another in place of one that is a pointer; one removes."""
    lfs_clone(hydra)
    lanes: Lanes = {
        "mends": [MEND, DONE],
        "draws": [MEND, sh("seq 900 >art/new.bin; seq 901 >art/1.bin; git add -A"), DONE],
        "drops": [MEND, sh("git rm -q art/0.bin art/2.bin"), DONE],
    }
    check = "pointer=grep -qx '[v9][e0].*' art/1.bin && git diff --quiet HEAD -- art"
    item = Judged(hydra, lanes).run(checks=(check,))
    ends = [check["status"] for does in lanes for check in item.of(does)["checks"]]
    assert ends == ["passed"] * 3, str(item)
    files = {does: [row["path"] for row in item.of(does)["files"]] for does in lanes}
    assert files == {
        "mends": ["pager.py"],
        "draws": ["art/1.bin", "art/new.bin", "pager.py"],
        "drops": ["art/0.bin", "art/2.bin", "pager.py"],
    }
    landed = hydra.run("merge", "claude-draws")
    assert landed.returncode == 0, landed.stderr
    assert (hydra.repo / "art/1.bin").read_text().endswith("\n901\n")
    assert hydra.execute("git", "status", "--short").stdout == ""


@pytest.mark.slow
def test_a_submodule_is_a_link_whatever_an_agent_leaves_in_it(hydra: Hydra) -> None:
    """And one in it: what tests leave, what a build leaves, another commit looked at, an update."""
    allow = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    inner, outer = (make_repository(hydra.scratch / name) for name in ("inner", "outer"))
    commit(inner, {"round.py": "def up(a, b):\n    return -(-a // b)\n"})
    git(outer, *allow, "add", str(inner), "inner")
    commit(outer, {"lib.py": "from libs.outer.inner.round import up\n", ".gitignore": "*.o\n"})
    git(hydra.repo, *allow, "add", str(outer), "libs/outer")
    git(hydra.repo, *allow, "update", "--init", "--recursive")
    tests = f"from libs.outer.lib import up\n{PAGES_TESTS}"
    commit(hydra.repo, {**PAGER, "test_pager.py": tests, ".gitignore": "__pycache__/\n"})
    (hydra.home / ".gitconfig").write_text(f'{USER}[protocol "file"]\n\tallow = always\n')
    work = {
        "tests": "python3 -m unittest -q || :",
        "builds": "cd libs/outer; echo 1 >a.o; cd inner; echo 1 >notes.md",
        "looks": "cd libs/outer; git checkout -q HEAD~1; git checkout -q -; git gc -q",
        "updates": "git submodule --quiet update --init --recursive --force",
    }
    lanes: Lanes = {does: [MEND, sh(script), DONE] for does, script in work.items()}
    item = Judged(hydra, lanes).run()
    for does in lanes:
        lane = item.of(does)
        assert (lane["state"], [row["path"] for row in lane["files"]]) == ("proved", ["pager.py"])
        assert [*map(len, (lane["patch"]["notes"],))] == [does == "builds"], lane["patch"]
    (note,) = item.of("builds")["patch"]["notes"]
    brought = paste(hydra, note.partition(": ")[2])
    assert brought.returncode == 0, brought.stderr
    assert (hydra.repo / "libs/outer/inner/notes.md").read_text() == "1\n"
    landed = hydra.run("merge", "claude-builds")
    assert landed.returncode == 0, landed.stderr
    assert git(hydra.repo, "diff", "--name-only", "HEAD~1", "HEAD") == "pager.py"
