"""What conformance found, in Markdown: the summary of a CI step, or an issue's text.

Nothing in it acts: names and sentences hold what a CLI printed (`inert`). It ends where GitHub's
limit for an issue is, with a word on what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hydra.conformance.report.document import VERDICTS, drifts, ended, groups, impact, version_of
from hydra.conformance.report.terminal import network_sentence, next_steps, took
from hydra.report.document import Data, number, records, strings, text
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


def conformance_markdown(document: Data) -> str:
    """The report; ends with a newline."""
    blocks = [
        f"### Hydra conformance: {headline(document)}",
        _cases(document),
        *(_failure(case) for case in ended(document, "failed")),
        *(_drift(key, documents) for key, documents in drifts(document)),
        _skips(document),
        _listed([f"Network: {line}"] if (line := network_sentence(document)) else []),
        _details("Warnings", strings(document, "warnings")),
    ]
    return _capped([block for block in blocks if block], _last(document))


def headline(document: Data) -> str:
    """What is the matter, in a few words."""
    failed = len(ended(document, "failed"))
    minded = sum(bool(impact(change)) for change in records(document, "changes"))
    lines = [plural(failed, "case") + " failed"] if failed else []
    lines += [f"{plural(minded, 'change')} that Hydra minds"] if minded else []
    return ", ".join(lines) or "as expected"


def _cases(document: Data) -> str:
    head = ["agent", "version", "suite", *VERDICTS, "summed"]
    rows = [_row(document, *group) for group in groups(document)]
    return rows_table(head, rows) if rows else ""


def _row(document: Data, agent: str, suite: str, cases: list[Data]) -> list[str]:
    party = " (third party)" if agent in strings(document, "third_party") else ""
    return [
        f"{code(agent, 60)}{party}",
        inert(version_of(document, agent, cases), 60),
        inert(suite, 60),
        *(str(sum(text(case, "verdict") == verdict for case in cases)) for verdict in VERDICTS),
        took(sum(number(case, "seconds") or 0.0 for case in cases)),
    ]


def _failure(case: Data) -> str:
    who = " ".join(part for part in (text(case, "agent"), text(case, "version")) if part)
    head = f"**{inert(who)}, {inert(text(case, 'suite'))}: {code(text(case, 'name'))} failed**"
    return f"{head}\n\n{_listed(strings(case, 'differences'))}".rstrip()


def _drift(key: tuple[str, str, str], changes: list[Data]) -> str:
    agent, old, new = key
    minded = [change for change in changes if impact(change)]
    rest = [text(change, "text") for change in changes if not impact(change)]
    count = plural(len(changes), "change") if changes else "nothing has changed"
    head = f"**{inert(agent)} {inert(old)} to {inert(new)}: {count}**"
    lines = [
        f"- {inert(text(change, 'text'), LONGEST)} **Hydra minds:** {inert(impact(change))}"
        for change in minded[:ROWS]
    ]
    lines += [f"- and {len(minded) - ROWS} more that Hydra minds"] if len(minded) > ROWS else []
    parts = [head, "\n".join(lines), _details(f"{len(rest)} that Hydra does not mind", rest)]
    return "\n\n".join(part for part in parts if part)


def _skips(document: Data) -> str:
    parts = ("agent", "suite", "name", "reason")
    sentences = [
        ": ".join(text(case, part) for part in parts) for case in ended(document, "skipped")
    ]
    return _details(f"{len(sentences)} skipped", sentences)


def _details(title: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    return f"<details>\n<summary>{plain(title)}</summary>\n\n{_listed(sentences)}\n\n</details>"


def _listed(sentences: Sequence[str]) -> str:
    lines = [f"- {inert(sentence, LONGEST)}" for sentence in sentences[:ROWS]]
    if len(sentences) > ROWS:
        lines.append(f"- and {len(sentences) - ROWS} more")
    return "\n".join(lines)


def _capped(blocks: Sequence[str], last: str) -> str:
    """As many blocks as there is room for, each whole."""
    return "\n\n".join([*_fitting(blocks, LIMIT - _ROOM - len(last)), last]) + "\n"


def _fitting(blocks: Sequence[str], room: int) -> Iterator[str]:
    remaining = 0
    for block in blocks:
        if len(block) + 2 <= room:
            room -= len(block) + 2
            yield block
        else:
            remaining += 1
    if remaining:
        yield f"{plural(remaining, 'part')} left out for the length: `--json` has all."


def _last(document: Data) -> str:
    steps = "".join(f"{code(step)}\n\n" for step in next_steps(document)[:1])
    hydra, platform = inert(text(document, "hydra"), 60), inert(text(document, "platform"), 60)
    return f"{steps}<sub>Hydra {hydra} on {platform}, {took(number(document, 'seconds'))}</sub>"
