"""Agents that a race goes without: told by name, with why and what to do, wherever it is read; and
which of several programs of one name is the agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from hydra.adapters.probe.context import ProbeContext
from hydra.adapters.probe.detect import detect_all
from hydra.errors import Failure
from hydra.records.agent import DetectResult, SignIn
from hydra.records.plan import Confinement
from tests.support import fakes
from tests.support.command import Hydra

EDITED = [fakes.edit("a.txt", "x\n"), fakes.finish("done")]
FIELDS = {"kind", "reason", "message", "adapter", "command", "stderr", "hint", "numbers"}
BROKEN = {"words": ["--version"], "stderr": "libnode.so.1: not found\n", "exit": 127}
CRASHED = {"words": ["--version"], "stderr": "panicked at main\n", "exit": 3}


@pytest.fixture
def hydra(scratch: Path, repo: Path) -> Hydra:
    hydra = Hydra(scratch, repo)
    hydra.agent("claude", EDITED)
    return hydra


def program(folder: Path, name: str, body: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


# --- left out of a race that names nobody --------------------------------------------------------

UNFIT: Mapping[str, tuple[str, dict[str, Any]]] = {
    "a broken binary": ("SpawnFailed", {"answers": [BROKEN]}),
    "a crash": ("SpawnFailed", {"answers": [CRASHED]}),
    "signed out": ("AuthMissing", {"signed_in": False}),
    "a flag is gone": ("UnsupportedFlag", {"help_texts": {"exec --help": "  --color\n"}}),
}


@pytest.mark.slow
@pytest.mark.parametrize("why", UNFIT)
def test_an_agent_that_cannot_start_is_told_where_none_was_named(hydra: Hydra, why: str) -> None:
    """In the plan and its document, in the race's events, text and record: never in silence."""
    kind, options = UNFIT[why]
    hydra.extra["CODEX_API_KEY"] = ""
    hydra.agent("codex", EDITED, **options)
    planned = json.loads(hydra.run("race", "Do it", "--dry-run", "--json").stdout)
    (failure,) = planned["left_out"]
    assert set(failure) == FIELDS
    assert (failure["adapter"], failure["kind"]) == ("codex", kind)
    assert failure["command"]
    assert failure["hint"]
    (warning,) = [text for text in planned["warnings"] if text.startswith("codex is left out")]
    assert failure["message"] in warning
    assert failure["hint"] in warning


@pytest.mark.slow
def test_it_stands_in_the_races_events_its_text_and_its_record(hydra: Hydra) -> None:
    hydra.agent("codex", EDITED, answers=[CRASHED])
    race = hydra.race()
    (failure,) = race.document["left_out"]
    (warning,) = [text for text in race.document["warnings"] if "codex is left out" in text]
    assert "ended with exit 3" in warning
    assert warning.endswith("; next: npm install -g @openai/codex")
    assert warning in race.stderr
    warned = [event["data"]["text"] for event in hydra.events() if event["kind"] == "run_warning"]
    assert warning in warned
    shown = json.loads(hydra.run("runs", "show", "--json").stdout)
    assert shown["left_out"] == [failure]
    for value in (("race", "Do it", "--dry-run"), ("runs", "show")):
        done = hydra.run(*value)
        assert "codex is left out of this race (" in " ".join(done.stdout.split()), done


@pytest.mark.slow
def test_nobody_is_told_of_an_agent_that_is_not_installed_or_was_not_asked_for(
    hydra: Hydra,
) -> None:
    race = hydra.race("--dry-run")
    assert race.document["left_out"] == []
    assert not [text for text in race.document["warnings"] if "codex" in text]
    hydra.agent("codex", EDITED, answers=[CRASHED])
    assert hydra.race("--dry-run", "-a", "claude").document["left_out"] == []


def test_one_whose_path_the_settings_name_is_to_be_there(hydra: Hydra) -> None:
    (hydra.home / "hydra.toml").write_text('[agents.codex]\npath = "/nowhere/codex"\n')
    (failure,) = hydra.race("--dry-run").document["left_out"]
    assert failure["hint"] == "set agents.codex.path to its program"


