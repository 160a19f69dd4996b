"""Whether `detect` reads what a CLI answers: recorded answers, none, broken, late, and foreign."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from hydra.adapters.command_line import options
from hydra.adapters.detection import Probes, parts
from hydra.conformance.contract import expectation
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, NotCheckable
from hydra.conformance.recorded import Recording
from hydra.errors import KINDS
from hydra.records.agent import DetectResult, ProbeOutput, SignIn

FOREIGN = ProbeOutput(
    name="version", argv=("x", "--version"), exit_code=0, stdout="another program 9.5\n"
)
ANY = "acp"
"""The agent that is whatever program the user names: no other can stand in its place."""
_MADE_UP_KEY = "sk-made-up-0123456789abcdef"
_EXPECTED_OF_OLD = ("UnsupportedVersion", "UnsupportedFlag")


def answers(subject: ContractSubject, recording: Recording) -> dict[str, ProbeOutput]:
    """The good answers, of which there must be two. Raises `NotCheckable`."""
    outputs = subject.probes(recording)
    lacking = [name for name in ("version", "help") if name not in outputs]
    if lacking:
        raise NotCheckable(f"no recorded answer to the probe {lacking[0]}")
    return outputs


def situations(subject: ContractSubject, recording: Recording) -> dict[str, DetectResult]:
    """What `detect` says of the recorded answers, and of each of them spoiled."""
    good = answers(subject, recording)
    version = good["version"]
    rows = {"as recorded": good, "nothing was asked": {}, "version alone": {"version": version}}
    for probe, outputs in recording.answers(subject.adapter.descriptor.probes).items():
        for number, answer in enumerate(outputs[1:], 2):
            rows[f"{probe}: answer {number}"] = {**good, probe: answer}
    for how, spoiled in _spoiled(version).items():
        rows[f"version: {how}"] = {**good, "version": spoiled}
    # Older than the oldest that was tried, whatever number its build has.
    oldest = ".".join(subject.adapter.descriptor.minimum_version.split(".")[:2])
    early = re.sub(r"\d+(?:\.\d+)+\S*", f"{oldest}-999", version.stdout, count=1)
    if oldest:
        rows["version: an early build"] = {**good, "version": replace(version, stdout=early)}
    for probe, answer in good.items():
        if probe != "version":
            silent = replace(answer, stdout="", stderr="boom\n", exit_code=None, timed_out=True)
            rows[f"{probe}: hangs"] = {**good, probe: silent}
            rows[f"{probe}: fails"] = {**good, probe: replace(silent, exit_code=7)}
    rows["another program"] = _foreign(good)
    seen = {name: subject.detect(probes) for name, probes in rows.items()}
    for name in subject.adapter.descriptor.generic_binaries:
        seen[f"found as {name}"] = subject.detect(good, name)
        odd = replace(version, stdout="an editor 1.7\n")
        seen[f"found as {name}, with another version text"] = subject.detect(
            {**good, "version": odd}, name
        )
    return seen


def _spoiled(version: ProbeOutput) -> dict[str, ProbeOutput]:
    silent = replace(version, stdout="", stderr="cannot execute\n")
    return {
        "exit 126": replace(silent, exit_code=126),
        "exit 127": replace(silent, exit_code=127),
        "exit 1": replace(silent, exit_code=1),
        "not started": replace(silent, exit_code=None),
        "hangs": replace(silent, exit_code=None, timed_out=True, seconds=10.0),
        "new text": replace(version, stdout="Version three, at last\n"),
        "on stderr": replace(version, stdout="", stderr=version.stdout),
        "exit 1, and told": replace(version, exit_code=1),
        "exit 1, new text": replace(version, exit_code=1, stdout="Version three, at last\n"),
        "much newer": _numbered(version, "999"),
        "very old": _numbered(version, "0"),
    }


def _numbered(version: ProbeOutput, major: str) -> ProbeOutput:
    text = re.sub(r"\d+(?=\.\d)", major, version.stdout, count=1)
    return replace(version, stdout=text)


def _foreign(good: Probes) -> dict[str, ProbeOutput]:
    helps = {name: replace(good[name], stdout="Usage: crack [options]\n") for name in _helps(good)}
    return {"version": FOREIGN, **helps}


def _helps(probes: Probes) -> list[str]:
    return [name for name in probes if name.endswith("help")]


def as_data(result: DetectResult) -> dict[str, Any]:
    """A result as the expectation has it: flags are counted by the lines that use them."""
    error = result.error
    return {
        "version": result.version,
        "ready": result.ready,
        "error": error and [error.kind, error.reason, error.message, error.hint],
        "command": list(error.command) if error else [],
        "stderr": bool(error and error.stderr),
        "sign_in": [result.sign_in.value, result.sign_in_detail],
        "warnings": list(result.warnings),
        "lost": [
            name for name, capability in result.capabilities.items() if capability.present is False
        ],
        "flags": bool(result.flags),
    }


def situations_as_data(subject: ContractSubject, recording: Recording) -> dict[str, Any]:
    """Every situation as data."""
    return {name: as_data(seen) for name, seen in situations(subject, recording).items()}


def _sound(name: str, result: DetectResult, subject: ContractSubject) -> Iterator[str]:
    if result.adapter != subject.key:
        yield f"{name}: the result is of {result.adapter!r}"
    error = result.error
    if error is None:
        return
    if error.kind not in KINDS:
        yield f"{name}: {error.kind!r} is no kind of error"
    for field in ("adapter", "command", "hint", "message", "reason"):
        if not getattr(error, field):
            yield f"{name}: the error {error.kind} has no {field}"


def on_recorded_answers(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """The version is read; what the newest answers is ready, an older one is or says why not."""
    good = answers(subject, recording)
    result = subject.detect(good)
    yield from _sound("as recorded", result, subject)
    if parts(result.version) != parts(recording.version):
        yield f"version: read {result.version!r}, recorded {recording.version!r}"
    text = "\n".join(good[name].stdout for name in _helps(good))
    unknown = sorted(flag for flag in result.flags if flag.partition("=")[0] not in options(text))
    if unknown:
        yield f"flags: {', '.join(unknown)} are not in the help text"
    newest = subject.newest()
    if newest is not None and recording.version == newest.version:
        if not result.ready:
            yield f"the newest recorded version is refused: {result.error and result.error.message}"
        yield from (f"the newest recorded version is warned of: {w}" for w in result.warnings)
    elif result.error is not None and result.error.kind not in _EXPECTED_OF_OLD:
        yield f"an old version is refused as {result.error.kind}: {result.error.message}"


def on_programs_that_do_not_run(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Missing, broken, hanging: `SpawnFailed`, whatever else was answered."""
    good = answers(subject, recording)
    for how, spoiled in _spoiled(good["version"]).items():
        result = subject.detect({**good, "version": spoiled})
        yield from _sound(f"version: {how}", result, subject)
        if spoiled.stdout or how == "on stderr":
            continue
        if result.error is None or result.error.kind != "SpawnFailed":
            yield f"version: {how}: {_kind(result)}, not SpawnFailed"


