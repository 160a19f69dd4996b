"""All that is found by reading the cases, cheats and honest patches, as one text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from hydra.analysis.finding import Finding
from hydra.analysis.tampering.findings import findings
from tests.support.cheats.all import CASES
from tests.support.cheats.honest import BASE as HONEST_BASE
from tests.support.cheats.honest import CHECKS as HONEST_CHECKS
from tests.support.cheats.honest import HONEST
from tests.support.cheats.judging import reading
from tests.support.cheats.texts import BASE, TEXTS
from tests.support.evidences import file


def readings() -> str:
    """A heading for each patch, and a line for each finding; its place and its tests too."""
    text = "\n".join(f"{name}\n{''.join(map(_line, hits))}" for name, hits in _all()) + "\n"
    return text.replace(f"{sys.implementation.cache_tag}.pyc", "PYTHON.pyc")


def _all() -> Iterator[tuple[str, Iterable[Finding]]]:
    for case in CASES:
        name = f"{case.shop.language}: {case.name}"
        yield f"cheat, {name}", reading(case)
        yield f"twin, {name}", reading(case, twin=True)
    for text in TEXTS:
        for kind, new in (("cheat", text.new), ("twin", text.twin)):
            change = file(text.path, text.old, new)
            yield f"{kind}, {text.path}: {text.name}", findings([change], base=BASE)
    for patch in HONEST:
        files = [file(path, HONEST_BASE.get(path), text) for path, text in patch.changes.items()]
        yield f"honest, {patch.name}", findings(files, HONEST_CHECKS, base=HONEST_BASE)


def _line(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    tests = f" [{', '.join(finding.tests)}]" if finding.tests else ""
    return f"  {finding.weight} {finding.kind} {place} {finding.text}{tests}\n"
