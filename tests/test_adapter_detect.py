"""Reading the probes: recorded answers of the real CLIs, and answers nobody hopes for."""

from __future__ import annotations

import pytest

from hydra.adapters import gemini, registry
from hydra.adapters.contract import Adapter
from hydra.adapters.detection import broken, older, sign_in_state
from hydra.records.agent import Confidence, DetectResult, ProbeOutput, SignIn
from tests.adapter_recordings import FIXTURES
from tests.test_adapter_lines import HELP

OWN = [a for a in registry.everyone() if a.key() != "acp"]
"""Those that have a program of their own."""


def read(name: str) -> str:
    return (FIXTURES / name).read_text()


def probe(name: str, stdout: str = "", code: int | None = 0, **more: object) -> ProbeOutput:
    return ProbeOutput(name=name, argv=("x", f"--{name}"), exit_code=code, stdout=stdout, **more)  # type: ignore[arg-type]


def detect(agent: str, *probes: ProbeOutput, binary: str = "") -> DetectResult:
    outputs = {p.name: p for p in probes}
    return registry.get(agent).detect(binary or f"/bin/{agent}", outputs)


def real(agent: str, *changes: ProbeOutput) -> DetectResult:
    answers = {
        "claude": [
            probe("version", read("claude/2.1.330/version.txt")),
            probe("help", read("claude/2.1.330/help.txt")),
            probe("sign_in", read("claude/2.1.330/auth-status.key.json")),
        ],
        "codex": [
            probe("version", read("codex/0.169.0/version.txt")),
            probe("help", read("codex/0.169.0/help.txt")),
            probe("exec_help", read("codex/0.169.0/exec-help.txt")),
            probe("sign_in", read("codex/0.169.0/login-status.key.txt")),
            probe("sandbox"),
        ],
        "cursor-agent": [
            probe("version", "2026.10.01-e373342\n"),
            probe("help", HELP["cursor-agent"]),
        ],
    }[agent]
    return detect(agent, *answers, *changes)


def kind(result: DetectResult) -> tuple[str, str]:
    assert result.error is not None
    assert result.error.adapter == result.adapter
    assert result.error.command
    assert result.error.hint
    return result.error.kind, result.error.reason


@pytest.mark.parametrize(("agent", "version"), [("claude", "2.1.330"), ("codex", "0.169.0")])
def test_the_real_answers_make_a_ready_agent(agent: str, version: str) -> None:
    result = real(agent)
    assert (result.ready, result.version, result.warnings) == (True, version, ())
    assert result.sign_in is SignIn.CONFIRMED
    assert result.capabilities == registry.get(agent).descriptor.capabilities


def test_a_signed_out_agent() -> None:
    out = probe("sign_in", read("claude/2.1.330/auth-status.none.json"), code=1)
    result = real("claude", out)
    assert kind(result) == ("AuthMissing", "sign_in")
    assert result.sign_in is SignIn.MISSING
    stderr = read("codex/0.169.0/login-status.none.stderr.txt")
    assert kind(real("codex", probe("sign_in", code=1, stderr=stderr))) == (
        "AuthMissing",
        "sign_in",
    )


def test_no_part_of_a_key_is_repeated() -> None:
    text = read("codex/0.169.0/login-status.key.stderr.txt")
    assert "sk-test" in text
    result = real("codex", probe("sign_in", stderr=text))
    assert "sk-" not in repr(result)


def test_a_broken_sandbox_refuses_codex() -> None:
    stderr = read("codex/0.169.0/sandbox.broken.stderr.txt")
    result = real("codex", probe("sandbox", code=1, stderr=stderr))
    assert kind(result) == ("SpawnFailed", "sandbox_broken")
    assert result.error is not None
    assert "bwrap" in result.error.stderr


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (probe("version", code=126, stderr="Exec format error"), ("SpawnFailed", "cannot_start")),
        (probe("version", code=None), ("SpawnFailed", "cannot_start")),
        (probe("version", code=None, timed_out=True), ("SpawnFailed", "probe_timeout")),
        (probe("version", code=1, stderr="boom"), ("SpawnFailed", "probe_failed")),
    ],
)
@pytest.mark.parametrize("agent", ["claude", "codex", "cursor-agent"])
def test_a_binary_that_cannot_start(
    agent: str, answer: ProbeOutput, expected: tuple[str, str]
) -> None:
    assert kind(real(agent, answer)) == expected


def test_another_program_by_that_name() -> None:
    stranger = [probe("version", "hydra of another kind 9.5"), probe("help", "Usage: crack")]
    for agent in ("claude", "codex", "cursor-agent"):
        assert kind(detect(agent, *stranger)) == ("BinaryMissing", "not_it")


@pytest.mark.parametrize("adapter", OWN, ids=lambda adapter: adapter.key())
def test_a_strangers_bare_version_is_nobodys(adapter: Adapter) -> None:
    """Many programs print a number and no name; what they show in their help is another's."""
    stranger = [
        probe("version", "3.1.4\n"),
        *(
            probe(item.name, "Usage: it [OPTIONS]\n  --help  Show this\n  --version  And this\n")
            for item in adapter.descriptor.probes
            if item.name != "version"
        ),
    ]
    assert kind(detect(adapter.key(), *stranger)) == ("BinaryMissing", "not_it")


def test_a_bare_version_with_another_help_text_is_the_agent_by_its_flags() -> None:
    """Its words may change; one whose help says who it is, and lacks a flag, lacks that flag."""
    flags = [flag.name for flag in gemini.ADAPTER.table]
    version = probe("version", "0.99.0\n")
    assert detect("gemini", version, probe("help", "\n".join(f"  {name}" for name in flags))).ready
    known = detect("gemini", version, probe("help", "Gemini CLI\n  --help  Show this\n"))
    assert kind(known) == ("UnsupportedFlag", "flag_gone")
    silent = detect("gemini", version, probe("help", code=1))
    assert kind(silent)[0] != "BinaryMissing"


