"""Records that are damaged or from a newer Hydra: what is readable is shown, exit 6, no traceback.

Hydra itself is run once; every case works on a copy of that run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SCRATCH_ROOT, git, make_repository
from tests.support import fakes
from tests.support.command import Hydra

Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def raced() -> Iterator[Hydra]:
    """A repository with one race: claude changed a file, codex nothing."""
    folder = Path(tempfile.mkdtemp(prefix="hydra-test-", dir=SCRATCH_ROOT))
    hydra = Hydra(folder, make_repository(folder / "shop"))
    hydra.agent("claude", [fakes.edit("src/new.py", "x = 1\n"), fakes.finish("done")])
    hydra.agent("codex", [fakes.finish("nothing to do")])
    assert hydra.run("race", "Do it", "-q").returncode == 1
    yield hydra
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def run(raced: Hydra) -> Iterator[Path]:
    """That race's folder, whole again after each test."""
    folder = next(raced.state.glob("*/runs/*"))
    whole = folder.parent.parent / "whole"
    shutil.copytree(folder, whole)
    pins = git(raced.repo, "for-each-ref", "--format=%(refname) %(objectname)", "refs/hydra")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
    whole.rename(folder)
    for pin in pins.splitlines():
        git(raced.repo, "update-ref", *pin.split())


def change(name: str, **values: object) -> Damage:
    def damage(folder: Path) -> None:
        document: dict[str, Any] = json.loads((folder / name).read_bytes())
        (folder / name).write_text(json.dumps({**document, **values}))

    return damage


def put(name: str, data: bytes) -> Damage:
    def damage(folder: Path) -> None:
        (folder / name).write_bytes(data)

    return damage


def replaced(name: str, old: bytes, new: bytes) -> Damage:
    def damage(folder: Path) -> None:
        data = (folder / name).read_bytes()
        assert old in data
        (folder / name).write_bytes(data.replace(old, new, 1))

    return damage


def lanes_with(**values: object) -> Damage:
    def damage(folder: Path) -> None:
        lanes = json.loads((folder / "result.json").read_bytes())["lanes"]
        change("result.json", lanes=[{**lane, **values} for lane in lanes])(folder)

    return damage


ERROR = r"(looking at .*\n)?error: .*\n( .*\n)*hint: .*\n"
SHOWING = ("runs --json", "runs show", "runs show --json", "compare")
DEEP = b"[" * 200_000
"""More levels than json reads: a RecursionError, which is no ValueError."""

DAMAGES: dict[str, Damage] = {
    "result: no JSON": put("result.json", b"{garb"),
    "result: nested too deeply": put("result.json", DEEP),
    "result: newer": change("result.json", schema=99),
    "result: lanes of another shape": change("result.json", lanes=[{"no": 1}, "x"]),
    "manifest: no JSON": put("manifest.json", b"\xff\xfe"),
    "manifest: empty": put("manifest.json", b"{}"),
}
OTHERS: dict[str, Damage] = {
    "result: cut": lambda folder: os.truncate(folder / "result.json", 999),
    "result: a number of 5,000 digits": replaced(
        "result.json", b'"schema": 1', b'"schema": 1' + b"9" * 5000
    ),
    "result: a number that is none": change("result.json", seconds=float("nan")),
    "result: half a character for a word": lanes_with(status="\ud800\nhint: rm -rf /"),
    "result: a word for a number": lanes_with(seconds="3"),
    "manifest: another type": change("manifest.json", title=["Do it"]),
    "manifest: half a character in a name": change("manifest.json", base="\ud800", head="\ud800"),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", OTHERS.values(), ids=OTHERS.keys())
def test_damage_is_a_sentence_and_a_code_whoever_meets_it(
    raced: Hydra, run: Path, damage: Damage
) -> None:
    damage(run)
    lines = (("runs", "show"), ("compare",), ("merge", "claude", "--no-check"))
    for line, code in zip(lines, (6, 6, 5), strict=True):
        process = raced.run(*line)
        assert process.returncode == code, process
        assert re.fullmatch(ERROR, process.stderr), process
    process = raced.run("runs", "rm", run.name, "--yes")
    assert process.returncode == 0, process
    assert "patches of claude" in process.stderr
    assert not run.exists()
    assert git(raced.repo, "for-each-ref", "refs/hydra") == ""


@pytest.mark.slow
def test_odd_text_and_more_keys_are_no_damage(raced: Hydra, run: Path) -> None:
    codes = {line: raced.run(*line.split()).returncode for line in SHOWING}
    value = "\ud800 it\n\x1b[2J\0"
    change("manifest.json", title=value, prompt=value, colour={value: [value]})(run)
    change("result.json", title=value, colour=value, warnings=[value])(run)
    lanes_with(message=value, colour={"\ud800": 1})(run)
    for line, code in codes.items():
        process = raced.run(*line.split())
        assert (process.returncode, process.stderr) == (code, "")
        assert "\x1b[2J" not in process.stdout


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_what_is_readable_is_shown_and_the_code_is_6(
    raced: Hydra, run: Path, damage: Damage
) -> None:
    damage(run)
    for value in (("runs",), ("runs", "show")):
        process = raced.run(*value)
        assert process.returncode == 6, (value, process)
        assert run.name in process.stdout
        assert "claude finished" in " ".join(process.stdout.split()) or value == ("runs",)
        assert "unreadable" in process.stdout
        assert process.stderr.startswith("error: ")
        assert "\nhint: " in process.stderr
        document = raced.run(*value, "--json")
        assert document.returncode == 6
        assert json.loads(document.stdout)["schema"] in (1, 99)
        assert document.stderr == ""


@pytest.mark.slow
def test_a_patch_outlives_its_record(raced: Hydra, run: Path) -> None:
    whole = raced.run("diff", "claude").stdout
    assert "+x = 1" in whole
    files = {name: (run / name).read_bytes() for name in ("result.json", "manifest.json")}
    for damage in (*DAMAGES.values(), change("manifest.json", schema=2)):
        for name, data in files.items():
            (run / name).write_bytes(data)
        damage(run)
        process = raced.run("diff", "claude")
        assert (process.returncode, process.stdout) == (0, whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["landings/1.json", "checks/1/trials.json", "consult/1/answer.json"]
)
def test_what_lies_beside_the_record_and_cannot_be_read_is_left_out(
    raced: Hydra, run: Path, name: str
) -> None:
    (run / name).parent.mkdir(parents=True, exist_ok=True)
    (run / name).write_bytes(DEEP)
    for value in (("runs",), ("runs", "show"), ("compare",)):
        process = raced.run(*value)
        assert process.returncode in (0, 1), process
        assert "Do it" in process.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ({"schema": 99}, "is from a newer Hydra (schema 99, known: 1)"),
        ({"lanes": None}, "is not what Hydra writes"),
    ],
)
def test_show_says_why_a_verdict_cannot_be_read(
    raced: Hydra, run: Path, damage: dict[str, object], why: str
) -> None:
    verdict = json.loads((run / "result.json").read_bytes())["verdict"]
    change("result.json", verdict={**verdict, **damage})(run)
    sentence = f"the verdict of run {run.name} {why}"
    process = raced.run("runs", "show")
    assert (process.returncode, process.stderr) == (0, "")
    assert f"\n\n{sentence}\n\n" in process.stdout
    assert json.loads(raced.run("runs", "show", "--json").stdout)["problem"] == sentence


