"""Code that gives what the tests expect instead of working it out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import Function, Syntax
from hydra.analysis.tampering import scripts, wording
from hydra.analysis.tampering.constant_strings import folded, names_tests
from hydra.analysis.tampering.frameworks import JAVASCRIPT, PYTHON
from hydra.analysis.tampering.hardcoded import ExpectedValues
from hydra.analysis.tampering.monkeypatches import patchings
from hydra.analysis.tampering.scripts import tool_patched

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
_LITERAL = (
    r"(?:-?\d[\w.]*|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\[[^\]\n]{0,200}\]"
    r"|(?:vec!|\w+)?(?:\[\])?[\w.]{0,20}\{[^{}\n]{0,200}\})"
)
_BRANCH = re.compile(
    rf"\bif\s*\(?\s*(?P<name>[\w.$]+)\s*={{2,3}}\s*(?P<given>{_LITERAL})\s*\)?\s*(?:then\b|\{{)?\s*"
    rf"return\s+(?P<value>{_LITERAL})\s*[;}}\n]"
)
_AFTER = re.compile(
    rf"\breturn\s+(?P<value>{_LITERAL})\s+if\s+(?P<name>[\w.$]+)\s*==\s*(?P<given>{_LITERAL})\s*\n"
)
_NUMBER = re.compile(r"-?\d[\d_.]*")


_TRIVIAL = frozenset(("0", "1", "-1", "None", "True", "False", "''", "[]", "{}", "()", "NaN"))
"""Values that code returns for reasons of its own."""


def shortcuts(
    file: FileChange,
    code: str,
    was: str,
    read: tuple[Syntax | None, Syntax | None],
    expected: ExpectedValues,
) -> Iterator[Finding]:
    """All of one file of production code. `code` and `was` are its texts without comments, `read`
    what is known of them."""
    script = file.path.endswith(scripts.ENDINGS)
    texts = folded(code, members=script), folded(was, members=script)
    yield from _under_test(file, *texts)
    yield from _watching(file, *texts)
    yield from _bent(file, code, was)
    if file.path.endswith(".py") and read[0] is not None:
        yield from _python(file, read[0], read[1], expected)
    else:
        yield from _branches(file, code, was, expected)


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


def tools_changed(file: FileChange) -> Iterator[Finding]:
    """Code that is no test and changes a part of the test tool."""
    if file.new is None or not _TOOL.search(file.new):
        return
    change, line = "", None
    if file.path.endswith(".py"):
        of_tool = [patching for patching in patchings(file.old or "", file.new) if patching.of_tool]
        change, line = (of_tool[0].target, of_tool[0].line) if of_tool else ("", None)
    else:
        change = tool_patched(file.path, file.old or "", file.new)
    if change:
        text = f"changes in {file.path} what the tests' own tool does ({wording.value(change)})"
        yield Finding(kind="test_tool", weight="gate", text=text, path=file.path, line=line)


_TOOL = re.compile("|".join(sorted(map(re.escape, (*PYTHON, *JAVASCRIPT, "require", "Module")))))


def _bent(file: FileChange, code: str, was: str) -> Iterator[Finding]:
    """Code that changes what the tests compare with."""
    for match in _ALWAYS_EQUAL.finditer(code):
        if match[0] not in was:
            line = code.count("\n", 0, match.start()) + 1
            does = "compares in a way of its own" if match["own"] else "equals anything"
            yield _finding(f"gives an object of {file.path} that {does}", file, line)
            break


def _branches(file: FileChange, code: str, was: str, expected: ExpectedValues) -> Iterator[Finding]:
    """`if (n === 7) return 42`, which was not there."""
    for pattern in (_BRANCH, _AFTER):
        had = {" ".join(match[0].split()) for match in pattern.finditer(was)}
        for match in pattern.finditer(code):
            if " ".join(match[0].split()) in had:
                continue
            test = expected.of("", match["value"], match["given"])
            if test or (_telling(match["given"]) and _telling(match["value"])):
                line = code.count("\n", 0, match.start()) + 1
                where = f"{match['name']} is {wording.value(match['given'])}"
                yield _finding(_returns(match["value"], "", where, test), file, line)


def _returns(value: str, function: str, where: str, test: str) -> str:
    of = f" from {wording.name(function)}" if function else ""
    why = f", which is what {wording.name(test)} expects" if test else ""
    return f"returns the literal {wording.value(value)}{of} where {where}{why}"


def _telling(literal: str) -> bool:
    """Whether a number or a list is one that code seldom has by itself."""
    if _NUMBER.fullmatch(literal):
        return literal.lstrip("-") not in ("0", "1", "2", "0.0", "1.0", "100")
    return literal[:1] == "[" and len(literal) > 2


def _python(
    file: FileChange, now: Syntax, was: Syntax | None, expected: ExpectedValues
) -> Iterator[Finding]:
    """What functions give that are new, or other than they were."""
    before = _bodies(was) if was is not None else {}
    for function, (line, body) in _bodies(now).items():
        old = before.get(function, (0, []))[1]
        if body and body != old:
            name = function.rpartition(".")[2]
            yield from _of_function(file, name, line, body, old, expected)


def _bodies(value: Syntax) -> dict[str, tuple[int, list[str]]]:
    """By its name, each function's first line and the lines of its body, docstrings left out."""
    lines = value.code.split("\n")
    return {row.name: _body(lines, row) for row in value.functions if row.name}


