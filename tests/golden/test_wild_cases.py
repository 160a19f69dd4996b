"""What people report of agents' patches, in other shapes: what git and builds leave in them.

The reported case itself stands beside the others of its kind: `test_nothing_tested` (conflict
markers, a red base, a commit taken back), `test_made_folders`, `test_repositories` (LFS).
"""

from __future__ import annotations

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdict_races import Files, Judged
from tests.support.wild import PAGES, PAGES_RIGHT, PAGES_TESTS, commit

DONE = fakes.finish("done")
MEND = fakes.edit("pager.py", PAGES_RIGHT)
PAGER = {"pager.py": PAGES, "test_pager.py": PAGES_TESTS}
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
