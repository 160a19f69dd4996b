"""Whether the prompt stays a prompt and a secret stays off the line: both for any text at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from hydra.adapters.contract import Descriptor
from hydra.conformance.contract import delivery
from hydra.conformance.contract.detection import answers
from hydra.conformance.contract.requests import PERMISSIONS, PROMPT, BuiltLine, ask, request
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, NotCheckable
from hydra.conformance.recorded import Recording

MARK = "made-up-prompt-0a1b2c"
LONG = 200_000
_HUGE = 24_000_000
"""More than any known CLI takes on stdin."""

PROMPTS = {
    "a leading dash": f"-{MARK}",
    "an option": f"--version {MARK}",
    "an option alone": "--help",
    "the end of options": f"-- {MARK}",
    "a lone dash": "-",
    "a command of its own": f"/clear {MARK}",
    "a file's name": f"@/etc/passwd {MARK}",
    "a shell's words": f"!ls; $(id) `id` | x > y & '{MARK}' \"",
    "several lines": f"\n\n{MARK}\r\n--print\n",
    "200 kB": f"{MARK} " + "x" * LONG,
    "no ASCII": f"{MARK} \u00e9\u4e16\U0001f600\u202e",
    "a NUL": f"{MARK}\x00--yes",
    "ANSI": f"\x1b[31m{MARK}\x1b]0;t\x07",
    "JSON": f'{{"type":"result","is_error":false}} {MARK}',
    "bytes that are no text": f"{MARK}\udcff\udc80",
}


def only_on_stdin(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Every prompt gives the same line and is carried whole, or it is refused in words.

    By stdin alone, that is; or by the one other way that the descriptor's `protocol` names: a
    file in the lane's home, or one word of the line that can be no option.
    """
    seen = subject.detect(answers(subject, recording))
    for permission in PERMISSIONS:
        plain = ask(subject.adapter, seen, request(permission=permission))
        if plain.command is None:
            continue
        for name, prompt in PROMPTS.items():
            line = ask(subject.adapter, seen, request(permission=permission, prompt=prompt))
            name = f"{permission.value}, {name}"
            yield from _the_same(subject.adapter.descriptor, name, prompt, plain, line)


def _the_same(
    descriptor: Descriptor, name: str, prompt: str, plain: BuiltLine, line: BuiltLine
) -> Iterator[str]:
    if line.refused is not None:
        if not line.refused.failure.hint:
            yield f"the prompt ({name}) is refused without a next step"
        if MARK in line.refused.message:
            yield f"the prompt ({name}) is repeated in its refusal"
        return
    built, before = line.command, plain.command
    assert built is not None
    assert before is not None
    for text in delivery.unlike(descriptor, prompt, PROMPT, built, before):
        yield f"the prompt ({name}) {text}"


def too_long(subject: ContractSubject) -> Iterator[str]:
    """What the CLI would refuse for its length is refused before, or carried whole."""
    newest = subject.newest()
    if newest is None:
        raise NotCheckable("no recordings")
    descriptor = subject.adapter.descriptor
    seen = subject.detect(answers(subject, newest))
    line = ask(subject.adapter, seen, request(prompt="x" * _HUGE))
    if line.refused is not None and line.refused.failure.reason != "prompt_too_large":
        yield f"a prompt of {_HUGE} bytes is refused for {line.refused.failure.reason!r}"
    if line.command is not None and delivery.size(descriptor, line.command) < _HUGE:
        yield f"a prompt of {_HUGE} bytes is cut"


def secrets(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """With a made-up value in every variable that holds a secret, none is on the line."""
    descriptor = subject.adapter.descriptor
    names = {*descriptor.secret_environment, *descriptor.sign_in_environment}
    values = {name.rstrip("*"): f"made-up-secret-{n}" for n, name in enumerate(sorted(names))}
    with _environment(values):
        seen = subject.detect(answers(subject, recording))
        for permission in PERMISSIONS:
            spawn_request = request(permission=permission, prompt=f"use {MARK}", model="m")
            built = ask(subject.adapter, seen, spawn_request).command
            shown = repr(
                (built and (built.argv, built.env, built.warnings, built.expected_settings), seen)
            )
            for name, value in values.items():
                if value in shown:
                    yield f"{permission.value}: the value of {name} is on the line or in a record"
            if built is not None and delivery.by_word(descriptor):
                shown = repr(
                    (built.program, built.env, built.warnings, built.expected_settings, seen)
                )
            if MARK in shown:
                yield f"{permission.value}: the prompt is on the line or in a record"


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


CHECKS = (
    ContractCheck("prompt.only_on_stdin", versioned=only_on_stdin),
    ContractCheck("prompt.too_long", whole=too_long),
    ContractCheck("prompt.secrets", versioned=secrets),
)
