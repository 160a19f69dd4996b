"""One key of `hydra.toml` as a record, and what the texts in it may look like."""

import re
from typing import Any, NamedTuple

from hydra.config.kinds import ValueKind
from hydra.errors import ConfigError
from hydra.records.request import Effort

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
"""What an agent, or a profile, may be called."""

YES, LOWER, NO = "yes", "only lower", "no"
"""Whether a repository's own hydra.toml may set a key (docs/decisions.md, 14)."""


class Key(NamedTuple):
    """One key. `name` is dotted (`race.agents`, `agents.<key>.path`), `field` the record's own.

    `repository` is YES, LOWER or NO. `file` is False for what no file may say at all; `environment`
    and `flag` are "" where there is none. `shown` stands in the docs where the default is not a
    value; `example` is what `hydra.toml.example` shows, as TOML.
    """

    name: str
    field: str
    kind: ValueKind
    default: Any
    meaning: str
    repository: str = YES
    environment: str = ""
    flag: str = ""
    file: bool = True
    shown: str = ""
    example: str = ""

    @property
    def section(self) -> str:
        """`race`, `limits`, or `agents.<key>`."""
        return self.name.rpartition(".")[0]

    @property
    def leaf(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


class Table(NamedTuple):
    """One table of `hydra.toml`, by its name, in which keys are made. `repository` holds for each
    of them that says nothing else of it."""

    name: str
    repository: str = YES

    def key(
        self,
        leaf: str,
        kind: ValueKind,
        meaning: str,
        *,
        field: str = "",
        default: Any = None,
        shown: str = "",
        example: str = "",
        repository: str = "",
        environment: str = "",
        flag: str = "",
        file: bool = True,
    ) -> Key:
        """A key of this table. `field` is its leaf, `shown` "none" where no default is a value."""
        return Key(
            name=f"{self.name}.{leaf}",
            field=field or leaf,
            kind=kind,
            default=default,
            meaning=meaning,
            repository=repository or self.repository,
            environment=environment,
            flag=flag,
            file=file,
            shown=shown or ("none" if default in (None, "", ()) else ""),
            example=example,
        )


def plain(item: str) -> str:
    """Any text of one line."""
    if not item.strip() or any(ord(char) < 32 or ord(char) == 127 for char in item):
        raise ConfigError("an entry is empty or has a control character")
    return item


def inside(path: str) -> str:
    """A path inside the repository."""
    parts = plain(path).split("/")
    if path.startswith(("/", "~")) or ".." in parts or ".git" in path.lower().split("/"):
        raise ConfigError(f'"{path}" is not a path inside the repository')
    return path


_EFFORTS = tuple(effort.value for effort in Effort)
MODEL = r"[A-Za-z0-9][\w.:/@\[\]+-]*"


_OWN_PROGRAM = (
    "a program of your own needs an entry in your own settings: docs/reference/configuration.md, "
    '"An agent of your own"'
)


def lane_spec(item: str) -> str:
    """An agent or a profile, with copies, a model, an effort."""
    if not re.fullmatch(rf"[A-Za-z0-9][\w.-]*(@({'|'.join(_EFFORTS)})|:{MODEL})?", item):
        if re.fullmatch(r"[A-Za-z0-9][\w.-]*@\w+", item):
            effort = item.partition("@")[2]
            raise ConfigError(f'"{effort}" is no effort: write {", ".join(_EFFORTS)}')
        if len(names := [name for part in item.split(",") if (name := part.strip())]) > 1:
            options = " ".join(f"-a {name}" for name in names)
            hint = f"name each by itself: {options}"
            raise ConfigError(f'"{item}" is not one agent, but {len(names)}', hint=hint)
        raise ConfigError(
            f'"{item}" is not an agent: write claude, 2xclaude or claude:opus@high',
            hint=_OWN_PROGRAM if "/" in item else "",
        )
    return item


def model_name(name: str) -> str:
    """A model's name."""
    # A model that starts with a dash would be read by the CLI as one more option.
    if not re.fullmatch(MODEL, name):
        raise ConfigError(f'"{name}" is not the name of a model')
    return name


def variable(name: str) -> str:
    """The name of an environment variable, none of git's."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?", name):
        raise ConfigError(f'"{name}" is not the name of an environment variable (a * may end it)')
    if name.upper().startswith("GIT_"):
        raise ConfigError(
            f'"{name}" would lead git out of the lane: git\'s own names stay with git'
        )
    return name


def program(path: str) -> str:
    """An absolute path, or one below HOME."""
    if not plain(path).startswith(("/", "~/")):
        raise ConfigError(f'takes an absolute path, not "{path}"')
    return path


def shown_place(path: str) -> str:
    """An absolute path, or one below HOME; never HOME, or the machine, as a whole."""
    parts = plain(path).split("/")
    if parts[0] not in ("", "~") or not any(parts[1:]) or {".", ".."} & set(parts):
        raise ConfigError(f'"{path}" is no place below your home folder, nor an absolute path')
    return path


def home_folder(path: str) -> str:
    """A folder below HOME, by its place there."""
    parts = plain(path).split("/")
    if parts[0] != "~" or len(parts) == 1 or not all(parts[1:]) or {".", ".."} & set(parts):
        raise ConfigError(f'"{path}" is no folder below your home folder: write "~/.my-agent"')
    return path


def object_spec(spec: str) -> str:
    """`my_pkg:ADAPTER`."""
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", spec, re.ASCII):
        raise ConfigError(f'"{spec}" is not the name of an adapter: write my_pkg:ADAPTER')
    return spec
