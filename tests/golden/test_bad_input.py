"""Bad input, at the real `hydra`: one clear sentence each, its exit code, and nothing started;
outputs that take nothing, and folders that cannot be used.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish("done")])
    return hydra


RACE = ("race", "Do it", "-a", "claude")
FILE = ("race", "-a", "claude", "--file", "../task.md")

CASES = tomllib.loads((Path(__file__).parents[1] / "data" / "refused.toml").read_text())["refused"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["line"][:60])
def test_words_that_cannot_be_meant(hydra: Hydra, case: dict[str, Any]) -> None:
    refused(hydra, case["says"].replace("{repo}", str(hydra.repo)), *shlex.split(case["line"]))


def test_settings_that_are_not_where_the_user_says_forbid_nothing_and_so_no_race_begins(
    hydra: Hydra,
) -> None:
    gone = hydra.scratch / "gone.toml"
    hydra.extra["HYDRA_CONFIG"] = str(gone)
    text = (
        f"error: HYDRA_CONFIG names a file that is not there: {gone}\n"
        "hint: make it, or unset the variable; /dev/null stands for no settings\n"
    )
    refused(hydra, text, *RACE)
    hydra.extra["HYDRA_CONFIG"] = "/dev/null"
    assert hydra.run(*RACE, "--dry-run").returncode == 0


def refused(hydra: Hydra, text: str, *args: str) -> None:
    process = hydra.run(*args, *(["-q"] if args[0] == "race" else []))
    assert (process.returncode, process.stdout, process.stderr) == (2, "", text)
    assert not (hydra.repo / ".git" / "refs" / "hydra").exists()
    assert list(hydra.state.glob("*/runs/*")) == []


NO_TASK = (
    (b"", "the task is empty", 'say what is to be done: hydra race "fix ..."'),
    (b"a\0b", "the task holds NUL bytes", "give plain text"),
    (
        b"\x7fELF\x02\xff\xfe",
        *("the task from ../task.md is not text: invalid start byte", "give UTF-8 text"),
    ),
    (
        None,
        "../task.md cannot be read: No such file or directory",
        "name a file with the task in it",
    ),
)


@pytest.mark.parametrize(("content", "says", "hint"), NO_TASK)
def test_a_file_that_holds_no_task(
    hydra: Hydra, content: bytes | None, says: str, hint: str
) -> None:
    if content is not None:
        (hydra.scratch / "task.md").write_bytes(content)
    refused(hydra, f"error: {says}\nhint: {hint}\n", *FILE)


@pytest.mark.slow
def test_a_misspelt_profile_is_told_the_nearest_profile(hydra: Hydra) -> None:
    settings = hydra.home / "hydra.toml"
    settings.write_text('[profiles.reviewer]\nagent = "claude"\n')
    text = "no agent is called 'reviwer'; did you mean reviewer?\nhint: `hydra agents` lists them\n"
    refused(hydra, f"error: {text}", "race", "Do it", "-a", "2xreviwer")
    settings.write_text(settings.read_text() + '[race]\nagents = ["reviwer"]\n')
    refused(hydra, f"error: {settings}: race.agents: {text}", "race", "Do it")


def test_a_copy_that_a_file_names_and_that_is_not_there(hydra: Hydra) -> None:
    settings = hydra.home / "hydra.toml"
    settings.write_text('[race]\ncopy = [".env"]\n')
    text = f"error: {settings}: race.copy names a file that is not there: .env\n"
    refused(hydra, f"{text}hint: in {hydra.repo}\n", *RACE)


@pytest.mark.slow
def test_a_folder_of_an_agents_that_is_a_file(hydra: Hydra) -> None:
    settings = hydra.home / "hydra.toml"
    settings.write_text('[agents.claude]\nfolders = ["~/.none", "~/.profile"]\n')
    (hydra.home / ".profile").write_text("PATH=~/bin:$PATH\n")
    text = f"error: {settings}: agents.claude.folders: ~/.profile is no folder\n"
    refused(hydra, f"{text}hint: name one, or take it out\n", *RACE)
    assert hydra.run("race", "Do it", "-a", "codex", "--dry-run").returncode == 4


@pytest.mark.slow
def test_a_lane_and_a_run_that_are_not_there_or_not_named(hydra: Hydra) -> None:
    assert hydra.race("-a", "claude").code == 0
    assert hydra.run("diff").stdout == hydra.run("diff", "claude").stdout != ""
    nothing = (
        (("diff", "cluade"), "did you mean claude?"),
        (("diff", "zzz"), "its lanes: claude"),
        (("merge", "cluade"), "did you mean claude? its lanes: claude"),
        (("merge", "--pick", "zzz:src"), "its lanes: claude"),
        (("runs", "show", "-r", "zzz"), "no run is called 'zzz'"),
        (("diff", "claude", "-r", "@-7"), "there is only 1 race here"),
        (("runs", "rm", "zzz", "--yes"), "no run is called 'zzz'"),
    )
    for terms, text in nothing:
        process = hydra.run(*terms)
        assert (process.returncode, process.stdout) == (2, ""), terms
        assert text in process.stderr
        assert process.stderr.count("\n") == 2 + (terms[0] == "merge"), process.stderr
    assert len(hydra.race("-a", "2xclaude").document["lanes"]) == 2
    process = hydra.run("diff")
    assert (process.returncode, process.stdout) == (2, "")
    assert "has 2 lanes" in process.stderr
    assert "name one: claude, claude-2" in process.stderr


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        (("fix", "the", "bug"), 'put it in quotes: hydra race "'),
        (("-x is not what I meant",), "put -- before the task"),
        (("x", "--events", "--json"), "result.json"),
        (("x", "--events", "--dry-run"), "--dry-run --json"),
        (("x", "--no-such-option"), "hydra race --help"),
    ],
)
def test_words_that_do_not_fit(hydra: Hydra, terms: tuple[str, ...], text: str) -> None:
    process = hydra.run("race", *terms)
    assert process.returncode == 2
    assert text in process.stdout + process.stderr
    assert git(hydra.repo, "for-each-ref", "refs/hydra") == ""


def test_a_dash_is_standard_input_for_file_as_well(hydra: Hydra) -> None:
    process = hydra.run("race", "--file", "-", "-a", "claude", "--dry-run", stdin="Do that\n")
    assert process.returncode == 0, process.stderr
    assert "Do that" in process.stdout


@pytest.mark.slow
def test_events_on_a_full_disk_do_not_end_the_race(hydra: Hydra) -> None:
    with Path("/dev/full").open("w") as full:
        process = hydra.start("race", "x", "-a", "claude", "--events", stdout=full)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 74
    assert stderr.startswith("error: standard output cannot be written")
    assert json.loads(hydra.run("runs", "show", "--json").stdout)["usable"] is True


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a file", "cannot be made", "in the repository"])
def test_a_state_folder_that_cannot_be_one(hydra: Hydra, kind: str) -> None:
    (hydra.scratch / "file").touch()
    folder = {
        "a file": hydra.scratch / "file",
        "cannot be made": Path("/proc/hydra"),
        "in the repository": hydra.repo / "state",
    }[kind]
    hydra.extra["HYDRA_STATE_DIR"] = str(folder)
    for value in (("race", "x"), ("race", "x", "--dry-run")):
        process = hydra.run(*value)
        assert process.returncode == 3
        assert "hint: set HYDRA_STATE_DIR to a folder" in process.stderr
    process = hydra.run("doctor", "--json")
    document = json.loads(process.stdout)
    assert document["state"]["problem"] or document["repository_problem"]
    assert process.returncode == (3 if document["state"]["problem"] else 0)


def test_doctor_without_a_state_folder_makes_none_elsewhere(hydra: Hydra) -> None:
    hydra.extra["HYDRA_STATE_DIR"] = "relative"
    process = hydra.run("doctor", "--json")
    assert process.returncode == 3
    assert json.loads(process.stdout)["state"]["folder"] is None
    assert not Path("/nonexistent").exists()


def test_doctor_reads_the_hydra_toml_that_a_race_would_read(hydra: Hydra) -> None:
    (hydra.repo / "hydra.toml").write_text("[race]\nagnets = []\n")
    process = hydra.run("doctor", "--json")
    assert "race.agnets" in json.loads(process.stdout)["repository_problem"]


def test_a_byte_order_mark_is_no_part_of_the_settings(hydra: Hydra) -> None:
    (hydra.repo / "hydra.toml").write_bytes(b'\xef\xbb\xbf[race]\nkeep = "all"\n')
    assert hydra.run("race", "x", "-a", "claude", "--dry-run").returncode == 0
