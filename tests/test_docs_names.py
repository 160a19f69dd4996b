"""Whatever README.md and docs/ name is there: commands, options, files, variables, headings,
reasons of errors, words of closed lists; and sentences that a run shows and no other test holds.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from hydra.adapters import registry
from hydra.cli.group import COMMANDS, hydra
from hydra.config.schema import Config
from hydra.records.request import Effort
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.grounds import fingerprint

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
AGENTS = ROOT / "docs" / "reference" / "agents" / "README.md"
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_TICKS = re.compile(r"`([^`\n]+)`")
_SOURCE = re.compile(r"\.?(hydra|tests|fixtures|docs|benchmarks|ci)/[\w./-]+|[\w/-]+\.py(::\w+)?")

OTHERS = frozenset(
    (
        *("home/", "setup.py", "skills/"),
        *("tests/pager.py", "tests/pager/__init__.py", "usercustomize.py"),
        *("hydra send", "hydra replay", "hydra kill", "hydra export", "hydra diff"),
        *("docs/new/plan.md", "docs/reviewer.md", "Object.assign", "CallInfo.from_call"),
        *("Cargo.lock", "Cargo.toml", "Function.runtest", "Module._load"),
        *("Descriptor.litter", "ConfigFolder.beside", "BuiltCommand.fresh"),
        *("hydra diff --json", "hydra conformance --drift", "HYDRA_SOURCE", "hydra/fixtures"),
    )
)
"""What is another's by a name like one of Hydra's, told not to be there, or part of a line."""

page_by_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)


@cache
def tracked() -> frozenset[str]:
    """The files of the repository, and their folders."""
    line = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(line, cwd=ROOT, capture_output=True, text=True).stdout.split("\n")
    files = [name for name in listed if name] or [
        str(path.relative_to(ROOT)) for path in ROOT.glob("**/*") if ".venv" not in path.parts
    ]
    folders = {str(folder) for name in files for folder in Path(name).parents}
    return frozenset((*files, *folders))


@cache
def sources(*folders: str) -> str:
    """All the code of these folders, in one text."""
    files = [path for folder in folders for path in (ROOT / folder).glob("**/*") if path.is_file()]
    kinds = (".py", ".toml", "")
    return "\n".join(path.read_text(errors="replace") for path in files if path.suffix in kinds)


@page_by_page
def test_files_are_there(page: Path) -> None:
    for name in dict.fromkeys(_TICKS.findall(page.read_text())):
        if not _SOURCE.fullmatch(name) or name in OTHERS or re.search(r"[A-Z]{4}", name):
            continue
        path = "/" + name.partition("::")[0].rstrip("/")
        assert any(f"/{text}".endswith(path) for text in tracked()), name


@page_by_page
def test_variables_are_read(page: Path) -> None:
    for name in set(re.findall(r"\bHYDRA_[A-Z_]+[A-Z]\b", page.read_text())) - OTHERS:
        assert name in sources("hydra", "tests", ".ci"), name


def anchors(page: Path) -> list[str]:
    """Of each heading, as GitHub makes them: the second of a name has -1 behind it."""
    names: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text()), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        times = sum(1 for other in names if re.fullmatch(rf"{re.escape(name)}(-\d+)?", other))
        names.append(f"{name}-{times}" if times else name)
    return names


@page_by_page
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", _FENCE.sub("", page.read_text())):
        if link.startswith(("http:", "https:")):
            continue
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


# --- commands ------------------------------------------------------------------------------------


def lines(page: Path) -> list[str]:
    """Every `hydra ...` of a page that is a line to type."""
    text = page.read_text()
    typed = re.findall(r"`(hydra [^`\n]+)`", _FENCE.sub("", text))
    for block in _FENCE.findall(text):
        typed += re.findall(r"(?:^ *|run: |\$ |&& )(hydra [a-z-]+(?: .*)?)$", block, re.MULTILINE)
    return [line for line in dict.fromkeys(typed) if line not in OTHERS and "  ->" not in line]


def typed_words(line: str) -> list[str]:
    reader = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    reader.whitespace_split = True
    typed: list[str] = []
    for term in reader:
        if term in ("|", "||", "&&", ";", ">", ">>", "<"):
            break
        typed.append(term)
    return typed


def take(line: str) -> None:
    """Parses it as Hydra would. Raises `click.ClickException`, or `HydraError`."""
    _, name, *rest = typed_words(line)
    command = hydra.get_command(click.Context(hydra), name)
    assert command is not None, f"there is no command {name}"
    while isinstance(command, click.Group) and rest and rest[0] in command.commands:
        command = command.commands[rest.pop(0)]
    try:
        with command.make_context(name, rest):
            pass
    except click.exceptions.Exit:
        pass  # --help


@page_by_page
def test_lines_are_those_that_hydra_takes(page: Path) -> None:
    for line in lines(page):
        if typed_words(line)[1].startswith("-") or typed_words(line)[1].endswith(":"):
            continue  # `hydra --help`; the rooms' diagram
        try:
            take(line)
        except click.ClickException as error:
            pytest.fail(f"{line}: {error.format_message()}")


def commands() -> Iterator[tuple[str, click.Command]]:
    yield "hydra", hydra
    for name in COMMANDS:
        command = hydra.get_command(click.Context(hydra), name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", command.commands[inner]) for inner in command.commands)


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_has_examples_that_it_takes(name: str) -> None:
    examples = getattr(dict(commands())[name], "examples", ())
    assert examples
    for example in examples:
        for line in re.findall(r"(?:^|\$\(|\| )(hydra [^|)]*)", example):
            take(line.partition("  #")[0])


def test_defaults_that_help_names_are_the_configurations() -> None:
    from hydra.config.values import format_duration

    race = hydra.get_command(click.Context(hydra), "race")
    assert race is not None
    helps = {option.name: getattr(option, "help", "") or "" for option in race.params}
    config = Config()
    for option, value in {
        "timeout": format_duration(config.limits.total),
        "idle_timeout": format_duration(config.limits.idle),
        "max_parallel": str(config.race.max_parallel),
        "retry": str(config.retry.times),
        "trial_runs": str(config.trials.runs),
        "keep": config.race.keep,
    }.items():
        assert f"({value})" in helps[option], option


# --- errors --------------------------------------------------------------------------------------


def reasons() -> set[str]:
    """Each reason with which Hydra makes an error of an agent, where it stands as a word: as a
    keyword's value, or behind the error's kind in a table."""
    text = sources("hydra")
    spelled = re.findall(r"\breason=\"([a-z_]+)\"", text)
    return {*spelled, *re.findall(r"\"AgentFailed\", \"([a-z_]+)\"", text)}


def test_reasons_of_errors_are_documented() -> None:
    page = (ROOT / "docs" / "reference" / "exit-codes.md").read_text()
    used = reasons()
    assert {"flag_gone", "not_it", "not_confined", "rate_limit"} <= used
    assert {name for name in used if f"`{name}`" not in page} == set()


def test_exit_codes_are_the_codes() -> None:
    """The page's rows are all that Hydra ends with, and no others."""
    from hydra import errors
    from hydra.cli import exit_report

    page = (ROOT / "docs" / "reference" / "exit-codes.md").read_text()
    rows = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    named = {**vars(errors), **vars(exit_report)}
    assert rows == {value for name, value in named.items() if name.startswith("EXIT_")}


