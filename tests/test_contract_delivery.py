"""The ways by which a prompt may reach a CLI: each is held to, and what goes astray is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.contract import PROTOCOLS
from hydra.adapters.plugins import problem
from hydra.conformance.contract import prompts, suite
from hydra.conformance.contract.lines import PROMPT
from hydra.conformance.contract.prompts import PROMPTS
from hydra.conformance.contract.subject import ContractSubject
from hydra.records.agent import BuiltCommand

DESCRIPTOR = registry.get("codex").descriptor
FILE = replace(DESCRIPTOR, protocol="file")
ARGV = replace(DESCRIPTOR, protocol="argv")
HOME = Path("/lane/home")


def command(*args: str, **changes: Any) -> BuiltCommand:
    return replace(BuiltCommand(program="/opt/toy", args=args, cwd=Path("/lane/shop")), **changes)


def filed(text: str, path: Path = HOME / "task", **changes: Any) -> BuiltCommand:
    built = command("--task", str(path), files=((path, text.encode("utf-8", "surrogateescape")),))
    return replace(built, **changes)


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_each_way_carries_every_prompt(prompt: str) -> None:
    assert list(prompts.unlike(FILE, prompt, PROMPT, filed(prompt), filed(PROMPT))) == []
    plain, built = command("--ask=" + PROMPT), command("--ask=" + prompt)
    lines = list(prompts.unlike(ARGV, prompt, PROMPT, built, plain))
    fits = prompts.fits(prompt.encode("utf-8", "surrogateescape"))
    assert lines == ([] if fits else ["can be no word of a line, and is not refused"])
    stdin = replace(plain, args=(), stdin=prompt.encode("utf-8", "surrogateescape"))
    before = replace(plain, args=(), stdin=PROMPT.encode())
    assert list(prompts.unlike(DESCRIPTOR, prompt, PROMPT, stdin, before)) == []


ASTRAY = {
    "no file": (filed("no"), "does not reach its file whole"),
    "on the line too": (filed("task", args=("--task", "/lane/home/task", "task")), "changes args"),
    "not in the lane's home": (
        filed("task", Path("/lane/shop/task")),
        "which is not in the lane's home",
    ),
    "out of it again": (filed("task", HOME / ".." / "task"), "which is not in the lane's home"),
    "a file that nobody is told of": (filed("task", args=()), "its line does not name"),
    "words before it": (filed("be nice\ntask"), "has other words before it"),
    "on stdin too": (filed("task", stdin=b"task"), "something is on stdin as well"),
}


@pytest.mark.parametrize(("built", "named"), ASTRAY.values(), ids=ASTRAY)
def test_a_file_that_goes_astray_is_named(built: BuiltCommand, named: str) -> None:
    path = built.files[0][0]
    plain = filed(PROMPT, path, args=built.args[:2])
    assert named in "; ".join(prompts.unlike(FILE, "task", PROMPT, built, plain))


WORDS = {
    "by itself": (command(PROMPT), command("task"), "not behind `--`"),
    "twice": (command("--", PROMPT, PROMPT), command("--", "task", "task"), "2 times"),
    "cut": (command("--ask=" + PROMPT), command("--ask=tas"), "does not reach the line whole"),
    "glued to a name": (command("ask=" + PROMPT), command("ask=task"), "is glued to"),
    "another word": (command("-q", "--", PROMPT), command("-v", "--", "task"), "other words"),
}


@pytest.mark.parametrize(("plain", "built", "named"), WORDS.values(), ids=WORDS)
def test_a_word_that_could_be_something_else_is_named(
    plain: BuiltCommand, built: BuiltCommand, named: str
) -> None:
    assert named in "; ".join(prompts.unlike(ARGV, "task", PROMPT, built, plain))


def test_a_protocol_that_nobody_knows_is_refused() -> None:
    class Told:
        descriptor = replace(DESCRIPTOR, protocol="pigeon")
        key = detect = capabilities = build_command = parser = staticmethod(lambda: "codex")

    assert "protocol is 'pigeon'" in problem(Told(), "codex")
    subject = ContractSubject(Told(), Path("/nowhere"))  # type: ignore[arg-type]
    (case,) = suite.run(subject, only=("descriptor.names",))
    assert f"not one of {', '.join(PROTOCOLS)}" in "\n".join(case.differences)
