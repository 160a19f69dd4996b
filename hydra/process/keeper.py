"""The keeper: the small process between Hydra and one agent (docs/why/keeper.md has the protocol).

    PYTHON -I -S -E keeper.py CONTROL STATUS STDOUT [STDIN] [MARK...] -- PROGRAM ARGUMENT...

CONTROL, STATUS, STDOUT and STDIN are descriptor numbers; a MARK (NAME=value) says to a recovery
whose keeper it is. It runs as a script and imports nothing but what the interpreter already holds
(and `select`, `_ctypes`): each further import is a millisecond before every
agent. As pid 1 of a PID namespace the kernel itself ends the namespace with it; elsewhere it is a
subreaper, with a second one (the guard) above it for the agent that kills its parent. The agent
runs as the same user: the keeper is not dumpable, so that it cannot be traced or read.
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
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_ABSTRACT_UNIX_SOCKET, _SIGNAL = 1, 2
_KEYCTL_JOIN_SESSION_KEYRING = 1
_SECCOMP_MODE_FILTER = 2
_PIDFD_SIGNAL_PROCESS_GROUP = 4

SCOPE, KEY_FILTER, LIMIT_FILTER = "HYDRA_SCOPE", "HYDRA_KEY_FILTER", "HYDRA_LIMIT_FILTER"
"""Environment variables of the keeper alone (fence.py): how far the agent may reach past the file
system, and by what its system calls for keys and for others' limits are refused."""


class Keeper:
    """One agent's keeper: its descriptors, and the agent's pid once it runs."""

    def __init__(self, control: int, status: int, stdout: int, stdin: int = 0) -> None:
        self.control = control
        self.status = status
        self.stdout = stdout
        self.stdin = stdin
        self.agent = 0
        self.ended: int | None = None  # the agent's wait status
        self.alone = posix.getpid() == 1
        self.pending = b""
        self.environ = _environment()
        own = (SCOPE, KEY_FILTER, LIMIT_FILTER)
        self.fence = [self.environ.pop(name.encode(), b"") for name in own]
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
        wake, number = _wakeups()
        if not self.orphaned():
            self.start(argv)
            self.serve(wake)
        _signal.set_wakeup_fd(-1)
        posix.close(number)
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

    def obey(self, contents: list[bytes]) -> None:
        """`signal N` reaches the agent's process group, `kill` everything."""
        if contents == [b"kill"]:
            self.end_all()
        elif len(contents) == 2 and contents[0] == b"signal" and self.agent:
            # A helper that its leader does not forward to must get it too; a stopped one wakes.
            for number in (int(contents[1]), _signal.SIGCONT):
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
            elif _kill_below():
                continue  # a chain of forks outruns whoever pauses
            if self.reap():
                select.select([], [], [], pause / 1000)
                pause = min(pause * 2, 50)


def _become(keeper: Keeper, argv: list[str], failed: int) -> int:
    # In the child: only ever returns to be `_exit`ed.
    try:
        posix.setsid()
        for number in _signal.valid_signals() - {_signal.SIGKILL, _signal.SIGSTOP}:
            _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
        posix.dup2(keeper.stdin, 0)
        posix.dup2(keeper.stdout, 1)
        _fence(*keeper.fence)
        _exec(argv, keeper.environ)
    except OSError as problem:
        posix.write(failed, str(problem.errno).encode())
    return 127


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
        content = b"\0" + (_read("/proc/self/environ") or b"\0LC_CTYPE=")
        if b"\0LC_CTYPE=" not in content:
            del environ[b"LC_CTYPE"]
    return environ


def _kill_below() -> int:
    # One pass from the top down; how many lived. Whose parent has died comes to us, and is met in
    # the next one. Nothing is held from pass to pass: a chain of forks would use up descriptors.
    alive = 0
    for pid, parent in _below(posix.getpid()).items():
        fd = _hold(pid, parent)
        if fd >= 0:
            alive += bool(_name(pid))
            # Its group too: a link that has ended may have a child in there that is yet unseen.
            _send(fd, _signal.SIGKILL, _PIDFD_SIGNAL_PROCESS_GROUP)
            _send(fd, _signal.SIGKILL, 0)
            posix.close(fd)
    return alive


