"""`hydra compare --review AGENT`: a model's remarks on patches that it sees without names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from hydra.app import runs
from hydra.app.asker import Asker, ready
from hydra.app.asking import Answer, asked
from hydra.app.consulted import REVIEW, SCHEMA, notes
from hydra.errors import RecordError, Refused
from hydra.git import patches
from hydra.git.naming import strange
from hydra.git.runner import is_unanswered
from hydra.judge.asking import prompts
from hydra.judge.asking.answers import Said, remarks
from hydra.judge.asking.unnamed import Unnamed, unnamed
from hydra.store import RunRecord, shared, write_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Consulted:
    """What came of one question. `says` is a sentence for a person; `interrupted` is a signal's
    number, or 0; `folder` is None where nothing was asked or kept."""

    says: str
    folder: Path | None = None
    warnings: tuple[str, ...] = ()
    interrupted: int = 0


def review(asker: Asker, run: str = "") -> Consulted:
    """Asks an agent for remarks on a run's patches. They change no rank and no gate.

    Raises `UsageError` for an unknown agent, or for one that is experimental and not allowed,
    `NoAgentReady`, `Refused` for a run that is under way or has no patch, `RecordError`.
    """
    place = runs.here(asker.environ)
    found = runs.find(place, run)
    with shared(found.folder):
        lanes = patched(found)
        who = ready(place, asker)
        shown = without_names(found, lanes)
        with asked(place, found, who, prompts.review(task_of(found), shown)) as session:
            answer = session.answer
            if answer.interrupted:
                return interrupted(answer)
            said, why = remarks(answer.texts, shown) if not answer.why else ((), "")
            warnings = tuple(filter(None, (answer.why, why)))
            document = _document(answer, shown, said, warnings)
            write_json(session.folder / REVIEW, document)
        if answer.why:
            return failed(answer)
        count = f"{len(said)} remark{'' if len(said) == 1 else 's'}"
        return Consulted(
            says=f"{answer.agent} has {count} on {len(lanes)} patches" if said else "",
            folder=session.folder,
            warnings=tuple(f"{answer.agent}: {one}" for one in (*warnings, *answer.remarks)),
        )


def failed(answer: Answer) -> Consulted:
    """An answer that did not come, in one clear sentence."""
    warning = f"{answer.agent} gave no answer: {answer.why}"
    return Consulted(says="", folder=answer.folder, warnings=(warning, *answer.remarks))


def interrupted(answer: Answer) -> Consulted:
    """Ctrl-C: nothing is kept."""
    says = f"asking {answer.agent} was interrupted; nothing of it is kept"
    return Consulted(says="", warnings=(says,), interrupted=answer.interrupted)


def patched(found: RunRecord) -> dict[str, str]:
    """The lanes that left something, and their commits. Raises `Refused`, `RecordError`."""
    if found.live:
        raise Refused(f"run {found.id} is still running", hint="wait until it has ended")
    try:
        held = patches.branches(found.patches)
    except Refused as error:
        if is_unanswered(error):
            raise
        raise RecordError(f"the patches of run {found.id} cannot be read: {error}") from error
    lanes = {lane: held[lane] for lane in runs.read(found).lanes if lane in held}
    lanes = {lane: commit for lane, commit in lanes.items() if commit != found.base}
    if not lanes:
        raise Refused(f"no lane of run {found.id} has a patch", hint="`hydra runs show` says why")
    return lanes


def task_of(found: RunRecord) -> str:
    """What the run's agents were asked for."""
    return str(found.manifest.get("prompt") or found.manifest.get("title") or "")


def without_names(found: RunRecord, lanes: Mapping[str, str]) -> Unnamed:
    """These patches as a model is shown them. Raises `Refused` where git cannot show them."""
    texts = {
        lane: patches.diff(found.patches, found.base, commit).decode("utf-8", "replace")
        for lane, commit in lanes.items()
    }
    told = task_of(found).lower()
    names = {name for name in _names(found) if name.lower() not in told}
    return unnamed(found.id, texts, strange(found.patches, found.base, sorted(names)))


def _names(found: RunRecord) -> Iterator[str]:
    """All words by which a patch could tell who made it."""
    for lane, told in runs.read(found).lanes.items():
        yield lane
        for key in ("adapter", "label", "model"):
            if isinstance(told.get(key), str):
                yield str(told[key])


def _document(
    answer: Answer, shown: Unnamed, said: Sequence[Said], warnings: Sequence[str]
) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "kind": "review",
        **answer.head(),
        "patches": dict(shown.lanes),
        "remarks": [asdict(one) for one in said],
        "warnings": [*warnings, *answer.remarks],
    }


__all__ = ["Consulted", "failed", "interrupted", "notes", "patched", "review", "task_of"]
