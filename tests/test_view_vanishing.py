"""What goes while a view is computed is not shown, and stops nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hydra.process.sandbox import lookups
from hydra.process.sandbox.discovery import compute_view
from hydra.process.sandbox.lookups import entries_of, matches


def test_a_program_that_goes_once_its_folder_was_read(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = scratch / "tools"
    tools.mkdir()
    shutil.copy("/bin/true", tools / "staying")

    def entries(folder: str | Path) -> list[os.DirEntry[str]]:
        shutil.copy("/bin/true", tools / "going")
        read = entries_of(folder)
        (tools / "going").unlink()
        return read

    monkeypatch.setattr(lookups, "entries_of", entries)
    view = compute_view(scratch / "home", {"PATH": f"{tools}:/usr/bin"})
    assert view.is_visible(tools / "staying")
    assert not (tools / "going").exists()


def test_a_folder_that_goes_before_its_names_are_matched(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, scandir = scratch / "app", os.scandir
    folder.mkdir()

    def vanishing(path: str | Path) -> object:
        monkeypatch.setattr(os, "scandir", scandir)
        shutil.rmtree(folder)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert matches(folder, "*.pak") == []
