"""Errors that a patch catches and tells nobody of, and warnings that it turns off."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.diff_trim import trimmed
from hydra.analysis.tampering.languages.braces import BraceSource
from hydra.analysis.tampering.languages.python.module import FAILURES, syntax_tree
from hydra.analysis.tampering.languages.python.render import dotted, render
from hydra.text import plural

_BRACES = (
    (
        re.compile(r"\bcatch\s*(?:\([^()]*\))?\s*\{\s*(?:return\b[^;{}()]{0,60};?\s*)?\}"),
        "catches an error and passes over it",
    ),
    (
        re.compile(r"\.catch\(\s*\(?\w*\)?\s*=>\s*(?:\{\s*\}|null|undefined)\s*\)"),
        "catches an error and passes over it",
    ),
)
_GO = (
    (
        re.compile(r"\bif\s+err\s*!=\s*nil\s*\{\s*(?:return(?:\s+nil)?\s*)?\}"),
        "passes over an error",
    ),
)
_RUST = (
    (
        re.compile(r"\.unwrap_or_default\(\)|\blet\s+_\s*=\s*[^;\n]+\(|\.ok\(\)\s*;"),
        "passes over an error",
    ),
)
_RUBY = (
    (
        re.compile(
            r"\brescue(?:\s*=>\s*\w+|\s+StandardError|\s+Exception)?\s*\n\s*(?:nil|false|\[\])?\s*"
            r"\n?\s*end\b|\brescue\s+nil\b"
        ),
        "rescues an error and passes over it",
    ),
)
_SHELL = (
    (re.compile(r"\|\|\s*(?:true|:|exit\s+0)(?![\w-])"), "ignores a command's failure"),
    (re.compile(r"\bset\s+\+e\b"), "ignores the failure of commands"),
    (re.compile(r"2>\s*/dev/null"), "hides what a command says of its errors"),
)
_BY_ENDING = {
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), _BRACES),
    **dict.fromkeys(("java", "kt", "cs", "php", "scala", "swift", "cpp", "cc"), _BRACES),
    "go": _GO,
    "rs": _RUST,
    "rb": _RUBY,
    **dict.fromkeys(("sh", "bash", "mk", "yml", "yaml", "zsh"), _SHELL),
}
_SHELL_NAMES = frozenset(("makefile", "justfile", "gnumakefile", "dockerfile"))

_SUPPRESSED = re.compile(
    r"type:\s*ignore|\bnoqa\b|pylint:\s*disable|pyright:\s*ignore|pragma:\s*no\s*cover|\bnosec\b"
    r"|eslint-disable[\w-]*|@ts-ignore|@ts-nocheck|@ts-expect-error|biome-ignore|istanbul ignore"
    r"|c8 ignore|\bnolint\b|rubocop:\s*disable|NOLINT|noinspection|shellcheck\s+disable|fmt:\s*off"
)
_ATTRIBUTE = re.compile(
    r"#!?\[allow\([^)\n]*\)\]|@SuppressWarnings\b|@Suppress\(|#pragma\s+warning"
)


def swallowing(file: FileChange, code: BraceSource, was: BraceSource) -> Iterator[Finding]:
    """All of one file."""
    if file.path.endswith(".py"):
        yield from _python(file)
    else:
        ending = file.path.rpartition(".")[2].lower()
        name = file.path.rpartition("/")[2].lower()
        pairs = _SHELL if name in _SHELL_NAMES else _BY_ENDING.get(ending, ())
        yield from _patterns(file, code, was, pairs)
    yield from _suppressed(file, code, was)


def _patterns(
    file: FileChange,
    code: BraceSource,
    was: BraceSource,
    pairs: Sequence[tuple[re.Pattern[str], str]],
) -> Iterator[Finding]:
    for pattern, value in pairs:
        had = Counter(" ".join(row.split()) for row in pattern.findall(was.code))
        new: list[re.Match[str]] = []
        for match in pattern.finditer(code.code):
            key = " ".join(match[0].split())
            if had[key]:
                had[key] -= 1
            else:
                new.append(match)
        if len(new) > had.total():
            line = code.line(new[0].start())
            more = f" ({len(new):,} times)" if len(new) > 1 else ""
            text = f"{value} in {file.path}{more}: {wording.value(new[0][0])}"
            yield _finding("swallowed_error", text, file, line)


def _suppressed(file: FileChange, code: BraceSource, was: BraceSource) -> Iterator[Finding]:
    """Comments and attributes that turn a warning off, where there are more of them than were."""
    before = Counter(_quieting(was))
    new: list[tuple[str, int]] = []
    for line, comment in code.comments:
        new += [(" ".join(row.split()), line) for row in _SUPPRESSED.findall(comment)]
    new += [(match[0], code.line(match.start())) for match in _ATTRIBUTE.finditer(code.code)]
    after = Counter(identifiers for identifiers, _ in new)
    added = after - before
    count = after.total() - before.total()
    if count > 0 and added:
        first = next((text, line) for text, line in new if text in added)
        value = plural(count, "warning")
        text = f"turns off {value} in {file.path} ({wording.value(first[0])})"
        yield _finding("suppressed_warning", text, file, first[1])


def _quieting(source: BraceSource) -> Iterator[str]:
    for _, comment in source.comments:
        yield from (" ".join(row.split()) for row in _SUPPRESSED.findall(comment))
    yield from _ATTRIBUTE.findall(source.code)


def _python(file: FileChange) -> Iterator[Finding]:
    if file.new is None or ("except" not in file.new and "suppress(" not in file.new):
        return
    try:
        before, after = trimmed(file.old or "", file.new)
        had = Counter(key for key, _, _ in _handlers(before))
        new = list(_handlers(after))
    except FAILURES:
        return
    for key, text, line in new:
        if had[key]:
            had[key] -= 1
        elif not had.total() or key[1:] not in {other[1:] for other in had if had[other]}:
            yield _finding("swallowed_error", f"{text} ({file.path})", file, line)


_BROAD = frozenset(("Exception", "BaseException", ""))


def _handlers(text: str) -> Iterator[tuple[tuple[str, str, str], str, int]]:
    """Each handler that swallows: where, what, and in words."""
    if "except" not in text and "suppress(" not in text:
        return
    tree = syntax_tree(text)
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, name = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = node.name
        if isinstance(node, ast.ExceptHandler):
            kind = render(node.type, {}) if node.type is not None else ""
            does = _does(node.body)
            if does and (kind in _BROAD or does == "passes over it"):
                what = wording.value(kind) or "every error"
                where = f" in {wording.name(name)}()" if name else ""
                yield (name, kind, does), f"catches {what} and {does}{where}", node.lineno
        elif isinstance(node, ast.Call) and dotted(node).endswith("suppress") and node.args:
            kind = render(node.args[0], {})
            if kind in _BROAD:
                yield (name, kind, "suppress"), f"suppresses {kind}", node.lineno
        waiting.extend((child, name) for child in ast.iter_child_nodes(node))


def _does(body: list[ast.stmt]) -> str:
    """What a handler does instead of telling, "" where it tells."""
    if len(body) != 1:
        return ""
    only = body[0]
    if isinstance(only, ast.Pass | ast.Continue):
        return "passes over it"
    if isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant):
        return "passes over it"
    if isinstance(only, ast.Return):
        value = only.value
        if value is None:
            return "returns nothing"
        if isinstance(value, ast.Constant | ast.List | ast.Dict | ast.Tuple | ast.Set):
            return f"returns {wording.value(render(value, {}))}"
    return ""


def _finding(kind: str, text: str, file: FileChange, line: int) -> Finding:
    return Finding(kind=kind, weight="remark", text=text, path=file.path, line=line)
