"""Whether the prompt stays a prompt and a secret stays off the line: both for any text at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from hydra.adapters.contract import Descriptor
from hydra.conformance.contract.detection import answers
from hydra.conformance.contract.lines import (
    PERMISSIONS,
    PROMPT,
    BuiltLine,
    ask,
    by_word,
    request,
)
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, NotCheckable
from hydra.conformance.recorded import Recording
from hydra.records.agent import BuiltCommand

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

LONGEST_WORD = 128 * 1024 - 1
"""Bytes that Linux takes as one word of a command line."""

CONVERSED = ("acp", "http")
"""The prompt is part of a conversation; `BuiltCommand.stdin` holds what that will send."""


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
    for text in unlike(descriptor, prompt, PROMPT, built, before):
        yield f"the prompt ({name}) {text}"


def too_long(subject: ContractSubject) -> Iterator[str]:
    """What the CLI would refuse for its length is refused before, or carried whole."""
    newest = subject.newest()
    if newest is None:
        raise NotCheckable("no recordings")
    seen, huge = subject.detect(answers(subject, newest)), "x" * _HUGE
    plain, line = (ask(subject.adapter, seen, request(prompt=text)) for text in (PROMPT, huge))
    if line.refused is not None and line.refused.failure.reason != "prompt_too_large":
        yield f"a prompt of {_HUGE} bytes is refused for {line.refused.failure.reason!r}"
    if line.command is not None and plain.command is not None:
        for text in unlike(subject.adapter.descriptor, huge, PROMPT, line.command, plain.command):
            yield f"a prompt of {_HUGE} bytes {text}"


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
            if built is not None and by_word(descriptor):
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


# by which way it reaches a CLI, and whether it does so whole


def fits(prompt: bytes) -> bool:
    """Whether it can be a word of a line at all."""
    return len(prompt) <= LONGEST_WORD and b"\x00" not in prompt


def unlike(
    descriptor: Descriptor, prompt: str, plain_prompt: str, built: BuiltCommand, plain: BuiltCommand
) -> Iterator[str]:
    """What is wrong with the line for `prompt`, held against that for a plain one. Each sentence
    goes on after `the prompt (name) `."""
    content = prompt.encode("utf-8", "surrogateescape")
    for field in ("program", "env", "cwd", *(() if by_word(descriptor) else ("args",))):
        if getattr(built, field) != getattr(plain, field):
            yield f"changes {field} of the line"
    if descriptor.protocol == "file":
        yield from _filed(content, built, plain)
    elif by_word(descriptor):
        yield from _worded(prompt, plain_prompt, built, plain)
    elif built.stdin is None:
        yield "is not on stdin"
    else:
        yield from _whole(content, built.stdin, "stdin")
    if descriptor.protocol != "file" and built.files != plain.files:
        yield "changes files of the line"
    if descriptor.protocol in ("file", "argv") and built.stdin:
        yield "is not the only thing that is told: something is on stdin as well"


def _filed(content: bytes, built: BuiltCommand, plain: BuiltCommand) -> Iterator[str]:
    home = built.cwd.parent / "home"
    if [path for path, _ in built.files] != [path for path, _ in plain.files]:
        yield "changes the names of its files"
    changed = [
        pair
        for pair, before in zip(built.files, plain.files, strict=False)
        if pair != before or pair[1] == content
    ]
    if len(changed) != 1:
        yield f"is in {len(changed)} files, not in one"
        return
    path, data = changed[0]
    if home not in path.parents or ".." in path.parts:
        yield f"is in {path}, which is not in the lane's home"
    if not any(arg == str(path) or arg.endswith(f"={path}") for arg in built.args):
        yield "is in a file that its line does not name"
    yield from _whole(content, data, "its file")


def _worded(
    prompt: str, plain_prompt: str, built: BuiltCommand, plain: BuiltCommand
) -> Iterator[str]:
    if not fits(prompt.encode("utf-8", "surrogateescape")):
        yield "can be no word of a line, and is not refused"
        return
    if len(built.args) != len(plain.args):
        yield "is more or less than one word of the line"
        return
    places = [
        at
        for at, term in enumerate(plain.args)
        if term == plain_prompt or term.endswith(f"={plain_prompt}")
    ]
    if len(places) != 1:
        yield f"is on the line {len(places)} times, not once"
        return
    (at,) = places
    flag = plain.args[at].removesuffix(plain_prompt)
    if built.args[at] != flag + prompt:
        yield "does not reach the line whole"
    if not flag and "--" not in plain.args[:at]:
        yield "is a word of the line by itself, and not behind `--`: it can be an option"
    if flag and not flag.startswith("-"):
        yield f"is glued to {flag!r}"
    if (*built.args[:at], *built.args[at + 1 :]) != (*plain.args[:at], *plain.args[at + 1 :]):
        yield "changes other words of the line"


def _whole(content: bytes, data: bytes, where: str) -> Iterator[str]:
    if not data.endswith(content):
        yield f"does not reach {where} whole"
    elif data[: len(data) - len(content)].strip():
        yield f"has other words before it in {where}"


CHECKS = (
    ContractCheck("prompt.only_on_stdin", versioned=only_on_stdin),
    ContractCheck("prompt.too_long", whole=too_long),
    ContractCheck("prompt.secrets", versioned=secrets),
)
