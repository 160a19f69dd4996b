"""What the shell there is told: POSIX sh, with `tar` and, for little traffic, `git`.

Pure. Every text that is put in is quoted here, and none of it stands on a command line. `nonce` is
what only Hydra and that shell know: a line that begins with it is Hydra's, all else an agent's.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence

MARK = "HYDRA_REMOTE"
"""Environment variable by which the agent's processes are found there."""

LINGER = 30
"""Seconds for which a folder waits for its changes to be fetched once the line was lost."""

SCRATCH = "tmp"

SILENT = 120
"""Seconds without a word from Hydra after which the line counts as lost; it speaks every 10."""


def run(*, folder: str, name: str, nonce: str, mark: str, live: bool, pipe: bool) -> str:
    """Makes the folder, waits for `g`, runs `agent.sh` in a session of its own and obeys stdin.

    `name` is the worktree's; `live`: the agent's stdin is what `i TEXT` says; `pipe`: it is a pipe.
    It leaves nothing: neither a process, nor the folder once `q` was said or the line is lost.
    """
    values = {"D": folder, "W": f"work/{name}", "N": nonce, "M": mark}
    agent = '(trap - HUP INT TERM PIPE; umask "$u"; exec $S sh ./agent.sh 3<&-) <prompt'
    if live:
        agent = agent.replace("<prompt", "<in")
    elif pipe:
        agent = f"cat prompt | {agent.removesuffix(' <prompt')}"
    return f"{_set(values)}\n{_RUN.replace('AGENT_LINE', agent)}"


def upload(*, folder: str, name: str) -> str:
    """Takes a tar on what is left of stdin, and makes a repository of the worktree where git is."""
    return f"{_set({'D': folder, 'W': f'work/{name}'})}\n{_UPLOAD}"


def fetch(*, folder: str, name: str, nonce: str, mark: str, alone: bool) -> str:
    """Writes what has changed as tars one after another, between two lines of Hydra's.

    `alone`: the first line was lost; what still runs is ended, and the folder removed.
    """
    values = {"D": folder, "W": f"work/{name}", "N": nonce, "M": mark, "A": "1" if alone else ""}
    return f"{_set(values)}\n{_FETCH}"


def agent(
    argv: Sequence[str], *, name: str, environ: Mapping[str, str], mark: str, folder: str
) -> str:
    """`agent.sh`: the only place of the variables' values, removed before the agent begins."""
    exports = "".join(
        f"export {key}={shlex.quote(value)}\n"
        for key, value in {"TMPDIR": f"{folder}/{SCRATCH}", **environ, MARK: mark}.items()
    )
    program = argv[0]
    path = f"PATH={shlex.quote(program.rpartition('/')[0])}:$PATH\n" if "/" in program else ""
    return (
        f"rm -f agent.sh\necho $$ >pid\n{exports}{path}"
        f"command -v {shlex.quote(program)} >/dev/null 2>&1 || {{ echo missing >why; exit 127; }}\n"
        f"cd {shlex.quote(f'work/{name}')} || {{ echo folder >../why; exit 126; }}\n"
        f"exec {shlex.join(argv)}\n"
    )


def look(programs: Sequence[str], nonce: str) -> str:
    """Who is there: the system, the user, what it has, and which of `programs` it finds."""
    return f"{_set({'N': nonce})}\n{_LOOK.replace('PROGRAMS', shlex.join(programs))}"


def ask(argv: Sequence[str], environ: Mapping[str, str], nonce: str, seconds: float) -> str:
    """One question to a CLI there, in an empty folder of its own."""
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in environ.items())
    program = argv[0]
    path = f"PATH={shlex.quote(program.rpartition('/')[0])}:$PATH\n" if "/" in program else ""
    line = _ASK.replace("LINE", shlex.join(argv)).replace("SECONDS", f"{math.ceil(seconds)}")
    return f"{_set({'N': nonce})}\n{exports}{path}{line}"


