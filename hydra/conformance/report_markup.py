"""What conformance found, in Markdown (the summary of a CI step, an issue's text) and in JUnit XML.

Nothing in it acts: names and sentences hold what a CLI printed (`inert`). Markdown ends where
GitHub's limit for an issue is, with a word on what was left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from hydra.conformance.report import counted, network_sentence, next_steps, party, took
from hydra.conformance.results import Case, CaseVerdict, Compared, Network, Report, VersionChange
from hydra.report.markdown import code, inert, plain, rows_table
from hydra.report.text import clean
from hydra.text import plural

LIMIT = 65_536
"""Characters that GitHub takes in an issue; a step's summary takes more."""

ROWS = 60
"""Sentences of one list: more are counted."""

LONGEST = 1000
"""Characters of one sentence that are kept."""

_ROOM = 400
"""Characters that stay free for the last lines."""


def conformance_markdown(report: Report) -> str:
    """The report; ends with a newline."""
    head = ["agent", "version", "suite", *CaseVerdict, "summed"]
    rows = [_row(report, *group, cases) for group, cases in report.groups().items()]
    skipped = [
        f"{case.agent}: {case.suite}: {case.name}: {case.reason}"
        for case in report.ended(CaseVerdict.SKIPPED)
    ]
    watched = f"Network: {network_sentence(report.network)}" if report.network else ""
    blocks = [
        f"### Hydra conformance: {headline(report)}",
        rows_table(head, rows) if rows else "",
        *(_failure(case) for case in report.ended(CaseVerdict.FAILED)),
        *(_drift(pair, changes) for pair, changes in report.drifts().items()),
        _details(f"{len(skipped)} skipped", skipped),
        _listed([watched] if watched else []),
        _details("Warnings", report.warnings),
    ]
    step = [code(text) for text in next_steps(report)][:1]
    where = f"Hydra {inert(report.hydra, 60)} on {inert(report.platform, 60)}"
    last = "\n\n".join([*step, f"<sub>{where}, {took(report.seconds)}</sub>"])
    fitting = _fitting([block for block in blocks if block], LIMIT - _ROOM - len(last))
    return "\n\n".join([*fitting, last]) + "\n"


def headline(report: Report) -> str:
    """What is the matter, in a few words."""
    failed = len(report.ended(CaseVerdict.FAILED))
    lines = [f"{plural(failed, 'case')} failed"] if failed else []
    lines += [f"{plural(report.minded, 'change')} that Hydra minds"] if report.minded else []
    return ", ".join(lines) or "as expected"


def _row(report: Report, agent: str, suite: str, cases: Sequence[Case]) -> list[str]:
    name = f"{code(agent, 60)}{party(report, agent)}"
    return [name, inert(report.version_of(agent, cases), 60), inert(suite, 60), *counted(cases)]


def _failure(case: Case) -> str:
    head = f"**{inert(case.who)}, {inert(case.suite)}: {code(case.name)} failed**"
    return f"{head}\n\n{_listed(case.differences)}".rstrip()


def _drift(pair: Compared, changes: Sequence[VersionChange]) -> str:
    rest = [change.text for change in changes if not change.minds]
    count = plural(len(changes), "change") if changes else "nothing has changed"
    lines = [
        f"{inert(change.text, LONGEST)} **Hydra minds:** {inert(change.minds)}"
        for change in changes
        if change.minds
    ]
    parts = (
        f"**{inert(pair.agent)} {inert(pair.old)} to {inert(pair.new)}: {count}**",
        _items(lines, " that Hydra minds"),
        _details(f"{len(rest)} that Hydra does not mind", rest),
    )
    return "\n\n".join(filter(None, parts))


