"""`hydra race` as a person runs it, over scripted agents: what lanes get, and what is kept."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SCRATCH_ROOT, git, make_repository
from tests.support import fakes
from tests.support.command import Hydra, Race

DONE = fakes.finish("done")


def add(name: str, text: str = "new\n") -> list[fakes.Step]:
    return [fakes.edit(name, text), DONE]


@pytest.mark.slow
def test_a_plan_that_an_agent_ends_on_is_kept_whole(hydra: Hydra) -> None:
    whole = "# Plan\n\n" + "".join(f"{n}. step number {n} of it\n" for n in range(300))
    hydra.agent("claude", [fakes.say("I have looked."), fakes.finish(whole)])
    race = hydra.race("-a", "claude", "--permission", "plan")
    (lane,) = race.document["lanes"]
    assert (lane["status"], lane["plan"]) == ("no_changes", "lanes/claude/plan.md")
    path = Path(race.document["folder"], lane["plan"])
    assert path.read_text().strip() == whole.strip()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"plan of claude:  {path}" in hydra.run("runs", "show").stdout
    text = hydra.run("compare", "--html", "-").stdout
    assert '"says":"1 plan","why":"This race asked for plans' in text
    assert '"plan":"# Plan\\n\\n0. step' in text
    other = hydra.race("-a", "claude")
    assert other.document["lanes"][0]["plan"] is None


@dataclass
class Looked:
    """One race of a lane, for all that is only looked at afterwards."""

    hydra: Hydra
    race: Race
    calls: list[dict[str, object]]

    @property
    def folder(self) -> Path:
        return Path(self.race.document["folder"])

    @property
    def call(self) -> dict[str, object]:
        """How the agent was called for its task."""
        return next(call for call in self.calls if call["stdin"] is not None)


SECRET = "made-up-anthropic-key"
PROMPT = "Do it\n\n--version is what I type; $(touch /tmp/x) `id`\n/clear"


@pytest.fixture(scope="module")
def looked() -> Iterator[Looked]:
    """A lane with a copy and a set-up, from a repository with uncommitted work."""
    scratch = Path(tempfile.mkdtemp(prefix="hydra-test-", dir=SCRATCH_ROOT))
    hydra = Hydra(scratch, make_repository(scratch / "shop"))
    (hydra.repo / ".env").write_text("TOKEN=1\n")
    (hydra.repo / "README.md").write_text("# Shop, dirty\n")
    (hydra.home / "codex-settings").mkdir()
    (hydra.home / "codex-settings" / "auth.json").write_text('{"made": "of codex"}')
    hydra.extra |= {"SSH_AUTH_SOCK": "/run/x", "GITHUB_TOKEN": "made-up-github", "GIT_DIR": "/x"}
    hydra.extra["CODEX_HOME"] = str(hydra.home / "codex-settings")
    calls = fakes.Calls(scratch)
    look = f"cat .env made-by-setup {hydra.home}/codex-settings/auth.json > seen 2>&1; true"
    steps = [
        fakes.say(f"my key is {SECRET}"),
        fakes.stderr(f"{SECRET}\n"),
        fakes.say("a sentence to be found"),
        fakes.shell("sh", "-c", look),
        fakes.daemon(),
        DONE,
    ]
    hydra.agent("claude", steps, record=calls.path)
    made = 'echo "ready, key: [$ANTHROPIC_API_KEY]" > made-by-setup'
    options = ("-a", "claude:opus", "--copy", ".env", "--setup", made, "--json")
    done = hydra.run("race", "-", *options, stdin=PROMPT)
    yield Looked(hydra, Race(done.returncode, json.loads(done.stdout), done.stderr), calls.so_far())
    shutil.rmtree(scratch, ignore_errors=True)


@pytest.mark.slow
def test_a_race_in_its_record(looked: Looked) -> None:
    """It is private, has no secret, and its events point at the raw bytes."""
    race, folder = looked.race, looked.folder
    assert race.code == 0, race
    for path in (looked.hydra.state, folder, folder / "events.jsonl", folder / "manifest.json"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    for path in folder.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
    assert SECRET not in json.dumps(race.document)
    warnings = race.lane("claude-opus")["warnings"]
    assert any("redacted" in warning for warning in warnings)
    assert any("left running and ended" in warning for warning in warnings)
    text = "not committed, so left out: 1 changed file ("
    assert any(text in warning for warning in race.document["warnings"])
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    document = next(e for e in events if e["kind"] == "message" and "found" in e["data"]["text"])
    raw = folder / "lanes" / "claude-opus" / document["raw"]["file"]
    start = document["raw"]["offset"]
    piece = raw.read_bytes()[start : start + document["raw"]["length"]]
    assert json.loads(piece)["type"] == "assistant"
    assert b"a sentence to be found" in piece


@pytest.mark.slow
def test_a_race_in_its_patch(looked: Looked) -> None:
    """It names agent and run; the copy is seen by the agent, and not taken."""
    message = git(looked.folder / "patches.git", "log", "-1", "--format=%B", "claude-opus")
    assert message.splitlines()[0] == "Do it"
    assert "Hydra-Agent: claude" in message
    assert "Hydra-Model: opus" in message
    assert f"Hydra-Run: {looked.race.document['run']}" in message
    names = git(looked.folder / "patches.git", "diff", "--name-only", "claude-opus^", "claude-opus")
    assert names.splitlines() == ["seen"]
    seen = git(looked.folder / "patches.git", "show", "claude-opus:seen")
    assert seen.startswith("TOKEN=1\nready, key: []\n")
    if shutil.which("bwrap") is not None:
        assert "of codex" not in seen


@pytest.mark.slow
def test_a_race_as_its_agent_is_called(looked: Looked) -> None:
    """The prompt comes by stdin and never by argv; its own key, and none of its rivals'."""
    assert PROMPT in str(looked.call["stdin"])
    assert all("touch" not in str(argument) for argument in _list(looked.call["argv"]))
    for call in looked.calls:
        environment = call["env"]
        assert isinstance(environment, dict)
        assert environment["ANTHROPIC_API_KEY"] == SECRET
        for name in ("CODEX_API_KEY", "SSH_AUTH_SOCK", "GITHUB_TOKEN", "GIT_DIR"):
            assert name not in environment
    environment = looked.call["env"]
    assert isinstance(environment, dict)
    assert os.geteuid() != 0 or environment.get("IS_SANDBOX") == "1"


