"""Sentences of docs/ that a run shows and no other test holds."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Hydra


def everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """All below it: kind and mode, time, content."""
    seen = {}
    for path in sorted(folder.glob("**/*")):
        stat = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        seen[str(path.relative_to(folder))] = (stat.st_mode, stat.st_mtime_ns, content)
    return seen


@pytest.mark.slow
def test_a_race_leaves_nothing_in_home_but_hydras_own_two_folders(
    scratch: Path, repo: Path
) -> None:
    """docs/why/trust.md: where nothing moves them, the cache and the state lie in HOME."""
    hydra = Hydra(scratch, repo, extra={"HYDRA_STATE_DIR": "", "HYDRA_CACHE_DIR": ""})
    hydra.agent("claude", [fakes.edit("a.txt", "x\n"), fakes.finish("done")])
    (hydra.home / ".claude").mkdir()
    (hydra.home / ".claude" / "settings.json").write_text("{}\n")
    for folder in (".cache", ".local/state"):
        (hydra.home / folder).mkdir(parents=True)
    before = everything(hydra.home)
    race = hydra.race()
    assert race.code == 0, race.document
    after = everything(hydra.home)
    own = (".cache/hydra", ".local/state/hydra")
    new = {name for name in after if name not in before}
    assert new
    assert {name for name in new if not name.startswith(own)} == set()
    assert {name for name in new if name.endswith("probes.json")} == {".cache/hydra/probes.json"}
    parents = {".cache", ".local/state"}  # whose times say that a folder was made in them
    assert {
        name: looks for name, looks in after.items() if name in before and name not in parents
    } == {name: looks for name, looks in before.items() if name not in parents}
    assert Path(race.document["folder"]).is_relative_to(hydra.home / own[1])


def test_rooms_take_their_logger_from_one_module() -> None:
    """docs/decisions.md, 12: structlog is imported where the log is turned on alone."""
    top = Path(__file__).parent.parent / "hydra"
    code = {path.relative_to(top): path.read_text() for path in top.glob("**/*.py")}
    pattern = re.compile(r"^\s*(?:import|from) (?:logging|structlog)\b", re.MULTILINE)
    assert [path for path in code if pattern.search(code[path])] == [Path("cli/diagnosis.py")]
    rooms = {path.parts[0] for path in code if "_log = get_logger(__name__)" in code[path]}
    assert rooms == {"adapters", "checks", "commands", "git", "landing", "process"} | {
        "race",
        "workspace",
    }


ROOT = Path(__file__).parent.parent


def rooms() -> list[tuple[list[str], list[str], list[str]]]:
    """docs/architecture.md, "The rooms": the rooms of each row, what they never know, and the
    folders of them for which that does not hold."""
    text = (ROOT / "docs/architecture.md").read_text().partition("## The rooms")[2]
    rows = re.findall(r"^\| (`.*?) \| .* \| (.*) \|$", text.partition("\n## ")[0], re.MULTILINE)
    return [
        (
            [name.rstrip("/").removesuffix(".py") for name in re.findall(r"`([\w./]+)`", row)],
            re.split(r", ", never.partition(" (but ")[0].replace("`", "")),
            re.findall(r"`(\w+)/`", never.partition(" (but ")[2]),
        )
        for row, never in rows
    ]


def test_the_rooms_stand_in_the_order_that_the_linter_holds() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [
        {name.strip().removeprefix("hydra.") for name in layer.split(":")}
        for layer in settings["contracts"][0]["layers"]
    ]
    named = [name for names, _, _ in rooms() for name in names]
    places = [next(place for place, layer in enumerate(layers) if name in layer) for name in named]
    assert places == sorted(places)
    assert set(named) == set().union(*layers)


@cache
def imports(room: str, *without: str) -> frozenset[str]:
    """All that its modules import, wherever they do, but for those below these folders of it."""
    folder = ROOT / "hydra" / room
    files = folder.glob("**/*.py") if folder.is_dir() else [folder.with_suffix(".py")]
    names: set[str] = set()
    for file in files:
        if set(without) & set(file.relative_to(folder.parent).parts):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


@pytest.mark.slow
def test_no_room_imports_what_the_table_says_it_never_knows() -> None:
    """Lazily neither. `I/O` is what blocks: processes, sockets, git, trio, `os`."""
    everywhere = {name for names, _, _ in rooms() for name in names}
    outside = {"trio": ["trio"], "click": ["click"], "subprocess": ["subprocess"], "os": ["os"]}
    outside |= {"GitPython": ["git"], "I/O": ["trio", "subprocess", "socket", "git", "os"]}
    looked_at = 0
    for names, never, without in rooms():
        for name in names:
            for term in never:
                unknown = outside.get(term, [f"hydra.{term}"] if term in everywhere else [])
                looked_at += bool(unknown)
                for module in unknown:
                    seen = {
                        used
                        for used in imports(name, *without)
                        if f"{used}.".startswith(f"{module}.")
                    }
                    assert seen <= {"os.path"}, f"{name} knows {term}"
    assert looked_at > 60


def test_every_library_is_in_the_table_or_the_list() -> None:
    """docs/architecture.md, "Why each library is here"; and nothing that is not asked for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [name for names in project["optional-dependencies"].values() for name in names]
    text = (ROOT / "docs/architecture.md").read_text().partition("## Why each library is here")[2]
    table, _, rest = text.partition("Carried in the page")
    rows = set(re.findall(r"^\| ([\w-]+) \| [\d.]", table, re.MULTILINE))
    assert rows == {re.split(r"[<>=]", name)[0] for name in project["dependencies"]}
    bold = set(re.findall(r"\*\*([\w.-]+)\*\*", rest.partition("\n## ")[0]))
    named = {re.split(r"[<>=]", name)[0] for name in extras} | {"hatchling"}
    assert bold - {"highlight.js"} == named


