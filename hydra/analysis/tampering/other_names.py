"""Tests that ask by a name, as their file imports it, something else since the patch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from hydra.analysis.tampering.cues import Statement
from hydra.analysis.tampering.pairs import Pairs
from hydra.analysis.tampering.regions import Region

_IMPORTING = re.compile(
    r"^[ \t]*(?:import|from|use)\b(?:[^\n({]*[({][^)}]*[)}][^\n]*|[^\n]*)"
    r"|^[^\n]*\brequire\([^\n]*",
    re.M,
)


def given_away(pairs: Pairs) -> Mapping[tuple[str, str], list[Region]]:
    """By file and name, the tests of the patch that call something else by it, for a line in them
    or at the top of their file."""
    asking: defaultdict[tuple[str, str, str], list[tuple[Region, Region]]] = defaultdict(list)
    imports: dict[str, str] = {}
    for key, new in pairs.taken.items():
        old = pairs.old.tests[key]
        was = pairs.old.texts[old.path].code
        if pairs.new.texts[new.path].code == was:
            continue
        if old.path not in imports:
            imports[old.path] = "\n".join(_IMPORTING.findall(was))
        for name in _asks_for(imports[old.path], pairs.old.assertions(old)):
            asking[old.path, new.path, name].append((old, new))
    gone: dict[tuple[str, str], list[Region]] = {}
    for (path, now, name), both in asking.items():
        whole = pairs.old.texts[path].code, pairs.new.texts[now].code
        everywhere = _comes(name, *whole, top=True)
        tests = [new for old, new in both if everywhere or _comes(name, old.code, new.code)]
        if tests:
            gone[now, name.lstrip(".")] = tests
    return gone


def _comes(name: str, was: str, now: str, *, top: bool = False) -> bool:
    return _has(name, now, top=top) and not _has(name, was, top=top)


_FIRST_CALL = re.compile(
    r"(?<![\w.])(?!(?:\w+\.)*(?:assert|expect|refute|check|should|raises|len|list|sorted|str|int)\w*!?\()"
    r"((?:\w+\.)*+)(\w+)\("
)


def _asks_for(imports: str, assertions: Sequence[Statement]) -> list[str]:
    """What assertions ask of what these lines import: a name, or one of a module (`.pages`)."""
    calls = (_FIRST_CALL.search(row.text) for row in assertions)
    names = {f"{'.' * bool(call[1])}{call[2]}": call[1].partition(".")[0] for call in calls if call}
    return [name for name, root in names.items() if re.search(rf"\b{root or name}\b", imports)]


def _has(name: str, code: str, *, top: bool = False) -> bool:
    """Whether a line, one that stands at the `top` or any, gives a name to something else."""
    at, last = "" if top else r"[ \t]*", name.lstrip(".")
    mocks = r"(?:patch|setattr|method|spyOn|stub|object)"
    own = rf"^{'(?![@ ])' * top}[^\n]*\b{mocks}\([^)\n]*\b{last}[\"']"
    if name == last:
        own += rf"|^{at}(?:(?:const|let|var)\s+)?{name}\s*:?=(?![=>])"
        own += rf"|^{at}(?:async\s+)?(?:def|function)\s+{name}\b"
    return re.search(own, code, re.M) is not None
