"""`hydra compare`: what it prints where, its exit codes, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hydra.text import of_run
from tests.conftest import git, make_repository
from tests.support import verdicts
from tests.support.landings import RUN, Shelf
from tests.support.rendering import as_verdict
from tests.support.shelf import fixture_of
from tests.unit.test_merge_by_rank import none_passing, ranking, record


def codex_first(scratch: Path) -> Shelf:
    """Two lanes with patches, and a recorded verdict: codex before claude."""
    shelf = Shelf.of(make_repository(scratch / "shop"), scratch)
    for lane in ("claude", "codex"):
        text = f"# {lane}\n"
        shelf.lane(lane, lambda tree, text=text: (tree / "src/pager.py").write_text(text))  # type: ignore[misc]
    record(shelf, ranking(shelf, "codex", "claude"))
    return shelf


shelf = fixture_of(codex_first)


def folder(shelf: Shelf) -> Path:
    return shelf.race.patches.parent


@pytest.mark.slow
def test_the_table_goes_to_stdout_and_nothing_else_and_the_document_is_the_recorded_one(
    shelf: Shelf,
) -> None:
    done = shelf.command("compare")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"land it:       hydra merge codex{of_run(RUN)}\n" in done.stdout
    assert "\x1b" not in done.stdout
    for typed in (RUN[:12], RUN[-4:], "abc"):
        assert shelf.command("compare", "-r", typed).stdout == done.stdout
    done = shelf.command("compare", "--json", "--html", "new.html")
    assert json.loads(done.stdout) == as_verdict(ranking(shelf, "codex", "claude")).document()
    assert done.stderr == f"{shelf.repo / 'new.html'}\n"
    assert (shelf.repo / "new.html").is_file()


@pytest.mark.slow
def test_the_exit_code_asks_for_a_lane_that_may_land(shelf: Shelf) -> None:
    document = verdicts.held(ranking(shelf, "codex", "claude"), "claude", "fails 1 test")
    record(shelf, document)
    for lanes, code in (((), 0), (("codex",), 0), (("claude", "codex"), 0), (("claude",), 1)):
        done = shelf.command("compare", *lanes, "--json")
        assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (code, code)
    assert shelf.command("compare", "--html", "claude").returncode == 1  # behind it is a lane
    assert not (shelf.repo / "claude").exists()
    record(shelf, none_passing(shelf))
    assert shelf.command("compare", "--markdown").returncode == 1


@pytest.mark.slow
def test_outputs_that_exclude_each_other(shelf: Shelf) -> None:
    for args, text in (
        (("--json", "--markdown"), "--json and --markdown both go to standard output"),
        (("--json", "--html", "-"), "--json and --html - both go to standard output"),
        (("--open",), "--open shows the page of --html"),
        (("--html", "-", "--open"), "--open shows the page of --html"),
        (("--html", ""), "--html has no name"),
    ):
        done = shelf.command("compare", *args)
        assert done.returncode == 2
        assert text in done.stderr + done.stdout
        assert not (folder(shelf) / "compare.html").exists()


@pytest.mark.slow
def test_the_page_is_written_named_and_opened_in_the_users_browser_if_there_is_one(
    shelf: Shelf, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder(shelf) / "compare.html"
    for _ in range(2):  # it takes the place of the last one
        done = shelf.command("compare", "--html")
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{file}\n", "")
    assert [path.name for path in folder(shelf).glob("*compare*")] == ["compare.html"]
    assert file.read_bytes()[:15].lower() == b"<!doctype html>"
    assert file.stat().st_mode & 0o777 == 0o600
    seen, program, place = scratch / "seen", scratch / "browser", scratch / "alone"
    place.mkdir()
    for name in ("git", "sh"):
        (place / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("BROWSER", f"{program} %s")
    monkeypatch.setenv("PATH", str(place))
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for code in (0, 1):
        program.write_text(f'#!/bin/sh\necho "$1" >> {seen}\nexit {code}\n')
        program.chmod(0o755)
        done = shelf.command("compare", "--html", "--open")
        assert (done.returncode, "no browser could be opened" in done.stderr) == (0, bool(code))
    assert {*seen.read_text().splitlines()} == {file.as_uri()}


@pytest.mark.slow
def test_what_has_landed_is_not_offered_by_the_page_nor_the_answer(shelf: Shelf) -> None:
    def opening() -> str:
        return shelf.command("compare", "--html", "-").stdout.partition('"opening":')[2][:300]

    assert '"lines":["hydra merge ' in opening()
    assert shelf.command("compare").stdout.startswith("Land codex")
    shelf.merge("codex")
    assert '"says":"codex has landed"' in opening()
    assert '"lines":[]' in opening()
    assert shelf.command("compare").stdout.startswith("Landed codex")


@pytest.mark.slow
def test_a_verdict_that_hydra_did_not_write_ends_with_6(shelf: Shelf) -> None:
    gated: dict[str, Any] = {"lane": "claude", "rank": 1, "gates": ["x"]}
    for verdict in (
        {"schema": 2, "lanes": []},
        {"schema": 1},
        {"schema": 1, "lanes": [5]},
        {"schema": "1"},
        {"schema": 1, "lanes": [], "top": "claude"},
        {"schema": True, "lanes": []},
        {"schema": 1, "lanes": [gated]},
    ):
        record(shelf, verdict)
        done = shelf.command("compare")
        assert done.returncode == 6, verdict
    assert "claude" in shelf.command("runs", "show").stdout


@pytest.mark.slow
def test_only_a_page_of_hydras_own_is_replaced(shelf: Shelf, scratch: Path) -> None:
    mine, fifo, link = (scratch / name for name in ("index.html", "fifo", "link.html"))
    mine.write_text("<!doctype html>\n<p>mine\n")
    os.mkfifo(fifo)
    link.symlink_to(mine)
    own = "no page of Hydra's"
    for place, text in (
        *((mine, own), (fifo, own), (link, own)),
        *(("src/pager.py", "is no page"), ("src", "is a folder"), ("no/x", "written")),
    ):
        done = shelf.command("compare", "--html", str(place))
        assert (done.returncode, text in done.stderr) == (3, True), place
    assert mine.read_text() == "<!doctype html>\n<p>mine\n"
    assert git(shelf.repo, "status", "--porcelain") == ""
    for _ in range(2):  # its own is replaced
        assert shelf.command("compare", "--html", str(scratch / "page.html")).returncode in (0, 1)