def _set(values: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={shlex.quote(value)}" for name, value in values.items())


_END = r"""
group() { [ -s pid ] && kill -s "$1" -- "-$(cat pid)" 2>/dev/null; }
sweep() {
  group KILL; i=0
  while [ $i -lt 50 ]; do
    p=$(grep -l "HYDRA_REMOTE=$M" /proc/[0-9]*/environ 2>/dev/null)
    [ -n "$p" ] || break
    for e in $p; do e=${e#/proc/}; kill -KILL "${e%/environ}" 2>/dev/null; done
    i=$((i+1))
  done
}
gone() { cd / && { rm -rf "$D" 2>/dev/null || { chmod -R u+rwX "$D"; rm -rf "$D"; }; }; }
"""

_RUN = (
    (
        _END
        + r"""
u=$(umask); umask 077
trap : HUP INT TERM PIPE
exec 3<&0
mkdir "$D" && cd "$D" && mkdir home tmp work out || exit 90
if command -v setsid >/dev/null 2>&1; then S=setsid
elif command -v perl >/dev/null 2>&1; then S='perl -MPOSIX -e POSIX::setsid();exec(@ARGV)'
else cd / && rm -rf "$D"; echo "neither setsid nor perl is there" >&2; exit 90; fi
n=0; echo 0 >beat; : >prompt; mkfifo in
hear() { IFS= read -r line <&3 || return 1; n=$((n+1)); echo $n >beat; }
end() { group TERM; i=0; while [ $i -lt 20 ] && group 0; do sleep 0.1; i=$((i+1)); done; sweep; }
watch() {
  trap 'kill $s 2>/dev/null; exit' TERM
  while :; do
    was=$(cat beat); sleep SILENT & s=$!; wait $s
    [ "$(cat beat)" = "$was" ] && break
  done
  : >lost; o=$(cat obey 2>/dev/null); sweep; gone; kill -KILL $o $$
}
leave() { kill -TERM $w 2>/dev/null; wait $w 2>/dev/null; gone; exit 0; }
linger() {
  i=0
  while [ $i -lt LINGER ] && [ -d "$D" ] && [ ! -f fetched ]; do
    sleep 1; i=$((i+1))
  done
}
obey() {
  trap '' PIPE
  exec 5<>in
  while hear; do
    case $line in
      'i '*) printf '%s\n' "${line#i }" >&5 ;;
      e) exec 5>&- ;;
      's '*) i=0; while [ ! -s pid ] && [ $i -lt 20 ]; do sleep 0.1; i=$((i+1)); done
        group "${line#s }" ;;
    esac
  done
  exec 5>&-
  : >lost; end
}
watch </dev/null >/dev/null 2>&1 & w=$!
printf '%s hello\n' "$N"; printf '%s hello\n' "$N" >&2
while :; do hear || leave; case $line in g) break ;; q) leave ;; esac; done
obey >/dev/null 2>&1 & o=$!; echo $o >obey
AGENT_LINE
c=$?
kill -KILL $o 2>/dev/null; wait $o 2>/dev/null
sweep
rm -f agent.sh
if [ -f lost ]; then exec >/dev/null 2>&1; : >settled; linger; leave; fi
printf '%s ended %s %s\n' "$N" "$c" "$(cat why 2>/dev/null)"
printf '%s ended\n' "$N" >&2
line=; while hear; do [ "$line" = q ] && break; done
[ "$line" = q ] || linger
leave
"""
    )
    .replace("SILENT", str(SILENT))
    .replace("LINGER", str(LINGER))
)

_GIT = r"""
here() { GIT_CONFIG_GLOBAL=/dev/null/none GIT_CONFIG_NOSYSTEM=1 GIT_LITERAL_PATHSPECS=1 \
  git -c core.hooksPath=/dev/null -c core.excludesFile=/dev/null/none \
  -c core.attributesFile=/dev/null/none \
  -c core.fsmonitor=false -c core.autocrlf=false -c core.safecrlf=false "$@"; }
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
"""

_UPLOAD = (
    _GIT
    + r"""
cd "$D" && tar xpf - && cd "$W" || exit 91
command -v git >/dev/null 2>&1 || exit 0
{
  here init -q --template= . &&
  here add -f --pathspec-from-file="$D/out/tracked" --pathspec-file-nul &&
  here -c user.name=Hydra -c user.email=hydra@localhost -c commit.gpgSign=false \
    commit -q --no-verify --allow-empty -m base &&
  here init -q --bare --template= "$D/base.git" && cp .git/index "$D/base.git/index" &&
  : >"$D/base.git/ready"
} >/dev/null 2>"$D/out/git" || { rm -rf .git "$D/base.git"; exit 0; }
git config user.email >/dev/null 2>&1 || {
  git config user.name Hydra; git config user.email hydra@localhost; } 2>/dev/null
exit 0
"""
)

_FETCH = (
    _END
    + _GIT
    + r"""
umask 077
cd "$D" || exit 91
export D W
printf '%s hello\n' "$N"
if [ -n "$A" ]; then
  i=0; while [ ! -f settled ] && [ $i -lt 50 ]; do sleep 0.1; i=$((i+1)); done
  sweep
fi
c=0
if [ -f base.git/ready ]; then
  echo changed >out/how
  seen() { cd "$W" && export GIT_DIR="$D/base.git" GIT_WORK_TREE="$D/$W" &&
    here ls-files -z "$@"; }
  (seen -d) >out/deleted 2>out/git || c=1
  (seen -m -o --exclude-standard) >out/there 2>out/git || c=1
else
  echo all >out/how
  : >out/deleted
  (cd "$W" && find . -name .git -prune -o ! -type d -print0) >out/there || c=1
fi
[ -d "$W" ] || { echo lost >out/how; : >out/there; }
tar cf - out/how out/deleted || c=1
xargs -0 -n 400 sh -c 'for f do shift
  f="$W/${f#./}"; { [ -e "$f" ] || [ -L "$f" ]; } && set -- "$@" "$f"
  done; [ $# -eq 0 ] || exec tar cf - "$@"' sh <out/there || c=1
[ -z "$(ls -A home)" ] || tar cf - home || c=1
printf '%s done %s\n' "$N" "$c"
: >fetched
[ -z "$A" ] || gone
"""
)

_LOOK = r"""
printf '%s hello\n' "$N"
echo "system $(uname -sm)"
echo "uid $(id -u)"
for p in git tar setsid perl; do command -v $p >/dev/null 2>&1 && echo "has $p"; done
for p in PROGRAMS; do
  f=$(command -v "$p" 2>/dev/null) || continue
  printf 'program %s\n' "$p"
  printf 'identity %s\n' "$(ls -ilLnd "$f" 2>/dev/null)"
  break
done
printf '%s ended 0\n' "$N"
exit 0
"""

_ASK = r"""
d=$(mktemp -d) && cd "$d" || exit 90
printf '%s hello\n' "$N"
t=; command -v timeout >/dev/null 2>&1 && t='timeout SECONDS'
$t LINE </dev/null
c=$?
cd / && rm -rf "$d"
printf '%s ended %s\n' "$N" "$c"
exit 0
"""
