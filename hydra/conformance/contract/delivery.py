"""By which way a prompt reaches a CLI, as its descriptor's `protocol` says, and whether the line
that is built carries it whole by that way and by no other."""

from __future__ import annotations

from collections.abc import Iterator

from hydra.adapters.contract import Descriptor
from hydra.records.agent import BuiltCommand

LONGEST_WORD = 128 * 1024 - 1
"""Bytes that Linux takes as one word of a command line."""

CONVERSED = ("acp", "http")
"""The prompt is part of a conversation; `BuiltCommand.stdin` holds what that will send."""


def by_word(descriptor: Descriptor) -> bool:
    """Whether the prompt is a word of the line, which every user of the machine can read."""
    return descriptor.protocol == "argv"


def fits(prompt: bytes) -> bool:
    """Whether it can be a word of a line at all."""
    return len(prompt) <= LONGEST_WORD and b"\x00" not in prompt


def size(descriptor: Descriptor, built: BuiltCommand) -> int:
    """The bytes of the largest thing that can carry a prompt here."""
    if descriptor.protocol == "file":
        return max((len(data) for _, data in built.files), default=0)
    if by_word(descriptor):
        return max((len(arg.encode("utf-8", "surrogateescape")) for arg in built.args), default=0)
    return len(built.stdin or b"")


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
