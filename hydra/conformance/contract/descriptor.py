"""Whether the descriptor is whole: everything that Hydra takes from it without asking again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from hydra.adapters.contract import PROTOCOLS
from hydra.adapters.environment import matches, secret_values, select
from hydra.adapters.signin import sign_in_state
from hydra.adapters.thirdparty import KEY
from hydra.adapters.versions import broken, older, parts
from hydra.conformance import recorded
from hydra.conformance.contract import snapshot
from hydra.conformance.contract.delivery import CONVERSED
from hydra.conformance.contract.subject import NO_RECORDINGS, Check, Form, NotTried, Subject
from hydra.model import CAPABILITIES, Confidence, SignIn

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")
_LONGEST_PROBE = 60.0


def names(subject: Subject) -> Iterator[str]:
    """The key is safe as a ref and a file name; what a person reads is there."""
    told = subject.adapter.descriptor
    if not KEY.fullmatch(told.key):
        yield f"key {told.key!r} is not of a-z, 0-9 and -, at most 40, or begins like `2x`"
    if subject.adapter.key() != told.key:
        yield f"key() gives {subject.adapter.key()!r} and the descriptor {told.key!r}"
    for field in ("label", "homepage", "install_hint", "sign_in_hint", "protocol", "stream_format"):
        if not str(getattr(told, field)).strip():
            yield f"{field} is empty"
    if told.sandbox not in ("hard", "soft"):
        yield f"sandbox is {told.sandbox!r}, not hard or soft"
    if told.protocol not in PROTOCOLS:
        yield f"protocol is {told.protocol!r}, not one of {', '.join(PROTOCOLS)}"
    if told.converses != (told.protocol in CONVERSED):
        yield f"protocol is {told.protocol}, and converses is {told.converses}"
    if not told.binaries:
        yield "binaries is empty: no program is looked for"
    for name in (*told.binaries, *told.generic_binaries):
        if PurePath(name).name != name or name.startswith("-"):
            yield f"binaries: {name!r} is no plain file name"
    for name in set(told.binaries) & set(told.generic_binaries):
        yield f"binaries: {name!r} is both its own and a generic name"
    if 0 not in told.exit_codes:
        yield "exit_codes does not say what 0 means"
    for code, meaning in told.exit_codes.items():
        if not 0 <= code <= 255 or not meaning.strip():
            yield f"exit_codes: {code} has no meaning or is no exit code"


def probes(subject: Subject) -> Iterator[str]:
    """The probes that Hydra asks for by name are there, and none may hang a start."""
    told = subject.adapter.descriptor.probes
    known = [probe.name for probe in told]
    for name in ("version", "help"):
        if name not in known:
            yield f"probes: there is none called {name!r}"
    for name in sorted({name for name in known if known.count(name) > 1}):
        yield f"probes: {name!r} is there twice"
    for probe in told:
        if not probe.args:
            yield f"probes: {probe.name!r} has no arguments: it would start the agent itself"
        if not 0 < probe.timeout <= _LONGEST_PROBE:
            yield f"probes: {probe.name!r} may take {probe.timeout:g} s"


def capabilities(subject: Subject) -> Iterator[str]:
    """It claims what Hydra cannot do without; what it calls verified has its version recorded."""
    told = subject.adapter.descriptor
    there = recorded.versions(subject.recordings, subject.key)
    for name, claim in told.capabilities.items():
        if claim.confidence is Confidence.VERIFIED and claim.seen_in not in there:
            yield f"capability {name}: verified in {claim.seen_in!r}, which is not recorded"
    if subject.form is Form.TEXT:
        if told.capabilities.json_stream.present:
            yield "capability json_stream: its stream_format is text"
        if not told.capabilities.plain_text.present:
            yield "capability plain_text: without it Hydra cannot follow the agent"
    elif not told.capabilities.json_stream.present and not told.unrunnable:
        yield "capability json_stream: without it Hydra cannot follow the agent"


def environment(subject: Subject) -> Iterator[str]:
    """Its own variables reach it, its secrets are known as such, and a rival's do not reach it."""
    told = subject.adapter.descriptor
    own = {*told.environment, *(n for more in told.environment_if.values() for n in more)}
    for name in (*own, *told.secret_environment, *told.sign_in_environment):
        if not _NAME.fullmatch(name):
            yield f"environment: {name!r} is no variable's name"
    environ = {name.rstrip("*"): f"made-up value of {name}" for name in own}
    environ |= {name: f"made-up value of {name}" for name in told.environment_if}
    environ |= {name: f"made-up value of {name}" for name in told.secret_environment}
    kept = select(told, environ)
    for name in (*told.secret_environment, *told.sign_in_environment):
        if not matches(name, own):
            yield f"environment: {name} is named as a secret or sign-in and not passed on"
        elif name in environ and name not in kept:
            yield f"environment: {name} does not reach the agent"
    hidden = secret_values(told, environ)
    for name in told.sign_in_environment:
        secret = name.endswith(("KEY", "TOKEN", "SECRET"))
        if secret and f"made-up value of {name}" not in hidden:
            yield f"secret_environment: {name} signs in, and would not be redacted"
    known = [sign_in_state(told, {name})[0] for name in told.sign_in_environment]
    known.append(sign_in_state(told, files_present=True)[0])
    if any(state is not SignIn.SEEMS_SO for state in known):
        yield "sign_in_environment: a name that is set does not count as a sign-in"
    rivals = {"HYDRA_CONFORMANCE_TOKEN": "a rival's", "GIT_DIR": "/a", "SSH_AUTH_SOCK": "/b"}
    for name in select(told, rivals):
        yield f"environment: {name} would reach it, which is none of its own"


