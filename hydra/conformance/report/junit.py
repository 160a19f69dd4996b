"""What conformance found, as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator

from hydra.conformance.report.document import drifts, groups, impact
from hydra.conformance.report.terminal import network_sentence
from hydra.report.document import Data, number, record, strings, text
from hydra.report.junit import JUnitCase, JUnitSuite, junit_xml


def conformance_junit(document: Data) -> bytes:
    """A suite for each agent and suite of cases; one more for each agent that has drifted.

    A change that Hydra minds is a failure; one that it does not mind has passed.
    """
    started = number(document, "started") or 0.0
    suites = [
        JUnitSuite(
            name=f"{agent} {suite}",
            cases=[_case(case) for case in cases],
            started=started,
            properties=_properties(document, agent),
        )
        for agent, suite, cases in groups(document)
    ]
    for (agent, old, new), changes in drifts(document):
        suite = JUnitSuite(
            name=f"{agent} drift",
            cases=list(_changes(agent, changes)),
            started=started,
            properties={**_properties(document, agent), "old": old, "new": new},
        )
        suites.append(suite)
    if record(document, "network"):
        suites.append(_network(document, started))
    return junit_xml("hydra conformance", suites)


def _network(document: Data, started: float) -> JUnitSuite:
    """One test of all CLIs together: which of them it was cannot be told from a packet."""
    data, line = record(document, "network"), network_sentence(document)
    outside = bool(number(data, "packets")) or bool(strings(data, "tried"))
    case = JUnitCase(
        name="nothing leaves the machine",
        group="hydra.conformance.live",
        failure=(line,) if outside else (),
        skipped="" if data.get("watched") is True else line,
    )
    properties = {"hydra": text(document, "hydra"), "platform": text(document, "platform")}
    return JUnitSuite(name="network", cases=[case], started=started, properties=properties)


def _properties(document: Data, agent: str) -> dict[str, str]:
    version = text(record(document, "versions"), agent)
    third_party = agent in strings(document, "third_party")
    return {
        "hydra": text(document, "hydra"),
        "platform": text(document, "platform"),
        "agent": agent,
        **({"version": version} if version else {}),
        **({"third_party": "true"} if third_party else {}),
    }


def _group(suite: str, agent: str) -> str:
    # Services nest by dots, so a dot of an agent's own would make a level of its own.
    return f"hydra.conformance.{suite}.{agent.replace('.', '-')}"


def _case(case: Data) -> JUnitCase:
    failed = text(case, "verdict") == "failed"
    skipped = text(case, "verdict") == "skipped"
    return JUnitCase(
        name=_name(case),
        group=_group(text(case, "suite"), text(case, "agent")),
        seconds=number(case, "seconds") or 0.0,
        failure=(tuple(strings(case, "differences")) or ("failed",)) if failed else (),
        skipped=(text(case, "reason") or "skipped") if skipped else "",
        output=text(case, "evidence") if failed else "",
    )


def _name(case: Data) -> str:
    """The contract tries a case once for each recorded version: services want names that differ."""
    version = text(case, "version") if text(case, "suite") == "contract" else ""
    return f"{text(case, 'name')} [{version}]" if version else text(case, "name")


def _changes(agent: str, changes: list[Data]) -> Iterator[JUnitCase]:
    if not changes:
        yield JUnitCase(name="nothing has changed", group=_group("drift", agent))
    for change in changes:
        lost = impact(change)
        yield JUnitCase(
            name=" ".join(text(change, part) for part in ("what", "name", "how")),
            group=_group("drift", agent),
            failure=(f"{text(change, 'text')}: {lost}",) if lost else (),
            output="" if lost else text(change, "text"),
        )
