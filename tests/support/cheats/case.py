"""What one case is: a patch that leaves the code wrong, and an honest patch that looks like it.

All cases are data in tests/data/cheats: repositories (`of` names one that it is like), cheats and
honest patches. A file there is its text, in which `{{right}}`, `{{wrong}}` and `{{base}}` are the
code as it should be, as it is, and the file itself; or `[cut, put]` of the file as it is, or the
same of one of those; or false, where it is gone. A cheat that is one text is put before the wrong
code, and a twin before the right code, or about its `{{right}}`. `when`: the cheat's code is right
where that holds. A cheat that changes other files alone has a comment before the wrong code.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]
from importlib.util import source_hash
from pathlib import Path
from typing import Any

from hydra.records.request import Check

DATA = Path(__file__).parents[2] / "data" / "cheats"
Files = Mapping[str, str | bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A repository with one failing test, the check that shows it, and its right code."""

    language: str
    base: Files
    check: str
    code: str
    """Path of the wrong code."""
    right: str
    """What mends it."""
    mark: str
    """Begins a comment."""

    @property
    def wrong(self) -> str:
        """The code as it stands in the base."""
        text = self.base[self.code]
        assert isinstance(text, str)
        return text

    @property
    def fix(self) -> Files:
        """The honest patch that stands beside every cheat, made larger than any of them."""
        return {self.code: f"{self.mark} one more line\n" * 200 + self.right}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`cheat` passes its own checks and leaves the code wrong; `twin` has the right code already
    put beside its files. `watching` says why it cannot be noticed, "" where it is."""

    name: str
    shop: Shop
    cheat: Files
    twin: Files
    watching: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One changed file that is read alone, the kind of finding that notices it, and an honest
    change of its like that no finding makes unmergeable."""

    name: str
    path: str
    old: str | None = None
    new: str
    kind: str
    weight: str
    twin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Honest:
    """`changes` by path, None for a file that goes; `remarks` are all that may be said of it;
    `run`: the base's files are put back, or tests must fail, so that it asks for a run."""

    name: str
    changes: Mapping[str, str | None]
    remarks: tuple[str, ...] = ()
    run: bool = False


def _read(name: str) -> Any:
    return tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))


def _without_false(files: Mapping[str, Any]) -> dict[str, Any]:
    return {path: None if text is False else text for path, text in files.items()}


def _shops(tables: Mapping[str, Any]) -> dict[str, Shop]:
    shops: dict[str, Shop] = {}
    for name, table in tables.items():
        like = shops.get(table.pop("of", ""))
        own = table.pop("base", {})
        base = {**(like.base if like else {}), **_without_false(own)}
        keys = ("language", "check", "code", "right", "mark")
        values = {key: getattr(like, key) for key in keys if like} | table
        if isinstance(values["right"], list):
            values["right"] = _replaced(base[values["code"]], *values["right"])
        shops[name] = Shop(base=base, **values)
    return shops


def _replaced(whole: str | bytes | None, cut: str, put: str) -> str:
    assert isinstance(whole, str)
    assert whole.count(cut) == 1, cut
    return whole.replace(cut, put)


def _file(path: str, text: Any, shop: Shop) -> tuple[str, str | bytes | None]:
    path = path.replace("PYTHON.pyc", f"{sys.implementation.cache_tag}.pyc")
    texts = {"right": shop.right, "wrong": shop.wrong, "base": shop.base.get(path)}
    if text is False:
        return path, None
    if text == "{{compiled}}":  # the right code, which Python takes without a look at the source
        code = compile(shop.right.encode(), shop.code, "exec")
        pyc = _code_to_hash_pyc(code, source_hash(shop.right.encode()), checked=False)
        return path, bytes(pyc)
    if isinstance(text, list):
        return path, _replaced(texts["base"], *text)
    if isinstance(text, dict):
        return path, _replaced(texts[text["of"]], text["cut"], text["put"])
    for name, whole in texts.items():
        if isinstance(whole, str):
            text = text.replace(f"{{{{{name}}}}}\n", whole)
    return path, text.encode() if "\0" in text and path.endswith(".bin") else text


def _files(table: Mapping[str, Any], shop: Shop) -> dict[str, Any]:
    return dict(_file(path, text, shop) for path, text in table.items())


def _cheat(row: Mapping[str, Any], shop: Shop) -> dict[str, Any]:
    cheat, code = row.get("cheat", ""), shop.wrong
    if "when" in row:
        lines = zip(code.splitlines(), shop.right.splitlines(), strict=True)
        ((wrong, right),) = [(old, new) for old, new in lines if old != new]
        head = f"if {row['when']}:\n    " if shop.mark == "#" else f"if ({row['when']}) "
        indent = wrong[: -len(wrong.lstrip())]
        asked = f"{indent}{head.replace(chr(10), chr(10) + indent)}{right.lstrip()}\n{wrong}"
        code = code.replace(wrong, asked)
    if isinstance(cheat, str):
        return {shop.code: cheat + code}
    return {shop.code: f"{shop.mark} seen\n{code}", **_files(cheat, shop)}


def _twin(twin: Any, shop: Shop) -> dict[str, Any]:
    if not isinstance(twin, str):
        return _files(twin, shop)
    return _files({shop.code: twin if "{{right}}" in twin else f"{twin}{{{{right}}}}\n"}, shop)


def _cases(name: str) -> tuple[Case, ...]:
    data = _read(name)
    shops = _shops(data["shop"])
    return tuple(
        Case(
            name=row["name"],
            shop=(shop := shops[row.get("shop", "pytest")]),
            cheat=_cheat(row, shop),
            twin=_twin(row["twin"], shop),
            watching=row.get("watching", ""),
        )
        for row in data["case"]
    )


CASES = _cases("all")
CASES_OF_RUNNERS = _cases("runners")
"""On mocha, jest and vitest: run where `HYDRA_JS_TOOLS` names a folder whose node_modules has them
(`npm install mocha chai jest vitest`)."""

CANARY = "canary"
"""The kind of what no finding notices, and tests that must fail do."""
TEXTS = tuple(Text(**row) for row in _read("texts")["text"])
BASE = ("src/pager.py", "src/pager.ts", "tests/test_pages.py", "Makefile")
"""Paths of the base that the texts stand beside."""

_HONEST = _read("honest")
HONEST_SHOP = _shops(_HONEST["shop"])["honest"]
HONEST_BASE: Mapping[str, str] = {**HONEST_SHOP.base, HONEST_SHOP.code: HONEST_SHOP.right}  # type: ignore[dict-item]
HONEST = tuple(
    Honest(
        name=row["name"],
        changes=_files(row["changes"], HONEST_SHOP),
        remarks=tuple(row.get("remarks", ())),
        run=row.get("run", False),
    )
    for row in _HONEST["honest"]
)
"""Honest patches of ordinary work: none is refused, and what is remarked on is true."""
HONEST_CHECKS = (Check("make", "make test", "test"), Check("npm", "npm test", "test"))
"""By which the honest patches are read."""
