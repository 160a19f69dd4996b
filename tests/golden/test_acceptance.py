"""The faults of docs/annex/faults.md, end to end: agents at their worst, a lane each, in one race.

As root and as an ordinary user, confined; as an ordinary user without bwrap, and with one that is
refused. Rows that need a race of their own stand below, the others where their room is tested.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Race
from tests.support.processes import wait_until
from tests.support.rows import DONE, EDIT, Row, Seen, rows, write_scripts
from tests.support.trees import fingerprint
from tests.support.trust import ACCOUNTS, BY_ACCOUNT, Place, place_for

USER = ACCOUNTS[-1]
WAYS = {"root": (0, "bwrap")} if os.geteuid() == 0 else {}
WAYS |= {"user": (USER, "bwrap"), "missing": (USER, "missing"), "refused": (USER, "refused")}
BY_WAY = [pytest.param(how, marks=BY_ACCOUNT[0 if how == "root" else -1].marks) for how in WAYS]
PROMPT = "Mend the pager. " + "Take care. " * 20_000
NAMES = list(rows("python", Path("/r"), Path("/s")))
LANES = ["claude", *(f"claude-{number}" for number in range(2, len(NAMES) + 1))]
REFUSAL = "bwrap: setting up uid map: Permission denied"
by_row = pytest.mark.parametrize("name", NAMES)


@dataclass
class Siege:
    """One race with a lane for each row, and what was there before and after it."""

    place: Place
    race: Race
    rows: dict[str, Row]
    shown: dict[str, str]
    before: dict[str, dict[str, object]]
    after: dict[str, dict[str, object]]

    def seen(self, name: str) -> Seen:
        """The lane of a row."""
        return Seen(self.place, self.race, self.race.lane(LANES[NAMES.index(name)]))


def place_as(how: str, stack: ExitStack) -> Place:
    """A furnished place of that way; skips where it cannot be had."""
    uid, bwrap = WAYS[how]
    return place_for(uid, stack, confined=bwrap == "bwrap")


def hamper(place: Place, how: str) -> None:
    """Takes bwrap away as that way says; after the agents have their places on PATH."""
    if WAYS[how][1] == "missing":
        place.without("bwrap")
    if WAYS[how][1] == "refused":
        place.refused_bwrap(REFUSAL)


@pytest.fixture(scope="module", params=BY_WAY)
def siege(request: pytest.FixtureRequest) -> Iterator[Siege]:
    """Every row of tests/support/rows.py in one race."""
    with ExitStack() as stack:
        monkey = stack.enter_context(pytest.MonkeyPatch.context())
        monkey.setenv("HOME", "/nonexistent")
        place = place_as(request.param, stack)
        yield besiege(place, request.param)
        assert wait_until(lambda: fakes.processes_named(str(place.scratch)) == [])


def besiege(place: Place, how: str) -> Siege:
    # Where nothing confines: once as Hydra has it by itself, once with all that a user can say.
    access = ("--unsafe-full-access",) if how == "refused" else ()
    tried = rows(place.python, place.repo, place.scratch)
    write_scripts(place.scratch)
    cases = [(f"/{lane}/", tried[name].steps) for lane, name in zip(LANES, NAMES, strict=True)]
    place.agent("claude", [fakes.fail("error")], cases=cases)
    place.agent("codex", [EDIT, DONE], signed_in=False)
    place.extra["CODEX_API_KEY"] = ""
    (place.home / ".codex" / "auth.json").unlink()
    hamper(place, how)
    (place.repo / "README.md").write_text("staged\n")
    place.hand_over()
    place.git("stash", "-q")
    (place.repo / "README.md").write_text("staged\n")
    place.git("add", "README.md")
    (place.repo / "src" / "pager.py").write_text("not staged\n")
    (place.repo / ".env").write_text("ignored\n")
    before = {top.name: fingerprint(top) for top in (place.home, place.repo)}
    half = len(LANES) // 2
    names = ("-a", f"{half}xclaude", "-a", f"{len(LANES) - half}xclaude", "-a", "codex")
    done = place.run(
        *("race", "-", "--json", "--max-parallel", "8", *names, *access), stdin=PROMPT, timeout=300
    )
    assert done.returncode == 1, done.stderr
    race = Race(done.returncode, json.loads(done.stdout), done.stderr)
    shown = {"json": done.stdout, "race": done.stderr}
    hostile = LANES[NAMES.index("32-hostile-text")]
    for text in ("runs", "runs show", f"diff {hostile}", f"diff {hostile} --stat"):
        shown[text] = on_terminal(place, text).decode()
    after = {top.name: fingerprint(top) for top in (place.home, place.repo)}
    return Siege(place, race, tried, shown, before, after)


def on_terminal(place: Place, text: str) -> bytes:
    """What `hydra WORDS` writes to a terminal, by way of a pager that changes nothing."""
    environ = place.environ | {"TERM": "xterm", "PAGER": "cat"}
    code, output = place.on_terminal([place.python, "-m", "hydra", *text.split()], environ)
    assert code == 0, output
    return output


@pytest.mark.slow
@by_row
def test_a_row(siege: Siege, name: str) -> None:
    row, seen = siege.rows[name], siege.seen(name)
    assert seen.lane["status"] in row.status.split(" or "), seen.lane
    row.check(seen)


@pytest.mark.slow
def test_the_users_tree_index_stash_and_home_are_as_they_were(siege: Siege) -> None:
    # Row 7, with a staged change, one that is not, an ignored file and a stash.
    assert siege.after == siege.before
    assert "stash@{0}" in siege.place.git("stash", "list")


@pytest.mark.slow
def test_a_lane_that_is_not_signed_in_is_told_and_the_others_run(siege: Siege) -> None:
    lane = siege.race.lane("codex")
    assert (lane["status"], lane["error"]["kind"]) == ("not_started", "AuthMissing")


@pytest.mark.slow
def test_no_raw_control_byte_is_shown(siege: Siege) -> None:
    colour = re.compile(r"\x1b\[[0-9;]*m")
    for line, text in siege.shown.items():
        shown = colour.sub("", text)
        names = {c for c in shown if not (c.isprintable() or c in "\n\r\t")}
        assert not names, (line, names)
    assert "^[]52;" in siege.shown["race"]
    assert "<U+202E>" in siege.shown[f"diff {LANES[NAMES.index('32-hostile-text')]}"]


@pytest.mark.slow
def test_a_prompt_over_128_kib_reaches_the_agent_whole(siege: Siege) -> None:
    got = siege.seen("22-reads-its-stdin-again").changes()[b"got.txt"]
    assert got is not None
    assert PROMPT.encode() in got


@pytest.mark.slow
def test_it_is_said_what_holds_and_what_does_not(siege: Siege) -> None:
    kind = siege.race.document["confinement"]["kind"]
    text = "\n".join(siege.race.document["warnings"])
    assert (kind == "none") is ("not confined" in text or "can read and change everything" in text)
