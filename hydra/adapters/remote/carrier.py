"""The carrier: a program that stands in the lane's place here while its agent runs elsewhere.

    PYTHON -I carrier.py SPEC

Hydra supervises it as it would the agent: its stdin is the agent's, and what the agent there says
comes out of it byte by byte. Three lines are opened, each a shell there (`transport`): one that
makes the folder, runs the agent (`relay`) and owns both; one that brings the worktree; one that
fetches what has changed. INT and TERM go to the agent there. When this process ends, however it
does, the first line ends, and with it all that is there.

It exits as the agent did, or with 97 after a line on stderr that begins with `hydra.remote:` and
says what went wrong (`executor.py` reads it).
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

if not __package__:  # run by its path, so that nothing in the lane is ever imported
    sys.path.append(str(Path(__file__).resolve().parents[3]))

from hydra.adapters.remote import scripts, transport
from hydra.adapters.remote.archive import fetch, pack
from hydra.adapters.remote.executor import FAILED, FAILURE_MARK
from hydra.adapters.remote.shell import Relay, Scan, ShellChild, keep_alive, to
from hydra.adapters.remote.spec import WORK, RemoteSpec, loads

_CHUNK = 65536
_GREETING = 120.0


class Gone(Exception):
    """It cannot go on: a reason in one word, and a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Carrier:
    """One attempt elsewhere."""

    def __init__(self, spec: RemoteSpec) -> None:
        self.spec = spec
        self.nonce = f"hydra-{secrets.token_hex(16)}"
        self.mark = secrets.token_hex(16)
        self.container = ""
        self.holder: ShellChild | None = None
        self.line: ShellChild | None = None
        self.relay: Relay | None = None

    def carry(self) -> int:
        """From the first line to the last; the agent's exit code. Raises `Gone`."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._signalled)
        try:
            if self.spec.remote.image:
                self._hold()
            line = self.line = self._open(self._run_script())
            scan = Scan(self.nonce.encode())
            self._greeted(line, scan)
            line.hear_errors(to(2), self.nonce.encode())
            keep_alive(line)
            self._upload()
            self.relay = Relay(line, scan)
            return self._agent(self.relay)
        finally:
            self._close()

    def _signalled(self, number: int, _frame: object) -> None:
        if self.relay is None:
            raise Gone("stopped", "it was stopped before its agent began")
        self.relay.signalled(number)

    def _open(self, script: str) -> ShellChild:
        argv = transport.argv(self.spec.remote, text=self.container)
        try:
            return ShellChild(argv, transport.shell_text(script))
        except OSError as problem:
            raise _not_run(argv[0], problem) from problem

    def _hold(self) -> None:
        """Makes a container of the image, which lives as long as this process."""
        self.container = f"hydra-{secrets.token_hex(8)}"
        argv = transport.holder_argv(self.spec.remote, self.container)
        try:
            self.holder = ShellChild(argv, b"")
        except OSError as problem:
            raise _not_run(argv[0], problem) from problem
        self.holder.hear_errors()
        if self.holder.stdout.readline() != b"held\n":
            self.holder.settle()
            why = f"no container of {self.spec.remote.image}: {self.holder.why}"
            raise Gone("unreachable", why)

    def _run_script(self) -> str:
        spec = self.spec
        return scripts.run(
            folder=spec.folder,
            name=spec.name,
            nonce=self.nonce,
            mark=self.mark,
            live=spec.live,
            pipe=spec.pipe,
        )

    def _greeted(self, line: ShellChild, scan: Scan) -> None:
        """Passes over what a login says, up to the first line of Hydra's own."""
        timer = threading.Timer(_GREETING, line.process.kill)
        timer.daemon = True
        timer.start()
        while b"\n" not in scan.rest or not scan.is_present:
            chunk = os.read(line.stdout.fileno(), _CHUNK)
            if not chunk:
                line.hear_errors()
                line.settle()
                code = line.close()
                raise self._refused(code, line.why)
            if scan.is_present:
                scan.rest += chunk
            else:
                scan.feed(chunk)
        timer.cancel()
        scan.is_present, scan.rest = False, scan.rest.split(b"\n", 1)[1]

    def _refused(self, code: int, why: str) -> Gone:
        if code == 90:
            return Gone("folder", f"no folder could be made on {self.spec.remote.target}: {why}")
        return Gone("unreachable", f"{self.spec.remote.target} cannot be reached: {why}")

    def _upload(self) -> None:
        """Brings the worktree, the prompt and `agent.sh`."""
        spec = self.spec
        env = {name: os.environ[name] for name in spec.names if name in os.environ} | spec.env
        text = scripts.agent(
            spec.argv, name=spec.name, environ=env, mark=self.mark, folder=spec.folder
        )
        more = [("agent.sh", os.fsencode(text)), *self._files()]
        if not spec.live:
            more.append(("prompt", sys.stdin.buffer.read()))
        line = self._open(scripts.upload(folder=spec.folder, name=spec.name))
        line.hear_errors()
        try:
            with suppress(BrokenPipeError):
                pack(
                    line.stdin,
                    Path(spec.worktree),
                    f"{WORK}/{spec.name}",
                    untracked=_untracked(spec.worktree),
                    more=more,
                )
        except OSError as problem:
            raise Gone("upload", f"the worktree cannot be read: {problem}") from problem
        finally:
            code = line.close(_GREETING)
        if code != 0:
            line.settle()
            why = line.why
            raise Gone("upload", f"the worktree did not get to {spec.remote.target}: {why}")

    def _files(self) -> list[tuple[str, bytes]]:
        """Those that the adapter wants beside the worktree, by their path in the folder there."""
        below = f"{self.spec.folder}/"
        return [
            (path.removeprefix(below), text.encode("latin-1")) for path, text in self.spec.files
        ]

    def _agent(self, relay: Relay) -> int:
        """Runs it, and brings its work back."""
        line = relay.line
        ended = relay.run(live=self.spec.live)
        line.settle()
        notes = self._fetch(alone=ended is None)
        if ended is None:
            raise Gone("lost", f"the line to {self.spec.remote.target} was lost: {line.why}")
        line.say(b"q\n")
        for note in notes:
            to(2)(f"{note}\n".encode("utf-8", "replace"))
        code, _, why = ended.partition(b" ")
        if why:
            program, target = self.spec.argv[0], self.spec.remote.target
            raise Gone("missing", f"{program} is not there, or may not run, on {target}")
        return int(code)

    def _fetch(self, *, alone: bool) -> list[str]:
        line = self._open(
            scripts.fetch(
                folder=self.spec.folder,
                name=self.spec.name,
                nonce=self.nonce,
                mark=self.mark,
                alone=alone,
            )
        )
        return fetch(line, self.spec, self.nonce.encode(), lambda why: Gone("fetch", why))

    def _close(self) -> None:
        if self.line is not None:
            self.line.close()
        if self.holder is not None:
            self.holder.close()
            with suppress(OSError):
                subprocess.run(
                    transport.removal_argv(self.spec.remote, self.container),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    check=False,
                )


def _not_run(program: str, problem: OSError) -> Gone:
    return Gone("unreachable", f"{program} could not be run: {problem.strerror}")


def _untracked(worktree: str) -> frozenset[str]:
    """What the lane has but the base: copies of files that git does not keep."""
    from hydra.git.runner import run  # not before the line is open

    listed = run("ls-files", "--others", "-z", cwd=Path(worktree)).stdout
    return frozenset(os.fsdecode(name) for name in listed.split(b"\0") if name)


def main(argv: list[str]) -> NoReturn:
    """Runs as `carrier.py SPEC`."""
    spec = loads(Path(argv[0]).read_bytes())
    try:
        code = Carrier(spec).carry()
    except (Gone, OSError) as problem:
        gone = problem if isinstance(problem, Gone) else Gone("carrier", str(problem))
        to(2)(
            f"{FAILURE_MARK} {gone.reason}: {' '.join(str(gone).split())}\n".encode(
                "utf-8", "replace"
            )
        )
        code = FAILED
    sys.stdout.flush()
    # Threads may still be reading what nobody will send.
    os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
