"""`hydra compare --review AGENT`: what a model says of patches that it sees without names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from hydra.commands.review import prompts
from hydra.commands.review.anonymize import AnonymousPatches, unnamed
from hydra.commands.review.reviewer import Asker, ready
from hydra.commands.review.session import ReviewAnswer, ask
from hydra.git import patches
from hydra.git.patches import strange
from hydra.race.recovery import runs
from hydra.race.recovery.reviews import REVIEW, SCHEMA, notes
from hydra.records.store.files import shared, write_json
from hydra.records.store.reader import RunRecord
from hydra.text import plural

LONGEST = 20_000
"""Characters of a review that are kept."""

_PATCH = re.compile(r"\b[Pp]atch ([A-Z]{1,2})\b")


class ReviewReport(Struct, frozen=True, kw_only=True):
    """What came of one question. `says` is a sentence for a person; `interrupted` is a signal's
    number, or 0; `folder` is None where nothing was asked or kept."""

    says: str
    folder: Path | None = None
    warnings: tuple[str, ...] = ()
    interrupted: int = 0


def review(asker: Asker, run: str = "") -> ReviewReport:
    """Asks an agent what is to be known of a run's patches. It changes no rank and no gate.

    Raises `UsageError` for an unknown agent, or for one that is experimental and not allowed,
    `NoAgentReady`, `Refused` for a run that is under way or has no patch, `RecordError`.
    """
    place = runs.repository_runs(asker.environ)
    record = runs.find(place, run)
    with shared(record.folder):
        lanes = runs.patched(record)
        who = ready(place, asker)
        shown = without_names(record, lanes)
        with ask(record, who, prompts.review(task_of(record), shown)) as answer:
            if answer.interrupted:
                return interrupted(answer)
            write_json(answer.folder / REVIEW, _document(answer, shown))
        if answer.why:
            return failed(answer)
        return ReviewReport(
            says=f"{answer.agent} has read {plural(lanes, 'patch')}",
            folder=answer.folder,
            warnings=tuple(f"{answer.agent}: {remark}" for remark in answer.remarks),
        )


def failed(answer: ReviewAnswer) -> ReviewReport:
    """An answer that did not come, in one clear sentence."""
    warning = f"{answer.agent} gave no answer: {answer.why}"
    return ReviewReport(says="", folder=answer.folder, warnings=(warning, *answer.remarks))


def interrupted(answer: ReviewAnswer) -> ReviewReport:
    """Ctrl-C: nothing is kept."""
    says = f"asking {answer.agent} was interrupted; nothing of it is kept"
    return ReviewReport(says="", warnings=(says,), interrupted=answer.interrupted)


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


__all__ = ["ReviewReport", "failed", "interrupted", "notes", "review", "task_of"]
