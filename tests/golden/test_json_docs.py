"""docs/reference/json.md beside what the commands print: each document's fields are its tables',
all of them and no others."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import fakes
from tests.support.command import Hydra

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
GOOD = "def pages(n, size):\n    return -(-n // size)\n"
CHECK = (
    f'unit={sys.executable} -c \'import sys; sys.path[:0] = ["src"]; import pager; '
    "assert pager.pages(5, 2) == 3'"
)


@cache
def sections() -> Mapping[str, str]:
    """The page's sections by their headings, without backticks."""
    parts = re.split(r"^##+ (.*)$", PAGE.read_text(), flags=re.MULTILINE)
    names = [name.replace("`", "") for name in parts[1::2]]
    return dict(zip(names, parts[2::2], strict=True))


def columns(text: str) -> set[str]:
    """The names in the first column of its tables."""
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def fields(heading: str) -> set[str]:
    """The names in the first column of a section's tables."""
    return columns(sections()[heading])


def printed(hydra: Hydra, *args: str, code: int = 0) -> dict[str, Any]:
    done = hydra.run(*args, "--json")
    assert done.returncode == code, (args, done.stdout[-500:], done.stderr)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


PLAN = {
    *("promises", "view", "max_parallel", "limits", "copies", "setup", "checks", "keep", "retry"),
    *("dependencies", "python_path"),
}
PLAN_LANE = {"rates", "environment_passed", "budget", "command"}
"""What the text under "plan" names, in the plan and in each lane of it."""


def lanes_fields() -> tuple[set[str], set[str]]:
    """Of a lane: the fields of the first table, and those that a result has beside them."""
    common, _, more = sections()["A lane"].partition("In a `result` also:")
    return columns(common), columns(more)


def event_rows() -> dict[str, tuple[set[str], set[str]]]:
    """docs/reference/events.md: of each kind the data that must be there, and all that may be."""
    rows: dict[str, tuple[set[str], set[str]]] = {}
    text = (PAGE.parent / "events.md").read_text()
    for kind, rest in re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", text, re.MULTILINE):
        cell = re.sub(r"\([^()]*(\([^()]*\)[^()]*)*\)", "", rest.rpartition("| ")[2])
        cell = re.sub(r"`: .*?(?=,|$)", "`", cell.partition(". ")[0])  # a value, a sentence more
        names = re.findall(r"`([a-z_]+)`(\??)", cell)
        must, may = rows.get(kind, (None, set()))
        needed = {name for name, optional in names if not optional}
        must = needed if must is None else must & needed
        rows[kind] = must, may | {name for name, _ in names}
    return rows


def undocumented(events: list[dict[str, Any]]) -> set[str]:
    """What an event has beyond its row, or lacks of it."""
    rows, wrong = event_rows(), set()
    for event in events:
        must, may = rows[event["kind"]]
        for name in (set(event["data"]) - may) | (must - set(event["data"])):
            wrong.add(f"{event['kind']}: {name}")
    return wrong


@pytest.mark.slow
def test_every_document_has_the_fields_of_the_page_and_no_others(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    for key in ("claude", "codex"):
        hydra.agent(key, [fakes.edit("src/pager.py", GOOD), fakes.finish("done")])
    common, more = lanes_fields()
    every = fields("Every race")
    error = fields("Error")
    wrong: dict[str, list[str]] = {}

    def holds(name: str, document: Mapping[str, Any], names: set[str]) -> None:
        if different := sorted(set(document) ^ names):
            wrong[name] = different

    plan = printed(hydra, "race", "Do it", "--check", CHECK, "--dry-run")
    holds("plan", plan, every | PLAN)
    limits = PAGE.read_text().partition("`limits` (seconds:")[2].partition("; their keys")[0]
    holds("plan, limits", plan["limits"], set(re.findall(r"`(\w+)`", limits)))
    holds("plan, a lane", plan["lanes"][0], common | PLAN_LANE)
    result = printed(hydra, "race", "Do it", "--check", CHECK)
    holds("result", result, every | fields("result"))
    holds("result, a lane", result["lanes"][0], common | more)
    check = result["lanes"][0]["checks"][0]
    holds("a check", check, fields("A check"))
    assert undocumented(hydra.events()) == set()
    verdict = printed(hydra, "compare")
    holds("verdict", verdict, fields("Verdict"))
    holds("verdict, a lane", verdict["lanes"][0], fields("A lane's verdict"))
    listed = printed(hydra, "runs")
    holds("runs", listed, {"schema", "kind", "runs"})
    holds("runs, a run", listed["runs"][0], fields("hydra runs --json"))
    shown = printed(hydra, "runs", "show")
    holds("runs show", shown, every | fields("result") | {"landings", "problem"})
    removal = printed(hydra, "runs", "rm", result["run"], "--dry-run")
    holds("runs rm", removal, {"schema", "kind", "dry_run", "runs"})
    holds("runs rm, a run", removal["runs"][0], fields("hydra runs rm --json"))
    holds("check", printed(hydra, "check", "claude"), fields("hydra check --json"))
    diff = printed(hydra, "diff", "claude", "--hunks")
    holds("diff", diff, fields("hydra diff --json"))
    undo = {"flags", "exact"}
    landed = fields("hydra merge --json") - undo
    holds("merge", printed(hydra, "merge", "claude"), landed)
    doctor = printed(hydra, "doctor")
    holds("doctor", doctor, fields("hydra doctor --json"))
    agents = printed(hydra, "agents")
    holds("agents", agents, {"schema", "agents", "problems"})
    holds("agents, an agent", agents["agents"][0], fields("hydra agents --json"))
    holds(
        "models",
        printed(hydra, "agents", "--model", "opus"),
        fields("hydra agents --models --json"),
    )
    refused = printed(hydra, "race", "Do it", "-a", "nobody", code=2)
    holds("error", refused, {"schema", "kind", "error", "agents", "exit_code"})
    holds("error, the error", refused["error"], error)
    holds("init", printed(hydra, "init"), fields("hydra init --json"))
    assert wrong == {}, wrong
    documents = [plan, result, verdict, listed, removal, diff, doctor, agents, refused]
    kinds = re.findall(
        r"`(\w+)`", PAGE.read_text().partition("`kind` says")[2].partition("`--ev")[0]
    )
    assert {document["kind"] for document in documents if "kind" in document} <= set(kinds)
