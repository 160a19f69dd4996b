"""Files of data, and modules of values, that the base's tests or scripts name, and that a patch has
changed.

Nothing but the names is read. What tests name and no other file does is theirs, and is put back
with them; of all else it is not known whether code has a use of its own for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from hydra.analysis.notices.places import kind_of
from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.syntax import read_syntax
from hydra.analysis.tampering.bending import ENDINGS
from hydra.analysis.tampering.commands import is_script, sources
from hydra.analysis.tampering.inline_tests import without_tests
from hydra.analysis.tampering.manifests import is_manifest, with_test_parts
from hydra.analysis.tampering.test_files import (
    existed,
    is_code,
    is_configuration,
    is_support,
    is_tests,
    name_of,
    supports_tests,
)
from hydra.text import plural

_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")

_IMPORTED = re.compile(r"^[ \t]*(?:from|import)[ \t]([^\n#;]+)", re.M)
_WORKS = re.compile(r"\w\(|=>|\bdef\b|\bclass\b|\bfunction\b")


def naming(
    files: Sequence[FileChange], untouched: Mapping[str, str], base: Collection[str]
) -> Iterator[Finding]:
    """One sentence for each file of which lines are gone that tests or scripts may go by."""
    changed = [file for file in files if _changed(file) and _is_data(file, base)]
    fewer = [file for file in files if supports_tests(file) and _lost_rows(file, files)]
    if not (changed or fewer):
        return
    before = {file.path: file.old for file in files if file.old is not None}
    texts = {**before, **untouched}
    as_it_was = {*untouched, *(file.path for file in files if file.old == file.new)}
    for file in fewer:
        line = _naming_line(file.path, "")
        texts_of = ((path, text) for path, text in texts.items() if path in as_it_was and line)
        path = next((path for path, text in texts_of if re.search(line, text, re.M)), "")
        if path:
            rows = plural(_lost_rows(file, files), "row")
            text = f"drops {rows} of {file.path}, which {path} names"
            yield Finding(kind="assertion_removed", weight="gate", text=text, path=file.path)
    named = {path: _names(text) for path, text in texts.items() if _asks(path)}
    read = {path: sources(text) for path, text in texts.items() if is_script(path)}
    for file in changed:
        if clause := _clause(file, named, read, base):
            text = f"changes {file.path}, {clause}"
            yield Finding(kind="hard_coded", weight="remark", text=text, path=file.path)


_Names = Mapping[str, frozenset[str]]


_OF_ROWS = {".csv": "", ".tsv": "", ".jsonl": "", ".json": "[", ".yaml": "-", ".yml": "-"}
"""Endings of data of which each line may be a case, and what such a text begins with."""


def _lost_rows(file: FileChange, files: Sequence[FileChange]) -> list[str]:
    """The lines of a list that are gone, where none has come and no other file has them."""
    begins = next((begin for end, begin in _OF_ROWS.items() if file.path.endswith(end)), None)
    old, new = file.old or "", file.new
    if begins is None or new is None or not old.lstrip().startswith(begins):
        return []
    lost, came = (_rows(old) - _rows(new)), (_rows(new) - _rows(old))
    moved = sum((_rows(each.new or "") for each in files if each is not file), Counter[str]())
    return [] if came else [*(lost - moved).elements()]


def _rows(text: str) -> Counter[str]:
    lines = (line.strip().rstrip(",") for line in text.splitlines())
    return Counter(line for line in lines if re.search(r"\w", line))


def _asks(path: str) -> bool:
    """Whether a file is one of tests, or has their fixtures."""
    return is_tests(path) or name_of(path) == "conftest.py"


def _clause(file: FileChange, named: _Names, read: _Names, base: Collection[str]) -> str:
    """Who names it, or the folder that it lies in where that has no code."""
    *folders, name = file.path.split("/")
    folder = folders[-1] if folders and not _code_beside(file, base) else ""
    stem = name.partition(".")[0] if name.endswith(ENDINGS["javascript"]) else ""
    for verb, part, texts in (
        ("which {} names", name, named),
        ("which {} names", stem, named),
        ("which {} reads", name, read),
        ("in a folder that {} names", folder, named),
    ):
        if path := next((path for path, names in texts.items() if part and part in names), ""):
            return verb.format(path)
    return ""


def _changed(file: FileChange) -> bool:
    """Whether it was there, steers nothing, and has lost a line: more lines change no answer."""
    if file.old is None or file.new is None or _steers(file.path):
        return False
    if supports_tests(file) and file.holds != "data":
        return False
    return not {*file.old.splitlines()} <= {*file.new.splitlines()}


def _steers(path: str) -> bool:
    place = kind_of(path.encode("utf-8", "surrogateescape"))
    return is_configuration(path) or is_manifest(path) or place in ("lock_file", "ci")


def _is_data(file: FileChange, base: Collection[str]) -> bool:
    """Whether it is no code, or values alone in a folder that has no other code."""
    if not is_code(file.path):
        return True
    alone = "/" in file.path and not _code_beside(file, base)
    return alone and not _WORKS.search(f"{file.old}\n{file.new}")


def _code_beside(file: FileChange, base: Collection[str]) -> bool:
    folder = file.path.rpartition("/")[0]
    beside = (path for path in base if path.rpartition("/")[0] == folder and path != file.path)
    return any(is_code(path) and not path.endswith("/__init__.py") for path in beside)


def _names(text: str) -> frozenset[str]:
    """Every part of a path that stands in quotes, and every module that is imported."""
    quoted = (part for path in _QUOTED.findall(text) for part in path.split("/"))
    documents = (
        document for line in _IMPORTED.findall(text) for document in re.findall(r"\w+", line)
    )
    return frozenset((*quoted, *(f"{document}.py" for document in documents)))


# ---- What tests alone name.

_MORE_DATA = (".yaml", ".yml", ".toml", ".ini")
_MORE_CODE = (".h", ".hh", ".hpp", ".pm", ".inc")
_FUNCTION = re.compile(r"=>|\b(?:def|fn|fun|func|function|lambda|sub|interface|abstract)\b")
_PUTS_TOGETHER = re.compile(
    r"\b(?:set|tuple|dict|list|frozenset|Decimal|Fraction|date|datetime|freeze|of|asList)\("
)
_CALL = re.compile(r"\w[ \t]*\(|\$\(")
_FRAMEWORK = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:unittest|pytest)\b|[\"'](?:node:test|vitest|mocha|ava|tape|uvu"
    r"|chai|@jest/globals)[\"']|^use Test::",
    re.M,
)
_DECLARED = re.compile(r"^(?:(?:var|const)[ \t]+|[ \t]+)(\w+)(?:[ \t]+[\w.\[\]]+)?[ \t]*=", re.M)
_IMPORTS = "^[ \t]*((export|pub|#[^ ]*) *)*(from|import|use|mod|require[a-z_]*|include|load)"
_LETTERS = "A-Za-z0-9_"


def only_manifests(files: Iterable[FileChange]) -> bool:
    """Whether a patch changes nothing but these, documents aside."""
    return all(is_manifest(file.path) or is_document(file.path) for file in files)


def may_be_of_tests(files: Iterable[FileChange], manifests: Collection[str] = ()) -> dict[str, str]:
    """Of the files that patches change, those of data and of values alone, each with the
    pattern of a line that names it; with these `manifests`, that a patch changes alone."""
    others = {
        file.path: file
        for file in files
        if existed(file)
        and not supports_tests(file)
        and (file.path in manifests or not _steers(file.path))
    }
    code = {path: file.old or "" for path, file in others.items() if _is_program(path)}
    values = _of_values({path: text for path, text in code.items() if not _FUNCTION.search(text)})
    return {
        path: line
        for path, file in others.items()
        if path in values
        or path in manifests
        or (path not in code and (is_data(file) or path.endswith(_MORE_DATA)))
        if (line := _naming_line(path, file.old or ""))
    }


def _is_program(path: str) -> bool:
    return is_code(path) or path.endswith(_MORE_CODE)


def _of_values(texts: Mapping[str, str]) -> set[str]:
    """The modules of these in which nothing is called, but for what puts values together."""
    values = zip(texts.items(), read_syntax([*texts.items()]), strict=True)
    rows = ((path, text if syntax is None else syntax.bare) for (path, text), syntax in values)
    return {path for path, text in rows if not _CALL.search(_PUTS_TOGETHER.sub("(", text))}


def _naming_line(path: str, text: str) -> str:
    """The pattern, both git's and Python's, of a line that names a file of this text."""
    *folders, name = path.split("/")
    stem, _, ending = name.partition(".")
    if not re.fullmatch(r"\w[\w.-]*", name, re.ASCII):
        return ""
    whole = "[.]".join(name.split("."))
    whole = f"(^|[^{_LETTERS}.-]){whole}" if ending else f"[/\"'`]{whole}"
    whole = f"{whole}($|[^{_LETTERS}-])"
    if not _is_program(path):
        folder = folders[-1] if folders and re.fullmatch(r"[\w-]+", folders[-1], re.ASCII) else ""
        among = f"|(^|[^{_LETTERS}-]){folder}(/?[\"'`]|/[^\"'`]*[*{{$])"
        return f"{whole}{among if folder else ''}"
    if ending in ("go", "java", "kt", "kts", "cs"):  # of one package: they are not imported
        names = dict.fromkeys(_DECLARED.findall(text)) if ending == "go" else [stem]
        return f"(^|[^{_LETTERS}])({'|'.join(names)})($|[^{_LETTERS}])" if names else ""
    listed = f"^[ \t]+{stem}( as [{_LETTERS}]+)?,?$"
    return f"{whole}|[\"'`][^\"'`]*[./]{stem}([.][a-z]+)?[\"'`]|{listed}|{importing_line(path)}"


def importing_line(path: str) -> str:
    """The same of a line that imports a module."""
    stem = name_of(path).partition(".")[0]
    return (
        f"{_IMPORTS}([ \t(\"'].*)?[^{_LETTERS}]{stem}($|[^{_LETTERS}])"
        f"|(from|require|import)[ (]*[\"'][^\"']*/{stem}([.][a-z]+)?[\"']"
    )


def who_names(
    lines: Mapping[str, str], texts: Mapping[str, str], collected: Collection[str]
) -> tuple[set[str], set[str]]:
    """Which of these paths, with the patterns of what names them, tests name and nothing else does,
    and which others. `texts` are all files of the base that may; `collected` those that a run of
    tests names."""
    named: set[str] = set()
    others: set[str] = set()
    for path, text in texts.items():
        rest = "" if _is_of_tests(path, text, collected) else _rest(path, text)
        for name, line in lines.items():
            if name != path and re.search(line, text, re.M):
                (others if re.search(line, rest, re.M) else named).add(name)
    return named - others, others


def _is_of_tests(path: str, text: str, collected: Collection[str]) -> bool:
    is_named = path in collected or is_support(path) or is_configuration(path)
    return is_named or _FRAMEWORK.search(text) is not None


def _rest(path: str, text: str) -> str:
    """What of a file is not for tests."""
    if is_manifest(path):
        return with_test_parts(path, text, None) or ""
    return without_tests(path, text)


# ---- What is data by its name.

_DOCUMENT = re.compile(
    r"\.(?:md|rst|txt|adoc)$|(?:^|/)(?:README|LICENSE|CHANGELOG|CHANGES|AUTHORS)$"
)


def is_document(path: str) -> bool:
    """Whether a file is there to be read, by its name."""
    return _DOCUMENT.search(path) is not None


_DATA = re.compile(
    r"(?:.*/)?[^/]+\.(?:csv|tsv|jsonl?|xml|txt|golden|snap|out|expected|dat|env)|.*/[a-z0-9_-]+",
    re.I,
)
"""What has no ending lies in a folder: at the top it is a licence, a version, a task."""


def data_alone(files: Iterable[FileChange]) -> bool:
    """Whether a patch of these files changes data that was there, and beside it documents alone."""
    rest = [file for file in files if file.holds == "data" or not is_document(file.path)]
    return bool(rest) and all(file.holds == "data" or is_data(file) for file in rest)


def is_data(file: FileChange) -> bool:
    """Whether a file that was there is one of data, by its name."""
    steers = is_script(file.path) or is_configuration(file.path) or is_manifest(file.path)
    return file.old is not None and bool(_DATA.fullmatch(file.path)) and not steers
