"""What becomes of the lines when an option, or a value of one, is no longer in the help text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from msgspec.structs import replace

from hydra.conformance.contract.detection import answers
from hydra.conformance.contract.requests import PERMISSIONS, BuiltLine, ask, request
from hydra.conformance.contract.subject import ContractSubject, Form
from hydra.conformance.recorded import Recording
from hydra.records.agent import DetectResult
from hydra.records.request import Permission

DANGER = re.compile(r"danger|bypass|yolo|skip-permissions|unsafe", re.IGNORECASE)
"""Words that a line of `plan` or `edit` never carries."""

Lines = Mapping[Permission, BuiltLine]


def of_all(subject: ContractSubject, seen: DetectResult) -> Lines:
    """The fullest line of each permission."""
    rows = {"model": "made-up-model", "instructions": ("CLAUDE.md",)}
    return {p: ask(subject.adapter, seen, request(permission=p, **rows)) for p in PERMISSIONS}


def losses(subject: ContractSubject, recording: Recording) -> Iterator[tuple[str, DetectResult]]:
    """Each option (and each value of one) of the help text, with what `detect` says without it."""
    good = answers(subject, recording)
    whole = subject.detect(good)
    for flag in sorted(whole.flags):
        name, _, value = flag.partition("=")
        spoiled = dict(good)
        for probe in (probe for probe in good if probe.endswith("help")):
            text = good[probe].stdout
            text = _without_value(text, name, value) if value else _without(text, name)
            spoiled[probe] = replace(good[probe], stdout=text)
        result = subject.detect(spoiled)
        if flag not in result.flags:
            yield flag, result


def _without(text: str, name: str) -> str:
    """`text` in which `name` is called something else; `--a[-b]` names two."""
    stem, dash, end = name.rpartition("-")
    text = text.replace(f"{stem}[{dash}{end}]", stem) if stem.startswith("--") else text
    return re.sub(rf"{re.escape(name)}(?![\w-])(?!\[-)", "--something-else", text)


def _without_value(text: str, name: str, value: str) -> str:
    """The value out of the list behind `name`, wherever its definition has one."""
    at = re.search(rf"^ {{0,6}}(?:-\w, )?.*{re.escape(name)}(?![\w-])", text, re.MULTILINE)
    start = at.start() if at else 0
    quoted = re.compile(rf'"{re.escape(value)}"|(?<=[ :,]){re.escape(value)}(?=[,\]])')
    return text[:start] + quoted.sub('"something-else"', text[start:], count=1)


def lost_flags(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """With any flag gone a line is refused or does without it, and never gets what is wider; a
    capability goes with its flag."""
    whole = subject.detect(answers(subject, recording))
    before = of_all(subject, whole)
    for flag, result in losses(subject, recording):
        yield from _capabilities(flag, subject, whole, result)
        after = of_all(subject, result)
        if after != before:
            for permission in PERMISSIONS:
                yield from _degraded(flag, permission, before, after)
    if subject.adapter.descriptor.interactive:
        return  # what it writes is the protocol that is spoken, whatever its flags
    name = "plain_text" if subject.form is Form.TEXT else "json_stream"
    if getattr(subject.adapter.capabilities(frozenset()), name).present:
        yield f"capability {name} is claimed without any flag"


def _capabilities(
    flag: str, subject: ContractSubject, whole: DetectResult, result: DetectResult
) -> Iterator[str]:
    if result.capabilities != subject.adapter.capabilities(result.flags):
        yield f"without {flag}: detect and capabilities() differ in what it can do"
    for (name, before), (_, after) in zip(
        whole.capabilities.items(), result.capabilities.items(), strict=True
    ):
        if after.present and not before.present:
            yield f"without {flag}: the capability {name} appears"
        if before.present and not after.present and flag not in after.note:
            yield f"without {flag}: the capability {name} goes, and its note does not say why"


def _degraded(flag: str, permission: Permission, before: Lines, after: Lines) -> Iterator[str]:
    name, _, value = flag.partition("=")
    was, now = before[permission], after[permission]
    used = name in was.options and (not value or _follows(was, name, value))
    if now.refused is not None:
        text = f"{now.refused.message} {now.refused.failure.hint}"
        if used and was.refused is None and (name not in text or value not in text):
            yield f"without {flag}: {permission.value} is refused, and {flag} is not named"
        return
    built = now.command
    assert built is not None
    if used and (_follows(now, name, value) if value else name in now.options):
        yield f"without {flag}: {permission.value} still uses it"
    elif used and not value and name not in built.dropped:
        yield f"without {flag}: {permission.value} leaves it out and does not say so (dropped)"
    wider = _wider(permission, before, after)
    if permission in (Permission.PLAN, Permission.EDIT):
        wider |= {term for term in now.options - was.options if DANGER.search(term)}
    for term in sorted(wider & now.options):
        yield f"without {flag}: {permission.value} gets {term}, which only a wider one has"


def _follows(answer: BuiltLine, name: str, value: str) -> bool:
    args = answer.command.args if answer.command else ()
    return (name, value) in set(pairwise(args))


def _wider(permission: Permission, before: Lines, after: Lines) -> frozenset[str]:
    """What only wider permissions carry, before or after; not what all carry after."""
    wider = PERMISSIONS[PERMISSIONS.index(permission) + 1 :]
    own = before[permission].options
    always = frozenset(term for other in wider for term in before[other].options) - own
    fresh = frozenset(term for other in wider for term in after[other].options) - own
    built = [after[other].options for other in PERMISSIONS if after[other].command]
    shared = frozenset.intersection(*built) if built else frozenset()
    return always | (fresh - shared)
