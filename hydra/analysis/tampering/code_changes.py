"""What a patch did to code that is no test: shortcuts, swallowed errors, warnings turned off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import Syntax, read_syntax
from hydra.analysis.tampering.hardcoded import Code, ExpectedValues
from hydra.analysis.tampering.model import too_much
from hydra.analysis.tampering.shortcuts import shortcuts
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
