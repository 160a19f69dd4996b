"""What a patch takes back of the base's last commits, read from real histories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.checks.record import CheckStatus
from hydra.checks.regressions import compare_to_baseline
from hydra.ranking import collect
from hydra.ranking.evidence import Evidence
from hydra.ranking.model import LaneResult
from hydra.ranking.undone import undoing, undone
from hydra.ranking.verdict import rank
from hydra.records.outcome import Patch
from tests.conftest import git
from tests.support.evidences import result

LOOP = (
    "def total(rows):\n    value = 0\n    for row in rows:\n"
    "        value += row\n    return value\n"
)
LAST = "\n\ndef last(rows):\n    return rows[-2]\n"
CODE = f"import os\n\n\n{LOOP}\n\ndef first(rows):\n    return rows[0]\n{LAST}"
GUARD = CODE.replace("    value = 0\n", "    if not rows:\n        return None\n    value = 0\n")
MENDED = ("rows[-2]", "rows[-1]")
Files = Mapping[str, str | bytes | None]


@dataclass
class History:
    """A repository whose base is made commit by commit, and a patch on it."""

    scratch: Path
    repo: Path

    def commit(self, subject: str, files: Files, *more: str) -> str:
        for path, text in files.items():
            place = self.repo / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                place.unlink()
            else:
                place.write_bytes(text.encode() if isinstance(text, str) else text)
        git(self.repo, "add", "-Af")
        git(self.repo, *more, "commit", "-qm", subject)
        return git(self.repo, "rev-parse", "--short=7", "HEAD")

    def evidence(self, patches: Mapping[str, Files], task: str = "Mend it") -> Evidence:
        """Of a run whose lanes left patches of these files."""
        base = git(self.repo, "rev-parse", "HEAD")
        lanes = []
        for name, files in patches.items():
            self.commit("A patch", files)
            head = git(self.repo, "rev-parse", "HEAD")
            git(self.repo, "branch", "-qf", name, head)
            git(self.repo, "reset", "-q", "--hard", base)
            patch = Patch(commit=head, base=base, files=1)
            lanes.append(LaneResult(lane=name, status="completed", patch=patch))
        folder = self.scratch / head
        git(self.scratch, "clone", "-q", "--bare", str(self.repo), str(folder / "patches.git"))
        return collect.evidence(folder, base, lanes, task=task)

    def patch(self, files: Files, task: str = "Mend it") -> tuple[list[str], str]:
        """What is said of a patch of these files, and what of that is a decision."""
        facts = self.evidence({"claude": files}, task)
        (lane,) = facts.lanes
        reason = undoing(lane.files, facts)
        said = [finding.text for finding in undone(lane.files, facts)]
        return said, reason.text if reason else ""


@pytest.fixture
def history(scratch: Path, repo: Path) -> History:
    return History(scratch, repo)


def test_lines_taken_back_beside_a_mend_in_the_same_file_are_said(history: History) -> None:
    history.commit("Rows", {"rows.py": CODE})
    oid = history.commit("Guard", {"rows.py": GUARD})
    later = GUARD.replace("import os\n", "import os\nimport sys\n")
    history.commit("Import", {"rows.py": later})
    ours = later.replace(GUARD[len("import os\n") :], CODE[len("import os\n") :])
    assert history.patch({"rows.py": ours.replace(*MENDED)}) == (
        [f"undoes {oid}: Guard"],
        f"undoes {oid}: Guard",
    )
    assert history.patch({"rows.py": ours}) == ([f"undoes {oid}: Guard"], "")


def test_of_equals_the_one_that_takes_nothing_back_is_first(history: History) -> None:
    """However many lanes left the same patch that does."""
    history.commit("The code", {"a.py": CODE})
    history.commit("Guard", {"a.py": GUARD})
    back: Files = {"a.py": CODE.replace(*MENDED)}
    facts = history.evidence({"a": back, "b": back, "c": {"a.py": GUARD.replace(*MENDED)}})
    base, own = result({"t.py::test_last": False}), result({"t.py::test_last": True})
    checks = (compare_to_baseline(own, base),)
    patch = Patch(commit="a" * 40, base="b" * 40, files=1, insertions=1, deletions=1)
    lanes = tuple(replace(lane, checks=checks, patch=patch) for lane in facts.lanes)
    verdict = rank(replace(facts, lanes=lanes, baseline=(base,)))
    assert {lane.lane: lane.rank for lane in verdict.lanes} == {"c": 1, "a": 2, "b": 2}
    assert verdict.top == "c"
    assert verdict.says.endswith("it undoes no recent commit, unlike a and b")
    asking = replace(facts, lanes=lanes, baseline=(base,), task="Please revert the guard again")
    assert {lane.lane: lane.rank for lane in rank(asking).lanes} == {"a": 1, "b": 1, "c": 3}


def test_what_only_takes_back_and_no_test_tells_is_tied(history: History) -> None:
    """It may be the very mend; beside other code it is what nobody asked for."""
    history.commit("The code", {"a.py": CODE})
    oid = history.commit("Guard", {"a.py": GUARD})
    back: Files = {"a.py": CODE}
    other: Files = {"a.py": GUARD.replace("rows[0]", "rows[1]")}
    beside: Files = {"a.py": CODE.replace(*MENDED)}
    facts = history.evidence({"a": back, "b": back, "c": other, "d": beside})
    base = replace(result({}), status=CheckStatus.FAILED, tests=None, exit_code=1)
    lanes = tuple(replace(lane, checks=(compare_to_baseline(base, base),)) for lane in facts.lanes)
    verdict = rank(replace(facts, lanes=lanes, baseline=(base,)))
    assert {lane.state for lane in verdict.lanes} == {"untested"}
    assert {lane.lane: lane.rank for lane in verdict.lanes} == {"a": 1, "b": 1, "c": 1, "d": 4}
    assert verdict.top is None
    assert f"undoes {oid}: Guard" in {reason.text for reason in verdict.lanes[0].reasons}


def test_the_straight_mend_of_what_the_last_commit_broke_is_not_put_behind(
    history: History,
) -> None:
    history.commit("The code", {"a.py": CODE.replace(*MENDED)})
    history.commit("Break it", {"a.py": CODE})
    straight: Files = {"a.py": CODE.replace(*MENDED)}
    other: Files = {"a.py": CODE.replace("rows[-2]", "rows[len(rows) - 1]")}
    facts = history.evidence({"a": other, "b": straight})
    base, own = result({"t.py::test_last": False}), result({"t.py::test_last": True})
    checks = (compare_to_baseline(own, base),)
    lanes = tuple(replace(lane, checks=checks) for lane in facts.lanes)
    verdict = rank(replace(facts, lanes=lanes, baseline=(base,)))
    assert {lane.lane: lane.rank for lane in verdict.lanes} == {"a": 1, "b": 1}


def test_what_a_later_commit_had_taken_back_is_not_undone_again(history: History) -> None:
    history.commit("Rows", {"rows.py": CODE})
    history.commit("Guard", {"rows.py": GUARD})
    oid = history.commit("Back, and worse", {"rows.py": CODE.replace("rows[0]", "rows[1]")})
    assert history.patch({"rows.py": CODE}) == ([f"undoes {oid} in rows.py: Back, and worse"], "")


def test_a_part_of_a_commit_is_said_with_its_file(history: History) -> None:
    history.commit("Rows", {"rows.py": CODE, "more.py": CODE})
    both = GUARD.replace("rows[0]", "rows[0] if rows else None")
    oid = history.commit("Guard", {"rows.py": both, "more.py": both})
    ours = both.replace(GUARD, CODE).replace("    if not rows:\n        return None\n", "")
    assert history.patch({"rows.py": ours}) == (
        [f"undoes {oid} in rows.py: Guard"],
        "",
    )
    assert history.patch({"rows.py": ours.replace(*MENDED)})[1]


def test_one_changed_line_counts_in_its_own_place_alone(history: History) -> None:
    text = "".join(f"def wait_{n}():\n    return sleep(5)\n\n\n" for n in range(40))
    history.commit("Waits", {"waits.py": text})
    lines = text.splitlines(keepends=True)
    lines[5] = lines[-3] = "    return sleep(10)\n"
    history.commit(
        "Last one", {"waits.py": "".join([*lines[:5], text.splitlines(True)[5], *lines[6:]])}
    )
    oid = history.commit("Second one", {"waits.py": "".join(lines)})
    again = "    return sleep(5)\n"
    mend = "    return sleep(7)\n"
    second = "".join([*lines[:5], again, *lines[6:21], mend, *lines[22:]])
    assert history.patch({"waits.py": second})[0] == [f"undoes {oid}: Second one"]
    lines[5:6] = ["    now = 1\n", "    return sleep(10)\n"]
    history.commit("Now", {"waits.py": "".join(lines)})
    lines[81] = "    return sleep(10)\n"
    history.commit("In the middle", {"waits.py": "".join(lines)})
    elsewhere = "".join(lines).replace("wait_9():\n    return sleep(5)", "wait_9():\n    return 1")
    assert history.patch({"waits.py": elsewhere})[0] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import os\n", ""),
        ("    return rows[0]\n", "    return rows[0]\n\n"),
        ("    return rows[0]\n", "    return rows[0]\n    }\n    }\n    end\n"),
    ],
)
def test_lines_that_may_be_chance_are_not_said(history: History, old: str, new: str) -> None:
    history.commit("Before", {"rows.py": CODE.replace(old, new)})
    history.commit("After", {"rows.py": CODE})
    ours = CODE.replace(old, new).replace(*MENDED)
    assert history.patch({"rows.py": ours}) == ([], "")


def test_what_was_changed_since_is_not_taken_back(history: History) -> None:
    history.commit("Rows", {"rows.py": CODE})
    history.commit("Guard", {"rows.py": GUARD})
    history.commit("Zero", {"rows.py": GUARD.replace("return None", "return 0")})
    assert history.patch({"rows.py": CODE.replace(*MENDED)}) == ([], "")


@pytest.mark.parametrize("edited", [CODE, GUARD, CODE + "\n\nMORE = 1\n"])
def test_a_file_that_moves_takes_nothing_back(history: History, edited: str) -> None:
    history.commit("Rows", {"rows.py": CODE})
    assert history.patch({"rows.py": None, "lib/rows.py": edited}) == ([], "")


@pytest.mark.parametrize(
    ("task", "is_asked"),
    [
        ("Delete lib/rows.py.", True),
        ("`rows.py` is dead: remove it", True),
        ("Drop the folder lib/, and mend the rest", True),
        ("Mend it", False),
        ("Mend other/rows.py", False),
        ("Mend lib/rows.pyi and lib/more.py", False),
    ],
)
def test_a_file_goes_that_the_task_names(history: History, task: str, is_asked: bool) -> None:
    oid = history.commit("Rows", {"lib/rows.py": CODE})
    files = {"lib/rows.py": None, "src/pager.py": "PAGES = 1\n"}
    text = f"undoes {oid}: Rows"
    assert history.patch(files, task) == (([], "") if is_asked else ([text], text))


def test_lines_are_followed_through_the_names_of_a_file(history: History) -> None:
    rows = history.commit("Rows", {"rows.py": CODE})
    guard = history.commit("Guard", {"rows.py": GUARD})
    named = GUARD.replace("def first(rows):\n    return", "def first(rows):\n    return 1 +")
    files = {"rows.py": None, "lib/lines.py": named, "src/pager.py": LOOP}
    move = history.commit("Move", files)
    ours = named.replace("    if not rows:\n        return None\n", "").replace(*MENDED)
    text = f"undoes {guard}: Guard"
    assert history.patch({"lib/lines.py": ours}) == ([text], text)
    first = named.replace("return 1 +", "return").replace(*MENDED)
    text = f"undoes {move} in lib/lines.py: Move"
    assert history.patch({"lib/lines.py": first}) == ([text], text)
    assert history.patch({"lib/lines.py": None, "rows.py": GUARD})[0] == [
        f"undoes {move} in lib/lines.py, rows.py: Move"
    ]
    assert history.patch({"lib/lines.py": None})[0] == [f"undoes {rows}: Rows"]


def test_a_file_of_bytes_is_again_what_it_was(history: History) -> None:
    history.commit("Logo", {"logo.png": b"\0\1"})
    oid = history.commit("Larger", {"logo.png": b"\0\2"})
    text = f"undoes {oid}: Larger"
    assert history.patch({"logo.png": b"\0\1", "src/pager.py": LOOP}) == ([text], text)
    assert history.patch({"logo.png": b"\0\3", "src/pager.py": LOOP}) == ([], "")


def test_names_that_git_would_quote_or_read_as_patterns(history: History) -> None:
    for name in ("a b.py", "ä\n.py", "[ab]*.py", ":(top)x.py"):
        history.commit("Rows", {name: CODE})
        oid = history.commit("Guard", {name: GUARD})
        assert history.patch({name: CODE.replace(*MENDED)})[0] == [f"undoes {oid}: Guard"]
