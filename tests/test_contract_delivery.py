"""The ways by which a prompt may reach a CLI: each is held to, and what goes astray is named."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from hydra.adapters.contract import PROTOCOLS
from hydra.adapters.plugins import problem
from hydra.conformance.contract import delivery, fake_agent, suite
from hydra.conformance.contract.outcomes import prompt_for
from hydra.conformance.contract.prompts import MARK, PROMPTS
from hydra.conformance.contract.requests import PROMPT
from hydra.conformance.contract.subject import ContractSubject
from hydra.records.agent import BuiltCommand

DESCRIPTOR = registry.get("codex").descriptor
FILE = replace(DESCRIPTOR, protocol="file")
ARGV = replace(DESCRIPTOR, protocol="argv")
HOME = Path("/lane/home")
LONG = "x" * 200_000


def command(*args: str, **changes: Any) -> BuiltCommand:
    return replace(BuiltCommand(program="/opt/toy", args=args, cwd=Path("/lane/shop")), **changes)


def filed(text: str, path: Path = HOME / "task", **changes: Any) -> BuiltCommand:
    built = command("--task", str(path), files=((path, text.encode("utf-8", "surrogateescape")),))
    return replace(built, **changes)


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_each_way_carries_every_prompt(prompt: str) -> None:
    assert list(delivery.unlike(FILE, prompt, PROMPT, filed(prompt), filed(PROMPT))) == []
    plain, built = command("--ask=" + PROMPT), command("--ask=" + prompt)
    lines = list(delivery.unlike(ARGV, prompt, PROMPT, built, plain))
    fits = delivery.fits(prompt.encode("utf-8", "surrogateescape"))
    assert lines == ([] if fits else ["can be no word of a line, and is not refused"])
    stdin = replace(plain, args=(), stdin=prompt.encode("utf-8", "surrogateescape"))
    before = replace(plain, args=(), stdin=PROMPT.encode())
    assert list(delivery.unlike(DESCRIPTOR, prompt, PROMPT, stdin, before)) == []


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
    assert named in "; ".join(delivery.unlike(FILE, "task", PROMPT, built, plain))


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
    assert named in "; ".join(delivery.unlike(ARGV, "task", PROMPT, built, plain))


def told(**changes: Any) -> dict[str, Any]:
    nothing = [0, hashlib.sha256().hexdigest()]
    return {"argv": [], "stdin": nothing, "files": [], "heard": [], **changes}


def test_what_a_program_tells_is_held_against_the_way_that_was_named() -> None:
    prompt = f"{MARK} {LONG}"
    whole = [len(prompt), hashlib.sha256(prompt.encode()).hexdigest()]
    acp = replace(DESCRIPTOR, protocol="acp")
    arrived = {
        DESCRIPTOR.protocol: (DESCRIPTOR, told(stdin=whole)),
        "file": (FILE, told(files=[["/lane/home/task", 0o600, *whole]])),
        "argv": (ARGV, told(argv=["--ask=" + prompt])),
        "acp": (acp, told(stdin=[5, "?"], heard=[whole])),
    }
    for name, (descriptor, document) in arrived.items():
        assert list(delivery.arrived(descriptor, prompt, MARK, document)) == [], name
        for other, (_, wrong) in arrived.items():
            if other != name:
                assert list(delivery.arrived(descriptor, prompt, MARK, wrong)), (name, other)
    open_to_all = told(files=[["/lane/home/task", 0o644, *whole]])
    assert "others can read" in "".join(delivery.arrived(FILE, prompt, MARK, open_to_all))


def test_a_prompt_on_a_line_is_one_that_fits_there() -> None:
    hermes = ContractSubject(registry.get("hermes"), Path("/nowhere"))
    codex = ContractSubject(registry.get("codex"), Path("/nowhere"))
    assert delivery.fits(prompt_for([hermes]).encode())
    assert not delivery.fits(prompt_for([codex]).encode())


def test_a_protocol_that_nobody_knows_is_refused() -> None:
    class Told:
        descriptor = replace(DESCRIPTOR, protocol="pigeon")
        key = detect = capabilities = build_command = parser = staticmethod(lambda: "codex")

    assert "protocol is 'pigeon'" in problem(Told(), "codex")
    subject = ContractSubject(Told(), Path("/nowhere"))  # type: ignore[arg-type]
    (case,) = suite.run(subject, only=("descriptor.names",), races=False)
    assert f"not one of {', '.join(PROTOCOLS)}" in "\n".join(case.differences)


def test_the_program_that_poses_hears_a_conversation(scratch: Path) -> None:
    """It answers a request once it was asked, tells what it heard, and leaves its side file."""
    lines = [{"id": 0, "result": {}}, {"method": "update"}, {"id": 1, "result": {}}]
    side = scratch / "used.json"
    script = {
        "answers": [],
        "stdout": [json.dumps(line) for line in lines],
        "waits": [0, 1, 1],
        "converses": True,
        "sides": [["*.json", "{}"]],
        "stderr": "",
        "exit": 0,
        "hangs": False,
        "touch": str(scratch / "told.json"),
    }
    (scratch / "script.json").write_text(json.dumps(script))
    terms = [
        sys.executable,
        str(fake_agent._DRIVER),
        str(scratch / "script.json"),
        f"--used={side}",
    ]
    with subprocess.Popen(terms, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for number, line in enumerate([lines[:1], lines[1:]]):
            request = json.dumps({"id": number, "method": "m", "params": [{"text": LONG}]})
            agent.stdin.write(request.encode() + b"\n")
            agent.stdin.flush()
            assert [json.loads(agent.stdout.readline()) for _ in line] == line
        agent.stdin.close()
        assert agent.wait(120) == 0
    document = json.loads((scratch / "told.json").read_text())["heard"]
    assert document == [[len(LONG), hashlib.sha256(LONG.encode()).hexdigest()]] * 2
    assert side.read_text() == "{}"
