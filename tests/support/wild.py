"""Small projects of many languages for real races, and lines that are pasted into a real shell."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests import conftest
from tests.conftest import write
from tests.support.command import Hydra

PAGES = "def pages(n, size):\n    return n // size\n"
PAGES_RIGHT = "def pages(n, size):\n    return -(-n // size)\n"
PAGES_TESTS = """\
import unittest

from pager import pages


class Pages(unittest.TestCase):
    def test_even(self):
        self.assertEqual(pages(10, 5), 2)

    def test_rest(self):
        self.assertEqual(pages(11, 5), 3)
"""
"""One passes on the base, one fails."""


def commit(repo: Path, files: Mapping[str, str], subject: str = "Project") -> None:
    """Writes and commits these."""
    write(repo, files)
    conftest.commit(repo, subject)


def paste(hydra: Hydra, line: str) -> subprocess.CompletedProcess[str]:
    """A line as a shell takes it, `hydra` a program of its PATH."""
    folder = hydra.scratch / "pasted"
    if not folder.exists():
        folder.mkdir()
        (folder / "hydra").write_text(f'#!/bin/sh\nexec {sys.executable} -m hydra "$@"\n')
        (folder / "hydra").chmod(0o755)
    return hydra.execute("/bin/sh", "-c", f'PATH={folder}:"$PATH"; {line}')


def has_ended(hydra: Hydra, lane: str) -> bool:
    """Whether a lane of the race that runs has come to its end, checks and all."""
    kinds = ((event["kind"], event.get("lane")) for event in hydra.recorded())
    return ("lane_ended", lane) in kinds