# --- no lane can start ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("named", [(), ("-a", "claude", "-a", "codex")])
def test_where_no_lane_can_start_each_agent_has_its_four_fields(
    hydra: Hydra, named: tuple[str, ...]
) -> None:
    """Adapter, command, stderr and next step, in JSON, in the stream of events and in text."""
    hydra.agent("claude", EDITED, answers=[CRASHED])
    hydra.agent("codex", EDITED, answers=[BROKEN])
    race = hydra.race(*named)
    assert (race.code, race.document["exit_code"]) == (4, 4)
    assert race.document["error"]["kind"] == "NoAgentReady"
    agents = {failure["adapter"]: failure for failure in race.document["agents"]}
    assert set(agents) == {"claude", "codex"}
    assert agents["claude"]["stderr"] == "panicked at main\n"
    for key, failure in agents.items():
        assert set(failure) == FIELDS
        assert failure["command"] == [str(hydra.path[0] / key), "--version"]
        assert failure["hint"]
    done = hydra.run("race", "Do it", "--events", *named)
    (line,) = done.stdout.splitlines()
    assert json.loads(line) == race.document
    for text in ("adapter  claude", "adapter  codex", "panicked at main", "next     "):
        assert text in done.stderr


def test_where_one_agent_is_the_reason_the_error_has_its_fields(hydra: Hydra) -> None:
    hydra.agent("claude", EDITED, answers=[CRASHED])
    race = hydra.race("-a", "claude")
    error = race.document["error"]
    assert (error["kind"], error["adapter"]) == ("NoAgentReady", "claude")
    assert error["command"] == [str(hydra.path[0] / "claude"), "--version"]
    assert error["stderr"] == "panicked at main\n"
    assert error["hint"]