def files(subject: Subject) -> Iterator[str]:
    """Paths stay inside the folder that they are told to lie in."""
    told = subject.adapter.descriptor
    inside = [("side_files", name) for name in told.side_files]
    inside += [("instructions", name) for name in told.instructions]
    if told.config is not None:
        inside.append(("config.default", told.config.default))
        held = (*told.config.credentials, *told.config.copied, *told.config.beside)
        inside += [("config", name) for name in held]
        if not _NAME.fullmatch(told.config.variable):
            yield f"config.variable: {told.config.variable!r} is no variable's name"
        if not matches(told.config.variable, told.environment):
            yield f"config.variable: {told.config.variable} is not passed on to the agent"
    for field, name in inside:
        path = PurePath(name)
        if not name or path.is_absolute() or ".." in path.parts:
            yield f"{field}: {name!r} does not stay inside its folder"


def versions(subject: Subject) -> Iterator[str]:
    """The newest recorded version is one that Hydra takes without a word."""
    told = subject.adapter.descriptor
    for key, reason in told.broken_versions.items():
        if not parts(key.removeprefix("<")) or not reason.strip():
            yield f"broken_versions: {key!r} is no version, or has no reason"
    newest = subject.newest()
    if newest is None:
        return
    if older(newest.version, told.minimum_version):
        yield f"minimum_version {told.minimum_version} is newer than all recordings"
    if broken(newest.version, told.broken_versions):
        yield f"broken_versions refuses the newest recorded version, {newest.version}"


def recordings(subject: Subject) -> Iterator[str]:
    """One of Hydra's own has recordings under its key; a third party's may have none yet."""
    if subject.newest() is not None:
        return
    if subject.third_party:
        raise NotTried(NO_RECORDINGS)
    if subject.adapter.descriptor.unrunnable:
        raise NotTried(f"Hydra does not run it: {subject.adapter.descriptor.unrunnable}")
    yield f"key {subject.key!r}: nothing is recorded under that name"


def as_written(subject: Subject) -> Iterator[str]:
    """It is what a person has read and approved, field by field."""
    path = subject.folder / snapshot.DESCRIPTOR
    yield from snapshot.against(path, snapshot.descriptor(subject.adapter.descriptor))


def capability_names(subject: Subject) -> Iterator[str]:
    """`capabilities()` speaks of the same seven things, with and without flags."""
    for flags in (frozenset[str](), frozenset({"--json"})):
        held = subject.adapter.capabilities(flags)
        if [name for name, _ in held.items()] != list(CAPABILITIES):
            yield f"capabilities({sorted(flags)}) does not name the seven capabilities"


CHECKS = (
    Check("descriptor.names", whole=names),
    Check("descriptor.probes", whole=probes),
    Check("descriptor.capabilities", whole=capabilities),
    Check("descriptor.capability_names", whole=capability_names),
    Check("descriptor.environment", whole=environment),
    Check("descriptor.files", whole=files),
    Check("descriptor.versions", whole=versions),
    Check("descriptor.recordings", whole=recordings),
    Check("descriptor.as_written", whole=as_written),
)
