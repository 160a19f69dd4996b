"""`hydra compare --review AGENT`: what a model says of patches that it sees without names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hydra.commands.review import prompts
from hydra.commands.review.anonymize import AnonymousPatches, unnamed
from hydra.commands.review.session import Asker, ReviewAnswer, ask, ready
from hydra.git import patches
from hydra.git.patches import strange
from hydra.race.recovery import runs
from hydra.race.recovery.reviews import REVIEW
from hydra.records.codec import SCHEMA
from hydra.records.store.files import shared, write_json
from hydra.records.store.reader import RunRecord
from hydra.text import plural

LONGEST = 20_000
"""Characters of a review that are kept."""

_PATCH = re.compile(r"\b[Pp]atch ([A-Z]{1,2})\b")


AnswerLines = tuple[tuple[str, ...], int]
"""What came of one question: lines for a person, and a signal's number, or 0."""


def review(asker: Asker, run: str = "") -> AnswerLines:
    """Asks an agent what is to be known of a run's patches. It changes no rank and no gate.

    Raises `UsageError` for an unknown agent, or for one that is experimental and not allowed,
    `NoAgentReady`, `Refused` for a run that is under way or has no patch, `RecordError`.
    """
    place = runs.repository_runs()
    record = runs.find(place, run)
    with shared(record.folder):
        lanes = runs.patched(record)
        who = ready(place, asker)
        shown = without_names(record, lanes)
        with ask(record, who, prompts.review(task_of(record), shown)) as answer:
            if not answer.interrupted:
                write_json(answer.folder / REVIEW, _document(answer, shown))
    if answer.interrupted or answer.why:
        return unanswered(answer)
    remarks = (f"warning: {answer.agent}: {remark}" for remark in answer.remarks)
    return (*remarks, f"{answer.agent} has read {plural(lanes, 'patch')}"), 0


def unanswered(answer: ReviewAnswer) -> AnswerLines:
    """An answer that did not come, in one clear sentence; after Ctrl-C nothing of it is kept."""
    if number := answer.interrupted:
        says = f"warning: asking {answer.agent} was interrupted; nothing of it is kept"
        return (says,), number
    lines = (f"{answer.agent} gave no answer: {answer.why}", *answer.remarks)
    return tuple(f"warning: {line}" for line in lines), 0


def task_of(record: RunRecord) -> str:
    """What the run's agents were asked for."""
    return record.manifest.prompt or record.manifest.title


def without_names(record: RunRecord, lanes: Mapping[str, str]) -> AnonymousPatches:
    """These patches as a model is shown them. Raises `Refused` where git cannot show them."""
    texts = {
        lane: patches.diff(record.patches, record.base, commit).decode("utf-8", "replace")
        for lane, commit in lanes.items()
    }
    text = task_of(record).lower()
    names = {name for name in _names(record) if name.lower() not in text}
    return unnamed(record.id, texts, strange(record.patches, record.base, sorted(names)))


def _names(record: RunRecord) -> Iterator[str]:
    """All words by which a patch could tell who made it."""
    for lane in runs.read(record).race.lanes:
        yield from filter(None, (lane.lane, lane.adapter, lane.label, lane.model))


def _document(answer: ReviewAnswer, shown: AnonymousPatches) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "kind": "review",
        **answer.head(),
        "patches": dict(shown.lanes),
        "text": _with_names(answer.texts[0], shown) if answer.texts else "",
        "warnings": [*filter(None, (answer.why,)), *answer.remarks],
    }


def _with_names(text: str, shown: AnonymousPatches) -> str:
    """The last words, with lanes' names for letters; without half characters, which nobody can
    write down."""
    whole = text[:LONGEST].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    named = _PATCH.sub(lambda match: shown.lanes.get(match[1], match[0]), whole)
    return named.strip() if len(text) <= LONGEST else f"{named.strip()}\u2026"
