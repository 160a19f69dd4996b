"""What a build leaves in a patch is told by folder and count, and can be left out when it lands."""

from __future__ import annotations

import json

import pytest

from hydra.analysis.made_folders import folder_of, made_folders
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdict_races import RIGHT, UNITTEST, shop


@pytest.mark.parametrize(
    ("files", "folders"),
    [
        ({f"coverage/report/f{at}.html": True for at in range(10)}, {"coverage/": 10}),
        ({f"web/.next/cache/{at}/c.js": True for at in range(40)}, {"web/.next/": 40}),
        ({f"data/made/{at}.bin": True for at in range(100)}, {"data/": 100}),
        ({"data/own": False} | {f"data/a/{at}": True for at in range(100)}, {"data/a/": 100}),
        ({f"coverage/{at}.py": True for at in range(9)}, {}),
        ({f"src/pages/{at}.py": True for at in range(99)}, {}),
        ({"dist/a.js": False} | {f"dist/{at}.js": True for at in range(50)}, {}),
        ({f"{at}.txt": True for at in range(200)}, {}),
        (
            {"coverage/notes.md": True} | {f"coverage/{at}.html": True for at in range(10)},
            {"coverage/": 10},
        ),
        ({f"docs/pages/{at}.md": True for at in range(150)}, {}),
        ({f"web/node_modules/{at}/README.md": True for at in range(20)}, {"web/node_modules/": 20}),
        (
            {".pytest_cache/README.md": True} | {f".pytest_cache/v/{at}": True for at in range(9)},
            {".pytest_cache/": 10},
        ),
    ],
)
def test_which_folders_a_build_has_left(files: dict[str, bool], folders: dict[str, int]) -> None:
    assert made_folders(files) == folders
    assert {folder_of(path, folders) for path in files} == {*folders} | (
        set() if all(folder_of(path, folders) for path in files) else {""}
    )


def test_what_a_build_left_in_a_new_package_is_not_counted_with_the_package() -> None:
    new = {f"web/src/{at}.py": True for at in range(60)}
    made = {f"web/dist/{at}.js": True for at in range(80)} | {"web/__pycache__/a.pyc": True}
    folders = made_folders(new | made)
    assert folders == {"web/dist/": 80, "web/__pycache__/": 1}
    assert [folder_of(path, folders) for path in made] == ["web/dist/"] * 80 + ["web/__pycache__/"]


def test_where_the_base_has_files_people_keep_them() -> None:
    """A folder of data, one that is called as a build's, and a folder below it."""
    for top, files in (("data/", 100), ("dist/", 10)):
        new = {f"{top}a/{at}.bin": True for at in range(files)}
        assert made_folders(new) == {top: files}
        assert made_folders(new, [f"{top}README.txt"]) == ({"data/a/": 100} if files > 10 else {})
        assert made_folders(new, [f"{top}a/1.txt", "src/a.py"]) == {}


@pytest.mark.slow
def test_they_are_counted_at_the_end_and_at_the_landing_and_one_option_leaves_them_out(
    hydra: Hydra,
) -> None:
    repo = hydra.repo
    shop(repo)
    steps = [
        fakes.edit("src/pager.py", RIGHT),
        fakes.edit("zz_debug.py", "print(1)\n"),
        fakes.shell("rm", "README.md"),
        fakes.shell("sh", "-c", "mkdir -p .next/a coverage/r; cd .next/a; touch $(seq 1199)"),
        fakes.shell("sh", "-c", "head -c 2000 /dev/urandom > .next/a/chunk.js"),
        fakes.shell("sh", "-c", "cd coverage/r; for i in $(seq 30); do echo $i >$i.html; done"),
        fakes.edit("coverage/r/notes.md", "By hand.\n"),
        fakes.finish("done"),
    ]
    hydra.agent("claude", steps)
    race = hydra.run("race", "Do it", "-a", "claude", "--check", UNITTEST)
    assert race.returncode == 0, race.stdout + race.stderr
    note = (
        "claude adds .next (1,200 files), coverage (30 files), which git does not ignore; "
        "coverage/r/notes.md in there looks written by hand"
    )
    assert note in " ".join(race.stdout.split())
    without = "hydra merge claude --except .next --except coverage"
    assert f"or without what a build may have left:\n{without} -r " in race.stdout
    verdict = json.loads(hydra.run("compare", "--json").stdout)
    assert note in verdict["warnings"]
    said = [reason["text"] for reason in verdict["lanes"][0]["reasons"]]
    assert "deletes README.md" in said
    shown = hydra.run("merge", "--dry-run").stdout.splitlines()
    assert shown[2:8] == [
        "  D README.md",
        "  A coverage/r/notes.md",
        "  M src/pager.py",
        "  A zz_debug.py",
        "  A .next/ (1,200 files)",
        "  A coverage/ (30 files)",
    ]
    wrong = hydra.run("merge", "--except", "build")
    assert wrong.returncode == 2
    assert "lane claude does not change build" in wrong.stderr
    both = hydra.run("merge", "--except", ".next", "--pick", "claude:src")
    assert both.returncode == 2
    assert "--except goes with a whole lane" in both.stderr
    landed = hydra.run("merge", "--except", ".next", "--except", "./coverage/", "--json")
    assert landed.returncode == 0, landed.stderr
    document = json.loads(landed.stdout)
    assert document["files"] == ["README.md", "src/pager.py", "zz_debug.py"]
    assert document["picks"] == ["claude:", "claude:!.next", "claude:!coverage"]
    assert document["notes"] == ["coverage/r/notes.md looks written by hand and is left out"]
    gone = [name for name in (".next", "coverage", "README.md") if (repo / name).exists()]
    assert gone == []
    assert (repo / "zz_debug.py").is_file()


def test_what_include_dirty_would_copy_is_named_where_it_is_much(hydra: Hydra) -> None:
    data = hydra.repo / "data"
    data.mkdir()
    with (data / "big.bin").open("wb") as file:
        file.truncate(150_000_000)
    (hydra.repo / "notes.txt").write_text("small\n")
    hydra.agent("claude", [fakes.finish("done")])
    race = hydra.run("race", "Do it", "-a", "claude", "--include-dirty", "--dry-run", "--no-check")
    said = " ".join((race.stdout + race.stderr).split())
    assert "--include-dirty copies what git does not ignore: data (150 MB, 1 file), notes" in said
