"""Takes a part of an event out of its line: a whole event, a field by its path, or its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra.conformance.drift.minds import Ablation
from hydra.conformance.drift.schemas import entry, folded

_GONE = object()


def event(kind: str) -> Ablation:
    """No line of that type."""
    return Ablation(kind, lambda line: None)


def field(kind: str, path: str) -> Ablation:
    """Lines of that type without the field at `path` (as `schemas` writes it)."""
    return value(kind, path, _GONE)


def value(kind: str, path: str, other: object) -> Ablation:
    """Lines of that type with `other` in the field's place."""
    return Ablation(kind, lambda line: _less(line, "", path, other))


def _less(holder: Mapping[str, Any], at: str, gone: str, other: object) -> Mapping[str, Any]:
    """`holder` itself where nothing in it is named by `gone`, else a copy with it changed."""
    data_keys = folded(holder)
    changed: dict[str, Any] = {}
    for key, held in holder.items():
        name = "*" if data_keys else key
        path = f"{at}.{name}" if at else name
        if path == gone:
            changed[key] = other
        elif gone.startswith(path):
            inner = _inside(held, path, gone, other)
            if inner is not held:
                changed[key] = inner
    if not changed:
        return holder
    whole = {**holder, **changed}
    return {key: held for key, held in whole.items() if held is not _GONE}


def _inside(held: Any, path: str, gone: str, other: object) -> Any:
    if isinstance(held, Mapping):
        return _less(held, path, gone, other)
    if isinstance(held, list):
        named = [(one, entry(path, one)) for one in held]
        kept = [_inside(one, at, gone, other) for one, at in named if at != gone]
        same = len(kept) == len(held) and all(a is b for a, b in zip(kept, held, strict=True))
        return held if same else kept
    return held
