"""`hydra compare`: what it prints where, its exit codes, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hydra.records.store.files import write_json
from hydra.text import of_run
from tests.conftest import git, make_repository
from tests.support import verdicts
from tests.support.command import Hydra
from tests.support.landings import RUN, Shelf, laid
from tests.support.rendering import as_verdict
from tests.unit.test_merge_by_rank import none_passing, ranking, record


def codex_first(scratch: Path) -> Shelf:
    """Two lanes with patches, and a recorded verdict: codex before claude."""
    shelf = Shelf.of(make_repository(scratch / "shop"), scratch)
    for lane in ("claude", "codex"):
        text = f"# {lane}\n"
        shelf.lane(lane, lambda tree, text=text: (tree / "src/pager.py").write_text(text))  # type: ignore[misc]
    record(shelf, ranking(shelf, "codex", "claude"))
    return shelf


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """That; the test stands in its repository."""
    shelf = laid(scratch, codex_first)
    monkeypatch.chdir(shelf.repo)
    return shelf


def folder(shelf: Shelf) -> Path:
    return shelf.race.patches.parent


@pytest.mark.slow
def test_the_table_goes_to_stdout_and_nothing_else(shelf: Shelf) -> None:
    done = shelf.command("compare")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"\nrun {RUN}  base" in done.stdout
    assert f"land it:       hydra merge codex{of_run(RUN)}\n" in done.stdout
    assert "\x1b" not in done.stdout
    for typed in (RUN[:12], RUN[-4:], "abc"):
        assert shelf.command("compare", "-r", typed).stdout == done.stdout


@pytest.mark.slow
def test_the_document_is_the_recorded_one(shelf: Shelf) -> None:
    done = shelf.command("compare", "--json")
    assert json.loads(done.stdout) == as_verdict(ranking(shelf, "codex", "claude")).document()


@pytest.mark.slow
def test_the_exit_code_asks_for_a_lane_that_may_land(shelf: Shelf) -> None:
    document = verdicts.held(ranking(shelf, "codex", "claude"), "claude", "fails 1 test")
    record(shelf, document)
    assert shelf.command("compare").returncode == 0
    assert shelf.command("compare", "codex").returncode == 0
    process = shelf.command("compare", "claude", "--json")
    assert process.returncode == 1
    assert json.loads(process.stdout)["exit_code"] == 1
    assert shelf.command("compare", "claude", "codex").returncode == 0
    record(shelf, none_passing(shelf))
    assert shelf.command("compare", "--markdown").returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("--json", "--markdown"), "--json and --markdown both go to standard output"),
        (("--json", "--html", "-"), "--json and --html - both go to standard output"),
        (("--open",), "--open shows the page of --html"),
        (("--html", "-", "--open"), "--open shows the page of --html"),
        (("--html", ""), "--html has no name"),
    ],
)
def test_outputs_that_exclude_each_other(shelf: Shelf, args: tuple[str, ...], text: str) -> None:
    done = shelf.command("compare", *args)
    assert done.returncode == 2
    assert text in done.stderr + done.stdout
    assert not (folder(shelf) / "compare.html").exists()


@pytest.mark.slow
def test_the_page_is_written_into_the_runs_folder_and_its_name_is_printed(shelf: Shelf) -> None:
    done = shelf.command("compare", "--html")
    file = folder(shelf) / "compare.html"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{file}\n", "")
    page = file.read_bytes()
    assert page[:15].lower() == b"<!doctype html>"
    assert file.stat().st_mode & 0o777 == 0o600
    again = shelf.command("compare", "--html")  # it takes the place of the last one
    assert again.returncode == 0
    assert [path.name for path in folder(shelf).glob("*compare*")] == ["compare.html"]
    assert shelf.command("compare", "--html", "-").stdout.encode()[:15].lower() == page[:15].lower()


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
def test_the_page_beside_a_document_says_where_it_is_on_stderr(shelf: Shelf) -> None:
    done = shelf.command("compare", "--json", "--html", "new.html")
    assert json.loads(done.stdout)["kind"] == "verdict"
    assert done.stderr == f"{shelf.repo / 'new.html'}\n"
    assert (shelf.repo / "new.html").is_file()


@pytest.mark.slow
def test_a_file_that_is_no_page_is_not_overwritten(shelf: Shelf) -> None:
    for name, text in (("src/pager.py", "is no page"), ("src", "is a folder"), ("no/x", "written")):
        done = shelf.command("compare", "--html", name)
        assert done.returncode == 3, name
        assert text in done.stderr
    assert git(shelf.repo, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_lane_behind_html_is_a_lane(shelf: Shelf) -> None:
    record(shelf, verdicts.held(ranking(shelf, "codex", "claude"), "claude", "fails 1 test"))
    done = shelf.command("compare", "--html", "claude")
    assert done.returncode == 1
    assert (folder(shelf) / "compare.html").is_file()
    assert not (shelf.repo / "claude").exists()


def browser(scratch: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> Path:
    """A browser that writes down what it is given, and ends so."""
    seen, program = scratch / "seen", scratch / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" >> {seen}\nexit {code}\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{program} %s")
    return seen


@pytest.mark.slow
def test_the_page_is_opened_in_the_users_browser(
    shelf: Shelf, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = browser(scratch, monkeypatch, 0)
    done = shelf.command("compare", "--html", "--open")
    assert done.returncode == 0
    assert seen.read_text() == f"{(folder(shelf) / 'compare.html').as_uri()}\n"


@pytest.mark.slow
def test_no_browser_costs_a_line_and_not_the_command(
    shelf: Shelf, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser(scratch, monkeypatch, 1)
    monkeypatch.setenv("PATH", str(git_alone(scratch)))
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    done = shelf.command("compare", "--html", "--open")
    assert done.returncode == 0
    assert "no browser could be opened" in done.stderr


def git_alone(scratch: Path) -> Path:
    """A PATH on which no browser is."""
    place = scratch / "alone"
    place.mkdir()
    for name in ("git", "sh"):
        text = next(p for p in os.environ["PATH"].split(os.pathsep) if Path(p, name).exists())
        (place / name).symlink_to(Path(text, name))
    return place


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
        assert (done.returncode, "Traceback" in done.stderr) == (6, False), verdict
    shown = shelf.command("runs", "show")
    assert "Traceback" not in shown.stderr
    assert "claude" in shown.stdout


def test_without_a_race_there_is_nothing_to_compare(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = Hydra(scratch, repo).run("compare")
    assert done.returncode == 2
    assert "no races yet" in done.stderr


@pytest.mark.slow
def test_what_a_verdict_holds_is_harmless_in_every_form(shelf: Shelf) -> None:
    evil = "\x1b]52;c;ZXZpbA==\x07\u202e</script><img src=x onerror=alert(1)>\x00"
    names = {"codex", "claude", RUN}
    document = ranking(shelf, "codex", "claude")
    texts = ("commit", "run", "lane")
    data = verdicts.with_texts(document, lambda text: text if text in names else f"{text}{evil}")
    for row, real in zip(data["lanes"], document["lanes"], strict=True):
        row["patch"] |= {name: real["patch"][name] for name in ("commit", "base")}
        assert row[texts[2]] == real[texts[2]]
    data |= {"base": document["base"], "top": "codex"}
    record(shelf, data)
    for args in ((), ("--json",), ("--markdown",)):
        shown = shelf.command("compare", *args)
        assert shown.returncode == 0, shown.stderr
        assert not {"\x1b", "\x07", "\x00", "\u202e"} & set(shown.stdout + shown.stderr), args


# --- a real race -------------------------------------------------------------------------------


def test_an_older_run_is_judged_from_its_record(shelf: Shelf) -> None:
    record(shelf, None)
    file = folder(shelf) / "result.json"
    result = json.loads(file.read_text())
    del result["verdict"]
    write_json(file, result)
    done = shelf.command("compare", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert {lane["lane"] for lane in json.loads(done.stdout)["lanes"]} == {"claude", "codex"}


@pytest.mark.full
def test_the_demo_ends_in_verdict_page_and_landing(repo: Path, scratch: Path) -> None:
    """Also where the user's git has a filter for every file, by either of its two settings files:
    their repositories it is for, and a race would have to ask about it."""
    hydra = Hydra(scratch, repo)
    hydra.extra["XDG_CONFIG_HOME"] = str(scratch / "xdg")
    (scratch / "xdg" / "git").mkdir(parents=True)
    (scratch / "xdg" / "git" / "attributes").write_text("* filter=mark\n")
    (hydra.home / ".gitconfig").write_text('[filter "mark"]\n\tsmudge = false\n')
    done = hydra.run("demo", "--json", "--quiet", timeout=120)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    page = Path(document["page"])
    folder = next(parent for parent in page.parents if parent.name.startswith("hydra-demo-"))
    try:
        assert page.read_bytes()[:15].lower() == b"<!doctype html>"
        verdict = document["verdict"]
        assert document["landing"]["lanes"] == [verdict["top"]]
        assert verdict["top"] in ("claude", "codex")
        cursor = next(lane for lane in verdict["lanes"] if lane["lane"] == "cursor-agent")
        assert (cursor["rank"], cursor["state"]) == (3, "held_back")
        assert "changes what PagerTest.test_a_full_page_has_ten_items expects" in cursor["why"]
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
def test_only_a_page_of_hydras_own_is_replaced(shelf: Shelf, scratch: Path) -> None:
    mine = scratch / "index.html"
    mine.write_text("<!doctype html>\n<p>mine\n")
    fifo = scratch / "fifo"
    os.mkfifo(fifo)
    link = scratch / "link.html"
    link.symlink_to(mine)
    for place in (mine, fifo, link):
        done = shelf.command("compare", "--html", str(place))
        assert done.returncode == 3, place
        assert "no page of Hydra's" in done.stderr
    assert mine.read_text() == "<!doctype html>\n<p>mine\n"
    page = scratch / "page.html"
    for _ in range(2):  # its own is replaced
        assert shelf.command("compare", "--html", str(page)).returncode in (0, 1)


@pytest.mark.slow
def test_a_lane_that_is_not_there_names_the_nearest(shelf: Shelf) -> None:
    done = shelf.command("compare", "codxe")
    assert done.returncode == 2
    assert "no lane 'codxe'" in done.stderr
    assert "did you mean codex?" in done.stderr
    done = shelf.command("compare", "-r", "2019")
    assert done.returncode == 2