@pytest.mark.slow
def test_a_damaged_line_of_events_is_told_by_show(raced: Hydra, run: Path) -> None:
    events = run / "events.jsonl"
    first, *rest = events.read_bytes().splitlines(keepends=True)
    for line in (b"garbage\n", b'{"v": 1}\n', b'{"v": 9}\n', b'{"v": "x"}\n', b"[1]\n"):
        events.write_bytes(b"".join([first, line, *rest]))
        process = raced.run("runs", "show")
        assert process.returncode == 6, line
        assert "untested" in process.stdout
    assert raced.run("runs").returncode == 0


def test_a_damaged_run_can_be_removed(raced: Hydra, run: Path) -> None:
    put("result.json", b"{garb")(run)
    put("manifest.json", b"{}")(run)
    process = raced.run("runs", "rm", run.name, run.name, "-y")
    assert process.returncode == 0, process
    assert process.stderr.count(run.name) == 1
    assert "patches of claude" in process.stderr
    assert not run.exists()


def test_patches_that_are_gone_are_a_damaged_record(raced: Hydra, run: Path) -> None:
    shutil.rmtree(run / "patches.git")
    process = raced.run("diff", "claude")
    assert process.returncode == 6
    assert "cannot be read" in process.stderr


@pytest.mark.slow
def test_paths_are_read_from_where_one_stands(raced: Hydra, run: Path) -> None:
    inside = Hydra(raced.scratch, raced.repo / "src", path=raced.path)
    assert "+x = 1" in inside.run("diff", "claude", "--", "new.py").stdout
    assert inside.run("diff", "claude", "--", "src/new.py").stdout == ""
    assert "+x = 1" in inside.run("diff", "claude", "--", "..").stdout
    outside = inside.run("diff", "claude", "--", "../..")
    assert outside.returncode == 2
    assert "outside the repository" in outside.stderr
    files = json.loads(inside.run("diff", "claude", "--json", "--", "new.py").stdout)["files"]
    assert [file["path"] for file in files] == ["src/new.py"]
    assert json.loads(raced.run("diff", "claude", "--json", "--", "ne").stdout)["files"] == []


@pytest.mark.parametrize("name", ["@-\u00b2", "@-99999999999999999999", "../.."])
def test_a_run_that_is_none(raced: Hydra, run: Path, name: str) -> None:
    process = raced.run("runs", "show", "-r", name)
    assert process.returncode == 2
    assert "\nhint: hydra runs lists them" in process.stderr
