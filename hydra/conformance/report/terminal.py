"""What conformance found, for a person: a table, what failed and why, what drifted, what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hydra.conformance.report.document import drifts, ended, groups, impact, version_of
from hydra.report.document import Data, number, record, records, strings, text
from hydra.report.style import paint
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import clean, hanging, quote
from hydra.text import plural

_COLUMNS = (
    Column("agent", least=10),
    Column("version", least=8, optional=1),
    Column("suite"),
    Column("passed", right=True),
    Column("failed", right=True),
    Column("skipped", right=True),
    Column("summed", right=True),
)
NAMED = 4
"""Skipped cases that are named of one agent and one reason: the rest is counted."""

LISTED = 20
"""Changes that Hydra does not mind, of one agent, that are listed: the rest is counted."""


def conformance_text(document: Data, *, width: int | None, color: bool = False) -> str:
    """The report; ends with a newline. `width` None: nothing is wrapped (a pipe)."""
    blocks = [
        _table(document, width, color),
        *(_failure(case, width, color) for case in ended(document, "failed")),
        _skips(document, width),
        *(_drift(key, documents, width, color) for key, documents in drifts(document)),
        _network(document, width, color),
        [*_listed("warning", strings(document, "warnings"), width)],
        _recorded(document, width),
        _end(document, width, color),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def took(seconds: float | None) -> str:
    """`0.4 s`, `12 s`, `2 min 5 s`; `?` if unknown."""
    if seconds is None:
        return "?"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _table(document: Data, width: int | None, color: bool) -> list[str]:
    rows = [_row(document, *group) for group in groups(document)]
    return table(rows, _COLUMNS, width, color) if rows else []


def _row(document: Data, agent: str, suite: str, cases: list[Data]) -> list[Cell]:
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for case in cases:
        counts[text(case, "verdict")] = counts.get(text(case, "verdict"), 0) + 1
    party = " (third party)" if agent in strings(document, "third_party") else ""
    return [
        f"{agent}{party}",
        version_of(document, agent, cases) or "-",
        suite,
        StyledText(str(counts["passed"]), "good" if counts["passed"] else ""),
        StyledText(str(counts["failed"]), "bad" if counts["failed"] else ""),
        str(counts["skipped"]),
        took(sum(number(case, "seconds") or 0.0 for case in cases)),
    ]


def _failure(case: Data, width: int | None, color: bool) -> list[str]:
    who = f"{text(case, 'agent')} {text(case, 'version')}".strip()
    head = f"{who}, {text(case, 'suite')}: {text(case, 'name')}"
    lines = [paint(line, "bad", color) for line in hanging("failed  ", head, width)]
    for sentence in strings(case, "differences"):
        lines += hanging("- ", sentence, width, indent=8)
    if evidence := text(case, "evidence"):
        lines += hanging("-> ", evidence, width, indent=8)
    return lines


def _skips(document: Data, width: int | None) -> list[str]:
    """One line for each agent and reason: what could not be tried here is mostly one thing."""
    met: dict[tuple[str, str], list[str]] = {}
    for case in ended(document, "skipped"):
        reason = text(case, "reason") or "no reason was given"
        met.setdefault((text(case, "agent"), reason), []).append(text(case, "name"))
    lines: list[str] = []
    for (agent, reason), names in met.items():
        few = names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED} more"]
        which = ", ".join(few)
        lines += hanging("skipped ", f"{agent}: {which}: {reason}", width)
    return lines


def _drift(
    key: tuple[str, str, str], changes: list[Data], width: int | None, color: bool
) -> list[str]:
    agent, old, new = key
    minded = [change for change in changes if impact(change)]
    count = f"{plural(len(changes), 'change')}, Hydra minds {len(minded) or 'none'}"
    head = f"{agent} {old} -> {new}: {count if changes else 'nothing has changed'}"
    style = "bad" if minded else "bold"
    lines = [paint(line, style, color) for line in hanging("drift   ", head, width)]
    for change in minded:
        lines += hanging("! ", f"{text(change, 'text')}", width, indent=8)
        lines += hanging("Hydra minds: ", impact(change), width, indent=10)
    rest = changes[len(minded) :]
    for change in rest[:LISTED]:
        lines += hanging("- ", text(change, "text"), width, indent=8)
    if len(rest) > LISTED:
        lines.append(f"{'':8}and {len(rest) - LISTED} more: --json has all")
    return lines


def network_sentence(document: Data) -> str:
    """`0 packets off loopback (watched)`, what was tried, or why it was not watched; "" if none."""
    data = record(document, "network")
    if not data:
        return ""
    if data.get("watched") is not True:
        return f"not watched: {text(data, 'reason') or 'no reason was given'}"
    packets = number(data, "packets")
    count = "?" if packets is None else f"{packets:.0f}"
    tried = strings(data, "tried")
    which = f"; tried: {', '.join(tried)}" if tried else ""
    term = "packet" if count == "1" else "packets"
    return f"{count} {term} off loopback (watched){which}"


def _network(document: Data, width: int | None, color: bool) -> list[str]:
    value = network_sentence(document)
    data = record(document, "network")
    quiet = data.get("watched") is True and not data.get("packets") and not strings(data, "tried")
    lines = hanging("network ", value, width)
    return lines if quiet or not lines else [paint(line, "warn", color) for line in lines]


def _listed(label: str, sentences: Sequence[str], width: int | None) -> Iterator[str]:
    for sentence in sentences:
        yield from hanging(f"{label} ", sentence, width)


def _recorded(document: Data, width: int | None) -> list[str]:
    """A line for each folder: a whole run writes a hundred files."""
    folders = Counter(file.rpartition("/")[0] for file in strings(document, "recorded"))
    lines = [f"{plural(count, 'file')} in {folder}" for folder, count in folders.items()]
    return list(_listed("recorded", lines, width))


def _end(document: Data, width: int | None, color: bool) -> list[str]:
    counts = record(document, "counts")
    parts = [f"{number(counts, term) or 0:.0f} {term}" for term in ("passed", "failed", "skipped")]
    changes = records(document, "changes")
    if changes:
        minded = sum(bool(impact(change)) for change in changes)
        parts.append(f"{plural(len(changes), 'change')} ({minded} that Hydra minds)")
    bad = document.get("exit_code") != 0
    value = f"{', '.join(parts)} in {took(number(document, 'seconds'))}"
    lines = [paint(line, "bad" if bad else "good", color) for line in hanging("", value, width)]
    # Never wrapped: they are to be copied.
    return lines + [f"next: {clean(step)}" for step in next_steps(document)]


def next_steps(document: Data) -> list[str]:
    """What a person does now; [] where all is as expected and nothing is kept."""
    steps: list[str] = []
    if failed := ended(document, "failed"):
        steps.append(_alone(failed[0], record(document, "named")))
    if any(impact(change) for change in records(document, "changes")):
        steps.append(
            "what Hydra minds needs a change in the agent's adapter: docs/reference/conformance.md"
        )
    if record(document, "network").get("tried"):
        steps.append(
            "what a CLI tried may be a switch that its adapter lacks: docs/reference/conformance.md"
        )
    if folder := text(document, "folder"):
        steps.append(f"rm -rf {quote(folder)}   # what --keep left")
    return steps


def _alone(case: Data, named: Data) -> str:
    name, live = text(case, "name"), text(case, "suite") == "live"
    if live and name == "detect":  # no situation: it comes before all of them
        return "hydra doctor   # what is found of that agent"
    how = "--live --keep --situation" if live else "--case"
    terms = strings(named, text(case, "agent")) or (text(case, "agent"),)
    again = " ".join(
        quote(document) for document in ("hydra", "conformance", *how.split(), name, *terms)
    )
    return f"{again}   # that case alone"
