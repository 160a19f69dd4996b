"""What leads elsewhere, as data: command lines, names, tars, and what a user's file may say."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import tarfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters.remote import scripts
from hydra.adapters.remote.archive import Changes, files_of, pack
from hydra.adapters.remote.shell import PassThrough, Scan, last_words
from hydra.adapters.remote.spec import folder_of
from hydra.adapters.remote.transport import LISTEN, argv, shell_text
from hydra.config.load import load
from hydra.config.schema import Config, Remote
from hydra.records.agent import BuiltCommand

SSH = Remote(name="box", mode="ssh", host="ada@gpubox", options=("-p", "2222"))
BOX = Remote(name="box", mode="docker", container="agents", options=("--context", "lab"))
POD = Remote(name="box", mode="k8s", pod="agents-0", namespace="lab", context="far")
HOSTILE = 'it\'s "a" $(touch /tmp/x) `id` \\ * é\n-rf'


# --- command lines ---------------------------------------------------------------------------


@pytest.mark.parametrize("remote", [SSH, BOX, POD], ids=lambda remote: remote.mode)
def test_nothing_of_a_lane_is_on_a_command_line(remote: Remote) -> None:
    assert argv(remote) == argv(replace(remote, workdir=f"/{HOSTILE}", program=f"/{HOSTILE}"))


def test_a_shell_does_what_it_is_told_and_leaves_the_rest_of_its_stdin(tmp_path: Path) -> None:
    script = f"printf %s {shlex.quote(HOSTILE)} >out; cat >rest"
    rest = b"\0\1 bytes\n" * 9000
    for shell in ("sh", "bash"):
        line = f"exec {shell} -c {shlex.quote(LISTEN)}"  # as a login shell gets it
        subprocess.run(
            ["sh", "-c", line],
            input=shell_text(script) + rest,
            cwd=tmp_path,
            check=True,
            timeout=30,
        )
        assert (tmp_path / "out").read_text() == HOSTILE
        assert (tmp_path / "rest").read_bytes() == rest


# --- settings ----------------------------------------------------------------------------------


def settings(text: str, theirs: str = "") -> Config:
    return load(
        user=("user.toml", text),
        repository=("shop/hydra.toml", theirs),
    )


# --- there and back ----------------------------------------------------------------------------


def test_a_worktree_is_packed_as_it_lies(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    for folder in ("a/.git", ".git", "empty", "a/b"):
        (root / folder).mkdir(parents=True)
    (root / "a/.git/x").write_text("no")
    (root / "a/b/two\nlines").write_bytes(b"\0\r\n")
    (root / "run").write_text("#!")
    (root / "run").chmod(0o750)
    (root / "link").symlink_to("/etc/passwd")
    (root / "to-folder").symlink_to("a")
    (root / ".env").write_text("copied")
    os.mkfifo(root / "fifo")
    (root / os.fsdecode(b"\xff")).write_text("bytes")
    out = io.BytesIO()
    pack(out, root, "work/shop", untracked=frozenset([".env"]), more=[("prompt", b"hi")])
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        infos = {member.name: member for member in tar}
        tracked = tar.extractfile("out/tracked")
        assert tracked is not None
        named = set(tracked.read().split(b"\0"))
    assert {name: infos[name].mode for name in ("work/shop/run", "prompt", "work/shop/.env")} == {
        "work/shop/run": 0o755,
        "prompt": 0o600,
        "work/shop/.env": 0o644,
    }
    assert infos["work/shop/link"].linkname == "/etc/passwd"
    assert infos["work/shop/to-folder"].issym()
    assert not any(".git" in name or name.endswith("fifo") for name in infos)
    assert named == {*(b"a/b/two\nlines", b"run", b"link", b"to-folder", b"\xff"), b""}


def _tar(**members: tuple[bytes, str] | bytes) -> io.BytesIO:
    """A tar of these: bytes are a file, (type, link) anything else. `__` stands for a slash."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, what in members.items():
            info = tarfile.TarInfo(
                name.replace("__", "/").replace("DOTDOT", "..").replace("GIT", ".git")
            )
            if isinstance(what, bytes):
                info.size = len(what)
                tar.addfile(info, io.BytesIO(what))
            else:
                info.type, info.linkname = what
                tar.addfile(info)
    out.seek(0)
    return out


