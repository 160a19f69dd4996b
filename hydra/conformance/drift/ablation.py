"""Takes a part of an event out of its line: a whole event, a field by its path, or its value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hydra.conformance.drift.impact import Ablation
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
    for key, document in holder.items():
        name = "*" if data_keys else key
        path = f"{at}.{name}" if at else name
        if path == gone:
            changed[key] = other
        elif gone.startswith(path):
            inner = _inside(document, path, gone, other)
            if inner is not document:
                changed[key] = inner
    if not changed:
        return holder
    whole = {**holder, **changed}
    return {key: document for key, document in whole.items() if document is not _GONE}


def _inside(document: Any, path: str, gone: str, other: object) -> Any:
    if isinstance(document, Mapping):
        return _less(document, path, gone, other)
    if isinstance(document, list):
        named = [(row, entry(path, row)) for row in document]
        documents = [_inside(row, at, gone, other) for row, at in named if at != gone]
        same = len(documents) == len(document) and all(
            a is b for a, b in zip(documents, document, strict=True)
        )
        return document if same else documents
    return document
