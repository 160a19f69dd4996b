"""Code that gives what the tests expect instead of working it out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.bending import language_of
from hydra.analysis.tampering.hardcoded import Code, ExpectedValues, literals

_UNDER_TEST = re.compile(
    r"PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_ADDOPTS|HYDRA_JUNIT|NODE_TEST_CONTEXT"
    r"|[\"'`]HYDRA(?:_\w*)?[\"'`]|[\"'](?:pytest|unittest|_pytest)[\"']\s*in\s*sys\.modules"
    r"|sys\.modules(?:\.get\(|\[)\s*[\"'](?:pytest|unittest|_pytest)[\"']"
    r"|NODE_ENV\s*[!=]==?\s*[\"']test[\"']|[\"']test[\"']\s*[!=]==?\s*process\.env\.NODE_ENV"
    r"|JEST_WORKER_ID|VITEST_WORKER_ID|process\.env\.VITEST\b|import\.meta\.vitest"
    r"|\btesting\.Testing\(\)|flag\.Lookup\(\s*\"test\.v\"\s*\)|\bcfg!\(test\)"
    r"|RAILS_ENV[\"']\]\s*==\s*[\"']test[\"']|Rails\.env\.test\?|typeof\s+(?:jest|vi|describe|it)\b"
)
_ALWAYS_EQUAL = re.compile(
    r"(?P<own>class \w+\((?:int|str|float|list|dict|tuple|bytes)\):(?:\n+[ \t][^\n]*+)*?"
    r"\n+[ \t]+def __eq__\()"
    r"|def __eq__\([^)\n]*\)[^:\n]*:\s*return (?:True|not None|not False|1)\b"
    r"|__eq__\s*=\s*lambda\b[^\n]*|\bmock(?:\.|\s+import\s[^\n]*?)\bANY\b"
    r"|\basymmetricMatch(?:er)?\b"
)


def shortcuts(
    file: FileChange, now: Code, was: Code, expected: ExpectedValues
) -> Iterator[Finding]:
    """All of one file of production code."""
    code, before = now.text, was.text
    script = language_of(file.path) == "javascript"
    texts = folded(code, members=script), folded(before, members=script)
    yield from _under_test(file, *texts)
    yield from _watching(file, *texts)
    yield from _bent(file, code, before)
    for line, text in literals(now, was, expected):
        yield _finding(text, file, line)


def _under_test(file: FileChange, code: str, was: str) -> Iterator[Finding]:
    had = _UNDER_TEST.findall(was)
    for match in _UNDER_TEST.finditer(code):
        if match[0] in had:
            had.remove(match[0])
            continue
        line = code.count("\n", 0, match.start()) + 1
        text = f"asks in {file.path} whether it runs under tests ({wording.value(match[0])})"
        yield _finding(text, file, line)
        return


_LOOKING = re.compile(
    r"\bsys\.modules\b|/proc/|\bopen\(|\bread_(?:text|bytes)\(|\breadFile(?:Sync)?\(|\b_getframe\b|\binspect\.(?:stack|currentframe|getouterframes|trace)\b|\bf_back\b|\borig_argv\b"
    r"|\b(?:extract|walk|format)_stack\b|\bsys\.argv\b|\bError\(\)\.stack\b|\bcaptureStackTrace\b"
    r"|\bprocess\.(?:argv|execArgv|title)\b|\bmodule\.parent\b|\brequire\.main\b|\.stack\b"
)


def _watching(file: FileChange, code: str, was: str) -> Iterator[Finding]:
    """Code that has come to look at who calls it, and to name tests in a text of its own."""
    had = {line.strip() for line in was.split("\n")}
    fresh = [(at, line) for at, line in enumerate(code.split("\n"), 1) if line.strip() not in had]
    looks = [(at, seen[0]) for at, line in fresh if (seen := _LOOKING.search(line))]
    if not looks:
        return
    at, means = min(looks, key=lambda look: bool(_READS.fullmatch(look[1])))
    if any(names_tests(line) for _, line in fresh):
        files = f"reads files in {file.path}" if _READS.fullmatch(means) else ""
        does = files or f"asks in {file.path} who calls it"
        text = f"{does}, and names tests ({wording.value(means)})"
        yield _finding(text, file, at)
    elif any(_CALLER.search(means) for _, means in looks):
        reads = (seen[0] for _, line in fresh if (seen := _CALLING_CODE.search(line)))
        if read := next(reads, ""):
            text = f"reads in {file.path} the code that calls it ({wording.value(read)})"
            yield _finding(text, file, at)


_READS = re.compile(r"open\(|read_(?:text|bytes)\(|readFile(?:Sync)?\(")
_CALLER = re.compile(r"frame|f_back|stack|getouterframes")
_CALLING_CODE = re.compile(
    r"\bco_(?!name\b|filename\b)\w+|\bf_(?:lasti|locals|globals)\b|\blinecache\b|\bgetsource\w*"
    r"|\breadFile(?:Sync)?\("
)
"""What a caller's own text or values are read by; its name and line are for a log."""


def _bent(file: FileChange, code: str, was: str) -> Iterator[Finding]:
    """Code that changes what the tests compare with."""
    for match in _ALWAYS_EQUAL.finditer(code):
        if match[0] not in was:
            line = code.count("\n", 0, match.start()) + 1
            does = "compares in a way of its own" if match["own"] else "equals anything"
            yield _finding(f"gives an object of {file.path} that {does}", file, line)
            break


def _finding(text: str, file: FileChange, line: int) -> Finding:
    return Finding(kind="hard_coded", weight="remark", text=text, path=file.path, line=line)


# ---- Texts in code that are put together of parts: what they come to, as far as it stands there.

_PART = r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\\n]|\\.)*+`)"
_CHAIN = re.compile(rf"{_PART}(?:\s*+(?:\+|\.concat\()?\s*+[rbuf]{{0,2}}{_PART})*+")
_PARTS = re.compile(_PART)
_MEMBER = re.compile(r"(?<=[\w)\]])\[[ \t]*([\"'`])([A-Za-z_]\w*)\1[ \t]*\]")
_TOOL = r"(?<![a-z])(?:py|unit)?(?:tests?|spec|jest|mocha)(?![a-z])"
_TESTS = re.compile(_TOOL, re.I)
_IN_TEXT = re.compile(rf"[\"'`/][^\"'`\n]*{_TOOL}[^\"'`\n]*[\"'`/]", re.I)


def folded(code: str, *, members: bool = False) -> str:
    """Code with `'te' + 'st'` as one text, and with `members` `a['b']` as `a.b`, as JavaScript has
    it. Lines keep their numbers."""
    chained = _CHAIN.sub(_joined, code)
    return _MEMBER.sub(r".\2", chained) if members else chained


def _joined(chain: re.Match[str]) -> str:
    parts = _PARTS.findall(chain[0])
    if len(parts) < 2:
        return chain[0]
    quote, text = parts[0][0], "".join(part[1:-1] for part in parts)
    return f"{quote}{text}{quote}" + "\n" * chain[0].count("\n")


def names_tests(line: str) -> bool:
    """Whether a line has a text that names tests or their tools, whole or in parts."""
    if _IN_TEXT.search(line):
        return True
    return bool(_TESTS.search("".join(part[1:-1] for part in _PARTS.findall(line))))
