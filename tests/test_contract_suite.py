"""The offline suite: it says what it skips, and notices what is wrong. That it passes on what is
built in is a step of its own in .ci/run."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.contract import PROTOCOLS, Adapter, Descriptor, Parser, Probe
from hydra.adapters.event_builders import completed
from hydra.adapters.json_fields import Object
from hydra.adapters.json_stream import JsonStream
from hydra.adapters.plugins import problem
from hydra.conformance import recorded
from hydra.conformance.contract import prompts, suite
from hydra.conformance.contract.lines import PROMPT
from hydra.conformance.contract.prompts import PROMPTS
from hydra.conformance.contract.subject import NO_RECORDINGS, ContractSubject
from hydra.conformance.results import CaseVerdict
from hydra.records.agent import BuiltCommand, CapabilitySet, DetectResult, ProbeOutput, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

CODEX = registry.get("codex")


@dataclass(frozen=True)
class Wrapped:
    """An adapter of Hydra's own, with one thing of it made wrong."""

    whole: Adapter
    change: Mapping[str, Any] | None = None
    build: Callable[[Adapter, SpawnRequest, DetectResult], BuiltCommand] | None = None
    parse: Callable[[Parser], Parser] | None = None

    @property
    def descriptor(self) -> Descriptor:
        return replace(self.whole.descriptor, **self.change or {})

    def key(self) -> str:
        return self.whole.key()

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        return self.whole.detect(binary, probes)

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        return self.whole.capabilities(flags)

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        build = self.build or (lambda whole, *rest: whole.build_command(*rest))
        return build(self.whole, request, result)

    def parser(self) -> Parser:
        parser = self.whole.parser()
        return self.parse(parser) if self.parse else parser


def failed(key: str, *only: str, **wrong: Any) -> dict[str, str]:
    """What fails of an agent's adapter with one thing made wrong: sentences by case."""
    subject = ContractSubject(Wrapped(registry.get(key), **wrong), recorded.root())
    cases = suite.run(subject, only=only)
    return {c.name: "\n".join(c.differences) for c in cases if c.verdict is CaseVerdict.FAILED}


# --- what is tried -------------------------------------------------------------------------------


def test_without_recordings_what_needs_them_is_skipped(scratch: Path) -> None:
    subject = ContractSubject(CODEX, scratch, spec="my_pkg:ADAPTER", third_party=True)
    cases = {case.name: case for case in suite.run(subject)}
    assert list(cases) == suite.names()
    assert len(cases) == len(suite.names())
    assert cases["descriptor.names"].verdict is CaseVerdict.PASSED
    for name in ("detect.recorded", "lines.narrower", "streams.known", "limits.stopped"):
        assert (cases[name].verdict, cases[name].reason) == (CaseVerdict.SKIPPED, NO_RECORDINGS)
    assert not [case for case in cases.values() if case.verdict is CaseVerdict.FAILED]


def test_differences_name_the_event_and_no_expectation_is_no_pass(scratch: Path) -> None:
    folder = scratch / "codex" / "0.169.0"
    shutil.copytree(recorded.root() / "codex" / "0.169.0", folder)
    subject = ContractSubject(CODEX, scratch)
    for path in folder.glob("*.jsonl"):
        path.write_text(path.read_text().replace('"aggregated_output"', '"output_all"'))
    (case,) = suite.run(subject, only=("streams.known",))
    assert any("(tool_result) has summary" in text for text in case.differences)
    for path in folder.glob("*.expected.json"):
        path.unlink()
    (case,) = suite.run(subject, only=("streams.known",))
    assert (case.verdict, "expected.json" in case.reason) == (CaseVerdict.SKIPPED, True)


# --- lines that are wrong ------------------------------------------------------------------------


