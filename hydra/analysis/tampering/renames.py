"""Functions, classes and constants that a patch renames everywhere: the base's tests ask the same
by a new name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from hydra.analysis.patch import FileChange
from hydra.analysis.syntax import language_of, read_syntax
from hydra.analysis.tampering.inline_tests import without_tests
from hydra.analysis.tampering.regions import Suite
from hydra.analysis.tampering.test_changes import changes_to_tests
from hydra.analysis.tampering.test_files import supports_tests

_DEFINED = re.compile(
    r"\b(?:def|class|fn|fun|func|function|struct|enum|trait|interface|record|object|type|const|let"
    r"|var|val|static)[ \t]+(?:\([^)\n]*\)[ \t]*)?(?P<name>\w+)(?P<rest>[^\n(]*(?:\([^)\n]*\))?)"
    r"|^[ \t]*(?:(?:public|private|protected|static|final|abstract|synchronized|default)[ \t]+)+"
    r"[\w<>\[\],.? \t]*[ \t](?P<method>\w+)(?P<parameters>\([^)\n]*\))"
    r"|^(?P<constant>[A-Z_]+[A-Z\d_]*)(?P<value>[ \t]*[:=][^\n]*)",
    re.M,
)
_NAME = re.compile(r"\w+")


def new_names(files: Sequence[FileChange]) -> dict[str, str]:
    """By the base's names the patch's. A name counts that stands in none of the patch's files any
    longer, where one that is new is defined in its file in the same way: with the same parameters,
    or as the same value."""
    read = [file for file in files if language_of(file.path)]
    code = [
        (file.path, *(without_tests(file.path, text) for text in (file.old, file.new)))
        for file in read
        if file.old and file.new and not supports_tests(file)
    ]
    if not any(next(_renamed(old, new), None) for _, old, new in code):
        return {}
    names: dict[str, str] = {}
    for before, after in zip(
        read_syntax([(path, old) for path, old, _ in code]),
        read_syntax([(path, new) for path, _, new in code]),
        strict=True,
    ):
        if before and after:
            names |= _renamed(before.bare, after.bare)
    texts = [(file.path, file.new or "") for file in read] if names else []
    rows = zip(read_syntax(texts), texts, strict=True)
    bare = (now.bare if now else text for now, (_, text) in rows)
    standing = {name for text in bare for name in _NAME.findall(text)}
    return {name: now for name, now in names.items() if name not in standing}


def _renamed(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Of two texts of a file of code, what is defined in the first alone and what is in the other,
    in pairs by what follows the names."""
    before, after = dict(_definitions(old)), dict(_definitions(new))
    gone, came = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for name, rest in before.items():
        if name not in after:
            gone[rest].append(name)
    for name, rest in after.items():
        if name not in before:
            came[rest].append(name)
    for rest, names in gone.items():
        if len(names) == len(came[rest]):
            yield from zip(names, came[rest], strict=True)


def _definitions(text: str) -> Iterator[tuple[str, str]]:
    for match in _DEFINED.finditer(text):
        name, rest = (part for part in match.groups() if part is not None)
        yield name, rest.strip()


def with_new_names(path: str, text: str, names: Mapping[str, str]) -> str:
    """A text of tests with these names in place of others, but for what its strings say; as it is
    where it has one of the new ones already, or would ask for less by them."""
    (syntax,) = read_syntax([(path, text)])
    if syntax is None or syntax.is_broken:
        return text
    present = {*_NAME.findall(syntax.bare)}
    fitting = {name: new for name, new in names.items() if name in present}
    if not fitting or not present.isdisjoint(fitting.values()):
        return text
    at, parts = 0, list[str]()
    for match in _NAME.finditer(syntax.bare):
        if match[0] in fitting:
            parts += [text[at : match.start()], fitting[match[0]]]
            at = match.end()
    renamed = "".join((*parts, text[at:]))
    change = FileChange(path=path, old_mode="1", new_mode="1", old=text, new=renamed, holds="tests")
    for finding in changes_to_tests(Suite([change])):
        if finding.weight != "remark" and finding.kind != "expectation_changed":
            return text
    return renamed