def _list(value: object) -> list[Any]:
    assert isinstance(value, list)
    return value


@pytest.mark.slow
def test_what_a_set_up_leaves_is_in_a_patch_only_where_its_agent_has_changed_it(
    hydra: Hydra,
) -> None:
    tree = "mkdir -p tools/env gen && touch tools/env/pyvenv.cfg && mkdir tools/env/bin"
    steps = [
        fakes.edit("gen/a.py", "2 * 2\n"),
        fakes.edit("tools/env/bin/installed", ""),
        fakes.shell("git", "add", "-A"),
        *add("a.txt"),
    ]
    hydra.agent("claude", steps)
    hydra.agent("codex", [DONE])
    setup = f"{tree} && echo 1 > gen/a.py && echo 1 > gen/b.py"
    race = hydra.race(
        "-a", "claude", "-a", "codex", "--setup", setup, "--check", "test -f gen/b.py"
    )
    lane = race.lane("claude")
    patches = Path(race.document["folder"], "patches.git")
    assert git(patches, "diff", "--name-only", "claude^", "claude").split() == ["a.txt", "gen/a.py"]
    assert [row["status"] for row in lane["checks"]] == ["passed"]
    names = "gen/b.py, tools/env"
    assert lane["patch"]["notes"] == [
        f"the set-up left {names}, which git does not ignore: not in the patch"
    ]
    assert race.lane("codex")["status"] == "no_changes"
    assert race.lane("codex")["checks"] == []


@pytest.mark.slow
def test_the_lines_that_land_a_race_from_uncommitted_work_do_land_it(hydra: Hydra) -> None:
    """Also where its verdict cannot be read."""
    (hydra.repo / "README.md").write_text("# Shop, dirty\n")
    hydra.agent("claude", add("a.txt"))
    shown = hydra.run("race", "Do it", "-a", "claude", "--include-dirty").stdout
    [line] = [line for line in shown.splitlines() if line.startswith("land: hydra merge")]
    (result,) = hydra.state.glob("*/runs/*/result.json")
    whole = result.read_text()
    document = json.loads(whole)
    document["verdict"]["schema"] = 99  # a newer Hydra's
    result.write_text(json.dumps(document))
    for shown in (hydra.run("runs", "show").stdout, hydra.run("merge", "claude").stderr):
        (offered,) = re.findall(r"hydra (merge claude .*)", shown)
        assert hydra.run(*shlex.split(offered), "--dry-run").returncode == 0, shown
    result.write_text(whole)
    _, _, *terms = line.split()
    assert "--no-commit" in terms
    assert hydra.run(*terms, "--dry-run").returncode == 0
    assert hydra.run(*terms).returncode == 0


