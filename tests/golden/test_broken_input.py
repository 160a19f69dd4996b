"""Odd words, outputs that take nothing, folders that cannot be used: one sentence, one code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", [fakes.edit("a.txt", "new\n"), fakes.finish("done")])
    return hydra


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