# --- efforts -------------------------------------------------------------------------------------


def efforts() -> dict[str, list[str]]:
    """The table's rows by agent: its words."""
    text = AGENTS.read_text().partition("## Efforts")[2]
    rows = {}
    for line in re.findall(r"^\| `.*$", text.partition("\n## ")[0], re.MULTILINE):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for agent in re.findall(r"`([\w-]+)`", cells[0]):
            rows[agent] = cells[1].split(", ")
    return rows


def test_the_table_of_efforts_is_what_the_adapters_say() -> None:
    table = efforts()
    for adapter in registry.everyone():
        mapped = adapter.descriptor.efforts
        assert table.pop(adapter.key()) == [mapped.get(effort, "none") for effort in Effort]
    assert table == {}


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
    before = fingerprint(hydra.home)
    race = hydra.race()
    assert race.code == 0, race.document
    after = fingerprint(hydra.home)
    own = (".cache/hydra", ".local/state/hydra")
    new = {name for name in after if name not in before}
    assert new
    assert {name for name in new if not name.startswith(own)} == set()
    assert {name for name in new if name.endswith("probes.json")} == {".cache/hydra/probes.json"}
    assert before == {name: looks for name, looks in after.items() if name in before}
    assert Path(race.document["folder"]).is_relative_to(hydra.home / own[1])


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
