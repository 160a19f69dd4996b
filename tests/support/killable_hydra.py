"""A Hydra to be killed: supervises one many-headed agent until then. Arguments: MODE MARK."""

from __future__ import annotations

import sys

import trio

from tests.support.processes import python
from tests.support.supervised import Watched

AGENT = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def start(environ, *, away):
    if os.fork() == 0:
        if away:
            os.setsid()
            if os.fork():
                os._exit(0)
        os.execve("/bin/sleep", ["sleep", sys.argv[1]], environ)
start(dict(os.environ), away=False)
start(dict(os.environ), away=True)
start({}, away=True)
os.write(1, b"ready")
while True:
    signal.pause()
"""


def main(mode: str, mark: str) -> None:
    agent = Watched(python(AGENT, mark), mode)
    agent.on_notice = lambda notice: print(notice.kind, flush=True)
    agent.on_output = lambda chunk: print(chunk.decode(), flush=True)
    print("began", flush=True)
    trio.run(agent.run)


if __name__ == "__main__":
    main(*sys.argv[1:])
