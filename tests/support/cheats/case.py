"""What one case is: a patch that leaves the code wrong, and an honest patch that looks like it.

All cases are data in tests/data/cheats: repositories (`of` names one that it is like), cheats and
honest patches. A file there is its text, in which `{{right}}`, `{{wrong}}` and `{{base}}` are the
code as it should be, as it is, and the file itself; or one of these with a piece replaced; or
false, where it is gone.
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


def _shops(tables: Mapping[str, Any]) -> dict[str, Shop]:
    shops: dict[str, Shop] = {}
    for name, table in tables.items():
        like = shops.get(table.pop("of", ""))
        base = {path: None if text is False else text for path, text in table.pop("base").items()}
        values = {key: getattr(like, key) for key in ("language", "code", "right", "mark") if like}
        shops[name] = Shop(base={**(like.base if like else {}), **base}, **{**values, **table})
    return shops


def _file(path: str, text: Any, shop: Shop) -> tuple[str, str | bytes | None]:
    path = path.replace("PYTHON.pyc", f"{sys.implementation.cache_tag}.pyc")
    texts = {"right": shop.right, "wrong": shop.wrong, "base": shop.base.get(path)}
    if text is False:
        return path, None
    if text == "{{compiled}}":  # the right code, which Python takes without a look at the source
        code = compile(shop.right.encode(), shop.code, "exec")
        pyc = _code_to_hash_pyc(code, source_hash(shop.right.encode()), checked=False)
        return path, bytes(pyc)
    if isinstance(text, dict):
        whole = texts[text["of"]]
        assert isinstance(whole, str)
        assert whole.count(text["cut"]) == 1, (path, text)
        return path, whole.replace(text["cut"], text["put"])
    for name, whole in texts.items():
        if isinstance(whole, str):
            text = text.replace(f"{{{{{name}}}}}\n", whole)
    return path, text.encode() if "\0" in text and path.endswith(".bin") else text


def _files(table: Mapping[str, Any], shop: Shop) -> dict[str, Any]:
    return dict(_file(path, text, shop) for path, text in table.items())


def _cases(name: str) -> tuple[Case, ...]:
    data = _read(name)
    shops = _shops(data["shop"])
    return tuple(
        Case(
            name=row["name"],
            shop=(shop := shops[row["shop"]]),
            cheat=_files(row["cheat"], shop),
            twin=_files(row["twin"], shop),
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
