"""`[remotes.<name>]`: where a lane's agent can run but here. Only the user's own file has any."""

import re

from hydra.config.key import NO, Key, Table, plain
from hydra.config.kinds import choice, strings, text
from hydra.errors import ConfigError

MODES = ("ssh", "docker", "k8s")

_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]*")


def destination(name: str) -> str:
    """What `ssh` takes: a host, `user@host`, an alias of ~/.ssh/config, `ssh://user@host:22`."""
    # What begins with a dash would be read as an option; ssh hands some names to a shell.
    if not re.fullmatch(r"[A-Za-z0-9_\[][\w.:@/\[\]+-]*", name, re.ASCII):
        raise ConfigError(f'"{name}" is no host for ssh: write gpubox, or ada@gpubox')
    return name


def name_there(name: str) -> str:
    """A container's, an image's, a pod's, a namespace's or a context's name."""
    if not _ADDRESS.fullmatch(name):
        raise ConfigError(f'"{name}" is no name of a container, an image, a pod or a context')
    return name


def folder_there(path: str) -> str:
    """An absolute path on the other side."""
    if not plain(path).startswith("/") or ".." in path.split("/"):
        raise ConfigError(f'takes an absolute path, not "{path}"')
    return path


def program_there(path: str) -> str:
    """A program's name, or its absolute path on the other side."""
    if plain(path).startswith(("-", "~")) or ("/" in path and not path.startswith("/")):
        raise ConfigError(f'takes a program\'s name or its absolute path there, not "{path}"')
    return path


_REMOTE = Table("remotes.<name>", NO)


def _named(leaf: str, example: str, meaning: str) -> Key:
    kind = text(destination if leaf == "host" else name_there)
    return _REMOTE.key(leaf, kind, meaning, default="", example=f'"{example}"')


REMOTES: tuple[Key, ...] = (
    _REMOTE.key(
        "mode",
        choice(*MODES),
        "How it is reached: `ssh`, `docker` or `k8s` (kubectl).",
        shown="required",
        example='"ssh"',
    ),
    _named("host", "ada@gpubox", "Of `ssh`: the host, as `ssh` takes it."),
    _named("container", "agents", "Of `docker`: a container that runs."),
    _named("image", "agents:latest", "Of `docker`: an image; each attempt has a container of it."),
    _named("pod", "agents-0", "Of `k8s`: a pod that runs."),
    _named("namespace", "agents", "Of `k8s`: the pod's namespace, else kubectl's own."),
    _named("context", "lab", "Of `k8s`: kubectl's context, else its own."),
    _REMOTE.key(
        "workdir",
        text(folder_there),
        "A folder there that is there; each attempt makes one of its own in it.",
        default="/tmp",  # noqa: S108  a folder of the other machine's, in which one is made anew
        example='"/scratch"',
    ),
    _REMOTE.key(
        "program",
        text(program_there),
        "The agent's program there; its folder then stands first on PATH.",
        default="",
        shown="found on PATH there",
        example='"/opt/agents/bin/claude"',
    ),
    _REMOTE.key(
        "options",
        strings(plain, separator="\n"),
        "Further options: of `ssh` itself, of `docker` or `kubectl` before their command.",
        default=(),
        example='["-p", "2222"]',
    ),
)