@pytest.mark.slow
def test_an_agent_that_never_exits_after_its_result_is_completed(scratch: Path, repo: Path) -> None:
    """docs/reference/agents/others.md: after a short silence it is ended, and is what it said."""
    hydra = Hydra(scratch, repo)
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
    steps = [fakes.edit("a.txt", "x\n"), fakes.emit({**result, "session_id": "x"}), fakes.hang()]
    hydra.agent("cursor-agent", steps)
    race = hydra.race("-a", "cursor-agent", "--allow-experimental-adapters", "--idle-timeout", "5s")
    lane = race.lane("cursor-agent")
    assert (lane["status"], lane["error"], lane["message"]) == ("completed", None, "done")
    assert lane["patch"]["files"] == 1
    assert "it had finished and did not exit: ended by Hydra" in lane["warnings"]


# --- words of which the list is closed -----------------------------------------------------------


def json_row(name: str, section: str) -> set[str]:
    """The values that docs/reference/json.md has in a field's row: what is in backticks there."""
    text = (ROOT / "docs/reference/json.md").read_text().partition(f"\n{section}\n")[2]
    row = re.findall(rf"^\| `{name}` \| [^|]* \| (.*) \|$", text, re.MULTILINE)[0]
    return set(re.findall(r"`([^`]+)`", row.partition(";")[0].partition(": [")[0]))


def first_column(page: str, heading: str) -> set[str]:
    """The words in the first column of a section's table."""
    text = (ROOT / "docs" / page).read_text().partition(f"\n## {heading}\n")[2]
    cells = re.findall(r"^\| ([^|]+?) \|", text.partition("\n## ")[0], re.MULTILINE)
    return {name.strip("` ") for cell in cells for name in cell.split(", ")}


def test_statuses_and_states_are_those_of_the_code() -> None:
    from hydra.adapters.probe.health import HealthState
    from hydra.checks.record import CheckStatus
    from hydra.records.agent import Confidence
    from hydra.records.outcome import Status

    assert json_row("status", "## A lane") == set(Status)
    assert json_row("status", "## A check") == set(CheckStatus)
    assert json_row("health", "## `hydra agents --json`") == set(HealthState)
    assert set(HealthState) <= first_column("reference/doctor.md", "Health")
    assert set(Confidence) <= json_row("capabilities", "## `hydra agents --json`")
    ended = {term.replace(" ", "_") for term in first_column("reference/checks.md", "How it ends")}
    assert {status.replace("setup", "set-up") for status in CheckStatus} - ended == {"no_tests"}


def test_remarks_are_of_the_kinds_that_both_pages_name() -> None:
    from hydra.analysis.notices.places import PLACES

    documented = json_row("kind", "## Remark")
    assert set(PLACES) <= documented
    assert documented <= first_column("reference/landing.md", "A word on every patch")
    code = "".join(path.read_text() for path in (ROOT / "hydra/analysis/notices").glob("*.py"))
    assert {kind for kind in documented if f'"{kind}"' not in code} == set()


def test_the_demos_script_lies_where_its_page_says(tmp_path: Path) -> None:
    fakes.place(tmp_path, "codex", [fakes.finish("done")])
    (script,) = tmp_path.glob("*/codex.json")
    page = (ROOT / "docs/how-to/demo.md").read_text()
    assert f"`FOLDER/{script.parent.name}/AGENT.json`" in page
