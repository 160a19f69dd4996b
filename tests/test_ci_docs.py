"""ci.md and conformance.md of docs/: workflows that a linter takes, lines that Hydra takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import fakes
from tests.support.command import Hydra, completed

DOCS = Path(__file__).parent.parent / "docs"
WORKFLOWS = DOCS.parent / ".github" / "workflows"
PINNED = "The agents in the versions that Hydra knows"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}")


def blocks(page: str, *languages: str) -> list[str]:
    documents = _FENCE.findall((DOCS / page).read_text())
    return [text for language, text in documents if language in languages]


def workflows() -> dict[str, dict[str, Any]]:
    """The page's workflows by name, as YAML has them."""
    from ruamel.yaml import YAML

    loaded = [YAML(typ="safe", pure=True).load(text) for text in blocks("how-to/ci.md", "yaml")]
    return {row["name"]: row for row in loaded}


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


# --- workflows -----------------------------------------------------------------------------------


def test_a_linter_for_workflows_takes_them(scratch: Path) -> None:
    """By the schema that comes with check-jsonschema: nothing is downloaded."""
    pytest.importorskip("check_jsonschema")
    files = [scratch / f"{number}.yml" for number, _ in enumerate(blocks("how-to/ci.md", "yaml"))]
    for file, text in zip(files, blocks("how-to/ci.md", "yaml"), strict=True):
        file.write_text(text)
    assert len(files) == 4
    done = lint(*files)
    assert done.returncode == 0, done.stdout
    files[0].write_text(files[0].read_text().replace("runs-on:", "run-on:"))
    assert lint(*files).returncode == 1  # it looks


OWN = ("agents", "ci", "full")


def test_the_page_shows_hydras_own_files_as_they_are() -> None:
    """`.github/workflows/` has what the page says lies there, and nothing else."""
    shown = {
        re.findall(r"^name: (.*)$", text, re.M)[0]: text for text in blocks("how-to/ci.md", "yaml")
    }
    assert set(shown) == {*OWN, "race"}
    files = {path.stem: path.read_text() for path in WORKFLOWS.glob("*")}
    assert files == {name: shown[name] for name in OWN}
    page = (DOCS / "how-to" / "ci.md").read_text()
    assert all(f"`.github/workflows/{name}.yml`" in page for name in OWN)


def test_the_run_of_every_change_has_what_it_looks_for() -> None:
    """`.ci/full` on each Python that it and the package name, `.ci/run` on the first and the last;
    `.ci/agents` knows who is pinned."""
    pytest.importorskip("ruamel.yaml")
    ci, full, agents = (workflows()[name] for name in ("ci", "full", "agents"))
    assert set(ci["on"]) == {"push", "pull_request"}
    assert [step["run"] for step in steps(ci) if "run" in step][-1] == "bash .ci/run"
    assert [step["run"] for step in steps(full) if "run" in step][-1] == "bash .ci/full"
    runner = (DOCS.parent / ".ci" / "run").read_text()
    versions = pythons(full)
    assert sorted(pythons(ci)) == [min(versions), max(versions)]
    assert sorted(versions) == re.findall(r"for version in ([\d. ]+);", runner)[0].split()
    package = (DOCS.parent / "pyproject.toml").read_text()
    assert sorted(versions) == sorted(re.findall(r"Python :: (3\.\d+)", package))
    pins = (DOCS.parent / ".ci" / "pins").read_text()
    (line,) = [text for text in script("agents", PINNED).splitlines() if ".ci/agents" in text]
    for agent in line.split('"')[-1].split():
        assert re.search(rf"^{agent} ", pins, re.M)
    assert "continue-on-error" not in str(agents)


def pythons(workflow: dict[str, Any]) -> list[str]:
    (versions,) = [
        step["with"]["python-version"]
        for step in steps(workflow)
        if "python-version" in step.get("with", {})
    ]
    return str(versions).split()


