"""Whether the line is the one that was asked for, and never wider than it: each permission on each
recorded version, whole and with each flag of the help text taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hydra.conformance.contract import expectation
from hydra.conformance.contract.delivery import by_word
from hydra.conformance.contract.detection import answers
from hydra.conformance.contract.losses import DANGER, Lines, losses, lost_flags, of_all
from hydra.conformance.contract.requests import (
    ALSO,
    EXTRA,
    PERMISSIONS,
    REQUESTS,
    WORKTREE,
    BuiltLine,
    ask,
    request,
)
from hydra.conformance.contract.subject import ContractCheck, ContractSubject
from hydra.conformance.recorded import Recording
from hydra.records.agent import DetectResult
from hydra.records.request import Permission

_LENGTHS = (
    *((limit + more, "x") for limit in (1_000_000, 1_048_576, 10_000_000) for more in (0, 1)),
    *((number, "\u00e9") for number in (600_000, 1_048_577, 6_000_000)),
)
"""At the limits that are known, and where bytes and characters differ."""


def lines_as_data(subject: ContractSubject, recording: Recording) -> dict[str, Any]:
    """Each permission's line; what another request changes of it; what each lost flag does to the
    one that asks for most."""
    whole = subject.detect(answers(subject, recording))
    base = {p: ask(subject.adapter, whole, request(permission=p)) for p in PERMISSIONS}
    data = {permission.value: base[permission].as_data() for permission in PERMISSIONS}
    for name, changes in REQUESTS.items():
        if name not in data:
            permission = changes.get("permission", request().permission)
            line = ask(subject.adapter, whole, request(**changes))
            data[name] = line.as_data(base.get(permission)) or "the same"
    for number, letter in _LENGTHS:
        line = ask(subject.adapter, whole, request(prompt=letter * number))
        refused = line.refused and line.refused.failure
        data[f"a prompt of {number} {letter}"] = refused and [
            refused.reason,
            refused.message,
            dict(refused.numbers),
        ]
    before = of_all(subject, whole)
    for flag, result in losses(subject, recording):
        lost = _lost(subject, whole, result, before)
        if lost:
            data[f"without {flag}"] = lost
    return data


def _lost(
    subject: ContractSubject, whole: DetectResult, result: DetectResult, before: Lines
) -> dict[str, Any]:
    """What differs without a flag: lines by permission, capabilities, what `detect` says."""
    after = of_all(subject, result)
    document = {p.value: after[p].as_data(before[p]) for p in PERMISSIONS}
    data: dict[str, Any] = {
        name: change
        for name, change in document.items()
        if change and (after[Permission(name)].refused is None or not _refused_too(before, name))
    }
    if len(data) == len(PERMISSIONS) and all(
        change == document["plan"] for change in data.values()
    ):
        data = {"each": document["plan"]}
    for name, changes in ALSO.items():
        were, now = (ask(subject.adapter, d, request(**changes)) for d in (whole, result))
        change = now.as_data(were)
        if change and were.refused is None and change != document["full-auto"]:
            data[name] = change
    lost = [name for name, capability in result.capabilities.items() if not capability.present]
    if lost != [name for name, capability in whole.capabilities.items() if not capability.present]:
        data["lost"] = lost
    if result.error != whole.error and result.error is not None:
        data["detect"] = [
            result.error.kind,
            result.error.reason,
            result.error.message,
            result.error.hint,
        ]
    return data


def _refused_too(before: Lines, name: str) -> bool:
    return before[Permission(name)].refused is not None


def each_permission(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Each request gets a sound line or a refusal that says why."""
    seen = subject.detect(answers(subject, recording))
    for name, changes in REQUESTS.items():
        answer = ask(subject.adapter, seen, request(**changes))
        yield from _sound(name, answer, subject)
    if seen.ready and not any(a.command for a in of_all(subject, seen).values()):
        yield "it is said to be ready, and every permission is refused"


def _sound(name: str, answer: BuiltLine, subject: ContractSubject) -> Iterator[str]:
    if answer.refused is not None:
        failure = answer.refused.failure
        if failure.adapter != subject.key or not failure.message or not failure.hint:
            yield f"{name}: the refusal lacks its adapter, its sentence or its next step"
        return
    built = answer.command
    assert built is not None
    if built.cwd != WORKTREE:
        yield f"{name}: it would start in {built.cwd}, not in the worktree"
    if not all(isinstance(term, str) and "\x00" not in term for term in built.argv):
        yield f"{name}: a word of the line is no text, or holds a NUL"
    if not built.program or not built.program.endswith(subject.adapter.descriptor.binaries[0]):
        yield f"{name}: it would start {built.program!r}, not the program that was found"


def narrower_is_narrower(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """A narrower permission carries nothing that only a wider one has."""
    lines = of_all(subject, subject.detect(answers(subject, recording)))
    plan = lines[Permission.PLAN]
    for wider in PERMISSIONS[1:]:
        if plan.command and lines[wider].command and plan.options == lines[wider].options:
            yield f"plan: the line is that of {wider.value}: it may change files"
    for narrow in (Permission.PLAN, Permission.EDIT):
        for term in sorted(term for term in lines[narrow].options if DANGER.search(term)):
            yield f"{narrow.value}: the line carries {term}"


def extra_arguments(subject: ContractSubject, recording: Recording) -> Iterator[str]:
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
        if [arg for arg in more.args if arg not in EXTRA] != list(plain.args):
            yield f"{permission.value}: extra arguments change the rest of the line"


def options_reach_the_line(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """A model is on the line or refused; one that was not asked for is not. What is no session's
    id never is."""
    seen = subject.detect(answers(subject, recording))
    answer = ask(subject.adapter, seen, request(model="made-up-model"))
    plain = ask(subject.adapter, seen, request())
    if answer.command and not any("made-up-model" in term for term in answer.options):
        yield "model: it is neither on the line nor refused"
    if answer.command and plain.command and answer.options == plain.options:
        yield "model: the line is the same with and without one"
    for session in ("--made-up", "-x", "made up", "a;b", "\x00"):
        line = ask(subject.adapter, seen, request(resume=session))
        if line.command and any(session in term for term in line.options):
            yield f"resume: {session!r}, which is no session's id, is on the line"


def as_written(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Each line is the one that a person has read and approved, word by word."""
    yield from expectation.against(
        recording.folder / expectation.LINES, lines_as_data(subject, recording)
    )


CHECKS = (
    ContractCheck("lines.each_permission", versioned=each_permission),
    ContractCheck("lines.narrower", versioned=narrower_is_narrower),
    ContractCheck("lines.lost_flags", versioned=lost_flags),
    ContractCheck("lines.extra_arguments", versioned=extra_arguments),
    ContractCheck("lines.options", versioned=options_reach_the_line),
    ContractCheck("lines.as_written", versioned=as_written),
)
