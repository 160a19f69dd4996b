"""Which files of a patch are tests, and which stand beside tests: helpers, fixtures, snapshots."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from hydra.analysis.notices.places import TEST_FOLDERS, TEST_NAME, is_delivered, is_suite, is_test
from hydra.analysis.patch import FileChange, Holds
from hydra.analysis.tampering.wording import listed_words

_ALWAYS = TEST_FOLDERS | {"__snapshots__", "testdata", "e2e"}
_DATA = frozenset(
    ("fixtures", "golden", "goldens", "expected", "snapshots", "cassettes", "test_data")
)
"""Folders whose files of data are what tests compare with, wherever they lie."""

_OF_DATA = re.compile(
    r".*\.(?:json5?|ya?ml|toml|txt|csv|tsv|xml|html|golden|out|expected|approved|sql|md)", re.I
)
_NAMED = re.compile(rf"{TEST_NAME.pattern}|test\.py|.*\.snap(shot)?", re.I)

CONFIGURATION = re.compile(
    r"conftest\.py|pytest\.(ini|toml)|\.pytest\.(ini|toml)|tox\.ini|noxfile\.py"
    r"|sitecustomize\.py|usercustomize\.py|[^/]*\.pth|entry_points\.txt"
    r"|babel\.config\.\w+|\.babelrc(\.\w+)?|\.swcrc|node\.config\.json|bunfig\.toml"
    r"|jest\.config\.\w+|jest\.setup\.\w+|jest\.preset\.\w+|setup-?tests?\.[cm]?[jt]sx?"
    r"|vitest\.(config|workspace|setup)\.\w+|\.mocharc(\.\w+)?|mocha\.opts|karma\.conf\.\w+"
    r"|playwright\.config\.\w+|cypress\.config\.\w+|\.nycrc(\.json)?|ava\.config\.\w+"
    r"|\.rspec|nextest\.toml|phpunit\.xml(\.dist)?|\.coveragerc|testng\.xml"
    r"|junit-platform\.properties",
    re.I,
)
"""Files that are there for the tests alone and say how they run."""


_CODE = frozenset(
    listed_words(
        "py js jsx mjs cjs ts tsx mts cts go rs java kt kts rb c cc cpp cs php scala swift exs ex"
        " groovy hs sh bash bats lua pl t r jl dart"
    )
)


def is_code(path: str) -> bool:
    """Whether a path is code of a language that tests are read in."""
    return name_of(path).rpartition(".")[2].lower() in _CODE


def name_of(path: str) -> str:
    """A path's last part."""
    return path.rpartition("/")[2]


def is_configuration(path: str) -> bool:
    """Whether a file says how tests run, and nothing else."""
    return bool(CONFIGURATION.fullmatch(name_of(path))) or path.endswith(".config/nextest.toml")


def is_tests(path: str) -> bool:
    """Whether a path is code of tests, by its name or its folder; not what configures them."""
    if is_configuration(path) or not is_test(path.encode("utf-8", "surrogateescape")):
        return False
    return is_named(path) or _beside(path)


def is_support(path: str) -> bool:
    """Whether a path is a test, or something that lies beside tests for them to use."""
    if is_configuration(path) or is_delivered(path):
        return False
    return is_named(path) or _beside(path)


def is_named(path: str) -> bool:
    """Whether its name is that of a test, wherever it lies."""
    return bool(_NAMED.fullmatch(name_of(path))) or is_suite(path)


def _beside(path: str) -> bool:
    """Whether a folder above is one of tests. `test` and `testing` inside a package are often
    code that is delivered (django/test/client.py): they count at the top or under src alone."""
    *folders, _ = path.lower().split("/")
    if any(folder in _ALWAYS for folder in folders):
        return True
    if _OF_DATA.fullmatch(path) and not _DATA.isdisjoint(folders):
        return True
    code = path.endswith(".py")
    at = [place for place, folder in enumerate(folders) if folder == "test"]
    return any(not code or place == 0 or folders[place - 1] == "src" for place in at)


def holds_tests(file: FileChange) -> bool:
    """Whether a file of a patch is code of tests, by its path or since a run names it so."""
    return file.holds == "tests" or is_tests(file.path)


def supports_tests(file: FileChange) -> bool:
    """Whether it is a test, or lies beside tests for them to use."""
    return file.holds in ("tests", "data") or is_support(file.path)


def existed(file: FileChange) -> bool:
    """Whether the file was there before the patch."""
    return bool(file.old_mode) or file.old is not None


def exists(file: FileChange) -> bool:
    """Whether the file is there after the patch."""
    return bool(file.new_mode) or file.new is not None


_SAME = 0.5
_MOST_COMPARED = 2_500


def moves(files: Sequence[FileChange]) -> dict[str, FileChange]:
    """By its new path each file that is moved, as it was: one that is gone, from which half of the
    lines at least are that stand there."""
    gone = [file for file in files if file.old and not exists(file)]
    came = [file for file in files if file.new and not existed(file)]
    texts = {_text(file): file for file in gone}
    moved = {file.path: was for file in came if (was := texts.pop(_text(file), None))}
    rest = [file for file in came if file.path not in moved]
    if len(texts) * len(rest) <= _MOST_COMPARED:
        lines = {_text(file): _lines(_text(file)) for file in (*gone, *rest)}
        both = [(_share(lines[was], lines[_text(new)]), was, new) for new in rest for was in texts]
        for share, text, new in sorted(both, key=lambda row: -row[0]):
            if share >= _SAME and text in texts and new.path not in moved:
                moved[new.path] = texts.pop(text)
    return moved


def with_moves(files: Sequence[FileChange]) -> list[FileChange]:
    """The same, with each file that is moved as a change of it at its new place."""
    moved = moves(files)
    gone = {file.path for file in moved.values()}
    return [
        _moved(moved[file.path], file) if file.path in moved else file
        for file in files
        if file.path not in gone
    ]


def _moved(was: FileChange, now: FileChange) -> FileChange:
    unclear = "unclear" in (was.holds, now.holds)
    holds: Holds = "unclear" if unclear else now.holds
    return replace(now, old_mode=was.old_mode, old_oid=was.old_oid, old=was.old, holds=holds)


def _text(file: FileChange) -> str:
    return file.old or file.new or ""


def _lines(text: str) -> Counter[str]:
    return Counter(line for line in text.split("\n") if line.strip())


def _share(lines: Counter[str], others: Counter[str]) -> float:
    return (lines & others).total() / max(lines.total(), others.total(), 1)
