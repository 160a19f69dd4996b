"""The command lines that reach a shell elsewhere: pure, and nothing of a lane's stands in them.

What is to be done there, with every path, name and secret in it, goes in on the shell's stdin
(`told`): on the command line, here as there, is only where to go and `LISTEN`.
"""

from __future__ import annotations

import os
import shlex

from hydra.config.schema import Remote

END = "#hydra-end#"
"""The line that ends what a shell is told; what comes after it is for what it was told to do."""

LISTEN = (
    f'eval "$(while IFS= read -r l; do [ "$l" = "{END}" ] && break; printf "%s\\n" "$l"; done)"'
)
"""What the shell there runs: `read` takes no byte more than a line, so that the rest of its stdin
stays for what it then does. No quote, dash or newline of it means anything to a login shell."""

_HOLD = "echo held; exec cat >/dev/null"
"""The whole of a container's own process: it ends, and the container with it, when we do."""


def argv(remote: Remote, *, text: str = "") -> tuple[str, ...]:
    """A shell there, which does what it is told on its stdin. `text` is the name of the container
    that `holder_argv` made of an image."""
    if remote.mode == "ssh":
        # One word: ssh joins its words with blanks and gives them to the login shell there.
        line = f"exec sh -c {shlex.quote(LISTEN)}"
        return ("ssh", *_SSH, *remote.options, "--", remote.host, line)
    if remote.mode == "docker":
        where = text or remote.container
        return ("docker", *remote.options, "exec", "-i", where, "sh", "-c", LISTEN)
    return ("kubectl", *remote.options, *_place(remote), "sh", "-c", LISTEN)


def once(remote: Remote) -> tuple[str, ...]:
    """The same for a question alone: an image has a container for it that goes with the shell."""
    if not remote.image:
        return argv(remote)
    line = ("run", "--rm", "-i", "--entrypoint=sh", remote.image, "-c", LISTEN)
    return ("docker", *remote.options, *line)


_SSH = (
    *("-T", "-x", "-a"),
    *("-o", "BatchMode=yes", "-o", "ClearAllForwardings=yes"),
    *("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"),
)
"""No terminal, no forwarding of anything, nobody to ask, and a dead line is found in a minute.
ssh takes the first word that it is given for an option: these hold over the user's own."""


def _place(remote: Remote) -> tuple[str, ...]:
    context = (f"--context={remote.context}",) if remote.context else ()
    namespace = (f"--namespace={remote.namespace}",) if remote.namespace else ()
    return (*context, *namespace, "exec", "-i", remote.pod, "--")


def holder_argv(remote: Remote, name: str) -> tuple[str, ...]:
    """What runs a container of the image for as long as its own stdin is open, and then removes it;
    it says `held` when it is there."""
    line = ("run", "--rm", "-i", f"--name={name}", "--entrypoint=sh", remote.image, "-c", _HOLD)
    return ("docker", *remote.options, *line)


def removal_argv(remote: Remote, name: str) -> tuple[str, ...]:
    """What removes that container should it still be there."""
    return ("docker", *remote.options, "rm", "--force", name)


def shell_text(script: str) -> bytes:
    """`script` as the shell there is told it."""
    assert END not in script
    return os.fsencode(f"{script}\n{END}\n")
