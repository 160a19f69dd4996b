"""Whether the line is the one that was asked for, and never wider than it: each permission on each
recorded version, whole and with each flag of the help text taken away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hydra.adapters.contract import Adapter, Descriptor
from hydra.adapters.supported import check_supported
from hydra.conformance.contract import expectation
from hydra.conformance.contract.detection import answers
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, Form
from hydra.conformance.recorded import Recording
from hydra.errors import AgentError
from hydra.records.agent import BuiltCommand, DetectResult, SpawnRequest
from hydra.records.request import Budget, Effort, Permission

WORKTREE = Path("/lane/shop")
PROMPT = "Fix the pager"
SESSION = "00000000-0000-4000-8000-00000000000a"
EXTRA = ("--made-up-extra", "made up value")

PERMISSIONS = (Permission.PLAN, Permission.EDIT, Permission.FULL_AUTO, Permission.UNRESTRICTED)
"""From the narrowest to the widest; `default` and `config` grant what the CLI's own settings do."""

REQUESTS: Mapping[str, Mapping[str, Any]] = {
    **{str(permission): {"permission": permission} for permission in PERMISSIONS},
    **{f"{p}, as root": {"permission": p, "as_root": True} for p in PERMISSIONS},
    **{f"{p}, not confined": {"permission": p, "confined": False} for p in PERMISSIONS},
    **{
        f"{p}, as root, not confined": {"permission": p, "as_root": True, "confined": False}
        for p in PERMISSIONS
    },
    **{f"{p}, with network": {"permission": p, "network": True} for p in PERMISSIONS},
    **{f"{p}, no network": {"permission": p, "network": False} for p in PERMISSIONS},
    "a model": {"model": "made-up-model"},
    "instructions": {"instructions": ("CLAUDE.md",)},
    "instructions, other": {"instructions": ("AGENTS.md",)},
    "instructions, two": {"instructions": ("CLAUDE.md", "AGENTS.md")},
    "instructions, two of a kind": {"instructions": ("CLAUDE.md", ".claude/CLAUDE.md")},
    "extra arguments": {"extra_args": EXTRA},
    "a prompt with a slash": {"prompt": "/clear"},
    "a prompt with a dash": {"prompt": "--version"},
    **{f"{p}, resumed": {"permission": p, "resume": SESSION} for p in PERMISSIONS},
    **{f"{p}": {"permission": p} for p in (Permission.DEFAULT, Permission.CONFIG)},
    **{f"effort {effort}": {"effort": effort} for effort in Effort},
    "a preface": {"preface": "Mind the tests.\nAll of them."},
    "forked": {"resume": SESSION, "fork": True},
    "a budget": {"budget": Budget(turns=7, cost_usd=1.25, seconds=90.0, tool_calls=11)},
    "a service tier": {"service_tier": "fast"},
    "a session that could be an option": {"resume": "--made-up"},
    "a session of two words": {"resume": "made up"},
    "everything": {
        "model": "made-up-model",
        "instructions": ("CLAUDE.md",),
        "extra_args": EXTRA,
        "as_root": True,
    },
}
"""Every request by what is special in it."""


ALSO: Mapping[str, Mapping[str, Any]] = {
    "with network": {"network": True},
    "no network": {"network": False},
    "resumed": {"resume": SESSION},
}
"""What else is asked of a line that has lost a flag."""


def request(**changes: Any) -> SpawnRequest:
    """A lane's request, with these changes."""
    return replace(SpawnRequest(prompt=PROMPT, worktree=WORKTREE), **changes)


class BuiltLine(Struct, frozen=True):
    """The line that came of a request, or why it was refused; exactly one of the two."""

    command: BuiltCommand | None = None
    refused: AgentError | None = None

    @property
    def options(self) -> frozenset[str]:
        """Everything on the line, in its environment and in its conversation that can carry a
        meaning."""
        if self.command is None:
            return frozenset()
        pairs = (*self.command.env, *self.command.session_params)
        return frozenset((*self.command.args, *(f"{name}={value}" for name, value in pairs)))

    def as_data(self, base: BuiltLine | None = None) -> Any:
        """As the expectation has it: whole, or what is other than on the line of `base`."""
        if self.command is None:
            assert self.refused is not None
            failure = self.refused.failure
            return {"refused": [failure.kind, failure.reason, failure.message, failure.hint]}
        mine, other = _fields(self.command), {}
        if base is not None and base.command is not None:
            other = _fields(base.command)
            terms = _changes(other.pop("args").split(" "), mine.pop("args").split(" "))
            mine |= {"args": terms} if terms else {}
        return {name: value for name, value in mine.items() if value != other.get(name, [])}


def _fields(built: BuiltCommand) -> dict[str, Any]:
    return {
        "args": " ".join(arg.replace(str(WORKTREE), "/lane/shop") for arg in built.args),
        "env": dict(built.env),
        "dropped": list(built.dropped),
        "warnings": list(built.warnings),
        "expects": [list(pair) for pair in built.expected_settings],
        "stdin": repr(built.stdin),
        **(
            {"files": [[str(path), repr(data)] for path, data in built.files]}
            if built.files
            else {}
        ),
        **({"dialogue": dict(built.session_params)} if built.session_params else {}),
    }


def _changes(before: list[str], after: list[str]) -> list[str]:
    """`9: - --cd /lane/shop`: what went and what came, by the place on the line before."""
    names = []
    for tag, i, j, m, n in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            went = f" - {' '.join(before[i:j])}" if j > i else ""
            came = f" + {' '.join(after[m:n])}" if n > m else ""
            names.append(f"{i}:{went}{came}")
    return names


def ask(adapter: Adapter, result: DetectResult, spawn_request: SpawnRequest) -> BuiltLine:
    """The line for one request. Anything but an `AgentError` goes through to the caller."""
    try:
        check_supported(adapter.descriptor, spawn_request)  # as a plan does
        return BuiltLine(command=adapter.build_command(spawn_request, result))
    except AgentError as refused:
        return BuiltLine(refused=refused)


# without an option, or a value of one, of the help text

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


# what is tried

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


def by_word(descriptor: Descriptor) -> bool:
    """Whether the prompt is a word of the line, which every user of the machine can read."""
    return descriptor.protocol == "argv"


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
