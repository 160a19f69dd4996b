"""What a patch did to code that is no test: shortcuts, swallowed errors, warnings turned off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.diff_trim import trimmed
from hydra.analysis.tampering.hardcoded import ExpectedValues
from hydra.analysis.tampering.languages.braces import Family, source
from hydra.analysis.tampering.model import too_much
from hydra.analysis.tampering.shortcuts import shortcuts
from hydra.analysis.tampering.swallowed_errors import swallowing
from hydra.analysis.tampering.test_files import exists, supports_tests

MOST_CHARACTERS = 12 * 1024 * 1024
"""Of all files of one patch together; those that come later are not read."""

_FAMILIES: dict[str, Family] = {
    "py": "python",
    "pyi": "python",
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue"), "javascript"),
    "go": "go",
    "rs": "rust",
    **dict.fromkeys(("java", "kt", "cs", "php", "scala", "swift", "c", "cc", "cpp", "h"), "jvm"),
    "rb": "ruby",
    **dict.fromkeys(("sh", "bash", "zsh", "mk", "yml", "yaml"), "shell"),
}
_SHELL_NAMES = frozenset(("makefile", "justfile", "gnumakefile", "dockerfile"))


def production(files: Sequence[FileChange], expected: ExpectedValues) -> Iterator[Finding]:
    """All remarks on code. Warnings that are turned off in tests count too."""
    spent = 0
    for file in files:
        family = _family(file.path)
        if family is None or not exists(file) or file.new is None or file.new == file.old:
            continue
        spent += len(file.new) + len(file.old or "")
        if spent > MOST_CHARACTERS or too_much(file.new) or too_much(file.old or ""):
            continue
        if not _worth(file.old or "", file.new):
            continue
        before, after = file.old or "", file.new
        if family == "python":
            before, after = trimmed(before, after)
        new, old = source(after, family), source(before, family)
        if not supports_tests(file):
            yield from shortcuts(file, new.code, old.code, expected)
        yield from swallowing(file, new, old)


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


def _family(path: str) -> Family | None:
    name = path.rpartition("/")[2].lower()
    return "shell" if name in _SHELL_NAMES else _FAMILIES.get(name.rpartition(".")[2])
