"""Documents of a record, made up from its type alone, and whether a document is one by its type:
what Hydra's readers are held against."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st
from msgspec import inspect

TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
"""Lone surrogates too."""
DISK_NAME = st.binary(max_size=8).map(lambda data: os.fsdecode(data.replace(b"\0", b"")))
WHOLE = st.integers(-(2**70), 2**70)
NUMBER = st.floats(allow_nan=False, allow_infinity=False) | WHOLE
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | WHOLE | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
_FURTHER = 5
"""Fields of an object that may be there, and are."""


_types: dict[type[Any], inspect.Type] = {}
_known: dict[type[Any], st.SearchStrategy[Any]] = {}


def documents(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Whatever may stand where that type is due."""
    return _values(_type(kind))


def _type(kind: type[Any]) -> inspect.Type:
    if kind not in _types:
        _types[kind] = inspect.type_info(kind)
    return _types[kind]


def _later(kind: inspect.Type) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: _values(kind))


def _values(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.NoneType():
            return st.none()
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType():
            return WHOLE
        case inspect.FloatType(ge=least, le=most):
            return NUMBER if least is None else st.floats(least, most)
        case inspect.BytesType():
            return st.binary(max_size=4).map(lambda data: b64encode(data).decode())
        case inspect.StrType(min_length=least, pattern=pattern):
            text = DISK_NAME if pattern else TEXT
            return text.filter(lambda text: len(text) >= (least or 0))
        case inspect.CustomType():
            return DISK_NAME  # a path
        case inspect.EnumType(cls=cls):
            return st.sampled_from([member.value for member in cls])
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.UnionType(types=types):
            return st.one_of(*map(_values, types))
        case inspect.VarTupleType(item_type=inner) | inspect.ListType(item_type=inner):
            return st.lists(_values(inner), max_size=2)
        case inspect.TupleType(item_types=types):
            return st.tuples(*map(_values, types)).map(list)
        case inspect.DictType(key_type=key, value_type=inner):
            return st.dictionaries(_values(key), _values(inner), max_size=2)
        case inspect.NamedTupleType() | inspect.StructType(array_like=True):
            return st.tuples(*(_values(field.type) for field in kind.fields)).map(list)
        case inspect.StructType(cls=cls, fields=fields):
            if cls not in _known:
                of_all = {field.encode_name: _later(field.type) for field in fields}
                further = [field.encode_name for field in fields if not field.required]
                _known[cls] = _objects(of_all, further)
            return _known[cls]
    assert isinstance(kind, inspect.AnyType), kind
    return ANYTHING


@st.composite
def _objects(
    draw: st.DrawFn, values: Mapping[str, st.SearchStrategy[Any]], further: list[str]
) -> dict[str, Any]:
    some = draw(st.sets(st.sampled_from(further), max_size=_FURTHER)) if further else set()
    return {name: draw(values[name]) for name in values if name not in further or name in some}


def fits(value: Any, kind: type[Any]) -> bool:
    """Whether it may stand where that type is due."""
    return _fits(value, _type(kind))


def _fits(value: Any, kind: inspect.Type) -> bool:
    match kind:
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return type(value) is int
        case inspect.FloatType(ge=least, le=most):
            return type(value) in (int, float) and (least is None or least <= value <= most)
        case inspect.BytesType():
            return _is_base64(value)
        case inspect.StrType(min_length=least, pattern=pattern):
            is_right = isinstance(value, str) and len(value) >= (least or 0)
            return is_right and (not pattern or _is_disk_name(value))
        case inspect.CustomType():
            return isinstance(value, str) and _is_disk_name(value)
        case inspect.EnumType(cls=cls):
            return value in [member.value for member in cls]
        case inspect.LiteralType(values=values):
            return value in values
        case inspect.UnionType(types=types):
            return any(_fits(value, each) for each in types)
        case inspect.VarTupleType(item_type=inner) | inspect.ListType(item_type=inner):
            return isinstance(value, list) and all(_fits(each, inner) for each in value)
        case inspect.TupleType(item_types=types):
            return _fit(value, types)
        case inspect.DictType(key_type=key, value_type=inner):
            return isinstance(value, dict) and all(
                _fits(name, key) and _fits(each, inner) for name, each in value.items()
            )
        case inspect.NamedTupleType() | inspect.StructType(array_like=True):
            return _fit(value, [field.type for field in kind.fields])
        case inspect.StructType():
            return isinstance(value, dict) and all(
                _fits(value[field.encode_name], field.type)
                if field.encode_name in value
                else not field.required
                for field in kind.fields
            )
    assert isinstance(kind, inspect.AnyType), kind
    return True


def _fit(value: Any, kinds: tuple[inspect.Type, ...] | list[inspect.Type]) -> bool:
    """Each in its place; what a tuple has not may lack, and more of it is passed over."""
    return isinstance(value, list) and all(map(_fits, value, kinds))


def _is_disk_name(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _is_base64(value: Any) -> bool:
    try:
        return isinstance(value, str) and b64decode(value, validate=True) is not None
    except (Error, ValueError):
        return False


def places(value: object, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a document, its lists and objects too."""
    rows = list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in list(value.items()) if isinstance(value, dict) else rows:
        yield (*here, key)
        yield from places(inner, (*here, key))


def put(document: Any, place: tuple[Any, ...], value: object) -> None:
    """Has `value` stand there."""
    *way, last = place
    for key in way:
        document = document[key]
    document[last] = value
