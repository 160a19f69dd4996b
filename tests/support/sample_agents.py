"""Made-up adapters, checks and runs, for the tests of the lists."""

from __future__ import annotations

from pathlib import Path

from hydra.adapters.contract import Descriptor
from hydra.errors import Failure
from hydra.records.agent import Capability, CapabilitySet, Confidence, DetectResult, SignIn, Tier
from hydra.report.doctor import DoctorCheck
from hydra.report.listing import AgentRow
from hydra.report.runs import RaceCost, RunRow

CAPABLE = CapabilitySet(
    json_stream=Capability(True, Confidence.VERIFIED, "2.1.330"),
    plain_text=Capability(True, Confidence.OBSERVED, "2.1.330"),
    sandbox_controls=Capability(False, Confidence.UNKNOWN, "", "--sandbox is gone from the help"),
)
CLAUDE = Descriptor(
    key="claude",
    label="Claude Code",
    homepage="https://example.com/claude",
    tier=Tier.TIER1,
    binaries=("claude",),
    install_hint="npm install -g claude",
    sign_in_hint="run claude and type /login",
    exit_codes={1: "the run failed", 143: "ended by SIGTERM"},
    minimum_version="2.0.0",
    broken_versions={"2.1.7": "loses its output"},
    capabilities=CAPABLE,
    environment=("ANTHROPIC_*",),
)
CODEX = Descriptor(
    key="codex",
    label="Codex",
    homepage="https://example.com/codex",
    tier=Tier.TIER1,
    binaries=("codex",),
    sandbox="hard",
    install_hint="npm install -g codex",
)
CURSOR = Descriptor(
    key="cursor-agent",
    label="Cursor CLI",
    homepage="https://example.com/cursor",
    tier=Tier.EXPERIMENTAL,
    binaries=("cursor-agent",),
    generic_binaries=("agent",),
)
AGENTS = [
    AgentRow(
        descriptor=CLAUDE,
        detection=DetectResult(
            adapter="claude",
            binary=Path("/usr/bin/claude"),
            version="2.1.330",
            capabilities=CAPABLE,
            sign_in=SignIn.SEEMS_SO,
            sign_in_detail="ANTHROPIC_API_KEY is set",
            warnings=("--sandbox is gone: sandbox controls are off",),
        ),
        proved="verified in 2.1.330",
        proof={"version": "2.1.330"},
    ),
    AgentRow(
        descriptor=CODEX,
        detection=DetectResult(
            adapter="codex",
            error=Failure(
                kind="BinaryMissing",
                message="no program called codex was found on PATH",
                hint="npm install -g codex",
                reason="not_installed",
            ),
        ),
    ),
    AgentRow(descriptor=CURSOR),
]
CHECKS = [
    DoctorCheck(name="git", ok=True, text="2.39.5"),
    DoctorCheck(
        name="confinement",
        ok=None,
        text="none: bwrap was refused (Creating new namespace failed: Operation not permitted)",
        hint="the agents then get --permission edit; install bubblewrap or allow user namespaces",
    ),
    DoctorCheck(
        name="state folder", ok=False, text="/nowhere cannot be written", hint="set HYDRA_STATE_DIR"
    ),
]
RUNS = [
    RunRow(
        run="20261121t203415-k3f",
        age=7300,
        title="Fix the off-by-one in pager.py",
        lanes=(("claude", "completed"), ("codex", "timed_out")),
        size=3_400_000,
        winner="claude",
        landed=("claude",),
        spending=RaceCost(0.14),
        folder="/home/ada/.local/state/hydra/shop-00/runs/20261121t203415-k3f",
    ),
    RunRow(run="20261121t101500-abc", age=30, title="Add a test", state="broken off"),
]