def _details(title: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    return f"<details>\n<summary>{plain(title)}</summary>\n\n{_listed(sentences)}\n\n</details>"


def _listed(sentences: Sequence[str]) -> str:
    return _items([inert(sentence, LONGEST) for sentence in sentences])


def _items(lines: Sequence[str], more: str = "") -> str:
    rest = [f"and {len(lines) - ROWS} more{more}"] if len(lines) > ROWS else []
    return "\n".join(f"- {line}" for line in (*lines[:ROWS], *rest))


def _fitting(blocks: Sequence[str], room: int) -> Iterator[str]:
    """As many blocks as there is room for, each whole."""
    remaining = 0
    for block in blocks:
        if len(block) + 2 <= room:
            room -= len(block) + 2
            yield block
        else:
            remaining += 1
    if remaining:
        yield f"{plural(remaining, 'part')} left out for the length: `--json` has all."


def conformance_junit(report: Report) -> bytes:
    """UTF-8 with a declaration: a suite for each agent and suite of cases; one more for each agent
    that has drifted. A change that Hydra minds is a failure; one that it does not mind has passed.

    The elements and their attributes are those on which the readers agree (Jenkins' xUnit schema,
    pytest's `xunit2`). What XML cannot hold, and what a terminal would act on, is shown by name
    (`text.clean`).
    """
    suites = [
        _suite(report, f"{agent} {name}", map(_case, cases), agent, _seconds(cases))
        for (agent, name), cases in report.groups().items()
    ]
    suites += [
        _suite(report, f"{of.agent} drift", _changes(of.agent, changes), of.agent, 0, of)
        for of, changes in report.drifts().items()
    ]
    if report.network is not None:
        suites.append(_suite(report, "network", [_network(report.network)]))
    every = [case for suite in suites for case in suite.iter("testcase")]
    sums = _sums(every, _seconds(report.cases))
    root = ElementTree.Element("testsuites", {"name": "hydra conformance", **sums})
    root.extend(suites)
    ElementTree.indent(root, " ")
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _suite(
    report: Report,
    name: str,
    cases: Iterable[Element],
    agent: str = "",
    seconds: float = 0.0,
    compared: Compared | None = None,
) -> Element:
    """`compared` are the versions whose changes its cases are."""
    elements = list(cases)
    values = {
        "name": clean(name),
        **_sums(elements, seconds),
        "skipped": str(sum(case.find("skipped") is not None for case in elements)),
        "timestamp": datetime.fromtimestamp(report.started, UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    }
    about = {
        "hydra": report.hydra,
        "platform": report.platform,
        "agent": agent,
        "version": report.versions.get(agent, ""),
        "third_party": "true" if agent in report.third_party else "",
        "old": compared.old if compared else "",
        "new": compared.new if compared else "",
    }
    suite = ElementTree.Element("testsuite", values)
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in about.items():
        if value:
            ElementTree.SubElement(properties, "property", {"name": key, "value": clean(value)})
    suite.extend(elements)
    return suite


def _sums(cases: Sequence[Element], seconds: float) -> dict[str, str]:
    failures = sum(case.find("failure") is not None for case in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(failures),
        "errors": "0",
        "time": f"{seconds:.3f}",
    }


def _seconds(cases: Sequence[Case]) -> float:
    return sum(case.seconds for case in cases)


def _element(
    name: str,
    group: str,
    *,
    seconds: float = 0.0,
    failure: Sequence[str] = (),
    skipped: str = "",
    output: str = "",
) -> Element:
    """One test. `failure` and `skipped` are its sentences, empty where it was neither."""
    values = {"classname": clean(group), "name": clean(name), "time": f"{seconds:.3f}"}
    element = ElementTree.Element("testcase", values)
    if failure:
        inner = ElementTree.SubElement(element, "failure", {"message": clean(failure[0])})
        inner.text = "\n".join(clean(line, multiline=True) for line in failure)
    elif skipped:
        ElementTree.SubElement(element, "skipped", {"message": clean(skipped)})
    if output:
        ElementTree.SubElement(element, "system-out").text = clean(output, multiline=True)
    return element


def _network(network: Network) -> Element:
    """One test of all CLIs together: which of them it was cannot be told from a packet."""
    line = network_sentence(network)
    return _element(
        "nothing leaves the machine",
        "hydra.conformance.live",
        failure=(line,) if network.is_departed else (),
        skipped="" if network.watched else line,
    )


def _group(suite: str, agent: str) -> str:
    # Services nest by dots, so a dot of an agent's own would make a level of its own.
    return f"hydra.conformance.{suite}.{agent.replace('.', '-')}"


def _case(case: Case) -> Element:
    failed, skipped = case.verdict is CaseVerdict.FAILED, case.verdict is CaseVerdict.SKIPPED
    # The contract tries a case once for each recorded version: services want names that differ.
    version = case.version if case.suite == "contract" else ""
    return _element(
        f"{case.name} [{version}]" if version else case.name,
        _group(case.suite, case.agent),
        seconds=case.seconds,
        failure=(case.differences or ("failed",)) if failed else (),
        skipped=(case.reason or "skipped") if skipped else "",
        output=case.evidence if failed else "",
    )


def _changes(agent: str, changes: Sequence[VersionChange]) -> Iterator[Element]:
    if not changes:
        yield _element("nothing has changed", _group("drift", agent))
    for change in changes:
        yield _element(
            f"{change.what} {change.name} {change.how}",
            _group("drift", agent),
            failure=(f"{change.text}: {change.minds}",) if change.minds else (),
            output="" if change.minds else change.text,
        )
