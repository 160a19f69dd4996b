"""A secret in a patch is named, where it was not there before; the patch stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.git import secret_scan
from hydra.git.runner import GitFailed
from hydra.redaction import Redactor
from tests.conftest import commit
from tests.support.grounds import race_on

KEY = "made-up-key-of-somebody"
SHAPE = "ghp_" + "a1" * 18
COUNT = Redactor([KEY]).count


@pytest.fixture
def repo_with_keys(repo: Path) -> Path:
    (repo / "example.env").write_text(f"TOKEN={SHAPE}\n")
    commit(repo, "An example")
    return repo


def found(repo: Path, scratch: Path, **files: str) -> tuple[str, ...]:
    race = race_on(repo, scratch / "state")
    ground = race.opened()
    for name, text in files.items():
        (ground.worktree / name.replace("__", ".")).write_text(text)
    patch = ground.snapshot(attempt=1, message="x", secrets_in=COUNT)
    assert not patch.incomplete
    return patch.notes


def test_values_and_shapes_are_found_in_text_and_in_binary_files(
    repo_with_keys: Path, scratch: Path
) -> None:
    notes = found(repo_with_keys, scratch, a__txt=f"x {KEY}\n", b__bin=f"\0{SHAPE}\0", c__txt="x\n")
    assert notes == ("holds what looks like a secret: a.txt, b.bin",)


def test_one_that_was_there_before_is_not_told_again(repo_with_keys: Path, scratch: Path) -> None:
    assert found(repo_with_keys, scratch, example__env=f"A=1\nTOKEN={SHAPE}\n") == ()


def test_a_second_one_beside_it_is(repo_with_keys: Path, scratch: Path) -> None:
    notes = found(repo_with_keys, scratch, example__env=f"TOKEN={SHAPE}\nB={KEY}\n")
    assert notes == ("holds what looks like a secret: example.env",)


def test_what_is_larger_than_the_limit_is_not_read(
    repo_with_keys: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_scan, "MOST", 1000)
    notes = found(repo_with_keys, scratch, small=KEY, large=KEY + "x" * 1000)
    assert notes == ("holds what looks like a secret: small",)


def test_a_failure_to_look_leaves_the_patch_whole(repo_with_keys: Path, scratch: Path) -> None:
    race = race_on(repo_with_keys, scratch / "state")
    with pytest.raises(GitFailed):
        secret_scan.holding(race.patches, race.base, "0" * 40, COUNT)
    (note,) = secret_scan.noted(race.patches, race.base, "0" * 40, COUNT)
    assert note.startswith("not looked through for secrets")
