"""Results as JUnit XML: what every CI service reads.

One `testsuite` for each agent and suite, one `testcase` for each case. The elements and their
attributes are those on which the readers agree (Jenkins' xUnit schema, pytest's `xunit2`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from hydra.report.text import clean

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class JUnitCase(Struct, frozen=True, kw_only=True):
    """One test. `failure` and `skipped` are its sentences, empty where it was neither."""

    name: str
    group: str
    seconds: float = 0.0
    failure: tuple[str, ...] = ()
    skipped: str = ""
    output: str = ""

    @property
    def failed(self) -> bool:
        """Whether it has a `failure`."""
        return bool(self.failure)


class JUnitSuite(Struct, frozen=True, kw_only=True):
    """One `testsuite`; `started` is in seconds since 1970, UTC."""

    name: str
    cases: Sequence[JUnitCase]
    started: float
    properties: Mapping[str, str]


def junit_xml(name: str, suites: Sequence[JUnitSuite]) -> bytes:
    """The file's bytes, UTF-8 with a declaration.

    What XML cannot hold, and what a terminal would act on, is shown by name (`text.clean`).
    """
    from xml.etree import ElementTree

    every = [case for suite in suites for case in suite.cases]
    root = ElementTree.Element("testsuites", {"name": clean(name), **_sums(every)})
    for suite in suites:
        root.append(_suite(suite))
    ElementTree.indent(root, " ")
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _suite(suite: JUnitSuite) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    when = datetime.fromtimestamp(suite.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    skipped = str(sum(bool(case.skipped) for case in suite.cases))
    values = {
        "name": clean(suite.name),
        **_sums(suite.cases),
        "skipped": skipped,
        "timestamp": when,
    }
    element = Element("testsuite", values)
    properties = SubElement(element, "properties")
    for key, value in suite.properties.items():
        SubElement(properties, "property", {"name": clean(key), "value": clean(value)})
    for case in suite.cases:
        element.append(_case(case))
    return element


def _case(case: JUnitCase) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    values = {"classname": clean(case.group), "name": clean(case.name), "time": _time(case.seconds)}
    element = Element("testcase", values)
    if case.failed:
        failure = SubElement(element, "failure", {"message": clean(case.failure[0])})
        failure.text = "\n".join(clean(name, multiline=True) for name in case.failure)
    elif case.skipped:
        SubElement(element, "skipped", {"message": clean(case.skipped)})
    if case.output:
        SubElement(element, "system-out").text = clean(case.output, multiline=True)
    return element


def _sums(cases: Sequence[JUnitCase]) -> dict[str, str]:
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.failed for case in cases)),
        "errors": "0",
        "time": _time(sum(case.seconds for case in cases)),
    }


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
