"""What a patch did to what configures its tests and runs its checks, in sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from hydra.analysis.finding import Finding, Weight
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.bending import may_reach
from hydra.analysis.tampering.commands import RunCommands, runs
from hydra.analysis.tampering.configuration import (
    changed_parts,
    intruders,
    renames_beside_tests,
    steers,
)
from hydra.analysis.tampering.manifests import MOST, Lines, manifest_of
from hydra.analysis.tampering.shadows import Shadow, shadows
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    is_configuration,
    name_of,
    supports_tests,
)
from hydra.records.request import Check

_HOOK = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(pytest_\w+)", re.M)
_PATCHING = re.compile(
    r"^[ \t]*(?:import[ \t]+builtins\b|from[ \t]+builtins\b|sys\.modules\[|os\._exit|builtins\.\w+"
    r"[ \t]*=|_pytest\.|setattr\(|unittest\.TestCase\.\w+[ \t]*=|\w+(?:\.\w+)+\.__\w+__[ \t]*=)",
    re.M,
)
_LEFT_OUT = re.compile(
    r"--ignore(?:-glob)?[= ]\s*([^\s\"',\]]+)|--deselect[= ]\s*([^\s\"',\]]+)"
    r"|(?<![\w-])-k[= ]?\s*(\"[^\"]*\"|'[^']*'|[^\s\"',\]]+)"
)
_BY_MARK = re.compile(r"(?<![\w-])-m[= ]?\s*(\"[^\"]*\"|'[^']*'|[^\s\"',\]]+)")
_COLLECT = re.compile(
    r"^\s*(collect_ignore(?:_glob)?)\s*(?:\+?=|\.(?:append|extend)\()\s*(.+)", re.M
)


def steering(
    files: Sequence[FileChange], checks: Sequence[Check], base: Collection[str] = ()
) -> Iterator[Finding]:
    """All on the files that `configuration` names, and on tests that change other modules."""
    running = runs(checks)
    shadowing = {shadow.path: shadow for shadow in shadows(files, base)}
    reaching = intruders(files, base)
    for file in files:
        if file.path in shadowing:
            yield _shadow(shadowing[file.path])
        elif steers(file, running):
            yield from _left_out(file)
            yield _described(file, running)
        elif change := reaching.get(file.path, ""):
            yield _reaching(file, f"adds {file.path}", change)
        elif change := _reached_by_test(file):
            yield _reaching(file, f"changes {file.path}", change)


def _shadow(shadow: Shadow) -> Finding:
    text = f"adds {shadow.path}, which {shadow.clause}"
    return Finding(kind="test_configuration", weight="suspect", text=text, path=shadow.path)


def _reached_by_test(file: FileChange) -> str:
    """What a file beside tests, that was there, has come to change outside of itself."""
    if not supports_tests(file) or not file.path.endswith(".py"):
        return ""
    return may_reach(file) if file.old is not None else ""


def _reaching(file: FileChange, does: str, change: str) -> Finding:
    text = f"{does}, which may change what other tests run on ({wording.value(change)})"
    return Finding(kind="tests_reach", weight="suspect", text=text, path=file.path)


def _described(file: FileChange, running: RunCommands) -> Finding:
    kind, text = _sentence(file, running)
    return Finding(kind=kind, weight="suspect", text=text, path=file.path)


def _sentence(file: FileChange, running: RunCommands) -> tuple[str, str]:
    verb = "changes" if existed(file) else "adds"
    verb = verb if exists(file) else "deletes"
    if manifest_of(file.path) is not None:
        return _manifest(file, verb, running)
    if not is_configuration(file.path):
        script = file.path in running.scripts
        what = "which a check runs" if script else "which a check reads"
        what = what if script or running.has(file.path) else "which a check may run or read"
        return "check_file", f"{verb} {file.path}, {what}"
    if file.path.endswith(".pth"):
        return "test_configuration", f"{verb} {file.path}, which Python runs when it starts"
    if name_of(file.path) in ("sitecustomize.py", "usercustomize.py"):
        return "test_configuration", f"{verb} {file.path}, which every Python runs when it starts"
    does = _hooks(file)
    return "test_configuration", f"{verb} {file.path}, which configures the tests{does}"


def _hooks(file: FileChange) -> str:
    """What a conftest.py takes hold of that it had not."""
    if file.new is None or not file.path.endswith(".py"):
        return ""
    old = file.old or ""
    new = [name for name in dict.fromkeys(_HOOK.findall(file.new)) if f"def {name}" not in old]
    if new:
        return f", with {'hooks' if len(new) > 1 else 'the hook'} {wording.names(new)}"
    had = {" ".join(line.split()) for line in old.split("\n")}
    for match in _PATCHING.finditer(file.new):
        end = file.new.find("\n", match.end())
        line = file.new[match.start() : end if end >= 0 else None]
        if " ".join(line.split()) not in had:
            return f", and alters what they run on ({wording.value(line)})"
    change = may_reach(file)
    return f", and alters what they run on ({wording.value(change)})" if change else ""


def _manifest(file: FileChange, verb: str, running: RunCommands) -> tuple[str, str]:
    if renames_beside_tests(file.path, file.old, file.new):
        return "check_file", f"{verb} {file.path}, which gives modules other names for the tests"
    changed = changed_parts(file, running)
    if "" in changed:
        text = f"{verb} {file.path}, which cannot be read: what it says of tests is not known"
        return "test_configuration", text
    scripts = [name for name in changed if name.startswith("scripts.")]
    if scripts:
        before, after = changed[scripts[0]]
        what = f"the script {scripts[0].removeprefix('scripts.')} of {file.path}"
        return "check_file", f"changes {what}: {_value(before)} -> {_value(after)}"
    name, (before, after) = next(iter(changed.items()))
    inner, before, after = _down(before, after)
    line = f"{_value(before)} -> {_value(after)}"
    keys = ".".join([name, *inner])
    of_tests = name.startswith(_OF_TESTS) or isinstance(manifest_of(file.path), Lines)
    kind = "test_configuration" if of_tests else "check_file"
    return kind, f"changes {wording.value(keys)} of {file.path}: {line}"


_OF_TESTS = ("pytest", "tool:pytest", "jest", "vitest", "mocha", "ava", "tox", "testenv", "nose")


def _down(before: Any, after: Any) -> tuple[list[str], Any, Any]:
    """To the one key that differs."""
    keys: list[str] = []
    while isinstance(before, dict) and isinstance(after, dict) and len(keys) < 4:
        other = [k for k in {**before, **after} if before.get(k) != after.get(k)]
        if not other:
            break
        keys.append(str(other[0]))
        before, after = before.get(other[0]), after.get(other[0])
    return keys, before, after


def _value(value: object) -> str:
    if value is None:
        return "nothing"
    try:
        return wording.value(value if isinstance(value, str) else json.dumps(value, default=str))
    except (ValueError, RecursionError):
        return "another value"


def _left_out(file: FileChange) -> Iterator[Finding]:
    """Tests that the runner is told to pass over."""
    new = file.new
    if new is None or len(new) > MOST:
        return
    old = file.old or ""
    name = name_of(file.path)
    if name == "conftest.py":
        had = {match[0].strip() for match in _COLLECT.finditer(old)}
        for match in _COLLECT.finditer(new):
            if match[0].strip() not in had and match[2].strip() not in ("[]", "list()"):
                what = wording.value(match[2].strip())
                yield _skip("gate", f"leaves out {what} ({match[1]} in {file.path})", file, match)
        return
    if not name.endswith((".toml", ".ini", ".cfg", ".json")):
        return
    for pattern in (_LEFT_OUT, _BY_MARK):
        had = {match[0].strip() for match in pattern.finditer(_options(old))}
        for match in pattern.finditer(_options(new)):
            if match[0].strip() not in had:
                text = f"leaves tests out of every run: {wording.value(match[0])} in {file.path}"
                sure = match[0].startswith("--") or (pattern is _LEFT_OUT and "not " in match[0])
                yield _skip("gate" if sure else "suspect", text, file, None)


def _options(text: str) -> str:
    """The lines that give a test runner its options, the lines after them in a list too."""
    names: list[str] = []
    inside = False
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith(("#", ";")):
            continue
        if re.match(r"(?:\"?addopts\"?|\"?test[\w:]*\"?|commands)\s*[=:]", bare):
            inside = True
        elif inside and not line[:1].isspace() and bare[:1] not in "]-\"'":
            inside = False
        if inside:
            names.append(line)
    return "\n".join(names)


def _skip(weight: Weight, text: str, file: FileChange, match: re.Match[str] | None) -> Finding:
    line = None
    if match is not None and file.new is not None:
        line = file.new.count("\n", 0, match.start(1)) + 1
    return Finding(kind="skip_added", weight=weight, text=text, path=file.path, line=line)
