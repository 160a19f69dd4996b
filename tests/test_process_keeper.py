"""The keeper by itself: only pipes and its protocol (docs/why/keeper.md)."""

from __future__ import annotations

import os
import py_compile
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hydra.process import spawn
from tests.support.processes import MODES, python, running, shell, token, wait_until, wrap_of


class Kept:
    """A keeper started as Hydra starts it, read and commanded by hand."""

    def __init__(
        self, mode: str, argv: tuple[str, ...], env: dict[str, str], hung_up: bool
    ) -> None:
        control, self.control = os.pipe()
        self._status, status = os.pipe()
        self.stdout, stdout = os.pipe()
        numbers = (control, status, stdout)
        if hung_up:
            self.hang_up()
        line = (*spawn.keeper_line(), *map(str, numbers), "--", *argv)
        self.process = subprocess.Popen(
            wrap_of(mode)(line),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=numbers,
            start_new_session=True,
            env={"PATH": os.environ["PATH"], **env},
        )
        for fd in numbers:
            os.close(fd)

    def say(self, command: str) -> None:
        os.write(self.control, command.encode())

    def reports(self) -> list[str]:
        """Every report, to the end of the pipe."""
        return _all_of(self._status).decode().splitlines()

    def output(self) -> bytes:
        """The agent's stdout, to its end."""
        return _all_of(self.stdout)

    def has_answer(self, content: bytes) -> bool:
        """Whether this is what the agent's stdout begins with."""
        return _some_of(self.stdout, len(content)) == content

    def hang_up(self) -> None:
        os.close(self.control)
        self.control = -1

    def close(self) -> None:
        for fd in (self.control, self._status, self.stdout):
            if fd >= 0:
                os.close(fd)
        self.process.wait(120)


def _all_of(fd: int) -> bytes:
    parts = []
    while part := _some_of(fd, 65536):
        parts.append(part)
    return b"".join(parts)


def _some_of(fd: int, size: int) -> bytes:
    if not select.select([fd], [], [], 60)[0]:
        raise TimeoutError("neither a word nor the end of the pipe")
    return os.read(fd, size)


Keep = Callable[..., Kept]


@pytest.fixture
def keep() -> Iterator[Keep]:
    kepts: list[Kept] = []

    def start(mode: str, argv: tuple[str, ...], *, hung_up: bool = False, **env: str) -> Kept:
        kepts.append(Kept(mode, argv, env, hung_up))
        return kepts[-1]

    yield start
    for item in kepts:
        item.close()


def test_a_refusal_on_path_is_remembered_over_an_absence(keep: Keep, scratch: Path) -> None:
    (scratch / "tool").write_text("not executable")
    path = f"/nowhere:{scratch}:/also-nowhere"
    assert keep("subreaper", ("tool",), PATH=path).reports() == ["cannot 13", "done"]


@pytest.mark.parametrize("mode", MODES)
def test_hung_up_before_it_began_it_starts_nothing(keep: Keep, mode: str) -> None:
    item = keep(mode, ("true",), hung_up=True)
    assert item.reports() == ["done"]


@pytest.mark.parametrize("mode", MODES)
def test_a_stopped_agent_still_gets_its_signal(keep: Keep, mode: str) -> None:
    mark = token()
    item = keep(mode, shell(f": {mark}; trap 'exit 6' TERM; kill -STOP $$; sleep 99 & wait"))
    assert wait_until(lambda: [state(pid) for pid in running(mark)] == ["T"])
    item.say("signal 15\n")
    assert item.reports()[1] == "exited 6"


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.mark.parametrize("mode", MODES)
def test_the_environment_is_exactly_what_was_given(keep: Keep, mode: str) -> None:
    # In the C locale Python adds LC_CTYPE to its own (PEP 538).
    item = keep(mode, ("cat", "/proc/self/environ"), LANG="C", ODD="\udcff", EMPTY="")
    got = set(item.output().split(b"\0")) - {b"", b"PWD=" + os.fsencode(Path.cwd())}  # bwrap's PWD
    assert got == {b"PATH=" + os.fsencode(os.environ["PATH"]), b"LANG=C", b"ODD=\xff", b"EMPTY="}


@pytest.mark.parametrize("mode", MODES)
def test_no_signal_is_ignored_or_blocked(keep: Keep, mode: str) -> None:
    status = keep(mode, ("cat", "/proc/self/status")).output().decode()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    # Not those that the C library keeps for itself: who was started by its posix_spawn, as Python
    # 3.13 starts programs, has one of them ignored, and nobody can set it.
    settable = sum(1 << (number - 1) for number in signal.valid_signals())
    assert int(fields["SigIgn"], 16) & settable == int(fields["SigBlk"], 16) & settable == 0


@pytest.mark.parametrize("mode", MODES)
def test_no_descriptor_but_the_first_three(keep: Keep, mode: str) -> None:
    # The fourth is that of the listing itself.
    assert keep(mode, ("ls", "/proc/self/fd")).output().split() == [b"0", b"1", b"2", b"3"]


@pytest.mark.parametrize("mode", MODES)
def test_it_leads_its_own_session(keep: Keep, mode: str) -> None:
    code = "import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())"
    assert keep(mode, python(code)).output() == b"True\n"


def _compile(source: Path) -> str:
    by_time = py_compile.PycInvalidationMode.TIMESTAMP
    return py_compile.compile(str(source), doraise=True, invalidation_mode=by_time) or ""


def test_the_compiled_keeper_runs_only_where_it_is_the_sources(scratch: Path) -> None:
    source = scratch / "keeper.py"
    source.write_text("print('old')\n")
    compiled = Path(_compile(source))
    fresh = spawn._is_compiled_from(compiled, source)
    source.write_text("print('newer')\n")
    stale = spawn._is_compiled_from(compiled, source)
    assert (fresh, stale) == (True, False)
    assert not spawn._is_compiled_from(scratch / "nothing", source)
