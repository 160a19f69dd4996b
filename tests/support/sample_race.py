"""One made-up race of three lanes, as plan, events and result, for the reporters' tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from hydra.errors import Failure
from hydra.records.agent import BuiltCommand, Tier
from hydra.records.events import Event
from hydra.records.outcome import ExitStatus, Outcome, Patch, RaceResult, Status, Usage
from hydra.records.plan import Confinement, LanePlan, RacePlan
from hydra.records.request import Limits, Permission

RUN = "20261121t203415-k3f"
BASE = "4be1c02a9f0c5d1e7b3a8c6d2f4e5a6b7c8d9e0f"
GROUND = Path("/var/lib/hydra/g/1f3a9c00")
STALLED = Failure(
    kind="TimedOut",
    reason="idle",
    message="no progress for 600 s",
    adapter="codex",
    command=("/usr/bin/codex", "exec", "--json", "-m", "it's me", "-"),
    stderr="warn: reconnecting\nerror: stream ended\x1b[2J before the answer\n",
    hint="raise --idle-timeout if the task needs long quiet stretches",
    numbers={"limit": 600.0},
)


def lane_plan(name: str, adapter: str, *, failure: Failure | None = None) -> LanePlan:
    worktree = GROUND / name / "shop"
    command = BuiltCommand(
        program=f"/usr/bin/{adapter}",
        args=("exec", "--json", "--title", "it's"),
        env=(("CI", "value-never-shown"),),
        cwd=worktree,
        stdin=b"task",
        dropped=("--gone",),
        warnings=("--gone is gone from the help: left out",),
    )
    return LanePlan(
        id=name,
        adapter=adapter,
        label={"claude": "Claude Code", "codex": "Codex"}[adapter],
        tier=Tier.TIER1,
        sandbox="soft" if adapter == "claude" else "hard",
        version="2.1.330",
        worktree=worktree,
        permission=Permission.FULL_AUTO,
        built=None if failure else command,
        env_names=("ANTHROPIC_API_KEY", "PATH"),
        failure=failure,
    )


PLAN = RacePlan(
    run=RUN,
    prompt="Fix the off-by-one in pager.py",
    repository=Path("/home/ada/shop"),
    base=BASE,
    base_name="main",
    title="Fix the off-by-one in pager.py",
    lanes=(
        lane_plan("claude", "claude"),
        lane_plan("codex", "codex"),
        lane_plan("codex-2", "codex"),
    ),
    permission=Permission.FULL_AUTO,
    confinement=Confinement(
        kind="bwrap", program="/usr/bin/bwrap", promises=("an agent writes only in its lane",)
    ),
    promises=("an agent writes only in its lane",),
    limits=Limits(),
    warnings=("3 changed files stay out",),
)

RESULT = RaceResult(
    run=RUN,
    seconds=601.5,
    folder=Path("/var/lib/hydra/shop-00/runs") / RUN,
    outcomes=(
        Outcome(
            lane="claude",
            attempt=1,
            status=Status.COMPLETED,
            patch=Patch(commit="c" * 40, base=BASE, files=2, insertions=18, deletions=4),
            usage=Usage(input_tokens=17_000, output_tokens=1_200, cost_usd=0.14),
            exit=ExitStatus(code=0),
            seconds=58.2,
            message="Both tests pass now.\n\nI changed the division to round up.",
            session="s-1",
        ),
        Outcome(
            lane="codex",
            attempt=1,
            status=Status.NO_CHANGES,
            patch=Patch(commit=BASE, base=BASE),
            exit=ExitStatus(code=0),
            seconds=72.0,
            message="Nothing to do.",
        ),
        Outcome(
            lane="codex-2",
            attempt=1,
            status=Status.TIMED_OUT,
            failure=STALLED,
            patch=Patch(
                commit="d" * 40,
                base=BASE,
                files=1,
                insertions=3,
                incomplete="over 20,000 untracked files in node_modules",
                notes=("vendor/.git was taken as files",),
            ),
            usage=Usage(input_tokens=3_000, output_tokens=100),
            exit=ExitStatus(signal=9),
            seconds=600.4,
            warnings=("left running and ended by Hydra: node server.js",),
        ),
    ),
)


class Tape:
    """Makes numbered events of one run."""

    def __init__(self) -> None:
        self._seq = count(1)

    def __call__(
        self, mono: float, kind: str, lane: str = "", sub: str = "", **data: object
    ) -> Event:
        agent = kind in ("message", "tool_call", "tool_result", "progress", "completed", "failed")
        return Event(
            seq=next(self._seq),
            wall=1_800_000_000 + mono,
            mono=mono,
            run=RUN,
            kind=kind,
            sub=sub,
            source="agent" if agent or kind == "usage" else "hydra",
            lane=lane,
            attempt=1 if lane else 0,
            data=data,
        )


def events() -> Iterator[Event]:
    """The race up to the moment at 1:33."""
    e = Tape()
    yield e(
        0.0,
        "run_started",
        lanes=["claude", "codex", "codex-2"],
        base=BASE,
        base_name="main",
        confined=True,
        soft=["claude"],
        limits={"idle": 600.0, "tool": 1200.0, "total": 3600.0},
    )
    yield e(0.1, "run_warning", text="3 changed files stay out (--include-dirty)")
    for lane in ("claude", "codex", "codex-2"):
        yield e(0.2, "lane_opening", lane)
        yield e(0.4, "lane_opened", lane, worktree=f"/w/{lane}", seconds=0.2)
        yield e(0.5, "agent_started", lane, pid=4711, argv=["x"])
        yield e(1.0, "progress", lane, "session", session="s-1")
    yield e(20.0, "usage", "codex-2", input_tokens=3_000, output_tokens=100)
    yield e(21.0, "message", "codex-2", text="Let me look at the pager.")
    yield e(40.0, "usage", "claude", input_tokens=17_000, output_tokens=1_200, cost_usd=0.11)
    yield e(41.0, "tool_call", "claude", id="t1", name="Edit", summary="Edit src/pager.py")
    yield e(50.0, "usage", "codex", input_tokens=20_000, output_tokens=2_900)
    yield e(52.0, "tool_call", "codex", id="t1", name="command_execution", summary="$ pytest -q")
    yield e(93.0, "progress", "codex", "notice", text="still there")