def _body(lines: Sequence[str], function: Function) -> tuple[int, list[str]]:
    """From where the header ends: at a colon outside of brackets."""
    depth, started = 0, False
    for at in range(function.start - 1, min(function.end, len(lines))):
        line = _STRING.sub("''", lines[at]).strip()
        started = started or line.startswith(("def ", "async "))
        depth += sum(line.count(sign) for sign in "([{") - sum(line.count(sign) for sign in ")]}")
        if started and depth <= 0 and _HEADER_END.search(line):
            inline = lines[at].rstrip().rpartition(":")[2]
            body = [inline] if inline.strip() else lines[at + 1 : function.end]
            first = next((n for n, row in enumerate(body) if row.strip()), 0)
            return at + 1 + (not inline.strip()) + first, [row for row in body if row.strip()]
    return function.start, []


_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'")
_HEADER_END = re.compile(r":(?:$|\s+return\b)")
_STUB = re.compile(r"(?:raise NotImplementedError\b.*|pass|\.\.\.)")
_IF = re.compile(r"(?:el)?if\b(?P<test>.+?):(?P<body>\s+return\b.*)?")
_COMPARED = re.compile(r"==|\bis\b(?!\s+not\b)")
_SIDES = re.compile(r"==|\b(?:is|and|or)\b")
_TABLE = re.compile(r"\{[^{}]*:[^{}]*\}")


def _of_function(
    file: FileChange,
    name: str,
    line: int,
    body: Sequence[str],
    old: Sequence[str],
    expected: ExpectedValues,
) -> Iterator[Finding]:
    value = _returned(body)
    if value is not None:
        test = "" if value in _TRIVIAL else expected.of(name, value)
        worked = old and _returned(old) is None and not _STUB.fullmatch(old[-1].strip())
        if test or (worked and value not in _TRIVIAL):
            why = f", which is what {wording.name(test)} expects" if test else ""
            text = f"returns the literal {wording.value(value)} from {wording.name(name)} whatever "
            yield _finding(f"{text}it is given{why}", file, line)
        return
    had = {row.strip() for row in old}
    for at, row in enumerate(body):
        match = _IF.fullmatch(row.strip())
        below = [match["body"]] if match and match["body"] else _below(body, at)
        if match and (row.strip() not in had or not {part.strip() for part in below} <= had):
            yield from _branch(file, name, line + at, match["test"].strip(), below, expected)
    before = "\n".join(old)
    for table in _TABLE.finditer("\n".join(body)):
        if table[0] not in before:
            yield from _table(file, name, line, table[0], expected)


def _below(body: Sequence[str], at: int) -> list[str]:
    """The lines that stand deeper than one."""
    depth = len(body[at]) - len(body[at].lstrip())
    rows = list[str]()
    for row in body[at + 1 :]:
        if len(row) - len(row.lstrip()) <= depth:
            break
        rows.append(row)
    return rows


def _branch(
    file: FileChange,
    name: str,
    line: int,
    test: str,
    below: Sequence[str],
    expected: ExpectedValues,
) -> Iterator[Finding]:
    """`if n == 7: return 42`."""
    value = _returned(below)
    sides = _SIDES.split(test) if _COMPARED.search(test) else ()
    texts = (_written(side.strip()) for side in sides)
    compared = next((text for text in texts if text is not None), None)
    if value is None or compared is None or (value in _TRIVIAL and compared in _TRIVIAL):
        return
    asks = expected.of(name, value, compared)
    if asks or (_telling(compared) and _telling(value)):
        yield _finding(_returns(value, name, wording.value(test), asks), file, line)


def _table(
    file: FileChange, name: str, line: int, text: str, expected: ExpectedValues
) -> Iterator[Finding]:
    """A dictionary of what the tests give and what they expect."""
    if _written(text) is None or not isinstance(table := ast.literal_eval(text), dict):
        return
    rows = [*table.items()][:200]
    hits = [test for key, value in rows if (test := expected.of(name, repr(value), repr(key)))]
    if len(hits) > 1 or (hits and len(table) == 1):
        part = wording.part(len(hits), len(table), "entry").replace("entrys", "entries")
        begins = f"looks up in {wording.name(name)} what tests expect: {part} of a table "
        are = "is" if part.startswith(("the only", "1 of")) else "are"
        yield _finding(f"{begins}{are} what {wording.name(hits[0])} asks for", file, line)


def _returned(body: Sequence[str]) -> str | None:
    """The literal that a body returns and does nothing else."""
    text = " ".join(row.strip() for row in body[:200])
    return _written(text.removeprefix("return ").strip()) if text.startswith("return ") else None


def _written(text: str) -> str | None:
    """A value that is written out, in one way of writing it."""
    if not text or len(text) > 2000 or text.count("(") + text.count("[") + text.count("{") > 50:
        return None
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _finding(text: str, file: FileChange, line: int) -> Finding:
    return Finding(kind="hard_coded", weight="remark", text=text, path=file.path, line=line)
