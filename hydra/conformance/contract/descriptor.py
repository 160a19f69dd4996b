"""Whether the descriptor is whole: everything that Hydra takes from it without asking again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from hydra.adapters.detection import broken, older, parts, sign_in_state
from hydra.adapters.environment import matches, secret_values, select
from hydra.adapters.plugins import faults
from hydra.conformance import recorded
from hydra.conformance.contract.prompts import CONVERSED
from hydra.conformance.contract.subject import (
    NO_RECORDINGS,
    ContractCheck,
    ContractSubject,
    Form,
    NotCheckable,
)
from hydra.records.agent import CapabilitySet, Confidence, SignIn

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")
_LONGEST_PROBE = 60.0


def names(subject: ContractSubject) -> Iterator[str]:
    """The key is safe as a ref and a file name; what a person reads is there."""
    descriptor = subject.adapter.descriptor
    yield from faults(descriptor)
    if subject.adapter.key() != descriptor.key:
        yield f"key() gives {subject.adapter.key()!r} and the descriptor {descriptor.key!r}"
    for field in ("label", "homepage", "install_hint", "sign_in_hint", "protocol", "stream_format"):
        if not str(getattr(descriptor, field)).strip():
            yield f"{field} is empty"
    if descriptor.interactive != (descriptor.protocol in CONVERSED):
        yield f"protocol is {descriptor.protocol}, and converses is {descriptor.interactive}"
    for name in set(descriptor.binaries) & set(descriptor.generic_binaries):
        yield f"binaries: {name!r} is both its own and a generic name"
    if 0 not in descriptor.exit_codes:
        yield "exit_codes does not say what 0 means"
    for code, meaning in descriptor.exit_codes.items():
        if not 0 <= code <= 255 or not meaning.strip():
            yield f"exit_codes: {code} has no meaning or is no exit code"


def probes(subject: ContractSubject) -> Iterator[str]:
    """The probes that Hydra asks for by name are there, and none may hang a start."""
    outputs = subject.adapter.descriptor.probes
    texts = [probe.name for probe in outputs]
    for name in ("version", "help"):
        if name not in texts:
            yield f"probes: there is none called {name!r}"
    for name in sorted({name for name in texts if texts.count(name) > 1}):
        yield f"probes: {name!r} is there twice"
    for probe in outputs:
        if not 0 < probe.timeout <= _LONGEST_PROBE:
            yield f"probes: {probe.name!r} may take {probe.timeout:g} s"


def capabilities(subject: ContractSubject) -> Iterator[str]:
    """It claims what Hydra cannot do without; what it calls verified has its version recorded."""
    descriptor = subject.adapter.descriptor
    texts = recorded.versions(subject.recordings, subject.key)
    for name, claim in descriptor.capabilities.items():
        if claim.confidence is Confidence.VERIFIED and claim.seen_in not in texts:
            yield f"capability {name}: verified in {claim.seen_in!r}, which is not recorded"
    if subject.form is Form.TEXT:
        if descriptor.capabilities.json_stream.present:
            yield "capability json_stream: its stream_format is text"
        if not descriptor.capabilities.plain_text.present:
            yield "capability plain_text: without it Hydra cannot follow the agent"
    elif not descriptor.capabilities.json_stream.present:
        yield "capability json_stream: without it Hydra cannot follow the agent"


def environment(subject: ContractSubject) -> Iterator[str]:
    """Its own variables reach it, its secrets are known as such, and a rival's do not reach it."""
    descriptor = subject.adapter.descriptor
    own = {
        *descriptor.environment,
        *(n for more in descriptor.environment_if.values() for n in more),
    }
    for name in (*own, *descriptor.secret_environment, *descriptor.sign_in_environment):
        if not _NAME.fullmatch(name):
            yield f"environment: {name!r} is no variable's name"
    environ = {name.rstrip("*"): f"made-up value of {name}" for name in own}
    environ |= {name: f"made-up value of {name}" for name in descriptor.environment_if}
    environ |= {name: f"made-up value of {name}" for name in descriptor.secret_environment}
    values = select(descriptor, environ)
    for name in (*descriptor.secret_environment, *descriptor.sign_in_environment):
        if not matches(name, own):
            yield f"environment: {name} is named as a secret or sign-in and not passed on"
        elif name in environ and name not in values:
            yield f"environment: {name} does not reach the agent"
    hidden = secret_values(descriptor, environ)
    for name in descriptor.sign_in_environment:
        secret = name.endswith(("KEY", "TOKEN", "SECRET"))
        if secret and f"made-up value of {name}" not in hidden:
            yield f"secret_environment: {name} signs in, and would not be redacted"
    ins = [sign_in_state(descriptor, {name})[0] for name in descriptor.sign_in_environment]
    ins.append(sign_in_state(descriptor, files_present=True)[0])
    if any(state is not SignIn.SEEMS_SO for state in ins):
        yield "sign_in_environment: a name that is set does not count as a sign-in"
    rivals = {"HYDRA_CONFORMANCE_TOKEN": "a rival's", "GIT_DIR": "/a", "SSH_AUTH_SOCK": "/b"}
    for name in select(descriptor, rivals):
        yield f"environment: {name} would reach it, which is none of its own"