def test_a_refusal_for_one_agents_sake_names_it(hydra: Hydra) -> None:
    """No bubblewrap on PATH: full-auto, asked for outright, is refused as a whole (exit 3)."""
    tools = hydra.scratch / "tools"
    tools.mkdir()
    for name in ("git", "sh", "env", "python3"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    hydra.extra["PATH"] = f"{hydra.path[0]}:{tools}"
    race = hydra.race("-a", "claude", "--permission", "full-auto")
    assert race.code == 3
    assert race.document["error"]["kind"] == "Refused"
    assert race.document["error"]["adapter"] == "claude"
    assert race.document["agents"][0]["reason"] == "not_confined"


# --- several programs of one name ----------------------------------------------------------------

CURSOR_OLD = "echo 2026.10.01-e373342"


async def detect(
    scratch: Path, key: str, *folders: Path, paths: Mapping[str, str] | None = None
) -> DetectResult:
    around = ProbeContext(
        environ={"PATH": ":".join(map(str, folders)), "ANTHROPIC_API_KEY": "x"},
        home=scratch,
        confinement=Confinement(kind="none"),
        state=scratch / "state",
        paths=paths or {},
        extra_names={},
    )
    return (await detect_all([registry.OWN[key]], around))[key]


def agent(scratch: Path, folder: str, key: str, **options: Any) -> Path:
    return fakes.place(scratch / folder, key, EDITED, **options)


async def test_a_cursor_agent_that_lacks_a_flag_hides_no_good_cursor(scratch: Path) -> None:
    good = agent(scratch, "new", "cursor-agent", name="cursor")
    old = program(scratch / "old", "cursor-agent", CURSOR_OLD).parent
    result = await detect(scratch, "cursor-agent", old, good, Path("/usr/bin"), Path("/bin"))
    assert (result.ready, result.binary) == (True, good / "cursor")
    (warning,) = [text for text in result.warnings if "passed over" in text]
    assert warning.startswith(f"{old}/cursor-agent was passed over: ")
    assert "--print" in warning


SHIMS = {
    "it cannot be started": "exit 126",
    "it fails": "echo 'no version is set' >&2; exit 1",
    "another program": "echo something else",
    "no interpreter": None,
}


@pytest.mark.parametrize("why", SHIMS)
async def test_a_broken_shim_that_is_first_on_path_hides_no_good_program(
    scratch: Path, why: str
) -> None:
    good = agent(scratch, "new", "claude")
    shims = program(scratch / "shims", "claude", SHIMS[why] or "").parent
    if SHIMS[why] is None:
        (shims / "claude").write_text("#!/nowhere/node\n")
    result = await detect(scratch, "claude", shims, good, Path("/usr/bin"), Path("/bin"))
    assert (result.ready, result.binary) == (True, good / "claude"), result.error
    assert [text for text in result.warnings if f"{shims}/claude was passed over" in text]


async def test_the_first_that_works_is_taken_and_the_others_are_not_even_asked(
    scratch: Path,
) -> None:
    first, second = agent(scratch, "a", "claude"), scratch / "b"
    program(second, "claude", f"touch {scratch}/asked")
    result = await detect(scratch, "claude", first, second, Path("/usr/bin"), Path("/bin"))
    assert (result.ready, result.binary, result.warnings) == (True, first / "claude", ())
    assert not (scratch / "asked").exists()


async def test_where_none_works_the_agent_itself_is_told_and_not_a_stranger(
    scratch: Path,
) -> None:
    stranger = program(scratch / "a", "claude", "echo something else").parent
    broken = agent(scratch, "b", "claude", answers=[CRASHED])
    result = await detect(scratch, "claude", stranger, broken, Path("/usr/bin"), Path("/bin"))
    assert isinstance(result.error, Failure)
    assert (result.error.kind, result.error.command[0]) == ("SpawnFailed", f"{broken}/claude")
    assert [text for text in result.warnings if f"{stranger}/claude was passed over" in text]


def silent(scratch: Path, key: str, text: str, end: str) -> Path:
    """A good program, that ends by the shell's `end` where its arguments begin so."""
    good = agent(scratch, "good", key) / key
    script = f'case "$*" in "{text}"*) {end};; esac\nexec {good} "$@"'
    return program(scratch / "silent", key, script).parent


SILENT = {
    "echo 'bwrap: no' >&2; exit 1": "ended with exit 1",
    "echo 'bwrap: no' >&2; kill -9 $$": "was ended by signal 9",
    "echo 'bwrap: no'; exit 126": "cannot be started",
}


@pytest.mark.parametrize("end", SILENT)
async def test_a_help_that_failed_is_told_and_not_that_its_flags_are_gone(
    scratch: Path, end: str
) -> None:
    folder = silent(scratch, "claude", "--help", end)
    result = await detect(scratch, "claude", folder, Path("/usr/bin"), Path("/bin"))
    assert result.error is not None
    assert result.error.kind == "SpawnFailed"
    assert result.error.message == f"`{folder}/claude --help` {SILENT[end]}: bwrap: no"


@pytest.mark.parametrize("code", [0, 1])
async def test_a_help_that_shows_other_flags_lacks_those_whatever_its_exit(
    scratch: Path, code: int
) -> None:
    folder = silent(scratch, "claude", "--help", f"echo '  --another  x'; exit {code}")
    result = await detect(scratch, "claude", folder, Path("/usr/bin"), Path("/bin"))
    assert result.error is not None
    assert result.error.reason == "flag_gone"


@pytest.mark.parametrize("end", ["exit 126", "kill -9 $$"])
async def test_a_sign_in_that_could_not_be_asked_for_is_not_known(scratch: Path, end: str) -> None:
    folder = silent(scratch, "codex", "login status", end)
    result = await detect(scratch, "codex", folder, Path("/usr/bin"), Path("/bin"))
    assert (result.error, result.sign_in) == (None, SignIn.UNKNOWN)


async def test_a_sandbox_that_could_not_be_tried_is_not_broken(scratch: Path) -> None:
    folder = silent(scratch, "codex", "sandbox", "echo 'bwrap: no' >&2; exit 126")
    result = await detect(scratch, "codex", folder, Path("/usr/bin"), Path("/bin"))
    assert result.error is not None
    assert result.error.message.endswith("/codex sandbox -- true` cannot be started: bwrap: no")


async def test_an_editor_by_a_generic_name_is_no_news(scratch: Path) -> None:
    editor = program(scratch / "a", "cursor", "echo 1.99.2").parent
    good = agent(scratch, "b", "cursor-agent", name="agent")
    result = await detect(scratch, "cursor-agent", editor, good, Path("/usr/bin"), Path("/bin"))
    assert (result.binary, result.warnings) == (good / "agent", ())


async def test_a_signed_out_program_is_the_agent(scratch: Path) -> None:
    """Whoever is signed out of one is signed out of all: the next is not asked."""
    first = agent(scratch, "a", "codex", signed_in=False)
    second = program(scratch / "b", "codex", f"touch {scratch}/asked").parent
    result = await detect(scratch, "codex", first, second, Path("/usr/bin"), Path("/bin"))
    assert result.error is not None
    assert result.error.kind == "AuthMissing"
    assert not (scratch / "asked").exists()


async def test_a_program_that_the_settings_name_stands_alone(scratch: Path) -> None:
    good, broken = agent(scratch, "a", "claude"), program(scratch / "b", "claude", "exit 1")
    folders = (good, Path("/usr/bin"), Path("/bin"))
    result = await detect(scratch, "claude", *folders, paths={"claude": str(broken)})
    assert (result.ready, result.binary) == (False, broken)


async def test_what_a_relative_entry_of_path_leads_to_is_never_started(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(scratch / "here", "claude", f"touch {scratch}/started")
    monkeypatch.chdir(scratch / "here")
    for entry in (".", "", "../here"):
        around = ProbeContext(
            environ={"PATH": f"{entry}:/usr/bin:/bin"},
            home=scratch,
            confinement=Confinement(kind="none"),
            state=scratch / "state",
            paths={},
            extra_names={},
        )
        result = (await detect_all([registry.OWN["claude"]], around))["claude"]
        assert result.binary is None
    assert not (scratch / "started").exists()
