"""The offline suite notices what is broken in the adapters: the command's short form."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.support import adapter_mutations, mutation_sites


@pytest.mark.slow
def test_every_change_is_one_that_python_can_read() -> None:
    every = mutation_sites.every()
    names = [mutation.name for mutation in every]
    assert len(set(names)) == len(names) > 1000
    assert {mutation.file for mutation in every} == set(mutation_sites.FILES)
    for mutation in every[::40]:
        whole = ast.unparse(ast.parse((mutation_sites.ADAPTERS / mutation.file).read_text()))
        changed = mutation.text()
        ast.parse(changed)
        lines = zip(whole.splitlines(), changed.splitlines(), strict=False)
        assert sum(before != after for before, after in lines) == 1, mutation.name


def test_what_is_said_to_change_nothing_is_there() -> None:
    names = {mutation.name for mutation in mutation_sites.every()}
    assert set(adapter_mutations.EQUIVALENT) <= names


@pytest.mark.full
def test_a_sample_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    assert adapter_mutations.main(["--count", "6", "--seed", "7"]) == 0
    assert "6 of" in capsys.readouterr().out


@pytest.mark.full
def test_a_change_that_nothing_shows_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every change fails: one that leaves the code as it was survives, and is named."""
    monkeypatch.setattr(adapter_mutations, "every", lambda: [mutation_sites.NOTHING])
    assert adapter_mutations.main(["--count", "1"]) == 1


@pytest.mark.full
def test_a_suite_that_fails_anyway_notices_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = next(m for m in mutation_sites.mutations("command_line.py") if "True" in m.name)
    monkeypatch.setattr(adapter_mutations, "NOTHING", broken)
    assert adapter_mutations.main(["--count", "1"]) == 2
    assert "fails on unchanged code" in capsys.readouterr().out


def test_the_command_lists_what_it_would_do() -> None:
    terms = [sys.executable, "-m", "tests.support.adapter_mutations", "--list", "--seed", "3"]
    done = subprocess.run(terms, cwd=mutation_sites.ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 50
