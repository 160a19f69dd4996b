"""Whether the line is the one that was asked for, and never wider than it: each permission on each
recorded version, whole and with each flag of the help text taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hydra.conformance.contract import snapshot
from hydra.conformance.contract.delivery import by_word
from hydra.conformance.contract.detecting import answers
from hydra.conformance.contract.losses import DANGER, Lines, losses, lost_flags, of_all
from hydra.conformance.contract.requests import (
    ALSO,
    EXTRA,
    PERMISSIONS,
    REQUESTS,
    WORKTREE,
    Answer,
    ask,
    request,
)
from hydra.conformance.contract.subject import Check, Subject
from hydra.conformance.recorded import Recording
from hydra.model import DetectResult, Permission

_LENGTHS = (
    *((limit + more, "x") for limit in (1_000_000, 1_048_576, 10_000_000) for more in (0, 1)),
    *((number, "\u00e9") for number in (600_000, 1_048_577, 6_000_000)),
)
"""At the limits that are known, and where bytes and characters differ."""


def found(subject: Subject, recording: Recording) -> dict[str, Any]:
    """Each permission's line; what another request changes of it; what each lost flag does to the
    one that asks for most."""
    whole = subject.detect(answers(subject, recording))
    base = {p: ask(subject.adapter, whole, request(permission=p)) for p in PERMISSIONS}
    data = {permission.value: base[permission].as_data() for permission in PERMISSIONS}
    for name, changes in REQUESTS.items():
        if name not in data:
            permission = changes.get("permission", request().permission)
            told = ask(subject.adapter, whole, request(**changes))
            data[name] = told.as_data(base.get(permission)) or "the same"
    for number, letter in _LENGTHS:
        told = ask(subject.adapter, whole, request(prompt=letter * number))
        refused = told.refused and told.refused.failure
        data[f"a prompt of {number} {letter}"] = refused and [
            refused.reason,
            refused.message,
            dict(refused.numbers),
        ]
    before = of_all(subject, whole)
    for flag, left in losses(subject, recording):
        lost = _lost(subject, whole, left, before)
        if lost:
            data[f"without {flag}"] = lost
    return data


def _lost(
    subject: Subject, whole: DetectResult, left: DetectResult, before: Lines
) -> dict[str, Any]:
    """What differs without a flag: lines by permission, capabilities, what `detect` says."""
    after = of_all(subject, left)
    told = {p.value: after[p].as_data(before[p]) for p in PERMISSIONS}
    made: dict[str, Any] = {
        name: change
        for name, change in told.items()
        if change and (after[Permission(name)].refused is None or not _refused_too(before, name))
    }
    if len(made) == len(PERMISSIONS) and all(change == told["plan"] for change in made.values()):
        made = {"each": told["plan"]}
    for name, changes in ALSO.items():
        were, now = (ask(subject.adapter, d, request(**changes)) for d in (whole, left))
        change = now.as_data(were)
        if change and were.refused is None and change != told["full-auto"]:
            made[name] = change
    lost = [name for name, held in left.capabilities.items() if not held.present]
    if lost != [name for name, held in whole.capabilities.items() if not held.present]:
        made["lost"] = lost
    if left.error != whole.error and left.error is not None:
        made["detect"] = [left.error.kind, left.error.reason, left.error.message, left.error.hint]
    return made


def _refused_too(before: Lines, name: str) -> bool:
    return before[Permission(name)].refused is not None


def each_permission(subject: Subject, recording: Recording) -> Iterator[str]:
    """Each request gets a sound line or a refusal that says why."""
    seen = subject.detect(answers(subject, recording))
    for name, changes in REQUESTS.items():
        answer = ask(subject.adapter, seen, request(**changes))
        yield from _sound(name, answer, subject)
    if seen.ready and not any(a.command for a in of_all(subject, seen).values()):
        yield "it is said to be ready, and every permission is refused"


def _sound(name: str, answer: Answer, subject: Subject) -> Iterator[str]:
    if answer.refused is not None:
        failure = answer.refused.failure
        if failure.adapter != subject.key or not failure.message or not failure.hint:
            yield f"{name}: the refusal lacks its adapter, its sentence or its next step"
        return
    built = answer.command
    assert built is not None
    if built.cwd != WORKTREE:
        yield f"{name}: it would start in {built.cwd}, not in the worktree"
    if not all(isinstance(word, str) and "\x00" not in word for word in built.argv):
        yield f"{name}: a word of the line is no text, or holds a NUL"
    if not built.program or not built.program.endswith(subject.adapter.descriptor.binaries[0]):
        yield f"{name}: it would start {built.program!r}, not the program that was found"


def narrower_is_narrower(subject: Subject, recording: Recording) -> Iterator[str]:
    """A narrower permission carries nothing that only a wider one has."""
    lines = of_all(subject, subject.detect(answers(subject, recording)))
    plan = lines[Permission.PLAN]
    for wider in PERMISSIONS[1:]:
        if plan.command and lines[wider].command and plan.words == lines[wider].words:
            yield f"plan: the line is that of {wider.value}: it may change files"
    for narrow in (Permission.PLAN, Permission.EDIT):
        for word in sorted(word for word in lines[narrow].words if DANGER.search(word)):
            yield f"{narrow.value}: the line carries {word}"


def extra_arguments(subject: Subject, recording: Recording) -> Iterator[str]:
    """The user's own arguments come last, but for a lone `-` that stands for stdin, and for the
    prompt behind `--` where it is a word of the line."""
    seen = subject.detect(answers(subject, recording))
    for permission in PERMISSIONS:
        plain = ask(subject.adapter, seen, request(permission=permission)).command
        more = ask(subject.adapter, seen, request(permission=permission, extra_args=EXTRA)).command
        if plain is None or more is None:
            continue
        args = more.args[:-1] if more.args[-1:] == ("-",) else more.args
        if by_word(subject.adapter.descriptor) and more.args[-2:-1] == ("--",):
            args = more.args[:-2]
        if args[-len(EXTRA) :] != EXTRA:
            yield f"{permission.value}: extra arguments are not the last: {' '.join(args[-4:])}"
        if [word for word in more.args if word not in EXTRA] != list(plain.args):
            yield f"{permission.value}: extra arguments change the rest of the line"


def options_reach_the_line(subject: Subject, recording: Recording) -> Iterator[str]:
    """A model is on the line or refused; one that was not asked for is not. What is no session's
    id never is."""
    seen = subject.detect(answers(subject, recording))
    answer = ask(subject.adapter, seen, request(model="made-up-model"))
    plain = ask(subject.adapter, seen, request())
    if answer.command and not any("made-up-model" in word for word in answer.words):
        yield "model: it is neither on the line nor refused"
    if answer.command and plain.command and answer.words == plain.words:
        yield "model: the line is the same with and without one"
    for session in ("--made-up", "-x", "made up", "a;b", "\x00"):
        told = ask(subject.adapter, seen, request(resume=session))
        if told.command and any(session in word for word in told.words):
            yield f"resume: {session!r}, which is no session's id, is on the line"


def as_written(subject: Subject, recording: Recording) -> Iterator[str]:
    """Each line is the one that a person has read and approved, word by word."""
    yield from snapshot.against(recording.folder / snapshot.LINES, found(subject, recording))


CHECKS = (
    Check("lines.each_permission", versioned=each_permission),
    Check("lines.narrower", versioned=narrower_is_narrower),
    Check("lines.lost_flags", versioned=lost_flags),
    Check("lines.extra_arguments", versioned=extra_arguments),
    Check("lines.options", versioned=options_reach_the_line),
    Check("lines.as_written", versioned=as_written),
)
