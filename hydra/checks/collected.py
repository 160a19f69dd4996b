"""The files that runs of tests name: tests are in them, whatever these are called."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from hydra.analysis.patch import FileChange, Holds
from hydra.analysis.tampering.inline_tests import holds_of, read_together
from hydra.analysis.tampering.manifests import is_manifest
from hydra.analysis.tampering.named_data import (
    importing_line,
    may_be_of_tests,
    only_manifests,
    who_names,
)
from hydra.checks.record import CheckResult
from hydra.git.contents import matching
from hydra.git.file_changes import file_changes

_PLACE = re.compile(r":\d+(?::\d+)?$")
_DOTTED = re.compile(r"[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*")
_OF_CLASSES = (".java", ".kt", ".groovy", ".scala", ".cs")
"""Endings of files that are called like the class in them."""

_Index = Mapping[str, Sequence[str]]


def collected(results: Iterable[CheckResult], paths: Collection[str]) -> frozenset[str]:
    """Those of `paths` that the names of these results' tests begin with, or lead to: as a path
    (`qa/check_up.py::test_up`), as a module or as a class (`com.shop.UpIT::up`). A file is not
    among them that is named for the examples in its docstrings alone."""
    ids = {
        id
        for result in results
        if result.check.kind == "test" and result.tests is not None
        for id in result.tests.by_id
    }
    heads: set[tuple[str, bool]] = set()
    for id in ids:
        head, _, rest = id.partition("::")
        head = _PLACE.sub("", head.removeprefix("./"))
        heads.add((head, _is_example(head, rest)))
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        name = path.rpartition("/")[2]
        by_name[name].append(path)
        by_stem[name.partition(".")[0]].append(path)
    return frozenset(
        path
        for head, is_example in heads
        for path in _of_head(_document(head) if is_example else head, by_name)
        or _of_dotted(head, by_stem)
    )


def patch_files(
    git_dir: Path,
    base: str,
    patches: Mapping[str, str],
    on_base: Collection[str],
    results: Mapping[str, Sequence[CheckResult]],
) -> dict[str, tuple[FileChange, ...]]:
    """By lane what its commit changes against the base, each file with what of tests it holds, by
    who names it: a run, where it was there `on_base`, else the lane's own results, or code. Raises
    `GitFailed`."""
    rows = file_changes(git_dir, base, [*patches.values()])
    every = [file for files in rows for file in files]
    read_together(every)
    alone = [only_manifests(files) for files in rows]
    manifests = {
        file.path
        for files, is_alone in zip(rows, alone, strict=True)
        for file in files
        if is_alone and is_manifest(file.path)
    }
    lines = may_be_of_tests((file for file in every if file.path not in on_base), manifests)
    lines |= {
        file.path: importing_line(file.path)
        for file in every
        if file.path in on_base and holds_of(file) != holds_of(file, in_use=True)
    }
    texts = matching(git_dir, base, lines.values()) if lines else None
    data, in_use = who_names(lines, texts or {}, on_base)
    return {
        lane: marked(
            files,
            on_base,
            results.get(lane, ()),
            data=data if is_alone else data - manifests,
            in_use=in_use,
        )
        for lane, files, is_alone in zip(patches, rows, alone, strict=True)
    }


def marked(
    files: Sequence[FileChange],
    on_base: Collection[str],
    own: Sequence[CheckResult],
    *,
    data: Collection[str] = (),
    in_use: Collection[str] = (),
) -> tuple[FileChange, ...]:
    """A patch's files, each with what of tests it holds, by the patch's `own` results too."""
    new = collected(own, [file.path for file in files if not file.old_mode])

    def holds(file: FileChange) -> Holds:
        if file.path in (on_base if file.old_mode else new):
            return holds_of(file, in_use=file.path in in_use)
        return "data" if file.path in data else ""

    return tuple(replace(file, holds=holds(file)) for file in files)


def _is_example(head: str, rest: str) -> bool:
    """Whether it is one of pytest's of a module (`src/up.py::src.up.pages`) or of a text."""
    stem = head.rpartition("/")[2].removesuffix(".py")
    return head.endswith(".py") and stem in rest.partition("::")[0].split(".")


def _document(head: str) -> str:
    """The text of which pytest's own class `docs.up.md` was taken for a module."""
    return ".".join(head.removesuffix(".py").rsplit("/", 1))


def _of_head(head: str, by_name: _Index) -> list[str]:
    """Files of just that path, else those that end so: the check may have run in a folder."""
    paths = by_name.get(head.rpartition("/")[2], ())
    return [path for path in paths if path == head] or [
        path for path in paths if path.endswith(f"/{head}")
    ]


def _of_dotted(head: str, by_stem: _Index) -> Iterator[str]:
    """Python's modules, as unittest names them, and files of classes."""
    if not _DOTTED.fullmatch(head):
        return
    parts = head.partition("$")[0].split(".")
    for count in range(len(parts), 0, -1):
        place = "/".join(parts[:count])
        paths = [path for path in by_stem.get(parts[count - 1], ()) if path.endswith(".py")]
        modules = [path for path in paths if f"/{path}".endswith(f"/{place}.py")]
        if modules and count <= len(parts) - 2:  # a class and a function follow
            yield from modules
            return
    classes = [path for path in by_stem.get(parts[-1], ()) if path.endswith(_OF_CLASSES)]
    closest = max((_shared(path, parts) for path in classes), default=0)
    yield from (path for path in classes if _shared(path, parts) == closest)


def _shared(path: str, parts: Sequence[str]) -> int:
    """How many of the last parts of its place are the same."""
    folders = path.rpartition(".")[0].split("/")
    same = [folders[-count:] == [*parts[-count:]] for count in range(1, len(folders) + 1)]
    return same.index(False) if False in same else len(same)
