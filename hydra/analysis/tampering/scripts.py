"""JavaScript that changes the test tool, or that could: read by its text, comments left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from hydra.analysis.tampering.frameworks import is_javascript_tool
from hydra.analysis.tampering.languages.braces import source
from hydra.analysis.tampering.model import too_much

ENDINGS = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")

_NAME = r"[A-Za-z_$][\w$]*"
_PACKAGE = r"[\"'](?P<package>[\w:@/.-]+)[\"']"
_BOUND = (
    re.compile(
        rf"\b(?:const|let|var)\s+(?P<name>{_NAME})\s*=\s*(?:await\s+import|require)\(\s*{_PACKAGE}"
    ),
    re.compile(rf"\bimport\s+(?:\*\s*as\s+)?(?P<name>{_NAME})\s+from\s+{_PACKAGE}"),
)
_PARTS = (
    re.compile(
        rf"\b(?:const|let|var)\s+\{{(?P<names>[^}}]*)\}}\s*=\s*(?:await\s+import|require)\(\s*{_PACKAGE}"
    ),
    re.compile(rf"\bimport\s+(?:{_NAME}\s*,\s*)?\{{(?P<names>[^}}]*)\}}\s*from\s+{_PACKAGE}"),
)
_GLOBALS = ("expect", "jest", "vi", "chai", "assert", "test", "it", "describe", "jasmine", "mocha")
_ALIAS = re.compile(
    rf"\b(?:const|let|var)\s+(?P<name>{_NAME})\s*=\s*(?P<other>{_NAME})(?:\.\w+)*\s*;"
)
_LOADER = re.compile(
    r"\b(?:Module|require\([\"'](?:node:)?module[\"']\))\.(?:_load|_resolveFilename|_compile"
    r"|_extensions|prototype)\b[^;\n=(]*=(?!=)|\brequire\.(?:cache|extensions)\[[^\]\n]*\]"
    r"[^;\n=(]*=(?!=)|\bregisterHooks\(|\bmodule\.register\("
)
_DIRECT = (
    r"require\(\s*[\"'](?:node:)?(?:assert(?:/strict)?|test|chai|vitest|mocha|expect)[\"']\s*\)"
)
_CAPABLE = re.compile(
    r"\bprocess\b(?!\.(?:env|cwd|nextTick|platform|arch|versions?|hrtime|memoryUsage|uptime|pid)\b)"
    r"|\.constructor\(|__define[GS]etter__|\bglobalThis\b|\bglobal\b|\.prototype\b|\bReflect\b|\bProxy\b|\beval\b"
    r"|\bFunction\(|\bObject\.(?:define\w+|assign|setPrototypeOf)\b|\bsetPrototypeOf\b"
    r"|__proto__|\brequire\.(?:cache|main|extensions)\b|\b_load\b|\bchild_process\b"
    r"|\b(?:require|import)\s*\(\s*(?![\"'`][^\"'`$\n]*[\"'`]\s*\))"
    r"|\bwriteFile\w*\b|\bcopyFile\w*\b|\bcreateWriteStream\b"
    r"|[\"'`][^\"'`\n]*(?:\.test\.|\.spec\.|\btests?/)"
    r"|[\"'](?:node:)?(?:module|vm|v8|inspector|worker_threads|async_hooks)[\"']"
)
_REQUIRED = re.compile(rf"(?:require\(|from|import\(?)\s*{_PACKAGE}")


def tool_patched(path: str, old: str, new: str) -> str:
    """The words by which a text changes a part of the test tool or of the loader of modules, and
    has not before; "" where it changes none."""
    if not path.endswith(ENDINGS) or too_much(new) or too_much(old):
        return ""
    had = Counter(_changes(old))
    for change in _changes(new):
        had[change] -= 1
        if had[change] < 0:
            return change
    return ""


def module_patched(path: str, text: str) -> str:
    """The words by which a new file of tests changes a module that it loads, or the test tool: a
    runner that has one process for all files keeps it so. "" where it changes none."""
    if not path.endswith(ENDINGS) or too_much(text):
        return ""
    code = source(text, "javascript").code
    hook = _HOOK.search(code) if _OF_OTHERS.search(code) else None
    hits = _hits(code, _bound(code, lambda _: True), direct=_REQUIRES)
    return next(iter(hits), f"{hook[0]}...)" if hook else "")


_REQUIRES = r"require\(\s*[\"'][^\"'\n]+[\"']\s*\)"
_HOOK = re.compile(r"^(?:before|after)(?:Each|All)?\(", re.M)
_OF_OTHERS = re.compile(r"\bcurrentTest\b|\bthis\.skip\(|\.pending\b")
"""What a hook of mocha that stands in no group does to the tests of every file."""


_WRITES = re.compile(r"\b(?:write|append|copy|rename|symlink|rm|unlink|cp|createWrite)\w*\(")
_OF_CODE = re.compile(r"[\"'`/][\w./-]*\.[cm]?[jt]sx?[\"'`]")


def writes_code(path: str, text: str) -> str:
    """The words by which a file of tests writes files, where it names one of code outside of what
    it loads; "" where it does not."""
    if not path.endswith(ENDINGS) or too_much(text):
        return ""
    code = source(text, "javascript").code
    writing = _WRITES.search(code)
    loaded = _REQUIRED.sub("", code)
    return f"{writing[0]}...)" if writing and _OF_CODE.search(loaded) else ""


def capable(old: str, new: str) -> bool:
    """Whether a text has come by a means of changing what runs it that it had not. So has one that
    is too long to be read."""
    return bool(too_much(new)) or bool(_means(new) - _means("" if too_much(old) else old))


@lru_cache(maxsize=256)
def _means(text: str) -> Counter[str]:
    code = source(text, "javascript").code
    means = Counter(_CAPABLE.findall(code))
    tools = (match["package"] for match in _REQUIRED.finditer(code))
    return means + Counter(match for match in tools if is_javascript_tool(match))


@lru_cache(maxsize=256)
def _changes(text: str) -> tuple[str, ...]:
    code = source(text, "javascript").code
    return _hits(code, _tools(code))


def _hits(code: str, owners: Iterable[str], direct: str = _DIRECT) -> tuple[str, ...]:
    """Where a part of what these names stand for is changed."""
    names = "|".join(map(re.escape, owners)) or "(?!)"
    owner = rf"(?:(?<![\w$.])(?:{names})|{direct})"
    part = r"(?:\s*\.\s*[\w$]+|\s*\[[^\]\n]{1,80}\])"
    changing = re.compile(
        rf"{owner}{part}+\s*=(?![=>])"
        rf"|\b(?:Object|Reflect)\.(?:defineProperty|defineProperties|assign|set|setPrototypeOf)"
        rf"\(\s*{owner}{part}*\s*[,)]"
        rf"|\bsinon\.(?:stub|replace)\(\s*{owner}{part}*\s*,"
        rf"|\bmock\.method\(\s*{owner}{part}*\s*,|\bdelete\s+{owner}{part}+"
        rf"|(?<![\w$.])(?:expect|chai|jest|vi)(?:\.\w+)*\.extend\("
        rf"|\b(?:globalThis|global|window)\.(?:expect|assert|test|it|describe|jest|vi)\s*=(?![=>])"
    )
    hits = [*changing.finditer(code), *_LOADER.finditer(code)]
    return tuple(" ".join(match[0].rstrip("= (,").split()) for match in sorted(hits, key=_start))


def _start(match: re.Match[str]) -> int:
    return match.start()


def _tools(code: str) -> list[str]:
    """Names that stand for a test tool in a file."""
    names = {
        name
        for name in _GLOBALS
        if not re.search(rf"\b(?:const|let|var|function)\s+{name}\b", code)
    }
    names |= _bound(code, is_javascript_tool)
    for match in _ALIAS.finditer(code):
        if match["other"] in names:
            names.add(match["name"])
    return sorted(name for name in names if re.fullmatch(_NAME, name))


def _bound(code: str, matches: Callable[[str], bool]) -> set[str]:
    """Names that a file gives to packages, or to parts of them."""
    whole = (match for pattern in _BOUND for match in pattern.finditer(code))
    names = {match["name"] for match in whole if matches(match["package"])}
    for match in (match for pattern in _PARTS for match in pattern.finditer(code)):
        if matches(match["package"]):
            parts = match["names"].split(",")
            names |= {part.split(":")[-1].split(" as ")[-1].strip() for part in parts}
    return {name for name in names if re.fullmatch(_NAME, name)}
