"""The scripted agents behave as the real CLIs do: wire formats, probes, signals, processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.commands.demo import race, repository
from hydra.commands.demo.script import Step
from hydra.commands.demo.shims import newest_version
from hydra.commands.demo.wires.base import USAGE
from hydra.paths import fixtures
from hydra.race.plan import SUBJECT, title
from hydra.records.agent import DetectResult, ProbeOutput, SignIn, SpawnRequest
from hydra.records.outcome import ExitStatus
from hydra.records.request import Permission
from tests.support import fakes

LINES: Mapping[str, tuple[str, ...]] = {
    "claude": ("-p", "--output-format", "stream-json", "--verbose"),
    "codex": ("exec", "--json", "-"),
    "cursor-agent": ("-p", "--output-format", "stream-json", "--trust", "--force"),
}
AGENTS = tuple(LINES)

WORK: Sequence[Step] = (
    fakes.say("I'll look."),
    fakes.think("A pager."),
    fakes.edit("new/file.txt", "one\n"),
    fakes.replace("new/file.txt", "one", "two"),
    fakes.shell("sh", "-c", "cat new/file.txt; exit 3"),
    fakes.edit("gone.txt", ""),
    fakes.delete("gone.txt"),
    fakes.finish("Done."),
)


@pytest.fixture
def work(scratch: Path) -> Path:
    """The folder that the agent works in."""
    folder = scratch / "work"
    folder.mkdir()
    return folder


def start(
    bin_folder: Path, agent: str, work: Path, *args: str, **env: str
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(bin_folder / agent), *(args or LINES[agent])],
        cwd=work,
        # Nothing of the test's environment: an agent gets only what an allowlist names.
        env={"PATH": os.environ["PATH"], "IS_SANDBOX": "1", **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def finished(child: subprocess.Popen[bytes], prompt: str = "Fix it") -> tuple[int, bytes, bytes]:
    out, err = child.communicate(prompt.encode(), timeout=120)
    return child.returncode, out, err


def run(
    bin_folder: Path, agent: str, work: Path, *args: str, **env: str
) -> tuple[int, bytes, bytes]:
    return finished(start(bin_folder, agent, work, *args, **env))


def events(stdout: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.split(b"\n") if line]


# Wire formats


def signature(event: Mapping[str, Any]) -> tuple[str, ...]:
    """What kind of event it is: its types, down to the item or the content block."""
    lines = [str(event.get("type")), str(event.get("subtype", ""))]
    item, message, call = (event.get(name) or {} for name in ("item", "message", "tool_call"))
    lines.append(str(item.get("type", "")))
    if isinstance(message, dict) and isinstance(message.get("content"), list):
        lines += [str(block["type"]) for block in message["content"]]
    return (*lines, *call)


def keys(value: object, where: str = "") -> set[str]:
    """Every key of an event by its whole path; what a tool was given is left to the model."""
    if isinstance(value, list):
        return {key for inner in value for key in keys(inner, where)}
    if not isinstance(value, dict) or where.endswith((".input", ".tool_input")):
        return set()
    names: set[str] = set()
    for name, inner in value.items():
        path = f"{where}.{'MODEL' if where.endswith('.modelUsage') else name}"
        names |= {path} | keys(inner, path)
    return names


def recorded(agent: str) -> dict[tuple[str, ...], set[str]]:
    """Of every kind of event in the recorded streams of `agent`: all keys seen in it."""
    rows: dict[tuple[str, ...], set[str]] = {}
    for path in sorted((fixtures() / "adapters" / agent).rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            try:
                event = json.loads(line)
            except ValueError:
                continue  # some recordings are of broken streams
            if isinstance(event, dict):
                rows.setdefault(signature(event), set()).update(keys(event))
    return rows


@pytest.mark.parametrize("agent", AGENTS)
def test_every_key_of_a_scripted_event_was_seen_in_a_real_one(
    agent: str, scratch: Path, work: Path
) -> None:
    real = recorded(agent)
    _, out, _ = run(fakes.place(scratch, agent, WORK), agent, work)
    compared = [event for event in events(out) if signature(event) in real]
    made_up = {
        (signature(event), key)
        for event in compared
        for key in keys(event) - real[signature(event)]
    }
    assert made_up == set()
    assert len({signature(event) for event in compared}) >= 5


# The adapters


def probed(adapter: Adapter, binary: Path, work: Path) -> DetectResult:
    answers = {}
    for probe in adapter.descriptor.probes:
        argv = (str(binary), *probe.args)
        done = subprocess.run(argv, cwd=work, capture_output=True, text=True, timeout=30)
        answers[probe.name] = ProbeOutput(
            name=probe.name,
            argv=argv,
            exit_code=done.returncode,
            stdout=done.stdout,
            stderr=done.stderr,
        )
    return adapter.detect(str(binary), answers)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_real_adapter_finds_a_scripted_agent_ready(
    agent: str, scratch: Path, work: Path
) -> None:
    adapter = registry.get(agent)
    result = probed(adapter, fakes.place(scratch, agent, WORK) / agent, work)
    assert (result.error, result.warnings) == (None, ())
    assert result.version == newest_version(agent)
    assert result.sign_in is SignIn.CONFIRMED
    assert result.capabilities == adapter.descriptor.capabilities
    signed_out = probed(adapter, fakes.place(scratch, agent, WORK, signed_in=False) / agent, work)
    assert signed_out.error
    assert signed_out.error.kind == "AuthMissing"


@pytest.mark.parametrize("permission", [Permission.EDIT, Permission.FULL_AUTO])
@pytest.mark.parametrize("agent", AGENTS)
def test_the_real_adapters_line_runs_and_its_parser_reads_the_stream(
    agent: str, permission: Permission, scratch: Path, work: Path
) -> None:
    adapter = registry.get(agent)
    binary = fakes.place(scratch, agent, WORK) / agent
    request = SpawnRequest(
        prompt="Fix it", worktree=work, permission=permission, as_root=os.geteuid() == 0
    )
    command = adapter.build_command(request, probed(adapter, binary, work))
    done = subprocess.run(
        command.argv,
        cwd=command.cwd,
        input=command.stdin,
        env={"PATH": os.environ["PATH"], "CODEX_HOME": str(scratch), **dict(command.env)},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    parser = adapter.parser()
    agent_events = [
        event for line in done.stdout.split(b"\n") if line for event in parser.parse_line(line)
    ]
    files = {
        pattern: path.read_bytes()
        for pattern in adapter.descriptor.side_files
        for path in scratch.glob(pattern)
    }
    agent_events += parser.end(ExitStatus(code=0), {"stderr": done.stderr, **files})
    assert [event for event in agent_events if event.sub in ("unknown", "malformed")] == []
    kinds = [event.kind for event in agent_events]
    assert [kinds.count(kind) for kind in ("tool_call", "tool_result")] == [5, 5]
    assert [event.data["ok"] for event in agent_events if event.kind == "tool_result"].count(
        False
    ) == 1
    (usage,) = [event.data for event in agent_events if event.kind == "usage"]
    told_usage = [usage[f"{name}_tokens"] for name in ("input", "cached", "output")]
    assert told_usage == [USAGE[name] for name in ("input", "cached", "output")]
    (ending,) = [event for event in agent_events if event.kind in ("completed", "failed")]
    assert (ending.kind, ending.data["text"]) == ("completed", "Done.")
    applied = {key: value for event in agent_events for key, value in event.data.items()}
    for name, value in command.expected_settings:
        assert applied[name] == value


@pytest.mark.parametrize("agent", AGENTS)
def test_a_denied_edit_is_told_and_not_done(agent: str, scratch: Path, work: Path) -> None:
    steps = [fakes.edit("a.txt", "x", denied=True), fakes.finish("Sorry.")]
    _, out, _ = run(fakes.place(scratch, agent, steps), agent, work)
    parser = registry.get(agent).parser()
    agent_events = [event for line in out.split(b"\n") if line for event in parser.parse_line(line)]
    agent_events += parser.end(ExitStatus(code=0), {})
    (ending,) = [event for event in agent_events if event.kind == "completed"]
    assert ending.data["denials"] or ending.data["failed_items"]
    assert not (work / "a.txt").exists()


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("sign_in", "AuthMissing"),
        ("bad_key", "AuthMissing"),
        ("rate_limit", "AgentFailed"),
        ("context_overflow", "AgentFailed"),
        ("budget", "AgentFailed"),
        ("error", "AgentFailed"),
    ],
)
def test_a_failure_is_read_for_what_it_is(
    agent: str, reason: str, kind: str, scratch: Path, work: Path
) -> None:
    code, out, err = run(fakes.place(scratch, agent, [fakes.fail(reason)]), agent, work)
    assert code == 1
    parser = registry.get(agent).parser()
    agent_events = [event for line in out.split(b"\n") if line for event in parser.parse_line(line)]
    agent_events += parser.end(ExitStatus(code=1), {"stderr": err})
    failed = [event for event in agent_events if event.kind == "failed"][-1]
    assert failed.data["error"] == kind
    if reason in ("rate_limit", "context_overflow"):
        assert failed.data["reason"] == reason


# Lines the real CLIs refuse


@pytest.mark.parametrize(
    ("agent", "args", "code", "says"),
    [
        ("claude", ("-p", "--bogus"), 1, "error: unknown option '--bogus'"),
        ("claude", ("-p", "--output-format", "stream-json"), 1, "requires --verbose"),
        ("claude", ("--verbose",), 1, "Input must be provided"),
        ("codex", ("exec", "--json", "--full-auto"), 2, "unexpected argument '--full-auto' found"),
        ("codex", ("--model", "x"), 1, "stdin is not a terminal"),
        ("cursor-agent", ("-p", "--force"), 1, "--trust"),
    ],
)
def test_a_line_that_the_real_cli_refuses_is_refused(
    agent: str, args: tuple[str, ...], code: int, says: str, scratch: Path, work: Path
) -> None:
    got, out, err = run(fakes.place(scratch, agent, WORK), agent, work, *args)
    assert (got, out) == (code, b"")
    assert says in err.decode()


# Signals


def prompted(child: subprocess.Popen[bytes], prompt: bytes = b"Fix it") -> None:
    """Gives the prompt and closes stdin; the agent goes on by itself."""
    assert child.stdin
    child.stdin.write(prompt)
    child.stdin.close()
    child.stdin = None


@pytest.fixture
def gate(scratch: Path) -> Iterator[fakes.Barrier]:
    barrier = fakes.Barrier(scratch, "gate")
    yield barrier
    barrier.close()


@pytest.mark.parametrize(
    ("agent", "number", "code", "last"),
    [
        ("claude", signal.SIGINT, 0, "result"),
        ("claude", signal.SIGTERM, 143, "assistant"),
        ("codex", signal.SIGINT, 1, "item.started"),
        ("codex", signal.SIGTERM, -signal.SIGTERM, "item.started"),
        ("cursor-agent", signal.SIGTERM, -signal.SIGTERM, "tool_call"),
    ],
)
def test_a_signal_during_a_shell_tool_ends_as_the_real_cli_does(
    agent: str,
    number: signal.Signals,
    code: int,
    last: str,
    scratch: Path,
    work: Path,
    gate: fakes.Barrier,
) -> None:
    os.mkfifo(scratch / "never")
    arrive = f"echo . > {gate.path}; read nothing < {scratch}/never"  # waits without a child
    child = start(fakes.place(scratch, agent, [fakes.shell("sh", "-c", arrive)]), agent, work)
    prompted(child)
    gate.wait()
    assert fakes.processes_named(str(gate.path))
    child.send_signal(number)
    out, _ = child.communicate(timeout=120)
    documents = events(out)
    assert child.returncode == code
    assert documents[-1]["type"] == last
    assert documents[-1].get("subtype") in (None, "started", "error_during_execution")
    assert fakes.left(str(gate.path)) == []


# The demo


def unittest_of(folder: Path) -> int:
    argv = [sys.executable, "-m", "unittest", "-q"]
    return subprocess.run(argv, cwd=folder, capture_output=True).returncode


def test_the_repository_is_always_the_same_and_its_test_fails(scratch: Path) -> None:
    first = repository.make(scratch / "one")
    assert first == repository.make(scratch / "two")
    assert unittest_of(scratch / "one") == 1
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=scratch / "one", capture_output=True, check=True
    )
    assert status.stdout == b""  # what running the tests leaves is ignored


def test_the_demos_task_is_whole_as_a_title_and_as_a_subject() -> None:
    subject = repository.TASK.splitlines()[0]
    assert title(repository.TASK) == subject
    assert len(subject) <= SUBJECT


def test_the_demo_has_one_right_patch_another_right_patch_and_one_that_moves_the_goal(
    scratch: Path,
) -> None:
    demo = race.prepare(scratch)
    without_pauses(demo)
    environ = demo.environment({"PATH": os.environ["PATH"], "OPENAI_API_KEY": "made-up"})
    assert "OPENAI_API_KEY" not in environ
    for agent in demo.agents:
        lane = scratch / "lanes" / agent
        shutil.copytree(demo.repository, lane)
        line = [str(demo.bin_folder / agent), *LINES[agent]]
        done = subprocess.run(
            line, cwd=lane, input=demo.task.encode(), env=environ, capture_output=True
        )
        assert done.returncode == 0, done.stderr
        assert unittest_of(lane) == 0
    lanes = scratch / "lanes"
    for agent, right in (("codex", True), ("cursor-agent", False)):
        shutil.copy(lanes / "claude" / "test_pager.py", lanes / agent)
        assert (unittest_of(lanes / agent) == 0) is right


def script_of(program: Path) -> dict[str, Any]:
    """What a scripted agent does, behind the two lines that a shell reads of it."""
    script: dict[str, Any] = json.loads(program.read_text().split("\n", 2)[2])
    return script


def without_pauses(demo: race.Demo) -> None:
    for path in demo.bin_folder.iterdir():
        script = script_of(path)
        script["steps"] = [step for step in script["steps"] if "pause" not in step]
        head = path.read_text().split("\n", 2)[:2]
        path.write_text("\n".join((*head, json.dumps(script))))


def test_the_demo_is_watched_for_three_seconds_or_so(scratch: Path) -> None:
    demo = race.prepare(scratch)
    for agent in demo.agents:
        script = script_of(demo.bin_folder / agent)
        paced = sum(step.get("pause", 0) for step in script["steps"])
        assert 1.5 < paced < 3.5


def test_the_demo_lies_where_hydra_keeps_state(scratch: Path) -> None:
    folder = race.new_folder()
    try:
        assert not folder.is_relative_to("/tmp")
        assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        folder.rmdir()
    demo = race.prepare(scratch)
    assert demo.removal == f"rm -rf {scratch}"
    assert demo.command("diff", "claude") == f"{scratch}/hydra diff claude"
