"""Short commands: their output, their limit, and nothing left of them."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hydra.process.records import CannotStart, CommandResult
from hydra.process.run import run
from tests.support.processes import MODES, python, running, shell, token, wrap_of


async def once(
    argv: tuple[str, ...],
    mode: str = "subreaper",
    *,
    seconds: float = 30,
    stdin: bytes = b"",
    output_limit: int = 1024**2,
) -> CommandResult:
    return await run(
        argv,
        env={"PATH": os.environ["PATH"]},
        cwd=Path("/"),
        timeout=seconds,
        wrap=wrap_of(mode),
        stdin=stdin,
        output_limit=output_limit,
    )


@pytest.mark.parametrize("mode", MODES)
async def test_output_input_and_exit(mode: str) -> None:
    ran = await once(shell("cat; echo err >&2; exit 3"), mode, stdin=b"in\n")
    assert (ran.exit_code, ran.stdout, ran.stderr, ran.timed_out) == (3, b"in\n", b"err\n", False)


async def test_input_larger_than_a_pipe() -> None:
    assert (await once(("wc", "-c"), stdin=b"x" * 300_000)).stdout.strip() == b"300000"


@pytest.mark.parametrize("mode", MODES)
async def test_at_the_limit_all_is_killed_and_the_output_kept(mode: str) -> None:
    mark = token()
    for seconds in (0.5, 5, 20):  # a busy machine may not have come to the echo before the first
        ran = await once(
            shell(f"setsid sleep {mark} & echo said; sleep {mark}"), mode, seconds=seconds
        )
        if ran.stdout:
            break
    assert ran.timed_out
    assert (ran.exit_code, ran.stdout) == (None, b"said\n")
    assert running(mark) == []


@pytest.mark.parametrize("mode", MODES)
async def test_a_daemon_that_holds_the_pipe_does_not_hold_us(mode: str) -> None:
    mark = token()
    ran = await once(shell(f"setsid sleep {mark} & echo said"), mode)
    assert (ran.exit_code, ran.stdout) == (0, b"said\n")
    assert running(mark) == []


async def test_output_is_capped_at_its_beginning() -> None:
    code = "import os\nfor i in range(40): os.write(1, b'%05d' % i * 1000)"
    ran = await once(python(code), output_limit=7)
    assert (ran.exit_code, ran.stdout) == (0, b"0000000")


@pytest.mark.parametrize("mode", MODES)
async def test_what_cannot_start(mode: str, scratch: Path) -> None:
    with pytest.raises(CannotStart, match=r"^/nowhere could not be started: it is not there$"):
        await once(("/nowhere",), mode)
    script = scratch / "script"
    script.write_text("#!/nowhere/python\n")
    with pytest.raises(CannotStart, match="may not be executed") as refused:
        await once((str(script),), mode)
    assert refused.value.errno == "EACCES"
    script.chmod(0o755)
    with pytest.raises(CannotStart, match="the interpreter or loader it names is not there"):
        await once((str(script),), mode)


async def test_a_working_directory_that_is_not_there() -> None:
    with pytest.raises(CannotStart, match="the working directory is not there: /nowhere"):
        await run(("true",), env={}, cwd=Path("/nowhere"), timeout=9)


async def test_a_confinement_that_is_not_there() -> None:
    with pytest.raises(CannotStart, match="/nowhere/bwrap could not be started") as error:
        await run(
            ("true",),
            env={},
            cwd=Path("/"),
            timeout=9,
            wrap=lambda argv: ("/nowhere/bwrap", *argv),
        )
    assert error.value.errno == "ENOENT"


async def test_a_slow_reader_gets_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in the pipe when the time for reading it is over."""
    monkeypatch.setattr("hydra.process.child._DRAIN", 0.01)
    script = "head -c 900000 /dev/zero; echo END; head -c 60000 /dev/zero >&2; echo END >&2"
    ran = await run(
        ("sh", "-c", script),
        env=dict(os.environ),
        cwd=Path("/"),
        timeout=30,
        on_output=lambda chunk: time.sleep(0.02),
    )
    assert (len(ran.stdout), len(ran.stderr)) == (900004, 60004)