def files(subject: ContractSubject) -> Iterator[str]:
    """Paths stay inside the folder that they are told to lie in."""
    descriptor = subject.adapter.descriptor
    inside = [("side_files", name) for name in descriptor.side_files]
    inside += [("instructions", name) for name in descriptor.instructions]
    if descriptor.config is not None:
        variable = descriptor.config.variable
        if variable and not _NAME.fullmatch(variable):
            yield f"config.variable: {variable!r} is no variable's name"
        if variable and not matches(variable, descriptor.environment):
            yield f"config.variable: {variable} is not passed on to the agent"
    for field, name in inside:
        path = PurePath(name)
        if not name or path.is_absolute() or ".." in path.parts:
            yield f"{field}: {name!r} does not stay inside its folder"


def versions(subject: ContractSubject) -> Iterator[str]:
    """The newest recorded version is one that Hydra takes without a word."""
    descriptor = subject.adapter.descriptor
    for key, reason in descriptor.broken_versions.items():
        if not parts(key.removeprefix("<")) or not reason.strip():
            yield f"broken_versions: {key!r} is no version, or has no reason"
    newest = subject.newest()
    if newest is None:
        return
    if older(newest.version, descriptor.minimum_version):
        yield f"minimum_version {descriptor.minimum_version} is newer than all recordings"
    if broken(newest.version, descriptor.broken_versions):
        yield f"broken_versions refuses the newest recorded version, {newest.version}"


def recordings(subject: ContractSubject) -> Iterator[str]:
    """One of Hydra's own has recordings under its key; a third party's may have none yet."""
    if subject.newest() is not None:
        return
    if subject.third_party:
        raise NotCheckable(NO_RECORDINGS)
    yield f"key {subject.key!r}: nothing is recorded under that name"


def capability_names(subject: ContractSubject) -> Iterator[str]:
    """`capabilities()` speaks of the same seven things, with and without flags."""
    for flags in (frozenset[str](), frozenset({"--json"})):
        capability_set = subject.adapter.capabilities(flags)
        if [name for name, _ in capability_set.items()] != list(CapabilitySet.__struct_fields__):
            yield f"capabilities({sorted(flags)}) does not name the seven capabilities"


CHECKS = (
    ContractCheck("descriptor.names", whole=names),
    ContractCheck("descriptor.probes", whole=probes),
    ContractCheck("descriptor.capabilities", whole=capabilities),
    ContractCheck("descriptor.capability_names", whole=capability_names),
    ContractCheck("descriptor.environment", whole=environment),
    ContractCheck("descriptor.files", whole=files),
    ContractCheck("descriptor.versions", whole=versions),
    ContractCheck("descriptor.recordings", whole=recordings),
)