def on_another_program(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Something else by that name is `BinaryMissing`; under a generic name only the version text
    proves what it is."""
    if subject.key == ANY:
        raise NotCheckable("it is whatever program the user names")
    good = answers(subject, recording)
    foreign = _foreign(good)
    bare = {**foreign, "version": replace(foreign["version"], stdout="9.5.0\n")}
    for how, outputs in {"another program": foreign, "one with a bare version": bare}.items():
        result = subject.detect(outputs)
        yield from _sound(how, result, subject)
        if result.error is None or result.error.kind != "BinaryMissing":
            yield f"{how}: {_kind(result)}, not BinaryMissing"
    for name in subject.adapter.descriptor.generic_binaries:
        result = subject.detect({**good, "version": FOREIGN}, name)
        if result.error is None or result.error.kind != "BinaryMissing":
            yield f"{name} with another program's version text: {_kind(result)}, not BinaryMissing"
        if subject.detect(good, name).error != subject.detect(good).error:
            yield f"{name} with the right version text is not taken as {subject.key}"


def on_a_new_version_text(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Words that nobody knows yet, or a number nobody has seen, are a warning at most."""
    good = answers(subject, recording)
    before = subject.detect(good)
    spoiled = _spoiled(good["version"])
    known_broken = before.error is not None and before.error.kind == "UnsupportedVersion"
    for how in ("new text", "much newer"):
        result = subject.detect({**good, "version": spoiled[how]})
        if result.error != before.error and not known_broken:
            yield f"version: {how}: {_kind(result)}, and with the recorded one {_kind(before)}"
        if how == "new text" and not result.warnings:
            yield f"version: {how}: no warning says that it was not understood"
        if how == "new text" and result.version:
            yield f"version: {how}: read as {result.version!r}"


def on_answers_that_fail(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Each answer in turn hangs, fails, or is nonsense: a known error or none, never an exception,
    and without a help text never a ready agent."""
    good = answers(subject, recording)
    for name, answer in good.items():
        for stdout in ("", "\x00\x1b[31m\ufffd" * 50, "[]", "-" * 5000, answer.stdout * 2):
            for code in (0, 1, None):
                outputs = {**good, name: replace(answer, stdout=stdout, exit_code=code)}
                how = f"{name}: {stdout[:8]!r}, exit {code}"
                yield from _sound(how, subject.detect(outputs), subject)
    bare = {name: replace(good[name], stdout="", exit_code=None) for name in _helps(good)}
    if subject.key != ANY and subject.detect({**good, **bare}).ready:
        yield "help: without any help text it is said to be ready"


def on_sign_in(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """The CLI's own yes and no are believed; nothing that it prints of a key is repeated."""
    good = answers(subject, recording)
    if not any(probe.name == "sign_in" for probe in subject.adapter.descriptor.probes):
        if subject.detect(good).sign_in is not SignIn.UNKNOWN:
            yield "sign_in: no probe asks for it, and something is said of it"
        return
    base = good.get("sign_in") or replace(good["version"], name="sign_in", stdout="")
    output = replace(
        base, exit_code=0, stdout=f"{base.stdout}\nkey {_MADE_UP_KEY}\n", stderr=_MADE_UP_KEY
    )
    result = subject.detect({**good, "sign_in": output})
    if result.sign_in is not SignIn.CONFIRMED:
        yield f"sign_in: exit 0 is read as {result.sign_in.value!r}"
    if _MADE_UP_KEY in repr(result):
        yield "sign_in: what the CLI prints of its key is repeated in the result"
    if not subject.detect(good).ready:
        return
    result = subject.detect({**good, "sign_in": replace(base, exit_code=1, stdout="")})
    if result.error is None or result.error.kind != "AuthMissing":
        yield f"sign_in: exit 1 gives {_kind(result)}, not AuthMissing"
    if result.sign_in is not SignIn.MISSING:
        yield f"sign_in: exit 1 is read as {result.sign_in.value!r}"


def as_written(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Each situation gives what a person has read and approved."""
    yield from expectation.against(
        recording.folder / expectation.DETECT, situations_as_data(subject, recording)
    )


def _kind(result: DetectResult) -> str:
    return result.error.kind if result.error is not None else "ready"


CHECKS = (
    ContractCheck("detect.recorded", versioned=on_recorded_answers),
    ContractCheck("detect.not_running", versioned=on_programs_that_do_not_run),
    ContractCheck("detect.another_program", versioned=on_another_program),
    ContractCheck("detect.new_version_text", versioned=on_a_new_version_text),
    ContractCheck("detect.answers_that_fail", versioned=on_answers_that_fail),
    ContractCheck("detect.sign_in", versioned=on_sign_in),
    ContractCheck("detect.as_written", versioned=as_written),
)
