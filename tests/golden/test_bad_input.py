"""Bad input, at the real `hydra`: one clear sentence each, its exit code, and nothing started."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["line"])[:60])
def test_words_that_cannot_be_meant(hydra: Hydra, case: dict[str, Any]) -> None:
    refused(hydra, case["says"].replace("{repo}", str(hydra.repo)), *case["line"])


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


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", 'error: the task is empty\nhint: say what is to be done: hydra race "fix ..."\n'),
        (b"a\0b", "error: the task holds NUL bytes\nhint: give plain text\n"),
        (
            b"\x7fELF\x02\xff\xfe",
            "error: the task from ../task.md is not text: invalid start byte\n"
            "hint: give UTF-8 text\n",
        ),
        (
            None,
            "error: ../task.md cannot be read: No such file or directory\n"
            "hint: name a file with the task in it\n",
        ),
    ],
)
def test_a_file_that_holds_no_task(hydra: Hydra, content: bytes | None, text: str) -> None:
    if content is not None:
        (hydra.scratch / "task.md").write_bytes(content)
    refused(hydra, text, *FILE)


def test_one_agent_described_twice(hydra: Hydra) -> None:
    settings = hydra.home / "hydra.toml"
    settings.write_text('[agents.claude]\nmodel = "a"\n[agents.claude]\nmodel = "b"\n')
    process = hydra.run(*RACE, "-q")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith(f"error: {settings}")
    assert "claude" in process.stderr
    assert process.stderr.count("\n") <= 2


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
