"""`python -m tests.support.page_kinds FOLDER`: a page of each kind of run, to look at."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.conftest import make_repository
from tests.support.page_ends import ends
from tests.support.page_hostile import hostile
from tests.support.page_large import large, one_diff
from tests.support.page_small import small
from tests.support.pages import PageRun


def many(repo: Path, scratch: Path) -> PageRun:
    """Enough files for a tree that scrolls."""
    return large(repo, scratch, lanes=3, files=300, lines=3, tests=400)


KINDS: Mapping[str, Callable[[Path, Path], PageRun]] = {
    "small": small,
    "hostile": hostile,
    "ends": ends,
    "one_diff": one_diff,
    "many": many,
}
"""By name: makes it of a repository and a scratch folder."""


def main() -> None:
    """Writes them all; each with its size."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, make in KINDS.items():
        with tempfile.TemporaryDirectory(prefix="hydra-page-", dir="/var/tmp") as folder:
            run = make(make_repository(Path(folder) / "shop"), Path(folder))
            (out / f"{name}.html").write_bytes(run.bytes())
            print(f"{(out / f'{name}.html').stat().st_size:>10,} {name}")


if __name__ == "__main__":
    main()
