"""The adapters Hydra knows, and how a person names them: `claude`, `codex:gpt-5.5`, `2xclaude`.

A new adapter is one import and one entry in `ADAPTERS`. Those of third parties are found by
`thirdparty.py`, and handed in where a name is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hydra.adapters import claude, codex, cursor
from hydra.adapters.contract import Adapter
from hydra.errors import UsageError
from hydra.model import Lane

ADAPTERS: tuple[Adapter, ...] = (claude.ADAPTER, codex.ADAPTER, cursor.ADAPTER)
"""In the order in which they are listed and raced."""

OWN: Mapping[str, Adapter] = {adapter.key(): adapter for adapter in ADAPTERS}
"""The same, by key."""

COPIES = 32
"""Copies of one agent at most: more is a slip of the finger."""

_COUNT = re.compile(r"(?P<count>\d+)x(?P<rest>.+)", re.DOTALL)
_ID = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """One `-a` as it was typed."""

    key: str
    model: str | None
    count: int


def get(key: str, adapters: Mapping[str, Adapter] = OWN) -> Adapter:
    """The adapter of that name. Raises `UsageError`, with the nearest one named."""
    if key in adapters:
        return adapters[key]
    raise unknown(key, adapters)


def unknown(key: str, keys: Iterable[str]) -> UsageError:
    """The error for a name that is none of these."""
    from difflib import get_close_matches

    keys = list(keys)
    near = get_close_matches(key.lower(), keys, n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]}?" if near else ""
    return UsageError(f"no agent is called {key!r}{meant}", hint=f"known: {', '.join(keys)}")


def key_of(text: str) -> str:
    """The agent that `text` names, whether or not there is one of that name."""
    counted = _COUNT.fullmatch(text.strip())
    return (counted["rest"] if counted else text.strip()).partition(":")[0]


def parse_agent(text: str, adapters: Mapping[str, Adapter] = OWN) -> Asked:
    """`[<count>x]<agent>[:<model>]`, split at the first colon. Raises `UsageError`."""
    counted = _COUNT.fullmatch(text.strip())
    count, rest = (counted["count"], counted["rest"]) if counted else ("1", text.strip())
    key, colon, model = rest.partition(":")
    if not 1 <= int(count[:9]) <= COPIES:
        raise UsageError(f"{text!r}: 1 to {COPIES} copies of an agent", hint="for example 2xclaude")
    if colon and not _sane(model):
        raise UsageError(f"{text!r}: that is no model's name", hint="for example codex:gpt-5.5")
    return Asked(get(key, adapters).key(), model or None, int(count))


def lanes(
    specs: Iterable[str | Sequence[str]], adapters: Mapping[str, Adapter] = OWN
) -> tuple[Lane, ...]:
    """The lanes of a race, in the order asked for; ids are unique and safe as refs.

    A copy is numbered among all lanes that would have the same id: `claude`, `claude-2`.
    """
    made: list[Lane] = []
    taken: set[str] = set()
    for spec in specs:
        asked = parse_agent(spec if isinstance(spec, str) else ":".join(spec), adapters)
        for _ in range(asked.count):
            copy, id = _free(_base(asked), taken)
            taken.add(id)
            made.append(Lane(id=id, adapter=asked.key, model=asked.model, copy=copy))
    return tuple(made)


def _sane(model: str) -> bool:
    """Not empty, not an option, and nothing that a terminal or an argv would stumble over."""
    return bool(model) and not model.startswith("-") and model.isprintable() and " " not in model


def _base(asked: Asked) -> str:
    """The lane's name: the agent's key, and the model's where one was named."""
    name = f"{asked.key}-{asked.model}" if asked.model else asked.key
    safe = re.sub(r"[^a-z0-9.]+", "-", name.lower())
    return re.sub(r"\.{2,}", ".", safe).strip("-.")[:_ID].rstrip("-.")


def _free(base: str, taken: set[str]) -> tuple[int, str]:
    copy, id = 1, _safe_end(base)
    while id in taken:
        copy += 1
        tail = f"-{copy}"
        id = base[: _ID - len(tail)].rstrip("-.") + tail
    return copy, id


def _safe_end(id: str) -> str:
    """git refuses a branch that ends in `.lock`."""
    return id.removesuffix(".lock") if id.endswith(".lock") else id
