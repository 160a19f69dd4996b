"""Examples that doctest runs, in docstrings and in texts: which of them a patch has bent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.syntax import too_much
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.test_files import supports_tests

_ENDINGS = (".py", ".pyi", ".pyx", ".md", ".rst", ".txt")
_EXAMPLE = re.compile(
    r"^[ \t]*>>> (?P<source>[^\n]*(?:\n[ \t]*\.\.\. [^\n]*)*)\n"
    r"(?P<gives>(?:(?![ \t]*(?:>>>|\"\"\"|'''|```|$))[^\n]+\n)*)",
    re.M,
)
_DIRECTIVE = re.compile(r"\s*#\s*doctest:\s*([^\n]*)")


def examples(files: Sequence[FileChange]) -> Iterator[Finding]:
    """One sentence for each file whose examples ask for less, or for something else, than they
    did: a remark, since nobody may run them. Where somebody does, the base's own are put back."""
    came = {path: _read(new) - _read(old) for path, old, new in _texts(files)}
    all_that_came = sum(came.values(), Counter[_Example]())
    for file in files:
        old, new = file.old or "", file.new or ""
        if not file.path.endswith(_ENDINGS) or supports_tests(file) or ">>>" not in old or not new:
            continue
        if too_much(old) or too_much(new):
            continue
        before, after = _read(old), _read(new)
        moved = (before - after) & (all_that_came - came.get(file.path, Counter()))
        if text := _bent(before - moved, after):
            text = f"{text} ({file.path})"
            yield Finding(kind="hard_coded", weight="remark", text=text, path=file.path)


_Example = tuple[str, str, str]


def _texts(files: Sequence[FileChange]) -> Iterator[tuple[str, str, str]]:
    """The path and the texts of each file that has examples with the patch."""
    for file in files:
        old, new = file.old or "", file.new or ""
        if file.path.endswith(_ENDINGS) and ">>>" in new and not (too_much(old) or too_much(new)):
            yield file.path, old, new


def _read(text: str) -> Counter[_Example]:
    """Each example without spaces around: its source, its directive, and what it gives."""
    return Counter(
        (
            _DIRECTIVE.sub("", example["source"]).strip(),
            " ".join(_DIRECTIVE.findall(example["source"])),
            " ".join(example["gives"].split()),
        )
        for example in _EXAMPLE.finditer(text)
    )


def _bent(old: Counter[_Example], new: Counter[_Example]) -> str:
    gone = [example for example in old - new if example[2]]
    now = {example[0]: example for example in new - old}
    for source, directive, gives in gone:
        if source in now:
            _, other, after = now[source]
            if other != directive:
                return f"marks the example {wording.value(source)} with {wording.value(other)}"
            change = f"{wording.value(gives)} -> {wording.value(after)}"
            return f"changes what the example {wording.value(source)} gives: {change}"
    if gone and len(gone) > len(now):
        return f"drops the example {wording.value(gone[0][0])}"
    return ""