def leaky(whole: Adapter, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
    """Its prompt is an argument as well."""
    built = whole.build_command(request, result)
    return replace(built, args=(*built.args, request.prompt))


def telling(whole: Adapter, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
    """It reads a key from the environment and puts it on the line."""
    built = whole.build_command(request, result)
    return replace(built, args=(*built.args, "--key", os.environ.get("CODEX_API_KEY", "")))


def wide(whole: Adapter, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
    """Where a flag is gone it takes the widest one instead."""
    flags = result.flags | {"--permission-mode"}
    built = whole.build_command(request, replace(result, flags=flags))
    if "--permission-mode" in result.flags:
        return built
    at = built.args.index("--permission-mode")
    args = (*built.args[:at], "--dangerously-skip-permissions", *built.args[at + 2 :])
    return replace(built, args=args, dropped=("--permission-mode",))


@pytest.mark.parametrize(
    ("key", "build", "case", "text"),
    [
        ("claude", leaky, "prompt.secrets", "the prompt is on the line"),
        ("claude", leaky, "prompt.only_on_stdin", "(plan, an option) changes args"),
        ("codex", telling, "prompt.secrets", "the value of CODEX_API_KEY is on the line"),
        ("claude", wide, "lines.lost_flags", "--dangerously-skip-permissions"),
        ("claude", wide, "lines.as_written", "without --permission-mode.plan"),
    ],
)
def test_a_line_that_is_wrong_is_found(key: str, build: Any, case: str, text: str) -> None:
    assert text in failed(key, case, build=build)[case]


# --- parsers that are wrong ----------------------------------------------------------------------


class Early(JsonStream):
    """Says that it is done at the first line, again at the end, and reads nothing twice."""

    label = "Early"

    def take(self, line: Object) -> list[AgentEvent]:
        return [AgentEvent("completed", "", {"denials": [], "failed_items": 0})]

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        return []

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        return self.take(json.loads(line))


@dataclass
class Hasty:
    """Calls whatever was cut off, and exited with 0, done."""

    whole: Parser
    read: int = 0

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        self.read += bool(line.strip())
        return self.whole.parse_line(line)

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        return self.whole.parse_raw(chunk)

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        events = self.whole.end(exit, files)
        errors = [event.data.get("error") for event in events]
        if exit.code == 0 and self.read and "StreamParseError" in errors:
            return [*events[:-1], completed("done", denials=[], failed_items=0)]
        return events


CUT, HALF = "completed after 1 of ", "completed, and its side files are cut"


@pytest.mark.parametrize(
    ("key", "parse", "case", "text"),
    [
        ("claude", lambda _: Early(), "hostile.lines", "it raises JSONDecodeError"),
        ("claude", lambda _: Early(), "streams.known", ""),
        ("claude", lambda _: Early(), "hostile.counted", ""),
        ("claude", Hasty, "endings.cut", CUT),  # a line closes it
        ("opencode", Hasty, "endings.cut", CUT),  # none does
        ("openclaw", Hasty, "endings.cut", CUT),  # one document
        ("aider", Hasty, "endings.cut", HALF),  # text
    ],
)
def test_a_parser_that_is_wrong_is_found(key: str, parse: Any, case: str, text: str) -> None:
    assert text in failed(key, case, parse=parse)[case]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"key": "Not Safe"}, "key 'Not Safe'"),
        ({"key": "2xcodex"}, "key '2xcodex' is not of a-z"),
        ({"binaries": ()}, "binaries is empty"),
        ({"install_hint": " "}, "install_hint is empty"),
        ({"probes": ()}, "there is none called 'version'"),
        ({"secret_environment": ()}, "CODEX_API_KEY signs in, and would not be redacted"),
        ({"environment": ("PATH",)}, "CODEX_API_KEY is named as a secret"),
        ({"side_files": ("../*",)}, "does not stay inside"),
        ({"exit_codes": {}}, "exit_codes does not say what 0 means"),
        ({"protocol": "pigeon"}, f"not one of {', '.join(PROTOCOLS)}"),
    ],
)
def test_a_descriptor_that_is_not_whole_is_found(change: dict[str, Any], named: str) -> None:
    assert named in "\n".join(failed("codex", "descriptor.*", change=change).values())
    if "protocol" in change:
        assert "protocol is 'pigeon'" in problem(Wrapped(CODEX, change), "codex")


# --- the ways of a prompt ------------------------------------------------------------------------

DESCRIPTOR = CODEX.descriptor
FILE, ARGV = replace(DESCRIPTOR, protocol="file"), replace(DESCRIPTOR, protocol="argv")
HOME = Path("/lane/home")


def command(*args: str, **changes: Any) -> BuiltCommand:
    return replace(BuiltCommand(program="/opt/toy", args=args, cwd=Path("/lane/shop")), **changes)


