"""The keeper: the small process between Hydra and one agent (docs/keeper.md has the protocol).

    PYTHON -I -S -E keeper.py CONTROL STATUS STDOUT [STDIN [tty]] -- PROGRAM ARGUMENT...

CONTROL, STATUS, STDOUT and STDIN are descriptor numbers. It runs as a script and imports nothing
but what the interpreter already holds (and `select`, `_ctypes`; `fcntl` for a terminal): each
further import is a millisecond before every agent. As pid 1 of a PID namespace the kernel itself
ends the namespace with it; elsewhere it is a subreaper, with a second one (the guard) above it for
the agent that kills its parent.
"""

import _signal  # type: ignore[import-not-found]  # `signal` without the enums, 3 ms cheaper
import posix
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_SURVIVORS_NAMED = 100
_ENOENT, _EACCES, _ENOTDIR = 2, 13, 20
_PR_SET_CHILD_SUBREAPER = 36
_TIOCSCTTY = 0x540E


class Keeper:
    """One agent's keeper: its descriptors, and the agent's pid once it runs."""

    def __init__(self, control: int, status: int, stdout: int, stdin: int = 0) -> None:
        self.control = control
        self.status = status
        self.stdout = stdout
        self.stdin = stdin
        self.terminal = False  # whether STDIN and STDOUT are one
        self.agent = 0
        self.ended: int | None = None  # the agent's wait status
        self.alone = posix.getpid() == 1
        self.pending = b""
        for fd in (control, status, stdout, stdin):
            posix.set_inheritable(fd, fd == 0)

    @property
    def lent(self) -> tuple[int, ...]:
        """What only the agent is to hold."""
        return tuple({self.stdout, self.stdin} - {0})

    def say(self, line: str) -> None:
        """One status line. Hydra may be gone: then nobody needs to know."""
        try:
            posix.write(self.status, line.encode() + b"\n")
        except OSError:
            return

    def keep(self, argv: list[str]) -> None:
        """Starts the agent, serves Hydra until it has ended, and leaves nothing running."""
        wake, handle = _wakeups()
        if not self.orphaned():
            self.start(argv)
            self.serve(wake)
        _signal.set_wakeup_fd(-1)
        posix.close(handle)
        if self.ended is not None:
            self.report(self.ended)
        self.end_all()
        self.say("done")

    def orphaned(self) -> bool:
        """Whether Hydra is already gone. Reads nothing: a command may be waiting."""
        poll = select.poll()
        poll.register(self.control, 0)
        return bool(poll.poll(0))

    def start(self, argv: list[str]) -> None:
        """Forks the agent into its own session, with default signals and no descriptor of ours."""
        out, failed = posix.pipe()  # close-on-exec: it ends silently when the exec succeeds
        pid = posix.fork()
        if pid == 0:
            posix._exit(_become(self, argv, failed))
        posix.close(failed)
        problem = posix.read(out, 16)
        posix.close(out)
        # They must end when the agent's own processes close them.
        _silence(1)
        for fd in self.lent:
            posix.close(fd)
        if problem:
            self.say("cannot " + problem.decode())
            return
        self.agent = pid
        self.say(f"started {pid}")

    def serve(self, wake: int) -> None:
        """Obeys commands and reaps, until the agent has ended or Hydra is gone."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while self.agent and self.ended is None:
            for fd, _ in poll.poll():
                if fd == wake:
                    posix.read(wake, 512)
                elif not self.listen():
                    return
            self.reap()

    def listen(self) -> bool:
        """Reads commands and obeys them. False: Hydra has closed its end."""
        chunk = posix.read(self.control, 512)
        *lines, self.pending = (self.pending + chunk).split(b"\n")
        for line in lines:
            self.obey(line.split())
        return bool(chunk)

    def obey(self, words: list[bytes]) -> None:
        """`signal N` reaches the agent's process group, `kill` everything."""
        if words == [b"kill"]:
            self.end_all()
        elif len(words) == 2 and words[0] == b"signal" and self.agent:
            # A helper that its leader does not forward to must get it too; a stopped one wakes.
            for number in (int(words[1]), _signal.SIGCONT):
                try:
                    posix.killpg(self.agent, number)
                except ProcessLookupError:
                    return

    def reap(self) -> bool:
        """Takes every dead child. False when there is no child left, dead or alive."""
        while True:
            try:
                pid, status = posix.waitpid(-1, posix.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.agent:
                self.ended = status

    def report(self, status: int) -> None:
        """How the agent ended, and who outlives it."""
        if posix.WIFSIGNALED(status):
            self.say(f"signaled {posix.WTERMSIG(status)}")
        else:
            self.say(f"exited {posix.WEXITSTATUS(status)}")
        for pid in list(_below(posix.getpid()))[:_SURVIVORS_NAMED]:
            name = _name(pid)
            if name:
                self.say(f"survivor {pid} {name}")

    def end_all(self) -> None:
        """KILL for all below, again and again, until no child is left."""
        pause = 1
        while self.reap():
            if self.alone:
                posix.kill(-1, _signal.SIGKILL)
            else:
                _kill_below()
            if self.reap():
                select.select([], [], [], pause / 1000)
                pause = min(pause * 2, 50)


def _become(keeper: Keeper, argv: list[str], failed: int) -> int:
    # In the child: only ever returns to be `_exit`ed.
    try:
        posix.setsid()
        if keeper.terminal:
            _control_terminal(keeper.stdin)
        for number in _signal.valid_signals() - {_signal.SIGKILL, _signal.SIGSTOP}:
            _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
        posix.dup2(keeper.stdin, 0)
        posix.dup2(keeper.stdout, 1)
        _exec(argv, _environment())
    except OSError as problem:
        posix.write(failed, str(problem.errno).encode())
    return 127


def _control_terminal(fd: int) -> None:
    import fcntl

    fcntl.ioctl(fd, _TIOCSCTTY, 0)


def _exec(argv: list[str], environ: dict[bytes, bytes]) -> "NoReturn":
    # execvp's own rule: the first that can be run; a refusal is remembered over an absence.
    folders = [b""] if "/" in argv[0] else environ.get(b"PATH", b"/usr/bin:/bin").split(b":")
    name = argv[0].encode(sys.getfilesystemencoding(), "surrogateescape")
    refused = None
    for folder in folders:
        path = folder + b"/" + name if folder else name
        try:
            posix.execve(path, argv, environ)
        except OSError as problem:
            if problem.errno not in (_ENOENT, _ENOTDIR, _EACCES):
                raise
            if refused is None or problem.errno == _EACCES:
                refused = problem
    raise refused or OSError(_ENOENT, "")


def _environment() -> dict[bytes, bytes]:
    # In the C locale Python itself sets LC_CTYPE (PEP 538); the agent shall not see that.
    environ = dict(posix.environ)
    if b"LC_CTYPE" in environ:
        given = b"\0" + (_read("/proc/self/environ") or b"\0LC_CTYPE=")
        if b"\0LC_CTYPE=" not in given:
            del environ[b"LC_CTYPE"]
    return environ


def _kill_below() -> None:
    # Stop first, so that a chain of forks stands still; then kill. pidfds, because a pid may
    # have passed to a stranger since it was read.
    held: dict[int, int] = {}
    while True:
        fresh = [(pid, parent) for pid, parent in _below(posix.getpid()).items() if pid not in held]
        if not fresh:
            break
        for pid, parent in fresh:
            held[pid] = _hold(pid, parent)
            _send(held[pid], _signal.SIGSTOP)
    for fd in held.values():
        _send(fd, _signal.SIGKILL)
        if fd >= 0:
            posix.close(fd)


def _hold(pid: int, parent: int) -> int:
    # A pidfd of `pid` if it still is that parent's child (or was adopted by us), else -1.
    try:
        fd = posix.pidfd_open(pid)
    except OSError:
        return -1
    if _parent(pid) in (parent, posix.getpid()):
        return fd
    posix.close(fd)
    return -1


def _send(fd: int, number: int) -> None:
    if fd < 0:
        return
    try:
        _signal.pidfd_send_signal(fd, number)
    except OSError:
        return


def _below(top: int) -> dict[int, int]:
    # Every living descendant of `top`, with its parent.
    found: dict[int, int] = {}
    todo = [top]
    while todo:
        parent = todo.pop()
        for pid in _children(parent):
            if pid not in found:
                found[pid] = parent
                todo.append(pid)
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        threads = posix.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        words = _read(f"/proc/{pid}/task/{thread}/children") or b""
        found += [int(word) for word in words.split()]
    return found


def _parent(pid: int) -> int:
    stat = _read(f"/proc/{pid}/stat")
    return int(stat[stat.rindex(b")") + 2 :].split()[1]) if stat else -1


def _name(pid: int) -> str:
    # The command's name in printable ASCII; "" for a zombie, which is no survivor.
    stat = _read(f"/proc/{pid}/stat")
    if not stat or stat[stat.rindex(b")") + 2 :][:1] in b"ZX":
        return ""
    name = stat[stat.index(b"(") + 1 : stat.rindex(b")")]
    return "".join(chr(byte) if 32 < byte < 127 else "_" for byte in name) or "_"


def _read(path: str) -> "bytes | None":
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return None
    parts = []
    try:
        while part := posix.read(fd, 65536):
            parts.append(part)
    except OSError:
        return None
    finally:
        posix.close(fd)
    return b"".join(parts)


def _silence(*fds: int) -> None:
    nowhere = posix.open("/dev/null", posix.O_RDWR)
    for fd in fds:
        posix.dup2(nowhere, fd)
    if nowhere not in fds:
        posix.close(nowhere)


def _wakeups() -> tuple[int, int]:
    # A pipe that gets a byte for each SIGCHLD: a poll alone could miss one that comes just before.
    wake, handle = posix.pipe()
    posix.set_blocking(handle, False)
    _signal.set_wakeup_fd(handle, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
    return wake, handle


def _become_subreaper() -> None:
    import _ctypes

    prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
    if _ctypes.call_cdeclfunction(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) != 0:
        raise SystemExit("this system knows no subreaper")


def _guarded(keeper: Keeper) -> None:
    # Goes on as a child; the guard stays above it, for the agent that kills its parent.
    _become_subreaper()
    inner = posix.fork()
    if inner == 0:
        _become_subreaper()
        return
    _silence(0, 1, 2, *keeper.lent)
    posix.close(keeper.control)
    pid = 0
    while pid != inner:
        pid, status = posix.waitpid(-1, 0)
    if status != 0:
        keeper.end_all()
        keeper.say("lost")
        keeper.say("done")
    posix._exit(0)


def main(argv: list[str]) -> None:
    """Runs as `keeper.py CONTROL STATUS STDOUT [STDIN [tty]] -- PROGRAM ARGUMENT...`; never
    returns."""
    dashes = argv.index("--") if "--" in argv[3:6] else 0
    numbers, command = argv[:dashes], argv[dashes + 1 :]
    if not dashes or not command:
        raise SystemExit(
            "usage: keeper.py CONTROL STATUS STDOUT [STDIN [tty]] -- PROGRAM ARGUMENT..."
        )
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT):
        _signal.signal(number, _signal.SIG_IGN)
    keeper = Keeper(*map(int, numbers[:4]))
    keeper.terminal = numbers[4:] == ["tty"]
    if not keeper.alone:
        _guarded(keeper)
    keeper.keep(command)
    posix._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
