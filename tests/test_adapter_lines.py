"""What of the lines, the answers to probes and the environment no expectation file says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import codex, registry
from hydra.adapters.aider import CONFIGURED
from hydra.adapters.cli_agent import CliAdapter
from hydra.adapters.command_line import CommandBuilder, Flag, options
from hydra.adapters.contract import Adapter
from hydra.adapters.detection import broken, older, sign_in_state
from hydra.adapters.environment import names, secret_values
from hydra.errors import AgentError, UnsupportedFlag
from hydra.race.attempt import _stdin_queue
from hydra.race.context import ContextFactory
from hydra.records.agent import BuiltCommand, DetectResult, ProbeOutput, SignIn, SpawnRequest, Tier
from hydra.records.plan import LanePlan
from hydra.records.request import Permission
from tests.support.golden_text import approved, section


def table(key: str) -> tuple[Flag, ...]:
    adapter = registry.get(key)
    assert isinstance(adapter, CliAdapter)
    return tuple(adapter.table)


def built(key: str, *more: str, version: str = "", **changes: Any) -> BuiltCommand:
    """The line of an agent that has every flag."""
    flags = frozenset(flag.name for flag in table(key)) | set(more)
    result = DetectResult(adapter=key, binary=Path("/bin/agent"), flags=flags, version=version)
    request = SpawnRequest(prompt="Fix it", worktree=Path("/lane/shop"), home=Path("/lane/home"))
    return registry.get(key).build_command(replace(request, **changes), result)


# --- lines ---------------------------------------------------------------------------------------


OWN = {"instructions": (".pi/settings.json",)}
BANG: dict[str, Any] = {"model": "m", "prompt": "!rm -rf ."}
LINES: tuple[tuple[str, tuple[str, ...], dict[str, Any]], ...] = (
    ("claude", (), {"background": 90.5}),
    *(("codex", (), {"resume": session}) for session in ("-", "a\n", "x" * 129, "$(id)")),
    ("gemini", (), {"instructions": (".gemini/.env",)}),
    ("pi", (), OWN),
    ("pi", ("--no-approve",), OWN),
    ("pi", (), {"model": "openrouter/anthropic/opus"}),
    ("aider", (), {}),
    ("aider", (CONFIGURED,), {}),
    ("aider", (), {"model": "m", "instructions": ("AGENTS.md", ".aider.conf.yml")}),
    ("aider", (), BANG),
    ("opencode", (), {"model": "opencode/grok"}),
    *(("opencode", (), {"version": text}) for text in ("1.18.33", "1.18.34", "2.0.0")),
)


def test_lines_that_no_expectation_file_has_as_approved() -> None:
    text = ""
    for key, more, changes in LINES:
        try:
            line = built(key, *more, **changes)
            rows = [" ".join(line.args), *(f"{name}={value}" for name, value in line.env)]
            rows += [*line.warnings, *(f"{path}: {data!r}" for path, data in line.files)]
        except AgentError as error:
            failure = error.failure
            rows = [failure.kind, failure.reason, failure.message, failure.hint]
        text += section(f"{key} {' '.join(more)} {changes}", "\n".join(rows))
    approved("lines.txt", text)


MASKING = [adapter for adapter in registry.everyone() if adapter.descriptor.hidden_paths]


@pytest.mark.parametrize("adapter", MASKING, ids=lambda row: row.key())
def test_a_lane_is_warned_of_what_is_not_hidden_from_its_agent(adapter: Adapter) -> None:
    more: dict[str, Any] = {"model": "made-up", "instructions": adapter.descriptor.hidden_paths}
    bare, hidden = (built(adapter.key(), masked=masked, **more) for masked in (False, True))
    assert bare.warnings
    assert hidden.warnings == ()
    assert replace(bare, warnings=()) == hidden


def test_clines_stdin_is_a_pipe_that_holds_the_prompt_and_ends() -> None:
    def queue(adapter: Adapter) -> Any:
        around: Any = SimpleNamespace(adapter=adapter, command=SimpleNamespace(stdin=b"Do it"))
        return _stdin_queue(around, None)

    inlet = queue(registry.get("cline"))
    assert (inlet.unsent, inlet.write(b"more")) == (len(b"Do it"), False)
    assert queue(codex.ADAPTER) is None


def test_copilot_is_told_where_it_is_unpacked(scratch: Path) -> None:
    copilot = registry.get("copilot")
    facts: Any = {"id": "copilot", "adapter": "copilot", "version": "1.0.102"}
    more: Any = {"label": "", "sandbox": "soft", "tier": Tier.EXPERIMENTAL, "worktree": scratch}
    plan = LanePlan(**facts, **more, permission=Permission.EDIT)
    around: Any = SimpleNamespace(home=scratch, environ={}, adapters={"copilot": copilot})
    nothing: Any = None
    factory = ContextFactory(around=around, store=nothing, plan=nothing)
    assert factory._own_places(plan) == {}
    place = scratch / ".cache/copilot/pkg/linux-x64/1.0.102"
    place.mkdir(parents=True)
    assert factory._own_places(plan) == {"COPILOT_CLI_DIST_DIR": str(place)}


# --- what a line is made of ----------------------------------------------------------------------

MODE, YOLO = Flag("--mode", "to say what it may do"), Flag("--yolo", "to work without asking")


def line(*flags: str) -> CommandBuilder:
    return CommandBuilder("made", "Made", frozenset(flags), hint="make it")


def test_a_mode_has_a_flag_in_its_stead_or_none() -> None:
    whole, builder = line("--mode", "--yolo"), line("--yolo")
    whole.add_mode(MODE, "yolo", YOLO)
    builder.add_mode(MODE, "yolo", YOLO)
    assert (whole.args, whole.dropped) == (["--mode", "yolo"], [])
    assert (builder.args, builder.dropped) == (["--yolo"], ["--mode"])
    for instead in (YOLO, None):
        with pytest.raises(UnsupportedFlag, match="no --mode yolo, which is needed to say"):
            line("--json").add_mode(MODE, "yolo", instead)


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
    names = "--print --json --allowedTools --allowed-tools --mode --mode=a --mode=b-c"
    values = "--sandbox --sandbox=read-only --sandbox=workspace-write"
    assert options(text) == {*names.split(), *values.split()}
    assert options("") == frozenset()


# --- probes --------------------------------------------------------------------------------------


def probe(name: str, stdout: str = "", code: int | None = 0) -> ProbeOutput:
    return ProbeOutput(name=name, argv=("x", f"--{name}"), exit_code=code, stdout=stdout)


def detect(key: str, *probes: ProbeOutput) -> DetectResult:
    return registry.get(key).detect(f"/bin/{key}", {item.name: item for item in probes})


def test_sign_in_state_from_names_files_and_the_clis_word() -> None:
    agent = registry.get("codex").descriptor
    no, yes = probe("sign_in", code=1), probe("sign_in")
    assert sign_in_state(agent)[0] is SignIn.UNKNOWN
    assert sign_in_state(agent, probe=no)[0] is SignIn.MISSING
    assert sign_in_state(agent, probe=yes)[0] is SignIn.CONFIRMED
    key = sign_in_state(agent, {"CODEX_API_KEY"}, probe=no)
    assert key == (SignIn.SEEMS_SO, "CODEX_API_KEY is set")
    assert sign_in_state(agent, {"OPENAI_API_KEY"}, probe=no)[0] is SignIn.MISSING
    assert sign_in_state(agent, files_present=True)[0] is SignIn.SEEMS_SO
    assert sign_in_state(agent, probe=probe("sign_in", code=None))[0] is SignIn.UNKNOWN


def test_versions() -> None:
    assert older("2.1.9", "2.1.10")
    assert older("2.1.10-beta.3", "2.2")
    for version, other in (("2.1.330", "2.1.330"), ("", "1.0"), ("1.0", "")):
        assert not older(version, other)
    rows = {"<1.2": "old", "3.0.1": "a bug"}
    assert [broken(v, rows) for v in ("1.1.9", "1.2.0", "3.0.1", "")] == ["old", "", "a bug", ""]


# --- the environment -----------------------------------------------------------------------------


def test_a_clouds_keys_go_only_to_who_reaches_the_model_through_it() -> None:
    claude = registry.get("claude").descriptor
    texts = ("PATH", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "ANTHROPIC_API_KEY")
    assert names(claude, texts) == ("PATH", "ANTHROPIC_API_KEY")
    with_bedrock = (*texts, "CLAUDE_CODE_USE_BEDROCK")
    assert names(claude, with_bedrock) == with_bedrock


def test_no_agent_gets_a_rivals_key_or_gits_words_and_values_of_keys_are_secret() -> None:
    texts = ("ANTHROPIC_API_KEY", "CODEX_API_KEY", "GIT_DIR", "SSH_AUTH_SOCK", "CURSOR_API_KEY")
    for key, name in (("codex", "CODEX"), ("claude", "ANTHROPIC"), ("cursor-agent", "CURSOR")):
        assert names(registry.get(key).descriptor, texts) == (f"{name}_API_KEY",)
    assert names(registry.get("codex").descriptor, ("ACME_KEY",), ("ACME_*",)) == ("ACME_KEY",)
    values = {"ANTHROPIC_API_KEY": "made-up", "ANTHROPIC_BASE_URL": "http://x", "PATH": "/bin"}
    assert secret_values(registry.get("claude").descriptor, values) == ("made-up",)
