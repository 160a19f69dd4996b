"""What a patch did to what configures its tests and runs its checks, in sentences."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.bending import may_reach
from hydra.analysis.tampering.commands import RunCommands, runs
from hydra.analysis.tampering.manifests import is_lines, is_manifest
from hydra.analysis.tampering.restore import (
    disturbers,
    is_newcomer,
    parts_changed,
    settings_changed,
)
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    is_configuration,
    name_of,
    supports_tests,
    with_moves,
)
from hydra.records.request import Check

_AT_START = "which Python runs when it starts"
_SCRIPT = "scripts."
_OF_TESTS = ("tool.pytest", "tool:pytest", "tool.tox", "pytest", "jest", "vitest", "mocha", "ava")


def steering(files: Sequence[FileChange], checks: Sequence[Check]) -> Iterator[Finding]:
    """All on what is put back beside tests, and on tests for which others may end otherwise."""
    running = runs(checks)
    disturbing = disturbers(files)
    settings = settings_changed(files, checks)
    moved = {file.path: file for file in with_moves(files)}
    for file in files:
        now = moved.get(file.path, file)
        if file in settings:
            kind, text = _sentence(file, running)
            yield Finding(kind=kind, weight="suspect", text=text, path=file.path)
        elif line := disturbing.get(file.path):
            yield _disturbing(file, "adds", line)
        elif existed(now) and supports_tests(now) and (line := may_reach(now)):
            yield _disturbing(file, "changes", line)


def _disturbing(file: FileChange, verb: str, line: str) -> Finding:
    what = f"may change what other tests run on ({wording.value(line)})"
    text = f"{verb} {file.path}, which {what}"
    return Finding(kind="tests_reach", weight="suspect", text=text, path=file.path)


def _sentence(file: FileChange, running: RunCommands) -> tuple[str, str]:
    verb = "deletes" if not exists(file) else "changes" if existed(file) else "adds"
    if is_manifest(file.path):
        return _of_manifest(file, running)
    if is_newcomer(file):
        return "test_configuration", f"{verb} {file.path}, which may take another's place"
    if not is_configuration(file.path):
        script = file.path in running.scripts
        what = "which a check runs" if script else "which a check reads"
        what = what if script or running.has(file.path) else "which a check may run or read"
        return "check_file", f"{verb} {file.path}, {what}"
    starts = name_of(file.path) in ("sitecustomize.py", "usercustomize.py")
    starts = starts or file.path.endswith(".pth")
    what = _AT_START if starts else "which configures the tests"
    return "test_configuration", f"{verb} {file.path}, {what}"


def _of_manifest(file: FileChange, running: RunCommands) -> tuple[str, str]:
    changed = parts_changed(file, running)
    if "" in changed:
        text = f"changes {file.path}, which cannot be read: what it says of tests is not known"
        return "test_configuration", text
    name = next((name for name in changed if name.startswith(_SCRIPT)), next(iter(changed)))
    part, before, after = _down(name, *changed[name])
    of_tests = name.startswith(_OF_TESTS) or is_lines(file.path)
    kind = "test_configuration" if of_tests else "check_file"
    named = wording.value(part.removeprefix("tool."))
    named = f"the script {part.removeprefix(_SCRIPT)}" if part.startswith(_SCRIPT) else named
    return kind, f"changes {named} of {file.path}: {_value(before)} -> {_value(after)}"


def _down(name: str, before: Any, after: Any) -> tuple[str, Any, Any]:
    """To the one key that differs."""
    while isinstance(before, dict) and isinstance(after, dict) and name.count(".") < 5:
        other = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        if not other:
            break
        name = f"{name}.{other[0]}"
        before, after = before.get(other[0]), after.get(other[0])
    return name, before, after


def _value(value: object) -> str:
    if value is None:
        return "nothing"
    try:
        return wording.value(value if isinstance(value, str) else json.dumps(value, default=str))
    except (ValueError, RecursionError):
        return "another value"
