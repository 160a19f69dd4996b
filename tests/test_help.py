"""What `--help` shows, what `--help-all` adds, and commands that are part of another now."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from hydra.cli import main
from tests.support.landings import Shelf
from tests.support.shelf import shelf

__all__ = ["shelf"]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    shelf: Shelf, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Run:
    """A command's exit code and what it prints, in this process."""
    monkeypatch.setenv("HYDRA_STATE_DIR", str(shelf.state))

    def command(*args: str) -> tuple[int, str, str]:
        code = main(list(args))
        out, err = capfdbinary.readouterr()
        return code, out.decode("latin-1"), err.decode()

    return command


@pytest.mark.parametrize(
    "terms",
    [("claude", "--mbox", "--stat"), ("claude", "--bundle", "--json"), ("a", "b", "--mbox")],
)
def test_forms_of_a_diff_exclude_each_other(run: Run, shelf: Shelf, terms: tuple[str, ...]) -> None:
    assert run("diff", *terms, "-o", "out")[0] == 2
    assert not (shelf.repo / "out").exists()


def test_a_diff_goes_into_a_new_file_only(run: Run, shelf: Shelf) -> None:
    assert run("diff", "claude", "-o", "out")[0] == 0
    assert (shelf.repo / "out").read_text() == run("diff", "claude")[1]
    code, _, error = run("diff", "claude", "-o", "out")
    assert (code, "is there already" in error) == (3, True)


def test_a_diff_of_nothing_says_so(run: Run) -> None:
    assert run("diff", "claude", "claude") == (0, "", "claude and claude left the same\n")


def test_a_race_is_named_by_its_place_or_by_the_option(run: Run, shelf: Shelf) -> None:
    folder = shelf.race.patches.parent
    for value in ((folder.name,), (folder.name[:9],), ("-r", folder.name), ()):
        assert run("runs", "path", *value)[1] == f"{folder}\n"
        assert folder.name in run("runs", "show", *value)[1]
    for value in (("-r", folder.name), (folder.name,)):
        assert folder.name in run("runs", "rm", "-n", *value)[1]
    code, _, error = run("runs", "show", folder.name, "-r", folder.name)
    assert (code, error.startswith("error: the race is named twice")) == (2, True)


def test_runs_say_who_was_landed_and_what_was_taken_back(run: Run, shelf: Shelf) -> None:
    def listed() -> tuple[str, list[str]]:
        (entry,) = json.loads(run("runs", "--json")[1])["runs"]
        *_, landed, _, _, _ = run("runs")[1].splitlines()[1].split()  # cost, size and its unit
        return landed, entry["landed"]

    assert listed() == ("no", [])
    shelf.merge("claude")
    assert listed() == ("claude", ["claude"])  # no verdict named it
    shelf.undo()
    assert listed() == ("undone", [])
