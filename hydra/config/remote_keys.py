"""The keys of remotes: where a lane's agent can run but here. Only the user's own file has any."""

import re

from hydra.config.key import NO, Key, plain
from hydra.config.kinds import strings, text, word
from hydra.errors import ConfigError

MODES = ("ssh", "docker", "k8s")

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]*")


def destination(name: str) -> str:
    """What `ssh` takes: a host, `user@host`, an alias of ~/.ssh/config, `ssh://user@host:22`."""
    # What begins with a dash would be read as an option; ssh hands some names to a shell.
    if not re.fullmatch(r"[A-Za-z0-9_\[][\w.:@/\[\]+-]*", name, re.ASCII):
        raise ConfigError(f'"{name}" is no host for ssh: write gpubox, or ada@gpubox')
    return name


def name_there(name: str) -> str:
    """A container's, an image's, a pod's, a namespace's or a context's name."""
    if not _WORD.fullmatch(name):
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


def _named(leaf: str, example: str, meaning: str) -> Key:
    return Key(
        name=f"remotes.<name>.{leaf}",
        field=leaf,
        kind=text(destination if leaf == "host" else name_there),
        default="",
        shown="none",
        example=f'"{example}"',
        meaning=meaning,
        repository=NO,
    )


REMOTE_KEYS = (
    Key(
        name="remotes.<name>.mode",
        field="mode",
        kind=word(*MODES),
        default=None,
        shown="required",
        example='"ssh"',
        meaning="How it is reached: `ssh`, `docker` or `k8s` (kubectl).",
        repository=NO,
    ),
    _named("host", "ada@gpubox", "Of `ssh`: the host, as `ssh` takes it."),
    _named("container", "agents", "Of `docker`: a container that runs."),
    _named("image", "agents:latest", "Of `docker`: an image; each attempt has a container of it."),
    _named("pod", "agents-0", "Of `k8s`: a pod that runs."),
    _named("namespace", "agents", "Of `k8s`: the pod's namespace, else kubectl's own."),
    _named("context", "lab", "Of `k8s`: kubectl's context, else its own."),
    Key(
        name="remotes.<name>.workdir",
        field="workdir",
        kind=text(folder_there),
        default="/tmp",  # noqa: S108  a folder of the other machine's, in which one is made anew
        example='"/scratch"',
        meaning="A folder there that is there; each attempt makes one of its own in it.",
        repository=NO,
    ),
    Key(
        name="remotes.<name>.program",
        field="program",
        kind=text(program_there),
        default="",
        shown="found on PATH there",
        example='"/opt/agents/bin/claude"',
        meaning="The agent's program there; its folder then stands first on PATH.",
        repository=NO,
    ),
    Key(
        name="remotes.<name>.options",
        field="options",
        kind=strings(plain, separator="\n"),
        default=(),
        shown="none",
        example='["-p", "2222"]',
        meaning="Further options: of `ssh` itself, of `docker` or `kubectl` before their command.",
        repository=NO,
    ),
)