def filed(text: str, path: Path = HOME / "task", **changes: Any) -> BuiltCommand:
    built = command("--task", str(path), files=((path, text.encode("utf-8", "surrogateescape")),))
    return replace(built, **changes)


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS)
def test_each_way_carries_every_prompt(prompt: str) -> None:
    content = prompt.encode("utf-8", "surrogateescape")
    assert list(prompts.unlike(FILE, prompt, PROMPT, filed(prompt), filed(PROMPT))) == []
    plain, built = command("--ask=" + PROMPT), command("--ask=" + prompt)
    lines = list(prompts.unlike(ARGV, prompt, PROMPT, built, plain))
    is_fit = prompts.fits(content)
    assert lines == ([] if is_fit else ["can be no word of a line, and is not refused"])
    before, stdin = command(stdin=PROMPT.encode()), command(stdin=content)
    assert list(prompts.unlike(DESCRIPTOR, prompt, PROMPT, stdin, before)) == []


TASK = HOME / "task"
ASTRAY = (
    (filed("no"), "does not reach its file whole"),
    (filed("task", args=("--task", str(TASK), "task")), "changes args"),
    (filed("task", Path("/lane/shop/task")), "which is not in the lane's home"),
    (filed("task", HOME / ".." / "task"), "which is not in the lane's home"),
    (filed("task", args=()), "its line does not name"),
    (filed("be nice\ntask"), "has other words before it"),
    (filed("task", stdin=b"task"), "something is on stdin as well"),
)
WORDS = (
    (command(PROMPT), command("task"), "not behind `--`"),
    (command("--", PROMPT, PROMPT), command("--", "task", "task"), "2 times"),
    (command("--ask=" + PROMPT), command("--ask=tas"), "does not reach the line whole"),
    (command("ask=" + PROMPT), command("ask=task"), "is glued to"),
    (command("-q", "--", PROMPT), command("-v", "--", "task"), "other words"),
)


def test_a_prompt_that_goes_astray_is_named() -> None:
    for built, named in ASTRAY:
        plain = filed(PROMPT, built.files[0][0], args=built.args[:2])
        assert named in "; ".join(prompts.unlike(FILE, "task", PROMPT, built, plain))
    for plain, built, named in WORDS:
        assert named in "; ".join(prompts.unlike(ARGV, "task", PROMPT, built, plain))


# --- recordings ----------------------------------------------------------------------------------


def test_recordings_are_read_by_the_rule_for_their_names(scratch: Path) -> None:
    codex = recorded.Recording(recorded.root() / "codex" / "0.169.0")
    assert set(codex.probes()) == {"version", "help", "exec_help", "sign_in", "sandbox"}
    assert set(codex.helps) == {"help", "exec_help"}
    assert [answer.exit_code for answer in codex.answers()["sign_in"]] == [0, 1]
    assert codex.answers()["sandbox"][1].stderr.startswith("bwrap")
    streams = {stream.name: stream for stream in codex.streams()}
    assert streams["sigterm"].exit == ExitStatus(code=143)
    assert streams["denied"].stderr
    assert streams["tools"].expected
    # A third party's need no code.
    folder = scratch / "toy" / "1.0"
    folder.mkdir(parents=True)
    for name in ("version.txt", "help.txt", "deep-help.txt", "sign-in.none.txt", "sign-in.txt"):
        (folder / name).write_text(name)
    (folder / "stream.ok.jsonl").write_text('{"type":"a"}\n')
    (folder / "exits.json").write_text('{"ok": -9}')
    names = {"version": "version", "help": "help", "deep_help": "deep-help", "sign_in": "sign-in"}
    (recording,) = recorded.recordings(scratch, "toy")
    answers = recording.probes([Probe(name=name, args=(f"--{name}",)) for name in names])
    assert {n: a.stdout for n, a in answers.items()} == {n: f"{f}.txt" for n, f in names.items()}
    assert [stream.exit for stream in recording.streams()] == [ExitStatus(signal=9)]
    for version in ("2.10.0", "2.9.1", "10.0.0", "2.10.0-beta.2"):
        (scratch / "odd" / version).mkdir(parents=True)
    (scratch / "odd" / "issues.toml").write_text("")
    assert recorded.versions(scratch, "odd") == ["2.9.1", "2.10.0-beta.2", "2.10.0", "10.0.0"]
    assert recorded.versions(scratch, "nobody") == []


def test_the_wheel_has_the_recordings_of_agents_alone() -> None:
    """Those of test runners are read by tests, and by nothing that is installed."""
    document = tomllib.loads((recorded.root().parents[1] / "pyproject.toml").read_text())
    included = document["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"fixtures/adapters": "hydra/fixtures/adapters"}
