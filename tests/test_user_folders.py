"""The user's own dependency folders stay as they are, whatever a lane does with what it has of
them; S1 to S9 of a lane at the checkout's path (S3: test_trust_by_path, S8: of installed copies).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from hydra.git.base_commit import read
from hydra.workspace import tree
from hydra.workspace.dependencies import freeze
from hydra.workspace.hardlinks import link_tree
from tests.conftest import git
from tests.support import fakes
from tests.support.processes import wait_until
from tests.support.trust import (
    BY_ACCOUNT,
    Place,
    exactly,
    needs_bwrap,
    shared_place,
)

SITE = "lib/python3/site-packages"
IGNORED = ".venv/\nnode_modules/\n_version.py\n*.so\n*.mo\nvendor/*\n!vendor/patched.js\n"

ATTACKS = f"""
cd .venv
chmod 777 bin/tool {SITE}/kept.py; chmod 700 closed
: > {SITE}/truncated.py; echo more >> {SITE}/appended.py; touch -d 2001-01-01 {SITE}/kept.py
chown $(id -u) {SITE}/appended.py; ln {SITE}/linked.py {SITE}/second.py; echo x > {SITE}/second.py
python3 -c "import os; os.setxattr('{SITE}/kept.py', 'user.note', b'x')"
rm {SITE}/gone.py; mv {SITE}/package {SITE}/moved; mkdir {SITE}/package
rm -rf bin; mkdir bin; echo new > bin/tool; mkfifo {SITE}/fifo; ln -s / {SITE}/root
chmod 4755 {SITE}/setuid; rm -rf closed; cd ..
"""

LOOKS = f"""
echo S1 $(cat .venv/{SITE}/replaced.py) $(cat .venv/{SITE}/deleted.py) $(ls .venv/{SITE}/new)
git mv docs moved && python3 -c "import os; os.rename('moved', 'papers')" && git add -A papers docs
echo S2 $(ls papers)
rm -rf node_modules; echo S5 $? $(ls -A node_modules | wc -l)
echo S6 $(ls .venv/{SITE}/moved) $(ls .venv/{SITE}/package | wc -l)
echo S9 $(cat pkg/_version.py) $(ls pkg)
echo vendor $(ls vendor vendor/part) hidden $(ls -A .venv/special)
git status --short | grep -v said
"""


class Story(NamedTuple):
    """One race: what its lane said by line's first word, and the user's folders around it."""

    lines: Mapping[str, str]
    document: Mapping[str, object]
    check: str
    before: Mapping[str, tuple[object, ...]]
    after: Mapping[str, tuple[object, ...]]
    grounds: list[Path]
    stderr: str


@pytest.fixture(scope="module", params=BY_ACCOUNT)
def story(request: pytest.FixtureRequest) -> Iterator[Story]:
    """A lane attacks what it sees; then the user installs; then it looks, and so does a check."""
    with shared_place(request.param, furnished=False) as (place, stack):
        needs_bwrap(place.uid)
        _furnish(place)
        gate = fakes.Barrier(place.scratch, "installed")
        stack.callback(gate.close)
        script = [f"exec >> said 2>&1\n{ATTACKS}", f"exec >> said 2>&1\n{LOOKS}"]
        first, last = (fakes.shell("sh", "-c", text) for text in script)
        busy = fakes.shell("sh", "-c", "rm -rf node_modules")
        place.agent("claude", [first, *gate.stop(), last, busy, fakes.finish("done")])
        place.hand_over()
        _of_another_account(place.repo)
        before = _exact(place.repo)
        process = place.start("race", "Do it", "--json", "-a", "claude", "--check", CHECK)
        gate.wait(timeout=90)
        _install(place.repo)
        installed = _exact(place.repo)
        gate.open()
        stdout, stderr = process.communicate(timeout=180)
        document = json.loads(stdout)
        value = place.taken(document["folder"], "claude")
        check = document["lanes"][0]["checks"][0]
        assert _changed(before, installed) == INSTALLED
        yield Story(
            lines=dict(line.partition(" ")[::2] for line in value.splitlines()),
            document=document,
            check=Path(document["folder"], check["output"]).read_text(),
            before=installed,
            after=_exact(place.repo),
            grounds=[*place.state.glob("g/*")],
            stderr=stderr,
        )


CHECK = f"cat .venv/bin/tool .venv/{SITE}/truncated.py .venv/{SITE}/replaced.py pkg/_version.py"
INSTALLED = {f".venv/{SITE}/{name}" for name in ("replaced.py", "deleted.py", "new", "new/it.py")}


def _furnish(place: Place) -> None:
    top = place.repo
    site = top / ".venv" / SITE
    for folder in (site / "package", top / ".venv/bin", top / ".venv/closed", top / "docs"):
        folder.mkdir(parents=True)
    for below in ("node_modules/a", "pkg", "vendor/part"):
        (top / below).mkdir(parents=True)
    (top / ".gitignore").write_text(IGNORED)
    for name in ("docs/a.md", "pkg/__init__.py", "pkg/de.po", "vendor/patched.js"):
        (top / name).write_text("1\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "Project")
    built = ("pkg/_version.py", "pkg/fast.so", "pkg/de.mo", "pkg/of_nothing.mo")
    for name in (*built, "vendor/part/x.js", "node_modules/a/index.js"):
        (top / name).write_text(f"built {name}\n")
    (top / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    (top / ".venv/bin/tool").write_text("the user's tool\n")
    (top / ".venv/closed/file").write_text("closed\n")
    names = ("kept", "truncated", "appended", "linked", "gone", "replaced", "deleted", "package/it")
    for module in names:
        (site / f"{module}.py").write_text(f"the user's {module}\n")
    (site / "setuid").write_text("#!/bin/sh\n")
    (site / "setuid").chmod(0o4755)
    _make_special(top / ".venv/special")
    (top / ".venv/closed").chmod(0o555)


def _make_special(folder: Path) -> None:
    """What leads to somebody who listens, by whatever name it is opened."""
    folder.mkdir()
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        path = Path.cwd()
        os.chdir(folder)  # a socket's name is short
        listening.bind("socket")
        os.chdir(path)
    (folder / "link").symlink_to("/etc/hostname")


def _of_another_account(top: Path) -> None:
    """hand_over has taken the bits; and here and there root has installed something."""
    (top / ".venv" / SITE / "setuid").chmod(0o4755)
    if os.geteuid() == 0:
        os.chown(top / ".venv" / SITE / "kept.py", 0, 0)
        foreign = top / ".venv/foreign"
        foreign.mkdir(mode=0o700)
        (foreign / "file").write_text("root's\n")


def _install(top: Path) -> None:
    """As package managers do: anew under the same name, away, and beside."""
    site = top / ".venv" / SITE
    fresh = site / "fresh"
    fresh.write_text("the user's next\n")
    fresh.replace(site / "replaced.py")
    (site / "deleted.py").unlink()
    (site / "new").mkdir()
    (site / "new/it.py").write_text("installed meanwhile\n")


def _exact(top: Path) -> dict[str, tuple[object, ...]]:
    """Kind, mode, owner, size, mtime and bytes of all but git's own; links' count may change."""
    return {
        name: (*entry[:3], *entry[4:])
        for name, entry in exactly(top).items()
        if name != ".git" and not name.startswith(".git/")
    }


def _changed(
    before: Mapping[str, tuple[object, ...]], after: Mapping[str, tuple[object, ...]]
) -> set[str]:
    names = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return names - {f".venv/{SITE}"}


@pytest.mark.slow
def test_the_users_folders_are_as_the_user_has_them(story: Story) -> None:
    assert _changed(story.before, story.after) == set()
    assert story.grounds == []


def test_s1_what_the_user_installs_meanwhile_breaks_no_lane(story: Story) -> None:
    assert story.lines["S1"].startswith("the user's replaced the user's deleted")
    assert "it.py" not in story.lines["S1"]


def test_s2_tracked_folders_can_be_renamed(story: Story) -> None:
    assert story.lines["S2"] == "a.md"


def test_s5_a_mount_cannot_be_removed_but_what_is_in_it(story: Story) -> None:
    assert story.lines["S5"] == "1 0"


def test_s6_folders_of_a_package_can_be_moved_and_made_anew(story: Story) -> None:
    assert story.lines["S6"] == "it.py 0"


def test_s7_a_check_has_a_layer_of_its_own(story: Story) -> None:
    assert story.check.splitlines() == [
        "the user's tool",
        "the user's truncated",
        "the user's replaced",
        "built pkg/_version.py",
    ]


def test_s9_files_that_code_loads_are_copied(story: Story) -> None:
    files = "__init__.py _version.py de.mo de.po fast.so"
    assert story.lines["S9"] == f"built pkg/_version.py {files}"


def test_what_leads_to_others_is_not_there_and_what_git_holds_a_part_of_is(story: Story) -> None:
    assert story.lines["vendor"] == "vendor: part patched.js vendor/part: x.js hidden link"


def test_s4_to_remove_links_touches_nothing_of_the_user(tmp_path: Path) -> None:
    users = tmp_path / "users"
    (users / "closed" / "inner").mkdir(parents=True)
    for name in ("file", "closed/file", "closed/inner/file"):
        (users / name).write_text(name)
        (users / name).chmod(0o440)
    for name in ("closed/inner", "closed"):
        (users / name).chmod(0o555)
    before = _exact(users)
    link_tree(users, tmp_path / "frozen", most=100)
    assert stat.S_IMODE((tmp_path / "frozen/closed").stat().st_mode) == 0o555
    tree.remove(tmp_path / "frozen")
    assert not (tmp_path / "frozen").exists()
    assert _exact(users) == before
    (users / "closed").chmod(0o755)


def test_a_folder_that_changes_while_it_is_linked_is_said_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = tmp_path / "users"
    users.mkdir()
    (users / "file").write_text("1")
    assert not link_tree(users, tmp_path / "steady", most=10).moving
    real = os.link

    def link(source: str, target: str, **options: bool) -> None:
        real(source, target, **options)
        (users / "installed").touch()

    monkeypatch.setattr(os, "link", link)
    assert link_tree(users, tmp_path / "moving", most=10).moving


def test_what_package_managers_write_in_place_is_no_link(tmp_path: Path) -> None:
    written = (
        ".package-lock.json",
        ".lock",
        "debug/.fingerprint/a-1/dep-lib-a",
        "build/a-1/output",
    )
    for name in (*written, "debug/deps/a.rlib"):
        (tmp_path / "users" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "users" / name).write_text("1")
    before = (tmp_path / "users" / written[2]).stat().st_mtime_ns
    link_tree(tmp_path / "users", tmp_path / "frozen", most=100)
    for name in written:
        (tmp_path / "users" / name).write_text("2")
    assert [(tmp_path / "frozen" / name).read_text() for name in written] == ["1"] * len(written)
    assert (tmp_path / "frozen" / written[2]).stat().st_mtime_ns == before
    assert (tmp_path / "frozen/debug/deps/a.rlib").stat().st_nlink == 2


@pytest.mark.slow
@pytest.mark.parametrize("uid", BY_ACCOUNT)
def test_a_killed_race_leaves_the_users_folders_and_the_next_command_the_disk(uid: int) -> None:
    with shared_place(uid, furnished=False) as (place, stack):
        _furnish(place)
        gate = fakes.Barrier(place.scratch, "working")
        stack.callback(gate.close)
        work = fakes.shell("sh", "-c", ATTACKS)
        place.agent("claude", [work, *gate.stop(), fakes.finish("done")])
        place.hand_over()
        before = _exact(place.repo)
        process = place.start("race", "Do it", "--json", "-a", "claude")
        gate.wait(timeout=90)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        gate.open()
        assert [*place.state.glob("g/*/_frozen/links/.venv")]
        wait_until(lambda: fakes.left(str(place.scratch)) == [])
        assert place.run("runs", "rm", "--all", "--yes").returncode == 0
        assert [*place.state.glob("g/*")] == []
        assert _exact(place.repo) == before


@pytest.mark.slow
def test_what_an_agent_makes_part_of_the_project_is_not_lost_with_its_layer() -> None:
    with shared_place(os.geteuid(), furnished=False) as (place, _):
        _furnish(place)
        ignore = "printf '.venv/\\nnode_modules/\\n' > .gitignore"
        vendoring = f"{ignore}; echo own > vendor/part/y.js; rm .venv/bin/tool"
        place.agent("claude", [fakes.shell("sh", "-c", vendoring), fakes.finish("done")])
        lane = place.race("-a", "claude").lane("claude")
        notes = " ".join(lane["patch"]["notes"])
        assert "vendor/part is no longer ignored, and not in the patch" in notes
        assert ".venv" not in notes
        path = Path(lane["worktree"]).parent / "layer/upper/vendor/part/y.js"
        assert path.read_text() == "own\n"


def test_a_copy_stands_in_for_a_file_of_another_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "users").mkdir()
    (tmp_path / "users/file").write_text("1")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    link_tree(tmp_path / "users", tmp_path / "frozen", most=10)
    assert (tmp_path / "frozen/file").read_text() == "1"
    assert (tmp_path / "users/file").stat().st_nlink == 1
    shutil.rmtree(tmp_path / "frozen")


def test_copies_leave_their_disk_its_floor(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("vendor", "node_modules"):
        (repo / name).mkdir()
        (repo / name / "file").write_bytes(b"x" * (5 << 20 if name == "vendor" else 10))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    disk = os.statvfs_result((4096, 4096, 25_600, 2_000, 2_000, 1000, 900, 900, 0, 255))
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "statvfs", lambda _: disk)  # 100 MiB, of which 8 are free
    names = ("vendor", "node_modules")
    dependencies = freeze(read(repo), names, tmp_path / "links", floor=2 << 30)
    assert list(map(str, dependencies.folders)) == ["node_modules"]
    assert [note.partition(":")[0] for note in dependencies.notes] == ["vendor is not shown"]
    assert "no room" in dependencies.notes[0]
    assert not (tmp_path / "links" / "vendor").exists()


@pytest.mark.slow
def test_a_race_killed_while_it_probes_leaves_its_links_to_the_next_command() -> None:
    with shared_place(os.geteuid(), furnished=False) as (place, stack):
        needs_bwrap(os.geteuid())
        _furnish(place)
        gate = fakes.Barrier(place.scratch, "probing")
        stack.callback(gate.close)
        waiting = f"echo . > {gate.path}; until test -e {gate.path.parent}/open; do sleep 0.1; done"
        place.agent("claude", []).write_text(f"#!/bin/sh\n{waiting}\nexit 1\n")
        before = _exact(place.repo)
        process = place.start("race", "Do it", "-a", "claude")
        gate.wait(timeout=90)
        wait_until(lambda: [*place.state.glob("g/*/_frozen/links/.venv")] != [])
        assert [*place.state.glob("*/runs/*")] == []
        assert place.run("runs").returncode == 0
        assert [*place.state.glob("g/*/_frozen/links/.venv")], "a live race's are swept by nobody"
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        gate.open()
        wait_until(lambda: fakes.left(str(place.scratch)) == [])
        assert place.run("runs").returncode == 0
        assert [*place.state.glob("g/*/_frozen*")] == []
        assert _exact(place.repo) == before
