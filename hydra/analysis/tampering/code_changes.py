"""What a patch did to code that is no test: shortcuts, swallowed errors, warnings turned off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.syntax import Syntax, read_syntax, too_much
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.bending import language_of
from hydra.analysis.tampering.hardcoded import Code, ExpectedValues, literals
from hydra.analysis.tampering.swallowed_errors import swallowing
from hydra.analysis.tampering.test_files import exists, supports_tests

MOST_CHARACTERS = 4 * 1024 * 1024
"""Of all files of one patch together; those that come later are not read."""

_ENDINGS = frozenset(
    (
        *("py", "pyi", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "go", "rs"),
        *("java", "kt", "cs", "php", "scala", "swift", "c", "cc", "cpp", "h", "rb"),
        *("sh", "bash", "zsh", "mk", "yml", "yaml", "makefile", "justfile", "gnumakefile"),
        "dockerfile",
    )
)
_HASHED = ("sh", "bash", "zsh", "mk", "yml", "yaml", "makefile", "justfile", "gnumakefile")
_HASH = re.compile(r"(?:(?<=\s)|^)#[^\n]*", re.M)
_SLASHES = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
"""Comments where there is no grammar, as far as a pattern can tell."""


def production(files: Sequence[FileChange], expected: ExpectedValues) -> Iterator[Finding]:
    """All remarks on code. Warnings that are turned off in tests count too."""
    spent, telling = 0, list[FileChange]()
    for file in files:
        if _ending(file.path) not in _ENDINGS or not exists(file) or file.new in (None, file.old):
            continue
        spent += len(file.new or "") + len(file.old or "")
        if spent > MOST_CHARACTERS or too_much(file.new or "") or too_much(file.old or ""):
            continue
        if _worth(file.old or "", file.new or ""):
            telling.append(file)
    texts = [(file.path, text or "") for file in telling for text in (file.old, file.new)]
    values = iter(read_syntax(texts))
    for file, was, now in zip(telling, values, values, strict=True):
        code, before = _code(file.path, file.new or "", now), _code(file.path, file.old or "", was)
        if not supports_tests(file):
            functions = [each.functions if each is not None else () for each in (now, was)]
            mine, theirs = Code(code, functions[0]), Code(before, functions[1])
            yield from shortcuts(file, mine, theirs, expected)
        yield from swallowing(file, code, before, now.functions if now is not None else ())


def _code(path: str, text: str, value: Syntax | None) -> str:
    """A text without its comments, each line where it was."""
    if value is not None:
        return value.code
    pattern = _HASH if _ending(path) in _HASHED else _SLASHES
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _ending(path: str) -> str:
    return path.rpartition("/")[2].lower().rpartition(".")[2]


_TELLING = re.compile(
    r"return|except|suppress|catch|rescue|ignore|disable|noqa|nolint|NOLINT|nosec|nocheck|allow|fmt:"
    r"|Suppress|pragma|noinspection|expect-error|\|\||\bset\b|/dev/null|_ENV|PYTEST|pytest|unittest"
    r"|WORKER_ID|VITEST|vitest|NODE_TEST|HYDRA|_getframe|stack|argv|__eq__|asymmetricMatch|\bANY\b"
    r"|/proc/|sys\.modules|open\(|read_|readFile|f_back|f_code|frame"
    r"|module\.parent|require\.main|Testing\(\)|test\.|\(test\)|typeof|expect|chai|jest|unwrap_or"
    r"|let _|\.ok\(\)|err !="
)
_CATCHING = re.compile(r"\b(?:catch|except|rescue)\b|err !=")


def _worth(old: str, new: str) -> bool:
    """Whether any line that is new has a word of what is looked for, or one is gone from where
    errors are caught. Most files are passed over by this."""
    before = set(old.split("\n"))
    after = new.split("\n")
    if any(line not in before and _TELLING.search(line) for line in after):
        return True
    gone = before - set(after)
    return any(line.strip() for line in gone) and _CATCHING.search(new) is not None


# ---- Code that gives what the tests expect instead of working it out.

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
