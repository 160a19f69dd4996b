"""What conformance found, in Markdown (the summary of a CI step, an issue's text) and in JUnit XML.

Nothing in it acts: names and sentences hold what a CLI printed (`inert`). Markdown ends where
GitHub's limit for an issue is, with a word on what was left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hydra.conformance.report import counted, network_sentence, next_steps, party, took
from hydra.conformance.results import Case, CaseVerdict, Compared, Network, Report, VersionChange
from hydra.report.junit import JUnitCase, JUnitSuite, junit_xml
from hydra.report.markdown import code, inert, plain, rows_table
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
    """A suite for each agent and suite of cases; one more for each agent that has drifted.

    A change that Hydra minds is a failure; one that it does not mind has passed.
    """

    def suite(name: str, cases: Iterable[JUnitCase], agent: str = "", **more: str) -> JUnitSuite:
        third_party = "true" if agent in report.third_party else ""
        version = report.versions.get(agent, "")
        about = {"agent": agent, "version": version, "third_party": third_party, **more}
        properties = {"hydra": report.hydra, "platform": report.platform}
        properties |= {name: value for name, value in about.items() if value}
        return JUnitSuite(
            name=name, cases=list(cases), started=report.started, properties=properties
        )

    suites = [
        suite(f"{agent} {name}", map(_case, cases), agent)
        for (agent, name), cases in report.groups().items()
    ]
    suites += [
        suite(f"{of.agent} drift", _changes(of.agent, changes), of.agent, old=of.old, new=of.new)
        for of, changes in report.drifts().items()
    ]
    if report.network is not None:
        suites.append(suite("network", [_network(report.network)]))
    return junit_xml("hydra conformance", suites)


def _network(network: Network) -> JUnitCase:
    """One test of all CLIs together: which of them it was cannot be told from a packet."""
    line = network_sentence(network)
    return JUnitCase(
        name="nothing leaves the machine",
        group="hydra.conformance.live",
        failure=(line,) if network.is_departed else (),
        skipped="" if network.watched else line,
    )


def _group(suite: str, agent: str) -> str:
    # Services nest by dots, so a dot of an agent's own would make a level of its own.
    return f"hydra.conformance.{suite}.{agent.replace('.', '-')}"


def _case(case: Case) -> JUnitCase:
    failed, skipped = case.verdict is CaseVerdict.FAILED, case.verdict is CaseVerdict.SKIPPED
    # The contract tries a case once for each recorded version: services want names that differ.
    version = case.version if case.suite == "contract" else ""
    return JUnitCase(
        name=f"{case.name} [{version}]" if version else case.name,
        group=_group(case.suite, case.agent),
        seconds=case.seconds,
        failure=(case.differences or ("failed",)) if failed else (),
        skipped=(case.reason or "skipped") if skipped else "",
        output=case.evidence if failed else "",
    )


def _changes(agent: str, changes: Sequence[VersionChange]) -> Iterator[JUnitCase]:
    if not changes:
        yield JUnitCase(name="nothing has changed", group=_group("drift", agent))
    for change in changes:
        yield JUnitCase(
            name=f"{change.what} {change.name} {change.how}",
            group=_group("drift", agent),
            failure=(f"{change.text}: {change.minds}",) if change.minds else (),
            output="" if change.minds else change.text,
        )