def test_what_comes_back_stays_in_the_worktree(tmp_path: Path) -> None:
    root, home, out = tmp_path / "shop", tmp_path / "home", tmp_path / "outside"
    for folder in (root / "sub", home, out):
        folder.mkdir(parents=True)
    (out / "victim").write_text("mine")
    (root / "sub" / "old").write_text("old")
    (root / "kept").write_text("kept")
    (root / "into").symlink_to(out)
    changes = Changes(
        _tar(
            out__how=b"changed\n",
            out__deleted=b"sub/old\0../outside/victim\0into/victim\0",
            work__s__door=(tarfile.SYMTYPE, str(out)),
            work__s__door__victim=b"through a link",
            work__s__into__victim=b"through one that was here",
            work__s__DOTDOT__outside__x=b"up",
            work__s__GIT__config=b"git",
            work__s__sub__GIT__hooks__x=b"git",
            work__s__device=(tarfile.CHRTYPE, ""),
            work__s__good=b"good",
            work__s__twice=(tarfile.LNKTYPE, "work/s/good"),
            home__note=b"side",
            home__link=(tarfile.SYMTYPE, str(out)),
            etc__passwd=b"elsewhere",
        ),
        "work/s",
    )
    notes = changes.apply(root, home)
    assert [path.name for path in out.iterdir()] == ["victim"]
    assert (out / "victim").read_text() == "mine"
    assert sorted(files_of(root)) == ["door/victim", "good", "into/victim", "kept", "twice"]
    assert (root / "twice").read_text() == "good"
    assert not (root / ".git").exists()
    assert len(notes) == 4  # .., .git twice, the device
    assert [path.name for path in home.iterdir()] == ["note"]


def test_one_file_by_many_names_is_not_written_for_ever(tmp_path: Path) -> None:
    link = (tarfile.LNKTYPE, "work/s/a")
    members = {"out__how": b"changed\n", "work__s__a": b"x" * 400}
    links = {f"work__s__b{number}": link for number in range(4)}
    changes = Changes(_tar(**members, **links), "work/s", most=1000)
    with pytest.raises(OSError, match="more has changed than a patch may hold"):
        changes.apply(tmp_path, tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1000


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_a_stream_is_passed_on_up_to_hydras_own_line(size: int) -> None:
    mark, output = b"hydra-abc", b"hydra-ab hydra-hydra-a\nlast hydra-hydra-abc ended 0\n"
    scan, passed = Scan(mark), b""
    for at in range(0, len(output), size):
        chunk = output[at : at + size]
        if scan.is_present:
            scan.rest += chunk
        else:
            passed += scan.feed(chunk)
    assert passed == b"hydra-ab hydra-hydra-a\nlast hydra-"
    assert scan.rest == b"hydra-abc ended 0\n"
    through, content = PassThrough(b"hydra-abc"), b""
    lines = b"login\nhydra-abc hello\none\ntwo" + b"hydra-abc ended\nbye\n"
    for at in range(0, len(lines), size):
        content += through.feed(lines[at : at + size])
    assert (content, through.ended, through.rest) == (b"one\ntwo", True, b"")
    assert last_words(b"one\n two \n\n") == "two"


# --- in an attempt's eyes ------------------------------------------------------------------------


def command(**more: object) -> BuiltCommand:
    folder = folder_of(SSH, "r", "far")
    return BuiltCommand(
        program="claude",
        args=("--cd", f"{folder}/work/shop"),
        cwd=Path(folder, "work/shop"),
        stdin=b"task",
        env=(("X", f"{folder}/home/x"),),
        files=((Path(folder, "home/p"), b"\xff\0"),),
    )


def test_an_agents_line_is_quoted_and_its_values_stand_in_its_own_file_alone(
    tmp_path: Path,
) -> None:
    program = tmp_path / "bin" / "agent"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\0" "$@" "$KEY" "$HYDRA_REMOTE" >seen; helper\n')
    helper = program.with_name("helper")  # beside it, and on no PATH
    helper.write_text("#!/bin/sh\n: >helped\n")
    for file in (program, helper):
        file.chmod(0o755)
    (tmp_path / "work" / "a b").mkdir(parents=True)
    text = scripts.agent(
        [str(program), HOSTILE, "-x"],
        name="a b",
        environ={"KEY": HOSTILE},
        mark="m",
        folder=str(tmp_path),
    )
    (tmp_path / "agent.sh").write_text(text)
    subprocess.run(["sh", "agent.sh"], cwd=tmp_path, check=True, timeout=30)
    seen = (tmp_path / "work" / "a b" / "seen").read_text().split("\0")
    assert seen[:-1] == [HOSTILE, "-x", HOSTILE, "m"]
    assert (tmp_path / "work" / "a b" / "helped").exists()
    assert not (tmp_path / "agent.sh").exists()
