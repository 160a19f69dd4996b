"""An agent's stdin as a pipe that is written to while it runs: real processes, no sleeps."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hydra.process import stdin_queue
from hydra.process.stdin_queue import StdinQueue
from hydra.records.request import Limits
from tests.support.processes import MODES, python, running, shell, token
from tests.support.supervised import Watched

both = pytest.mark.parametrize("mode", MODES)
QUICK = replace(Limits(), grace_int=0.2, grace_term=0.2)


def talking(argv: tuple[str, ...], mode: str = "subreaper") -> tuple[Watched, StdinQueue]:
    queue = StdinQueue()
    return Watched(argv, mode, inlet=queue), queue


@both
async def test_a_prompt_larger_than_any_pipe_arrives_whole(mode: str) -> None:
    agent, queue = talking(shell("cksum"), mode)
    queue.write(b"x" * (stdin_queue.CAPACITY + 1))
    queue.close()
    await agent.run(QUICK)
    assert agent.stdout.split()[1] == str(stdin_queue.CAPACITY + 1).encode()


@both
async def test_one_that_never_reads_is_read_all_the_same(mode: str) -> None:
    agent, queue = talking(
        python("import os\nfor _ in range(800): os.write(1, b'x' * 65536)"), mode
    )
    taken = [queue.write(b"y" * 1024**2) for _ in range(40)]
    end = await agent.run(QUICK)
    assert len(agent.stdout) == 800 * 65536
    assert (end.exit.code, end.stopped) == (0, "")
    # What did not fit was not taken, and nothing after it: the first refusal is the last word.
    assert taken == sorted(taken, reverse=True)
    assert 17 <= sum(taken) <= 18
    assert queue.full
    assert queue.unsent >= 16 * 1024**2


@both
async def test_the_reader_that_has_gone_is_known_at_once(mode: str) -> None:
    agent, queue = talking(shell("exec <&-; echo closed; exec sleep 1000"), mode)
    queue.write(b"x" * 1024**2)

    async def look(when: float) -> float | None:
        agent.control.kill("seen" if queue.gone else "not seen")
        return None

    agent.changed_since = look
    end = await agent.run(replace(QUICK, idle=0.3))
    assert end.stopped == "seen"


async def test_nothing_is_taken_after_the_end_or_by_a_reader_that_has_gone() -> None:
    agent, queue = talking(("true",))
    queue.close()
    assert not queue.write(b"late")
    await agent.run(QUICK)
    assert (queue.gone, queue.full, queue.unsent) == (True, False, 0)


@both
async def test_an_open_pipe_keeps_no_agent_alive_that_is_ended(mode: str) -> None:
    mark = token()
    agent, queue = talking(shell(f"trap '' INT TERM; echo ready; cat; : {mark}"), mode)
    agent.on_output = lambda chunk: agent.control.stop("interrupt")
    end = await agent.run(QUICK)
    assert (end.stopped, end.exit.signal) == ("interrupt", 9)
    assert running(mark) == []
    assert not queue.full
