"""New lines that may change what runs the tests, or what other tests run on.

A guess by words, and wide: it says only where to run tests that must fail, or the base's tests
without a patch's new ones. The run decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.test_files import (
    existed,
    exists,
    is_configuration,
    supports_tests,
)
from hydra.config.check_specs import name_of, split_folder

ENDINGS = {
    "python": (".py",),
    "javascript": (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"),
}
_COMMENT = {"python": ("#",), "javascript": ("//", "*", "/*")}

_MOST_READ = 1024 * 1024
"""Characters of new lines of one file; in more there may be anything."""

_BENDING = {
    "python": re.compile(
        r"pytest|unittest|HYDRA_JUNIT|PYTEST|junitxml"
        r"|[\"'][^\"']{0,200}(?:conftest|tests/|\btest_|site-packages)"
        r"|\b(?:__import__|exec[lv]?[pe]{0,2}|eval|compile|globals|vars|setattr|delattr|killp?g?"
        r"|__(?:builtins|setattr|delattr|subclasses|dict|globals|code|getattribute)__|_exit|abort"
        r"|dup2|settrace|setprofile|attrgetter|posix_spawnp?|meta_path|path_hooks|excepthook"
        r"|addaudithook|f_locals|testsfailed|exitstatus)\b|\bsys\.modules\b|\.__\w{1,40}__\s*="
        r"|^\s*(?:import|from)\b.{0,400}\b(?:gc|ctypes|builtins|atexit|importlib|mock|signal|imp"
        r"|runpy|site|subprocess|modules|nose2?|doctest|pluggy|hypothesis|testtools|xdist|ward"
        r"|behave|robot|sure|assertpy|hamcrest)\b"
        r"|\bgetattr\((?!\s*[\w.()]{1,100},\s*(?:\"[^\"]*\"|'[^']*')\s*[,)])"
    ),
    "javascript": re.compile(
        r"\bprocess\b(?!\.(?:env|cwd|nextTick|platform|arch|versions?|hrtime|memoryUsage|uptime"
        r"|pid)\b)|\.constructor\(|__define[GS]etter__|\bglobal(?:This)?\b|\.prototype\b|__proto__"
        r"|\b(?:Reflect|Proxy|eval|setPrototypeOf|_load|child_process|registerHooks)\b"
        r"|\bFunction\(|\bObject\.(?:define\w+|assign)\b|\brequire\.(?:cache|main|extensions)\b"
        r"|\b(?:require|import)\s*\(\s*(?![\"'`][^\"'`$\n]*[\"'`]\s*\))"
        r"|\b(?:writeFile\w*|copyFile\w*|createWriteStream)\b"
        r"|[\"'`][^\"'`\n]{0,200}(?:\.test\.|\.spec\.|\btests?/)"
        r"|[\"'](?:node:)?(?:module|vm|v8|inspector|worker_threads|async_hooks|assert|test|chai|ava"
        r"|expect|@?jest|@?vitest|mocha|tape?|jasmine|should|sinon|uvu|power-assert)[\"'./-]"
        r"|\b(?:expect|chai|jest|vi|jasmine|mocha|sinon)\s*[.(\[]"
    ),
}
"""In code: the tool by name, what looks things up by a name that is put together, an exit, a hook
of the interpreter."""

_REACHING = {
    "python": re.compile(
        r"\b(?:__import__|exec|eval|_exit|atexit|settrace|setprofile|meta_path|path_hooks|builtins"
        r"|addaudithook|__(?:code|globals|subclasses|builtins|setattr)__|f_locals|get_objects"
        r"|testsfailed|dup2|ctypes)\b|\bsys\.modules\b[^\n]*=|(?<![\w.])(?:setattr|delattr)\("
        r"|\bpatch\b[^\n]*\)\.start\(|=\s*(?:\w+\.)*patch(?:\.\w+)?\("
    ),
    "javascript": re.compile(
        r"\brequire\(\s*[\"'][^\"'\n]+[\"']\s*\)(?:\s*\.[\w$]+|\[[^\]\n]*\])+\s*=(?![=>])"
        r"|\b(?:_load|_resolveFilename|_compile|registerHooks)\b|\bmodule\.register\("
        r"|\brequire\.(?:cache|extensions)\b|\b(?:globalThis|global|window)\.[\w$]+\s*=(?![=>])"
        r"|\b(?:expect|chai|jest|vi)(?:\.\w+)*\.extend\(|\bcurrentTest\b|\bthis\.skip\(|\.pending\b"
    ),
}
"""In tests: a change of another module, or of other tests, that nothing takes back."""

_WRITES = re.compile(
    r"\b(?:write_text|write_bytes|copyfile|symlink_to|replace|rename|unlink"
    r"|(?:write|append|copy|rename|symlink|rm|createWrite)\w*)\("
)
_CODE_FILE = re.compile(
    r"(?<!require\()(?<!from )[\"'`][\w./-]*\.(?:py|pth|so|[cm]?[jt]sx?)[\"'`]|__file__"
)

_IMPORTS = re.compile(
    r"^[ \t]*(?:import|from)\b(?:[^\n(]*\([^)]*\)|[^\n]*)|^[^\n]*\b(?:require|import)\([^\n]*", re.M
)
_SETS = re.compile(
    r"^\s*(?:del(?:ete)?\s+)?([\w$]+)(?:\.[\w$]+|\[[^\]]*\])+\s*(?:[,:][^=]*)?(?:[-+|&]?=(?![=>])|$)"
    r"|(?:\b(?:Object|Reflect)\.\w+|\bmock\.method|\bsinon\.(?:stub|replace))\(\s*([\w$]+)"
)
"""What sets or deletes a part of a name, that name in one group or the other."""

_NAME = re.compile(r"[\w$]+")
_CODING = re.compile(r"[ \t\f]*#.*?coding[:=](?![ \t]*utf-?8\b)", re.I)
_TOOL_FILE = re.compile(
    r"(?:.*/)?(?:_?pytest|unittest|nose2?|doctest|pluggy|hypothesis|xdist)(?:/.*|\.py)"
)


def may_bend(files: Sequence[FileChange]) -> tuple[str, ...]:
    """The languages ("python", "javascript") in which code that is no test has come by a means of
    changing what runs it; so has code that is not read."""
    code = [item for item in files if exists(item) and not supports_tests(item)]
    languages = {
        language_of(file.path)
        for file in code
        if not is_configuration(file.path) and _bends(file, language_of(file.path))
    }
    return tuple(sorted(languages - {""}, reverse=True))


_RUN_BY = {
    **dict.fromkeys(("pytest", "unittest"), frozenset(("python",))),
    **dict.fromkeys(("jest", "vitest", "mocha", "ava"), frozenset(("javascript",))),
    **dict.fromkeys(("cargo-test", "go-test"), frozenset[str]()),
}
"""By the name of a command that runs one tool, in which of the languages this runs tests."""


def runs_tests_in(language: str, command: str) -> bool:
    """Whether the tests of a command may be written in a language: a tool of another's is not
    bent by it."""
    inner = split_folder(command)[1]
    tool = "" if re.search(r"[;&|`\n]|\$\(", inner) else name_of(inner)
    return language in _RUN_BY.get(tool, ENDINGS)


def may_reach(file: FileChange) -> str:
    """The new line of a file of tests that may change what others run on, "" where none may."""
    language = language_of(file.path)
    if not language or file.new is None:
        return ""
    lines = _new_lines(file, language)
    if lines is None:
        return "it is too long to be read"
    reaching = _REACHING[language].search
    line = next((line for line in lines if reaching(line)), "") or _sets(file.new, lines)
    if not line and any(map(_CODE_FILE.search, lines)):
        line = next((line for line in lines if _WRITES.search(line)), "")
    return line.strip()


def language_of(path: str) -> str:
    """A key of `ENDINGS`, "" for any other file."""
    return next((language for language, ends in ENDINGS.items() if path.endswith(ends)), "")


def _bends(file: FileChange, language: str) -> bool:
    if not language:
        return False
    if file.new is None or (not existed(file) and _TOOL_FILE.fullmatch(file.path)):
        return True
    lines = _new_lines(file, language)
    if lines is None or any(map(_BENDING[language].search, lines)):
        return True
    return language == "python" and bool(_sets(file.new, lines))


def _new_lines(file: FileChange, language: str) -> list[str] | None:
    """Without comments; None where they are too many, or written so that they are not what they
    look like."""
    old = {*(file.old or "").split("\n")}
    lines = [line for line in (file.new or "").split("\n") if line not in old]
    if sum(map(len, lines)) > _MOST_READ or any(map(_CODING.match, lines)):
        return None
    return [line for line in lines if not line.lstrip().startswith(_COMMENT[language])]


def _sets(text: str, lines: Sequence[str]) -> str:
    """The line that changes a part of what the file has imported."""
    names = {match[1] or match[2]: line for line in lines if (match := _SETS.search(line))}
    imported: Collection[str] = {*_NAME.findall(" ".join(_IMPORTS.findall(text)))} if names else ()
    return next((line for name, line in names.items() if name in imported), "")
