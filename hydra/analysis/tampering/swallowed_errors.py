"""Errors that a patch catches and tells nobody of, and warnings that it turns off."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.syntax import Function
from hydra.analysis.tampering import wording
from hydra.text import plural

_PASSES = "catches an error and passes over it"
_PATTERNS = {
    "js jsx mjs cjs ts tsx mts cts java kt cs php scala swift cpp cc": (
        (r"\bcatch\s*(?:\([^()]*\))?\s*\{\s*(?:return\b[^;{}()]{0,60};?\s*)?\}", _PASSES),
        (r"\.catch\(\s*\(?\w*\)?\s*=>\s*(?:\{\s*\}|null|undefined)\s*\)", _PASSES),
    ),
    "go": ((r"\bif\s+err\s*!=\s*nil\s*\{\s*(?:return(?:\s+nil)?\s*)?\}", "passes over an error"),),
    "rs": (
        (
            r"\.unwrap_or_default\(\)|\blet\s+_\s*=\s*[^;\n]+\(|\.ok\(\)\s*;",
            "passes over an error",
        ),
    ),
    "rb": (
        (
            r"\brescue(?:\s*=>\s*\w+|\s+StandardError|\s+Exception)?\s*\n\s*(?:nil|false|\[\])?\s*"
            r"\n?\s*end\b|\brescue\s+nil\b",
            "rescues an error and passes over it",
        ),
    ),
    "sh bash zsh mk yml yaml makefile justfile gnumakefile dockerfile": (
        (r"\|\|\s*(?:true|:|exit\s+0)(?![\w-])", "ignores a command's failure"),
        (r"\bset\s+\+e\b", "ignores the failure of commands"),
        (r"2>\s*/dev/null", "hides what a command says of its errors"),
    ),
}
_BY_ENDING = {
    ending: [(re.compile(pattern), does) for pattern, does in patterns]
    for endings, patterns in _PATTERNS.items()
    for ending in endings.split()
}
_HANDLER = re.compile(
    r"^[ \t]*+except\b(?P<kind>[^\n:]*):[ \t]*+(?:(?:\n[ \t]*+)*\n(?P<depth>[ \t]+))?"
    r"(?P<does>pass|continue|\.\.\.|return\b[^\n]*?)[ \t]*+$"
    r"|\bsuppress\((?P<broad>Exception|BaseException)\)",
    re.M,
)
_RETURNED = re.compile(r"(?:None|True|False|-?[\d.]+|\"[^\"]*\"|'[^']*'|\[.*\]|\{.*\}|\(.*\))")
_BROAD = ("Exception", "BaseException", "")

_SUPPRESSED = re.compile(
    r"type:\s*ignore|\bnoqa\b|pylint:\s*disable|pyright:\s*ignore|pragma:\s*no\s*cover|\bnosec\b"
    r"|eslint-disable[\w-]*|@ts-ignore|@ts-nocheck|@ts-expect-error|biome-ignore|istanbul ignore"
    r"|c8 ignore|\bnolint\b|rubocop:\s*disable|NOLINT|noinspection|shellcheck\s+disable|fmt:\s*off"
    r"|#!?\[allow\([^)\n]*\)\]|@SuppressWarnings\b|@Suppress\(|#pragma\s+warning"
)
"""In a comment, or an attribute."""


def swallowing(
    file: FileChange, code: str, was: str, functions: Sequence[Function]
) -> Iterator[Finding]:
    """All of one file. `code` and `was` are its texts without comments."""
    name = file.path.rpartition("/")[2].lower().rpartition(".")[2]
    if name == "py":
        yield from _python(file, code, was, functions)
    for pattern, does in _BY_ENDING.get(name, ()):
        new, count = _added(pattern, code, was)
        if new and count > 0:
            more = f" ({len(new):,} times)" if len(new) > 1 else ""
            text = f"{does} in {file.path}{more}: {wording.value(new[0][0])}"
            yield _finding("swallowed_error", text, file, code, new[0])
    texts = file.new or "", file.old or ""
    quiet = [match for match in _SUPPRESSED.finditer(texts[0]) if _is_said(match, texts[0], code)]
    had = Counter(
        match[0] for match in _SUPPRESSED.finditer(texts[1]) if _is_said(match, texts[1], was)
    )
    count, added = len(quiet) - had.total(), Counter(match[0] for match in quiet) - had
    if count > 0 and added:
        first = next(match for match in quiet if match[0] in added)
        text = f"turns off {plural(count, 'warning')} in {file.path} ({wording.value(first[0])})"
        yield _finding("suppressed_warning", text, file, texts[0], first)


def _is_said(match: re.Match[str], text: str, code: str) -> bool:
    """Whether it is in a comment where that is known, or an attribute; in a string it is not."""
    is_attribute = match[0].startswith(("#", "@Suppress"))
    return is_attribute or len(code) != len(text) or not code[match.start() : match.end()].strip()


def _added(pattern: re.Pattern[str], code: str, was: str) -> tuple[list[re.Match[str]], int]:
    """What matches that did not before, and how many more there are."""
    had = Counter(" ".join(match[0].split()) for match in pattern.finditer(was))
    before, now, new = had.total(), 0, list[re.Match[str]]()
    for match in pattern.finditer(code):
        now += 1
        key = " ".join(match[0].split())
        if had[key]:
            had[key] -= 1
        else:
            new.append(match)
    return new, now - before


def _python(
    file: FileChange, code: str, was: str, functions: Sequence[Function]
) -> Iterator[Finding]:
    new, _ = _added(_HANDLER, code, was)
    for match in new:
        line = code.count("\n", 0, match.start()) + 1
        names = [row.name for row in functions if row.start <= line <= row.end]
        where = f" in {wording.name(names[-1].rpartition('.')[2])}()" if names else ""
        if match["broad"]:
            text = f"suppresses {match['broad']} ({file.path})"
            yield _finding("swallowed_error", text, file, code, match)
            continue
        kind = match["kind"].partition(" as ")[0].strip()
        does = _does(match["does"])
        if _is_alone(match, code) and does and (kind in _BROAD or does == "passes over it"):
            text = f"catches {wording.value(kind) or 'every error'} and {does}{where} ({file.path})"
            yield _finding("swallowed_error", text, file, code, match)


def _does(body: str) -> str:
    """What a handler does instead of telling, "" where it tells."""
    value = body.removeprefix("return").strip()
    if not body.startswith("return"):
        return "passes over it"
    if not value:
        return "returns nothing"
    return f"returns {wording.value(value)}" if _RETURNED.fullmatch(value) else ""


def _is_alone(match: re.Match[str], code: str) -> bool:
    """Whether a handler does nothing else."""
    after = code[match.end() :].lstrip("\n").split("\n", 1)[0]
    depth = match["depth"]
    return not (depth and after.startswith(depth) and after.strip())


def _finding(kind: str, text: str, file: FileChange, source: str, match: re.Match[str]) -> Finding:
    line = source.count("\n", 0, match.start()) + 1
    return Finding(kind=kind, weight="remark", text=text, path=file.path, line=line)
