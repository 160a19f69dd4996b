from __future__ import annotations

import pytest
from msgspec.structs import replace

from hydra.report import doctor, listing, runs, text
from hydra.report.table import Column, StyledText, table
from tests.support.sample_agents import AGENTS, CHECKS, RUNS

AGENTS_AT_80 = """\
  agent         kind          tools    version  health
  claude        default       ! all    2.1.330  ready: seems signed in
  codex         default       limited  -        not installed
  cursor-agent  experimental  ! all    -        not probed

kind: default agents race when you name none; an experimental one where you name
it with -a and add --allow-experimental-adapters
tools: limited where the agent's own options can forbid it some, ! all where
not; what keeps every agent to its lane is Hydra's confinement: `hydra doctor`

not probed: `hydra agents --allow-experimental-adapters` looks for these
"""

DOCTOR_AT_80 = """\
ok    git            2.39.5
note  confinement    none: bwrap was refused (Creating new namespace failed:
                     Operation not permitted)
                     -> the agents then get --permission edit; install
                     bubblewrap or allow user namespaces
FAIL  state folder   /nowhere cannot be written
                     -> set HYDRA_STATE_DIR

Agents
ok    claude         ready: Claude Code 2.1.330, seems signed in
      - --sandbox is gone: sandbox controls are off
note  codex          not installed: npm install -g codex

Experimental agents: 1; `hydra doctor --allow-experimental-adapters` looks for
them

ready: claude; to race: hydra race "your task"
"""

RUNS_AT_80 = """\
  run                  age  task                    winner        landed    cost
  20261121t203415-k3f  2 h  Fix the off-by-one in\u2026  claude        yes     $0.14+
  20261121t101500-abc  now  Add a test              [broken off]  no           ?
"""


def test_agents_doctor_and_runs_at_80_columns() -> None:
    assert listing.agents_table(AGENTS, width=80) == AGENTS_AT_80
    assert doctor.doctor_text(CHECKS, AGENTS, width=80) == DOCTOR_AT_80
    assert runs.runs_table(RUNS, width=80) == RUNS_AT_80


def test_one_agent_in_full() -> None:
    shown = listing.agent_text(AGENTS[0], ("claude", "-p", "it's"), width=80)
    for line in (
        "  tools        ! all",
        "  minimum      2.0.0",
        "  broken       2.1.7: loses its output",
        "  environment  ANTHROPIC_*",
        "  sandbox_controls   no   unknown   -        --sandbox is gone from the help",
        "  json_stream        yes  verified  2.1.330",
        """  $ claude -p 'it'"'"'s'""",
    ):
        assert line in shown.split("\n")
    assert "the line it would run" not in listing.agent_text(AGENTS[1], (), width=80)
    assert "not probed" in listing.agent_text(AGENTS[2], (), width=80)


def test_a_run_is_shown_with_how_it_ended() -> None:
    shown = runs.run_text(RUNS[0], "ENDING\n", width=80)
    assert shown.startswith("run 20261121t203415-k3f\n  task         Fix the off-by-one")
    assert shown.endswith("runs/20261121t203415-k3f\n\nENDING\n")
    assert "  state        broken off\n" in runs.run_text(RUNS[1], "", width=80)


@pytest.mark.parametrize(
    ("seconds", "line"), [(-5, "now"), (59, "now"), (60, "1 min"), (7300, "2 h"), (9e5, "10 d")]
)
def test_ages(seconds: float, line: str) -> None:
    assert runs.age(seconds) == line


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_lists_keep_to_the_width(width: int) -> None:
    long = replace(RUNS[0], title="\u65e5\u672c\u8a9e " * 40, lanes=(("a" * 40, "completed"),) * 5)
    for shown in (
        listing.agents_table(AGENTS, width=width),
        runs.runs_table([long], width=width),
    ):
        # A line to type is never broken.
        lines = [line for line in shown.split("\n") if not line.startswith("`hydra ")]
        assert max(map(text.width, lines)) <= width


def test_a_table_in_a_pipe_is_never_cut() -> None:
    lines = table([["x" * 300, "y"]], [Column("a", least=4), Column("b", wraps=True)], None, False)
    assert lines == [f"  {'a':300}  b", f"  {'x' * 300}  y"]


def test_cells_are_cleaned_before_they_are_styled() -> None:
    (line,) = table([[StyledText("\x1b[2Jx", "bad")]], [Column("a")], 40, True, header=False)
    assert line == "  \x1b[31m^[[2Jx\x1b[0m"
