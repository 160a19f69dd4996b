"""A scratch folder that races have filled once: each test has it whole, at the same place."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import SCRATCH_ROOT, make_repository
from tests.support import fakes
from tests.support.command import Hydra

Laid = Callable[[], Hydra]
"""Makes the folder anew what it was, and gives a Hydra in it."""


@contextmanager
def world(fill: Callable[[Hydra], object]) -> Iterator[Laid]:
    """What `fill` makes of a new folder."""
    folder = Path(tempfile.mkdtemp(prefix="hydra-test-", dir=SCRATCH_ROOT))
    top, whole = folder / "top", folder / "whole"
    top.mkdir()
    first = Hydra(top, make_repository(top / "shop"))
    fill(first)
    assert fakes.left(str(folder)) == []
    top.rename(whole)

    def lay() -> Hydra:
        subprocess.run(["rm", "-rf", str(top)], check=True)
        subprocess.run(["cp", "-a", str(whole), str(top)], check=True)
        return Hydra(top, first.repo, extra={**first.extra}, path=[*first.path])

    try:
        yield lay
    finally:
        shutil.rmtree(folder, ignore_errors=True)
