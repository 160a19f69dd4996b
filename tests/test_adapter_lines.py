"""What of the lines their golden files (`lines.expected.json`) do not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.command_line import options
from hydra.errors import AgentError, UnsupportedFlag
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.request import Permission
from tests.adapter_recordings import FIXTURES

WORKTREE = Path("/lane/shop")
HELP = {
    "claude": (FIXTURES / "claude/2.1.330/help.txt").read_text(),
    "codex": (FIXTURES / "codex/0.169.0/exec-help.txt").read_text(),
    "cursor-agent": (FIXTURES / "cursor-agent/2026.10.01-e373342/help.txt").read_text(),
}


def found(agent: str, flags: frozenset[str] | None = None) -> DetectResult:
    return DetectResult(
        adapter=agent,
        binary=Path("/bin") / agent,
        flags=options(HELP[agent]) if flags is None else flags,
    )


def request(**changes: object) -> SpawnRequest:
    return replace(SpawnRequest(prompt="Fix it", worktree=WORKTREE), **changes)


def line(agent: str, **changes: object) -> tuple[str, ...]:
    return registry.get(agent).build_command(request(**changes), found(agent)).args


def test_claude_is_told_how_long_it_may_wait_for_what_it_left_in_the_background() -> None:
    name, claude = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", registry.get("claude")
    assert name not in dict(claude.build_command(request(), found("claude")).env)
    command = claude.build_command(request(background=90.5), found("claude"))
    assert dict(command.env)[name] == "90500"


def test_codex_goes_on_with_a_session_after_all_of_its_options() -> None:
    whole = line("codex", extra_args=("--effort", "high"))
    assert line("codex", extra_args=("--effort", "high"), resume="0a1b-2c") == (
        *whole[:-1],
        "resume",
        "0a1b-2c",
        "-",
    )
    assert "resume" not in whole


@pytest.mark.parametrize("agent", ["claude", "codex", "cursor-agent"])
@pytest.mark.parametrize("session", ["--last", "-", "a b", "a\n", "x" * 129, "$(id)"])
def test_what_could_be_an_option_is_no_session(agent: str, session: str) -> None:
    with pytest.raises(AgentError) as error:
        line(agent, resume=session)
    assert error.value.failure.reason == "session"
    assert error.value.failure.hint


def test_unrestricted_is_said_outright_and_only_then() -> None:
    bypass = "--dangerously-bypass-approvals-and-sandbox"
    args = line("codex", permission=Permission.UNRESTRICTED)
    assert bypass in args
    assert "--sandbox" not in args
    assert "approval_policy=never" not in args
    assert all(bypass not in line("codex", permission=p) for p in list(Permission)[:3])


def test_claude_is_told_of_a_sandbox_only_where_there_is_one() -> None:
    def env(**changes: object) -> dict[str, str]:
        built = registry.get("claude").build_command(request(**changes), found("claude"))
        return dict(built.env)

    assert "IS_SANDBOX" not in env()
    assert "IS_SANDBOX" not in env(as_root=True, permission=Permission.EDIT)
    unconfined = {"as_root": True, "confined": False}
    assert "IS_SANDBOX" in env(**unconfined, permission=Permission.UNRESTRICTED)
    with pytest.raises(UnsupportedFlag) as error:
        env(**unconfined)
    assert error.value.failure.reason == "root"


def test_codexs_network() -> None:
    assert "sandbox_workspace_write.network_access=true" in line("codex", network=True)
    assert not any("network_access" in arg for arg in line("codex"))
    with pytest.raises(UnsupportedFlag, match="cannot be kept off"):
        line("codex", network=False, permission=Permission.UNRESTRICTED)
    built = registry.get("codex").build_command(
        request(network=True, permission=Permission.PLAN), found("codex")
    )
    assert "read-only sandbox has no network" in built.warnings[0]


def test_a_slash_prompt_is_a_task_and_no_command() -> None:
    build = registry.get("claude").build_command
    assert build(request(prompt="/clear"), found("claude")).stdin == b"\n/clear"
    assert build(request(prompt="a /clear"), found("claude")).stdin == b"a /clear"


def test_only_one_file_of_instructions_can_be_sent_and_the_loss_is_said() -> None:
    build = registry.get("claude").build_command
    built = build(request(instructions=("CLAUDE.md", ".claude/CLAUDE.md")), found("claude"))
    assert built.args.count("--append-system-prompt-file") == 1
    assert built.warnings == ("only CLAUDE.md is sent to Claude Code, not .claude/CLAUDE.md",)
    built = build(request(instructions=("AGENTS.md",)), found("claude"))
    assert built.args[-1] == "AGENTS.md"


EVERYTHING = {
    "permission": Permission.FULL_AUTO,
    "model": "m",
    "instructions": ("CLAUDE.md",),
}


def test_older_help_texts_of_the_real_cli() -> None:
    """2.1.197 takes the same line; 1.0.60 cannot keep a repository's hooks from running."""
    build = registry.get("claude").build_command
    old = options((FIXTURES / "claude/2.1.197/help.txt").read_text())
    assert build(request(**EVERYTHING), found("claude", old)).args == line("claude", **EVERYTHING)
    oldest = options((FIXTURES / "claude/1.0.60/help.txt").read_text())
    with pytest.raises(UnsupportedFlag, match="--setting-sources"):
        build(request(), found("claude", oldest))


def test_an_older_codex_takes_a_shorter_line() -> None:
    old = options((FIXTURES / "codex/0.40.0/exec-help.txt").read_text())
    command = registry.get("codex").build_command(request(), found("codex", old))
    assert command.dropped == ("--disable",)
    assert "features.plugins=false" in command.args


def test_options_are_read_from_definitions_only() -> None:
    text = """Options:
  -p, --print                Print. Use with --unseen
      --json
  --allowedTools, --allowed-tools <tools...>
      Names (e.g. "Bash --inline")
                             --wrapped is no option here
  --mode <mode>              Mode (choices: "a",
                             "b-c", default: "a")
  -s, --sandbox <MODE>
          Select --not-this
          [possible values: read-only, workspace-write]
"""
    assert options(text) == {
        "--print",
        "--json",
        "--allowedTools",
        "--allowed-tools",
        "--mode",
        "--mode=a",
        "--mode=b-c",
        "--sandbox",
        "--sandbox=read-only",
        "--sandbox=workspace-write",
    }
    assert options("") == frozenset()
