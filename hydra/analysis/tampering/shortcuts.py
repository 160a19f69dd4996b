"""Code that gives what the tests expect instead of working it out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering import scripts, wording
from hydra.analysis.tampering.constant_strings import folded, names_tests
from hydra.analysis.tampering.diff_trim import trimmed
from hydra.analysis.tampering.frameworks import JAVASCRIPT, PYTHON
from hydra.analysis.tampering.hardcoded import ExpectedValues
from hydra.analysis.tampering.languages.python.module import FAILURES, syntax_tree
from hydra.analysis.tampering.languages.python.render import dotted, render
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


Function = ast.FunctionDef | ast.AsyncFunctionDef

_TRIVIAL = frozenset(("0", "1", "-1", "None", "True", "False", "''", "[]", "{}", "()", "NaN"))
"""Values that code returns for reasons of its own."""


def shortcuts(file: FileChange, code: str, was: str, expected: ExpectedValues) -> Iterator[Finding]:
    """All of one file of production code. `code` and `was` are its texts without comments."""
    script = file.path.endswith(scripts.ENDINGS)
    texts = folded(code, members=script), folded(was, members=script)
    yield from _under_test(file, *texts)
    yield from _watching(file, *texts)
    yield from _bent(file, code, was)
    if file.path.endswith(".py"):
        yield from _python(file, expected)
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


def _python(file: FileChange, expected: ExpectedValues) -> Iterator[Finding]:
    if file.new is None or file.new == file.old:
        return
    lines = set((file.old or "").split("\n"))
    if not any("return" in line and line not in lines for line in file.new.split("\n")):
        return
    try:
        old, new = map(_functions, trimmed(file.old or "", file.new))
        for name, function in new.items():
            before = old.get(name)
            if before is None or before.text != function.text:
                was = before.node if before is not None else None
                yield from _of_function(file, name, function.node, was, expected)
    except FAILURES:
        return


class _Read(Struct, frozen=True):
    """A function and its own text."""

    node: Function
    text: str


def _functions(text: str) -> dict[str, _Read]:
    if "return" not in text:
        return {}
    tree = syntax_tree(text)
    lines = text.split("\n")
    reads: dict[str, _Read] = {}
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            reads[node.name] = _Read(node, "\n".join(lines[node.lineno - 1 : node.end_lineno]))
        for block in ("body", "orelse", "finalbody", "handlers"):
            waiting.extend(getattr(node, block, ()))
    return reads


def _of_function(
    file: FileChange,
    name: str,
    function: Function,
    before: Function | None,
    expected: ExpectedValues,
) -> Iterator[Finding]:
    body = _body(function)
    value = _returned(body)
    if value in _TRIVIAL:
        return
    if value is not None:
        test = expected.of(name, value)
        worked = before is not None and _returned(_body(before)) is None and not _stub(before)
        if test or worked:
            why = f", which is what {wording.name(test)} expects" if test else ""
            text = f"returns the literal {wording.value(value)} from {wording.name(name)} whatever "
            yield _finding(f"{text}it is given{why}", file, body[0].lineno)
        return
    telling = [node for node in ast.walk(function) if isinstance(node, ast.If | ast.Dict)]
    if not telling:
        return
    had = set[str]()
    for node in ast.walk(before) if before is not None else ():
        if isinstance(node, ast.If | ast.Dict):
            had.add(ast.dump(node))
    for node in telling:
        if isinstance(node, ast.If) and _returned(node.body) and ast.dump(node) not in had:
            yield from _branch(file, name, node, expected)
        elif isinstance(node, ast.Dict) and node.keys and ast.dump(node) not in had:
            yield from _table(file, name, node, expected)


def _branch(
    file: FileChange, name: str, node: ast.If, expected: ExpectedValues
) -> Iterator[Finding]:
    """`if n == 7: return 42`."""
    value = _returned(node.body)
    text = _literal(node.test)
    if value is None or text is None or (value in _TRIVIAL and text in _TRIVIAL):
        return
    test = expected.of(name, value, text)
    if test or (_telling(text) and _telling(value)):
        where = wording.value(render(node.test, {}))
        yield _finding(_returns(value, name, where, test), file, node.lineno)


def _table(
    file: FileChange, name: str, node: ast.Dict, expected: ExpectedValues
) -> Iterator[Finding]:
    """A dictionary of what the tests give and what they expect."""
    hits = [
        test
        for key, value in zip(node.keys[:200], node.values[:200], strict=True)
        if key is not None and _written(key) and _written(value)
        if (test := expected.of(name, render(value, {}), render(key, {})))
    ]
    if len(hits) > 1 or (hits and len(node.keys) == 1):
        line = wording.part(len(hits), len(node.keys), "entry").replace("entrys", "entries")
        text = f"looks up in {wording.name(name)} what tests expect: {line} of a table "
        are = "is" if line.startswith(("the only", "1 of")) else "are"
        yield _finding(f"{text}{are} what {wording.name(hits[0])} asks for", file, node.lineno)


def _literal(test: ast.expr) -> str | None:
    """The literal that a condition compares with."""
    if isinstance(test, ast.BoolOp):
        return next((text for value in test.values if (text := _literal(value)) is not None), None)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    if not isinstance(test.ops[0], ast.Eq | ast.Is):
        return None
    sides = (test.left, test.comparators[0])
    return next((render(side, {}) for side in sides if _written(side)), None)


def _returned(body: list[ast.stmt]) -> str | None:
    """The literal that a body returns and does nothing else."""
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        value = body[0].value
        return render(value, {}) if _written(value) else None
    return None


def _body(function: Function) -> list[ast.stmt]:
    body = function.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1:
        return body[1:]
    return body


def _stub(function: Function) -> bool:
    """Whether a function had yet to be written."""
    only = _body(function)[-1]
    if isinstance(only, ast.Raise) and only.exc is not None:
        return dotted(only.exc) == "NotImplementedError"
    return isinstance(only, ast.Pass) or (
        isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant)
    )


def _written(node: ast.expr) -> bool:
    """Whether a value is written out."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _written(node.operand)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(_written(elt) for elt in node.elts[:200])
    if isinstance(node, ast.Dict):
        parts = [*node.keys[:200], *node.values[:200]]
        return all(part is not None and _written(part) for part in parts)
    return isinstance(node, ast.Constant)


def _finding(text: str, file: FileChange, line: int) -> Finding:
    return Finding(kind="hard_coded", weight="remark", text=text, path=file.path, line=line)
