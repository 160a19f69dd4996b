"""What a patch takes back of the base's last commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.test_files import is_tests
from hydra.analysis.wording import first_names
from hydra.ranking.evidence import EarlierCommit, Evidence
from hydra.ranking.model import Reason
from hydra.ranking.scope import is_document

_SUBJECT = 60


def undone(files: Sequence[FileChange], history: Sequence[EarlierCommit]) -> Iterator[Finding]:
    """A remark for each commit that a patch takes back, whole or in some files."""
    oids = {file.path: file.new_oid for file in files}
    for commit in history:
        paths = [path for path, oid in commit.before.items() if oids.get(path) == oid]
        if paths:
            oids = {path: oid for path, oid in oids.items() if path not in paths}
            whole = "" if len(paths) == len(commit.before) else f" in {first_names(paths)}"
            text = f"undoes {commit.oid[:7]}{whole}: {commit.subject[:_SUBJECT].strip()}"
            yield Finding(kind="undoes", weight="remark", text=text, path=paths[0])


def undoing(files: Sequence[FileChange], evidence: Evidence) -> Reason | None:
    """That is the user's to decide where the patch has other code as well; where it has none,
    taking back is all that it does, and may be the very mend."""
    hits = [*undone(files, evidence.history)]
    if not hits or all(_is_taken_back(file, evidence.history) for file in files if _is_code(file)):
        return None
    more = f" (and {len(hits) - 1} more)" if len(hits) > 1 else ""
    return Reason(kind="decision", text=f"{hits[0].text}{more}", path=hits[0].path)


def _is_code(file: FileChange) -> bool:
    return not (is_tests(file.path) or is_document(file.path))


def _is_taken_back(file: FileChange, history: Sequence[EarlierCommit]) -> bool:
    return any(commit.before.get(file.path) == file.new_oid for commit in history)