def test_what_another_program_answers_says_nothing_of_a_sign_in() -> None:
    rubbish = [probe(name, "\x7f\x00") for name in ("version", "help", "sign_in")]
    result = detect("codex", *rubbish)
    assert kind(result) == ("BinaryMissing", "not_it")
    assert (result.sign_in, result.sign_in_detail) == (SignIn.UNKNOWN, "")


def test_a_program_that_falls_over_is_told_by_its_signal() -> None:
    result = detect("claude", probe("version", code=-11))
    assert result.error is not None
    assert result.error.message == "`x --version` was ended by signal 11"


def test_a_new_version_text_is_a_warning_only() -> None:
    result = real("claude", probe("version", "Claude, version three\n"))
    assert result.ready
    assert result.version == ""
    assert "Claude, version three" in result.warnings[0]


def test_a_generic_name_needs_the_version_text() -> None:
    editor = [probe("version", "1.7.28\nadb0f9e3e4f184b\nx64\n"), probe("help", "Cursor Agent")]
    for name in ("/usr/bin/cursor", "/usr/bin/agent"):
        assert kind(detect("cursor-agent", *editor, binary=name)) == ("BinaryMissing", "not_it")
        proved = probe("version", "2026.10.01-e373342\n"), probe("help", HELP["cursor-agent"])
        assert detect("cursor-agent", *proved, binary=name).ready


def test_versions_on_stderr_do_not_count() -> None:
    answer = probe("version", "codex-cli 0.170.0\n", stderr="WARNING: codex-cli 0.1.0 config\n")
    assert real("codex", answer).version == "0.170.0"


def test_an_old_version_is_warned_of_and_a_broken_one_refused() -> None:
    warned = real("claude", probe("version", "2.1.3 (Claude Code)\n"))
    assert warned.ready
    assert "2.1.197" in warned.warnings[0]
    seen = detect(
        "codex",
        probe("version", read("codex/0.40.0/version.txt")),
        probe("exec_help", read("codex/0.40.0/exec-help.txt")),
    )
    assert kind(seen) == ("UnsupportedVersion", "broken_version")
    assert seen.version == "0.40.0"


def test_a_real_old_claude_lacks_a_required_flag() -> None:
    result = detect(
        "claude",
        probe("version", read("claude/1.0.60/version.txt")),
        probe("help", read("claude/1.0.60/help.txt")),
    )
    assert kind(result) == ("UnsupportedFlag", "flag_gone")
    assert result.error is not None
    assert "--setting-sources" in result.error.message
    assert not result.capabilities.json_stream.present or "--output-format" in result.flags


def test_a_help_that_says_nothing_is_a_refusal() -> None:
    assert kind(real("codex", probe("exec_help", "", code=None))) == (
        "UnsupportedFlag",
        "flag_gone",
    )


def test_probes_that_were_not_run_stand_in_no_ones_way() -> None:
    result = detect("claude", probe("version", read("claude/2.1.330/version.txt")))
    assert result.ready
    assert result.sign_in is SignIn.UNKNOWN


def test_sign_in_state_from_names_files_and_the_clis_word() -> None:
    codex = registry.get("codex").descriptor
    no, yes = probe("sign_in", code=1), probe("sign_in")
    assert sign_in_state(codex)[0] is SignIn.UNKNOWN
    assert sign_in_state(codex, probe=no)[0] is SignIn.MISSING
    assert sign_in_state(codex, probe=yes)[0] is SignIn.CONFIRMED
    assert sign_in_state(codex, {"CODEX_API_KEY"}, probe=no) == (
        SignIn.SEEMS_SO,
        "CODEX_API_KEY is set",
    )
    assert sign_in_state(codex, {"OPENAI_API_KEY"}, probe=no)[0] is SignIn.MISSING
    assert sign_in_state(codex, files_present=True)[0] is SignIn.SEEMS_SO
    assert sign_in_state(codex, probe=probe("sign_in", code=None))[0] is SignIn.UNKNOWN


@pytest.mark.parametrize("adapter", registry.everyone(), ids=lambda a: a.key())
def test_descriptors_are_whole(adapter: Adapter) -> None:
    descriptor = adapter.descriptor
    for field in (
        descriptor.label,
        descriptor.homepage,
        descriptor.install_hint,
        descriptor.sign_in_hint,
    ):
        assert field
    assert descriptor.binaries
    assert descriptor.exit_codes
    assert descriptor.config is not None or descriptor.key == "acp"
    assert set(descriptor.secret_environment) >= {
        name for name in descriptor.sign_in_environment if name.endswith(("KEY", "TOKEN"))
    }
    names = [p.name for p in descriptor.probes]
    assert names[:2] == ["version", "help"]
    # Not every CLI has a command that says it.
    assert "sign_in" in names or descriptor.tier == "experimental"
    # How sure a claim is, records say: nobody types it.
    assert Confidence.VERIFIED not in {c.confidence for _, c in descriptor.capabilities.items()}


def test_versions() -> None:
    assert older("2.1.9", "2.1.10")
    assert older("2.1.10-beta.3", "2.2")
    assert not older("2.1.330", "2.1.330")
    assert not older("", "1.0")
    assert not older("1.0", "")
    table = {"<1.2": "old", "3.0.1": "a bug"}
    assert [broken(v, table) for v in ("1.1.9", "1.2.0", "3.0.1", "")] == ["old", "", "a bug", ""]
