"""Reading the probes: recorded answers of the real CLIs, and answers nobody hopes for."""

from __future__ import annotations

from hydra.adapters import gemini, registry
from hydra.adapters.detection import broken, older, sign_in_state
from hydra.records.agent import DetectResult, ProbeOutput, SignIn
from tests.adapter_recordings import FIXTURES
from tests.test_adapter_lines import HELP


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


def test_a_broken_sandbox_refuses_codex() -> None:
    stderr = read("codex/0.169.0/sandbox.broken.stderr.txt")
    result = real("codex", probe("sandbox", code=1, stderr=stderr))
    assert kind(result) == ("SpawnFailed", "sandbox_broken")
    assert result.error is not None
    assert "bwrap" in result.error.stderr


def test_a_bare_version_with_another_help_text_is_the_agent_by_its_flags() -> None:
    """Its words may change; one whose help says who it is, and lacks a flag, lacks that flag."""
    flags = [flag.name for flag in gemini.ADAPTER.table]
    version = probe("version", "0.99.0\n")
    assert detect("gemini", version, probe("help", "\n".join(f"  {name}" for name in flags))).ready
    known = detect("gemini", version, probe("help", "Gemini CLI\n  --help  Show this\n"))
    assert kind(known) == ("UnsupportedFlag", "flag_gone")
    silent = detect("gemini", version, probe("help", code=1))
    assert kind(silent)[0] != "BinaryMissing"


def test_a_program_that_falls_over_is_told_by_its_signal() -> None:
    result = detect("claude", probe("version", code=-11))
    assert result.error is not None
    assert result.error.message == "`x --version` was ended by signal 11"


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


def test_versions() -> None:
    assert older("2.1.9", "2.1.10")
    assert older("2.1.10-beta.3", "2.2")
    assert not older("2.1.330", "2.1.330")
    assert not older("", "1.0")
    assert not older("1.0", "")
    table = {"<1.2": "old", "3.0.1": "a bug"}
    assert [broken(v, table) for v in ("1.1.9", "1.2.0", "3.0.1", "")] == ["old", "", "a bug", ""]
