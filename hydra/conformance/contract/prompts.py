"""Whether the prompt stays a prompt and a secret stays off the line: both for any text at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from hydra.conformance.contract.detecting import answers
from hydra.conformance.contract.requests import PERMISSIONS, Answer, ask, request
from hydra.conformance.contract.subject import Check, NotTried, Subject
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


def only_on_stdin(subject: Subject, recording: Recording) -> Iterator[str]:
    """Every prompt gives the same line, and stdin carries it whole, or it is refused in words."""
    if subject.adapter.descriptor.protocol != "stdin":
        raise NotTried(f"its prompt travels by {subject.adapter.descriptor.protocol}, not by stdin")
    seen = subject.detect(answers(subject, recording))
    for permission in PERMISSIONS:
        plain = ask(subject.adapter, seen, request(permission=permission))
        if plain.command is None:
            continue
        for name, prompt in PROMPTS.items():
            told = ask(subject.adapter, seen, request(permission=permission, prompt=prompt))
            yield from _the_same(f"{permission.value}, {name}", prompt, plain, told)


def _the_same(name: str, prompt: str, plain: Answer, told: Answer) -> Iterator[str]:
    if told.refused is not None:
        if not told.refused.failure.hint:
            yield f"the prompt ({name}) is refused without a next step"
        if MARK in told.refused.message:
            yield f"the prompt ({name}) is repeated in its refusal"
        return
    built, before = told.command, plain.command
    assert built is not None
    assert before is not None
    for field in ("program", "args", "env", "cwd"):
        if getattr(built, field) != getattr(before, field):
            yield f"the prompt ({name}) changes {field} of the line"
    if built.stdin is None:
        yield f"the prompt ({name}) is not on stdin"
        return
    wanted = prompt.encode("utf-8", "surrogateescape")
    if not built.stdin.endswith(wanted):
        yield f"the prompt ({name}) does not reach stdin whole"
    elif built.stdin[: len(built.stdin) - len(wanted)].strip():
        yield f"the prompt ({name}) has other words before it on stdin"


def too_long(subject: Subject) -> Iterator[str]:
    """What the CLI would refuse for its length is refused before, or carried whole."""
    newest = subject.newest()
    if newest is None:
        raise NotTried("no recordings")
    seen = subject.detect(answers(subject, newest))
    told = ask(subject.adapter, seen, request(prompt="x" * _HUGE))
    if told.refused is not None and told.refused.failure.reason != "prompt_too_large":
        yield f"a prompt of {_HUGE} bytes is refused for {told.refused.failure.reason!r}"
    if told.command is not None and len(told.command.stdin or b"") < _HUGE:
        yield f"a prompt of {_HUGE} bytes is cut"


def secrets(subject: Subject, recording: Recording) -> Iterator[str]:
    """With a made-up value in every variable that holds a secret, none is on the line."""
    told = subject.adapter.descriptor
    names = {*told.secret_environment, *told.sign_in_environment}
    values = {name.rstrip("*"): f"made-up-secret-{n}" for n, name in enumerate(sorted(names))}
    with _environment(values):
        seen = subject.detect(answers(subject, recording))
        for permission in PERMISSIONS:
            wanted = request(permission=permission, prompt=f"use {MARK}", model="m")
            built = ask(subject.adapter, seen, wanted).command
            shown = repr((built and (built.argv, built.env, built.warnings, built.expects), seen))
            for name, value in values.items():
                if value in shown:
                    yield f"{permission.value}: the value of {name} is on the line or in a record"
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
    Check("prompt.only_on_stdin", versioned=only_on_stdin),
    Check("prompt.too_long", whole=too_long),
    Check("prompt.secrets", versioned=secrets),
)
