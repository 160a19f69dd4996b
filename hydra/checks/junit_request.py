"""Asking a check's tools for JUnit results, by environment and by a path the user named."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from hydra.checks.record import file_of
from hydra.records.request import Check
from hydra.workspace import reports
from hydra.workspace.private import LaneWorkspace

VARIABLE = "HYDRA_JUNIT"
"""Every check may write its results to the file that this names."""

LARGEST = 32 * 1024 * 1024
"""Bytes of XML that are read of one check, in all its files."""


class JUnitRequest(Struct, frozen=True, kw_only=True):
    """Where results may come to be: `file` in a folder of the ground's own, `pattern` in the tree.

    `before` is what fitted the pattern before the check ran. `roots` are the paths that the tree
    has: where it stands, and where the check sees it.
    """

    file: Path
    worktree: Path
    pattern: str
    before: reports.Seen
    roots: tuple[str, ...]

    def environment(self, values: Mapping[str, str]) -> dict[str, str]:
        """`values` with the words that make pytest and jest-junit write there."""
        mapping = {**values, VARIABLE: str(self.file), "JEST_JUNIT_OUTPUT_FILE": str(self.file)}
        own = values.get("PYTEST_ADDOPTS", "")
        if not self.pattern and "junit" not in own:
            ask = f"-o junit_family=xunit2 --junitxml={shlex.quote(str(self.file))}"
            mapping["PYTEST_ADDOPTS"] = f"{own} {ask}".strip()
        return mapping

    def answers(self) -> tuple[list[bytes], bool]:
        """Each file's content, and whether something was passed over (too large, old, a link)."""
        if self.pattern:
            return reports.fresh(self.worktree, self.pattern, self.before, LARGEST)
        return reports.fresh(self.file.parent, self.file.name, {}, LARGEST)


def ask(check: Check, workspace: LaneWorkspace) -> JUnitRequest:
    """Makes the folder for the answer, empty, and notes what is in the tree already. Blocks.

    Raises `OSError` where it cannot be made.
    """
    # A new one each time: an earlier check may have put anything in the place of an old one.
    place = Path(workspace.environment["TMPDIR"])
    place.mkdir(mode=0o700, exist_ok=True)  # or taken it away
    folder = Path(tempfile.mkdtemp(prefix="hydra-results-", dir=place))
    file = folder / f"{file_of(check)}.xml"
    before = reports.seen(workspace.worktree, check.junit) if check.junit else {}
    roots = tuple(str(root) for root in (workspace.worktree, workspace.placement.path) if root)
    return JUnitRequest(
        file=file, worktree=workspace.worktree, pattern=check.junit, before=before, roots=roots
    )