def lint(*files: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "check_jsonschema"]
    argv += ["--builtin-schema", "vendor.github-workflows", *map(str, files)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_they_may_do_no_more_than_they_must() -> None:
    pytest.importorskip("ruamel.yaml")
    for name, workflow in workflows().items():
        assert workflow["permissions"] == {"contents": "read"}, name
        assert "pull_request_target" not in str(workflow), name
        for job, document in workflow["jobs"].items():
            assert document["timeout-minutes"] <= (360 if name == "full" else 90)
            if job == "issue":
                assert document["permissions"] == {"issues": "write"}
                assert not any("hydra " in row.get("run", "") for row in document["steps"])
                assert not any("npm" in row.get("run", "") for row in document["steps"])
            else:
                assert "permissions" not in document
    assert "secrets." not in str([workflows()[name] for name in OWN])


def test_actions_are_pinned_and_leave_no_token_behind() -> None:
    pytest.importorskip("ruamel.yaml")
    used = [step for workflow in workflows().values() for step in steps(workflow) if "uses" in step]
    assert used
    for step in used:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", step["uses"]), step
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_nothing_is_written_into_a_script_that_a_person_can_choose() -> None:
    pytest.importorskip("ruamel.yaml")
    scripts = [
        step["run"]
        for workflow in workflows().values()
        for step in steps(workflow)
        if "run" in step
    ]
    assert scripts
    for script in scripts:
        assert not _EXPRESSION.search(script), script
        done = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, "")


# --- lines ---------------------------------------------------------------------------------------


# --- what a step does ----------------------------------------------------------------------------


def script(workflow: str, name: str) -> str:
    text: str = next(
        step["run"] for step in steps(workflows()[workflow]) if step.get("name") == name
    )
    return text


def run(hydra: Hydra, text: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """A step, as the service runs it: bash, ended by the first command that fails."""
    program = hydra.scratch / "bin" / "hydra"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hydra "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{hydra.environ['PATH']}"
    return completed(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        cwd=hydra.repo,
        env={**hydra.environ, "PATH": path, "PYTHONPATH": str(DOCS.parent), **environ},
        timeout=300,
    )


@pytest.fixture
def shop(scratch: Path, repo: Path) -> Hydra:
    return Hydra(scratch, repo)


@pytest.mark.slow
@pytest.mark.parametrize("state", ["proved", "broken"])
def test_the_step_that_races_leaves_a_patch_or_says_why_not(shop: Hydra, state: str) -> None:
    """With scripted agents, and a task that would harm a shell that read it."""
    pytest.importorskip("ruamel.yaml")
    mends = state == "proved"
    good = "def pages(n, size):\n    return -(-n // size)\n"
    shop.agent(
        "claude",
        [fakes.edit("src/pager.py", "oops" if state == "broken" else good), fakes.finish("Ok")],
    )
    shop.agent("codex", [fakes.finish("I could not")])
    done = run(
        shop,
        script("race", "Race"),
        RUNNER_TEMP=str(shop.scratch),
        GITHUB_STEP_SUMMARY=str(shop.scratch / "summary.md"),
        TASK='--fix "it"; $(touch pwned) `touch pwned`',
        CHECK=f'{sys.executable} -c \'import sys; sys.path[:0] = ["src"]; import pager as p; '
        f"assert p.pages(5, 2) {'== 3' if mends else '> 1'}'",
    )
    out = shop.scratch / "race"
    document = json.loads((out / "race.json").read_text())
    assert done.returncode == document["exit_code"] == (0 if mends else 1), done.stderr
    assert {lane["lane"]: lane["state"] for lane in document["verdict"]["lanes"]}["claude"] == state
    assert document["title"].startswith('--fix "it"; $(touch pwned)')
    assert not (shop.repo / "pwned").exists()
    assert [path.name for path in out.glob("*.mbox")] == (["claude.mbox"] if mends else [])
    assert (shop.scratch / "summary.md").read_text().startswith("### Hydra: ")
    if mends:
        applied = subprocess.run(["git", "am", str(out / "claude.mbox")], cwd=shop.repo)
        assert applied.returncode == 0
        assert (shop.repo / "src" / "pager.py").read_text() == good
