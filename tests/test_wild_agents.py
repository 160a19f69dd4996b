"""What people report of agents at work, in other shapes: servers that others hold, and agents that
stay after they are done.

The reported case itself stands in `test_check_network` and `test_finished_agents`.
"""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.support import fakes
from tests.support.checks import confinement
from tests.support.command import Hydra
from tests.support.ports import free_port
from tests.support.processes import running, wait_until
from tests.support.verdict_races import Judged
from tests.support.wild import PAGES, PAGES_RIGHT, commit, has_ended

DONE = fakes.finish("done")

SERVE = """\
import pathlib
import socket
import sys
import threading
import time

from pager import pages

STREAM, DATAGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM
PLACES = {
    "tcp": (socket.AF_INET, STREAM, ("127.0.0.1", PORT)),
    "tcp6": (socket.AF_INET6, STREAM, ("::1", PORT)),
    "udp": (socket.AF_INET, DATAGRAM, ("127.0.0.1", PORT)),
    "abstract": (socket.AF_UNIX, STREAM, "\\0shop-PORT"),
    "file": (socket.AF_UNIX, STREAM, "/tmp/shop-PORT.sock"),
    "users": (socket.AF_INET, STREAM, ("127.0.0.1", USERS)),
}


def answer(server, kind):
    while kind == DATAGRAM:
        server.sendto(b"%d" % pages(11, 5), server.recvfrom(9)[1])
    while True:
        server.accept()[0].send(b"%d" % pages(11, 5))


def serve(name):
    family, kind, place = PLACES[name]
    server = socket.socket(family, kind)
    server.bind(place)
    kind == DATAGRAM or server.listen()
    threading.Thread(target=answer, args=(server, kind), daemon=True).start()


def ask(name):
    family, kind, place = PLACES[name]
    with socket.socket(family, kind) as client:
        client.settimeout(5)
        client.connect(place)
        if kind == DATAGRAM:
            client.send(b"?")
        return client.recv(9)


if __name__ == "__main__":
    for name in PLACES:
        name == "users" or serve(name)
    folder = pathlib.Path(sys.argv[1])
    (folder / "reached").write_text(".")
    while not (folder / "open").exists():
        time.sleep(0.02)
"""
REUSES = """\
import pathlib
import time
import unittest

from serve import PLACES, ask, serve


def setUpModule():
    while not pathlib.Path("HELD").exists():
        time.sleep(0.02)


class Asks(unittest.TestCase):
    def reuse(self, name):
        try:
            told = ask(name)
        except OSError:
            serve(name)
            told = ask(name)
        self.assertEqual(told, b"3")


for name in PLACES:
    setattr(Asks, f"test_{name}", lambda self, name=name: self.reuse(name))
"""
NODE = """\
const { test } = require('node:test');
const assert = require('node:assert');
const http = require('node:http');
const { pages } = require('./pager.js');

const ask = () => fetch('http://127.0.0.1:PORT/').then((answer) => answer.text());
const serve = () => new Promise((up) => {
  const server = http.createServer((_, answer) => answer.end(String(pages(11, 5))));
  server.listen(PORT, '127.0.0.1', () => up(server));
});
if (process.argv[2] === 'up') serve();
else test('rest', async () => {
  const told = await ask().catch(() => '');
  const server = told ? null : await serve();
  try { assert.strictEqual(told || await ask(), '3'); }
  finally { server?.close(); server?.closeAllConnections(); }
});
"""
SCRIPT = "exports.pages = (n, size) => Math.floor(n / size);\n"


@pytest.fixture
def ports() -> Iterator[tuple[int, int, int]]:
    """Two that are free, and one on which a server of the user's gives the right answer."""
    with socket.create_server(("127.0.0.1", 0)) as users:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    users.accept()[0].sendall(b"3")

        threading.Thread(target=answer, daemon=True).start()
        yield free_port(), free_port(), users.getsockname()[1]
        users.shutdown(socket.SHUT_RDWR)