def _hold(pid: int, parent: int) -> int:
    # A pidfd, as a pid may have passed to a stranger since it was read: of `pid` if it still is
    # that parent's child (or was adopted by us), else -1.
    try:
        fd = posix.pidfd_open(pid)
    except OSError:
        return -1
    if _parent(pid) in (parent, posix.getpid()):
        return fd
    posix.close(fd)
    return -1


def _send(fd: int, number: int, flags: int) -> None:
    try:
        _signal.pidfd_send_signal(fd, number, None, flags)
    except OSError:  # it has ended, or the kernel is older than the flag (6.9)
        return


def _below(top: int) -> dict[int, int]:
    # Every living descendant of `top`, with its parent.
    values: dict[int, int] = {}
    todo = [top]
    while todo:
        parent = todo.pop()
        for pid in _children(parent):
            if pid not in values:
                values[pid] = parent
                todo.append(pid)
    return values


def _children(pid: int) -> list[int]:
    numbers: list[int] = []
    try:
        threads = posix.listdir(f"/proc/{pid}/task")
    except OSError:
        return numbers
    for thread in threads:
        content = _read(f"/proc/{pid}/task/{thread}/children") or b""
        numbers += [int(content) for content in content.split()]
    return numbers


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
    wake, count = posix.pipe()
    posix.set_blocking(count, False)
    _signal.set_wakeup_fd(count, warn_on_full_buffer=False)
    _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
    return wake, count


def call(name: str, *args: "int | bytes | None") -> int:
    """A function of the C library; -1 is its error. Bytes are passed as a pointer to them."""
    import _ctypes

    function = _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]
    result: int = _ctypes.call_cdeclfunction(function, args)
    return result


def _prctl(option: int, value: int, more: "int | bytes" = 0) -> int:
    return call("prctl", option, value, more, 0, 0)


def _fence(scope: bytes, key_filter: bytes, limit_filter: bytes) -> None:
    # In the child. What the kernel does not know is left out; the run has said so.
    if scope == b"closed" and key_filter:
        _lock_keys(key_filter)
    if scope not in (b"closed", b"signals"):
        return
    scoped = _SIGNAL | (_ABSTRACT_UNIX_SOCKET if scope == b"closed" else 0)
    rules = bytes(16) + scoped.to_bytes(8, sys.byteorder)
    fd = call("syscall", _LANDLOCK_CREATE_RULESET, rules, len(rules), 0)
    if fd >= 0:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        call("syscall", _LANDLOCK_RESTRICT_SELF, fd, 0)
        posix.close(fd)
        if limit_filter:
            _refuse(limit_filter)


def _lock_keys(key_filter: bytes) -> None:
    # A new session key ring, and no call that could link the user's own to it: the kernel finds
    # those by the user's id, whatever the namespace, and /proc/keys has their numbers.
    keyctl, steps = key_filter.split(b":")
    call("syscall", int(keyctl), _KEYCTL_JOIN_SESSION_KEYRING, None, 0, 0, 0)
    _refuse(steps)


def _refuse(steps: bytes) -> None:
    # A seccomp filter, in hexadecimal.
    import _ctypes

    class Byte(_ctypes._SimpleCData):  # type: ignore[type-arg]
        _type_ = "B"

    program = bytes.fromhex(steps.decode())
    buffer = (Byte * len(program)).from_buffer_copy(program)
    address = _ctypes.addressof(buffer).to_bytes(8, sys.byteorder)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    length = (len(program) // 8).to_bytes(2, sys.byteorder)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, length + bytes(6) + address)


def _become_subreaper() -> None:
    if _prctl(_PR_SET_CHILD_SUBREAPER, 1) != 0:
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
    """Runs as this module's first lines say; never returns."""
    dashes = argv.index("--") if "--" in argv else 0
    options, command = argv[:dashes], argv[dashes + 1 :]
    numbers = [option for option in options if option.isdecimal()]
    if not command or not 3 <= len(numbers) <= 4:
        raise SystemExit(
            "usage: keeper.py CONTROL STATUS STDOUT [STDIN] [MARK...] -- PROGRAM ARGUMENT..."
        )
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT):
        _signal.signal(number, _signal.SIG_IGN)
    keeper = Keeper(*map(int, numbers))  # reads its own environment, so before the next line
    _prctl(_PR_SET_DUMPABLE, 0)
    if not keeper.alone:
        _guarded(keeper)
    keeper.keep(command)
    posix._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