@pytest.mark.slow
def test_what_the_cli_really_applied_is_read_back(hydra: Hydra) -> None:
    hydra.agent("claude", add("a.txt"), applies="plan")
    race = hydra.race("-a", "claude")
    assert any("but the CLI applied plan" in w for w in race.lane("claude")["warnings"])


@pytest.mark.slow
def test_events_stream_is_the_record_line_for_line(hydra: Hydra) -> None:
    hydra.agent("claude", add("a.txt"))
    done = hydra.run("race", "Do it", "-a", "claude", "--events")
    folder = hydra.run("runs", "path").stdout.strip()
    assert done.stdout == Path(folder, "events.jsonl").read_text()


@pytest.mark.slow
def test_four_lanes_of_one_agent_wait_for_their_places(hydra: Hydra) -> None:
    hydra.agent("claude", add("a.txt"))
    race = hydra.race("-a", "4xclaude", "--max-parallel", "2")
    assert race.code == 1
    names = [lane["lane"] for lane in race.document["lanes"]]
    assert names == ["claude", "claude-2", "claude-3", "claude-4"]
    waiting = [e["lane"] for e in hydra.events() if e["kind"] == "lane_waiting"]
    assert waiting == ["claude-3", "claude-4"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="the user's own is written without it")
def test_a_sign_in_in_a_folder_that_the_user_names_comes_back_as_another_agents_does(
    hydra: Hydra,
) -> None:
    folder, document = ".codex", '{"tokens": {"refresh_token": "made-up-1"}}'
    own = hydra.home / folder / "auth.json"
    own.parent.mkdir(parents=True)
    own.write_text(document)
    (own.parent / "else").write_text("the user's")
    (hydra.home / "hydra.toml").write_text(f'[agents.claude]\nfolders = ["~/{folder}"]\n')
    script = f"""
    cd ~/{folder} && sed -i s/-1/-2/ auth.json && echo changed > else
    """
    hydra.agent("claude", [fakes.shell("sh", "-c", script), fakes.edit("a.txt", "x\n"), DONE])
    race = hydra.race("-a", "claude")
    assert race.code == 0, race.document
    assert own.read_text() == document.replace("-1", "-2")
    assert (own.parent / "else").read_text() == "the user's"


@pytest.mark.parametrize(
    ("named", "shown"), [("~/.config", "~/.config/gh"), ("~/.docker/contexts", "~/.docker")]
)
def test_a_folder_that_shows_what_no_agent_may_see_is_refused(
    hydra: Hydra, named: str, shown: str
) -> None:
    hydra.agent("claude", [DONE])
    (hydra.home / "hydra.toml").write_text(f'[agents.claude]\nfolders = ["{named}"]\n')
    race = hydra.race("-a", "claude")
    assert race.code == 2
    document = race.document["error"]["message"]
    assert (
        f"agents.claude.folders: {named} would show the agent {shown}, which is hidden" in document
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="nothing is hidden without it")
def test_a_shown_folder_that_holds_the_checkout_shows_its_neighbours_and_not_it(
    scratch: Path,
) -> None:
    hydra = Hydra(scratch, make_repository(scratch / "src" / "shop"))
    (scratch / "src" / "lib.txt").write_text("a neighbour\n")
    (hydra.repo / "secret.txt").write_text("untracked\n")
    hydra.extra["HYDRA_SHOW"] = f"{scratch}/src:{scratch}/agents"
    script = f"git log --format=%s -1; cat {scratch}/src/lib.txt; ls -A {hydra.repo}"
    hydra.agent("claude", [fakes.shell("sh", "-c", f"{{ {script}; }} > seen.txt 2>&1"), DONE])
    race = hydra.race("-a", "claude")
    assert race.code == 0, race
    seen = hydra.run("diff", "claude").stdout
    assert "+First commit" in seen
    assert "+a neighbour" in seen
    assert "secret" not in seen