@pytest.mark.slow
def test_no_server_proves_a_patch_whose_it_is_not(
    hydra: Hydra, ports: tuple[int, int, int]
) -> None:
    """Tests that reuse a server which runs: an agent has each, right, while the base and another
    patch are tested, and the user has one."""
    if not confinement().holds or shutil.which("node") is None:
        pytest.skip("nothing confines here, or there is no node")
    gate = fakes.Barrier(hydra.scratch, "serving")
    held = gate.path.parent / "held"
    own, nodes, users = map(str, ports)
    serve = SERVE.replace("PORT", own).replace("USERS", users)
    files = {
        "pager.py": PAGES,
        "pager.js": SCRIPT,
        "serve.py": serve,
        "test_serve.py": REUSES.replace("HELD", str(held)),
        "serve.test.js": NODE.replace("PORT", nodes),
    }
    commit(hydra.repo, files)
    mend = [
        fakes.edit("pager.py", PAGES_RIGHT),
        fakes.edit("pager.js", SCRIPT.replace("floor", "ceil")),
    ]
    up = f"node serve.test.js up & exec python3 serve.py {gate.path.parent}"
    item = Judged(
        hydra,
        {
            "nothing": [fakes.edit("README.md", "# What pages are\n"), DONE],
            "serves": [*mend, fakes.shell("sh", "-c", up), DONE],
        },
    )
    checks = ("--check", "python3 -B -m unittest -v", "--check", "node --test")
    race = hydra.start("race", "Do it", "-a", "claude:nothing", "-a", "claude:serves", *checks)
    gate.wait()
    held.touch()
    assert wait_until(lambda: has_ended(hydra, "claude-nothing"))
    gate.open()
    race.communicate(timeout=120)
    item.again()
    assert [check["tests"]["failed"] for check in item.document["baseline"]] == [6, 1], str(item)
    assert (item.of("nothing")["state"], item.of("serves")["state"]) == ("untested", "proved")


def message(role: str, **block: object) -> fakes.Step:
    about = {"role": role, "content": [block]}
    return fakes.emit({"type": role, "message": about, "session_id": "s"})


BEAT = {"type": "system", "subtype": "heartbeat", "session_id": "s"}
RESULT = {
    **{"type": "result", "subtype": "success", "is_error": False, "result": "all done"},
    **{"num_turns": 3, "total_cost_usd": 0.5, "session_id": "s", "usage": {}},
}
OPEN = {"id": "i1", "type": "command_execution", "command": "vite", "status": "in_progress"}


def task(kind: str, **facts: object) -> fakes.Step:
    """What Claude Code tells of a task that a tool of its has begun."""
    about = {"task_id": "b1", "session_id": "s", **facts}
    return fakes.emit({"type": "system", "subtype": f"task_{kind}", **about})


@pytest.mark.slow
def test_whatever_one_that_is_done_still_does_its_lane_is_what_it_said(hydra: Hydra) -> None:
    """It prints on, in its stream and beside it, and hears no SIGINT; a subagent of its runs in the
    background, or a command that was put there when it took too long; a command is left open."""
    work = fakes.replace("src/pager.py", "n // size", "-(-n // size)")
    prints = [fakes.emit(BEAT), fakes.stderr("up\n"), fakes.pause(0.2)]
    started = message("user", type="tool_result", tool_use_id="t1", content="in the background")
    end = [started, fakes.emit(RESULT), fakes.hang()]
    claude = {
        "chatters": [
            fakes.daemon(argv=("sleep", "3601")),
            fakes.ignore("SIGINT"),
            *(fakes.emit(RESULT), fakes.repeat(999, *prints)),
        ],
        "asks": [
            message(
                "assistant", type="tool_use", id="t1", name="Agent", input={"description": "Look"}
            ),
            task("started", tool_use_id="t1", description="Look", is_backgrounded=True),
            *end,
        ],
        "serves": [
            message("assistant", type="tool_use", id="t1", name="Bash", input={"command": "vite"}),
            task("started", tool_use_id="t1", description="Serve", is_backgrounded=False),
            task("updated", patch={"is_backgrounded": True}),
            *end,
        ],
    }
    cases = [(f"--model\n{does}\n", [work, *steps]) for does, steps in claude.items()]
    hydra.agent("claude", [fakes.fail()], cases=cases)
    closed = {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 5}}
    opened = fakes.emit({"type": "item.started", "item": OPEN})
    hydra.agent("codex", [work, opened, fakes.emit(closed), fakes.hang()])
    hydra.extra |= {"HYDRA_BACKGROUND_TIMEOUT": "1s", "HYDRA_TOOL_TIMEOUT": "60s"}
    names = [term for does in claude for term in ("-a", f"claude:{does}")]
    check = "t=grep -q -- '-(-n' src/pager.py"
    race = hydra.race(*names, "-a", "codex", "--check", check, "--idle-timeout", "8s")
    told = {lane["lane"]: "; ".join(lane["warnings"]) for lane in race.document["lanes"]}
    assert {lane["status"] for lane in race.document["lanes"]} == {"completed"}, race.stderr
    assert "it had finished and did not exit: ended by Hydra" in told["claude-chatters"]
    waited = "it had finished and waited for {}: ended at 1 s (limits.background)"
    for lane, name in {
        "claude-asks": "Agent Look",
        "claude-serves": "vite",
        "codex": "vite",
    }.items():
        assert waited.format(name) in told[lane], race.stderr
    compared = json.loads(hydra.run("compare", "--json").stdout)
    assert {lane["state"] for lane in compared["lanes"]} == {"proved"}
    assert running(str(hydra.scratch)) == []
