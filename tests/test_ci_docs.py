"""ci.md and conformance.md of docs/: workflows that a linter takes, lines that Hydra takes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("ruamel.yaml")
DOCS = Path(__file__).parent.parent / "docs"
WORKFLOWS = DOCS.parent / ".github" / "workflows"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}")


def blocks(page: str, *languages: str) -> list[str]:
    documents = _FENCE.findall((DOCS / page).read_text())
    return [text for language, text in documents if language in languages]


def workflows() -> dict[str, dict[str, Any]]:
    """The page's workflows by name, as YAML has them."""
    loaded = [
        yaml.YAML(typ="safe", pure=True).load(text) for text in blocks("how-to/ci.md", "yaml")
    ]
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


def lint(*files: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "check_jsonschema"]
    argv += ["--builtin-schema", "vendor.github-workflows", *map(str, files)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_they_may_do_no_more_than_they_must() -> None:
    for name, workflow in workflows().items():
        assert workflow["permissions"] == {"contents": "read"}, name
        assert "pull_request_target" not in str(workflow), name
        for job, document in workflow["jobs"].items():
            assert document["timeout-minutes"] <= (360 if name == "full" else 90)
            if job == "issue":
                assert document["permissions"] == {"issues": "write"}
                assert not re.search(
                    "hydra |npm", str([row.get("run") for row in document["steps"]])
                )
            else:
                assert "permissions" not in document
    assert "secrets." not in str([workflows()[name] for name in OWN])


def test_actions_are_pinned_and_nothing_is_in_a_script_that_a_person_can_choose() -> None:
    every = [step for workflow in workflows().values() for step in steps(workflow)]
    used, scripts = ([step for step in every if key in step] for key in ("uses", "run"))
    assert used
    assert scripts
    for step in used:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", step["uses"]), step
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    for step in scripts:
        assert not _EXPRESSION.search(step["run"]), step
        done = subprocess.run(["bash", "-n"], input=step["run"], text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, "")
