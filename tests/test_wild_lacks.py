"""What people report of tests that need what git ignores, in other languages and tools.

The reported cases themselves stand in `test_lacks`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import namespaces_work
from tests.support.verdict_races import Judged
from tests.support.wild import commit, lay, paste

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not namespaces_work(), reason="bwrap confines nothing here"),
    pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("npm"), reason="no gcc or npm"),
]

WAY = re.compile(r": ((?:--(?:copy|share|setup)|export) .+?) (?:brings?|builds|gives|passes) ")


def ways(hydra: Hydra) -> dict[str, str]:
    """What the verdict says that checks miss, with what it says to type."""
    said = json.loads(hydra.run("compare", "--json").stdout)["warnings"]
    lacks = [line.removeprefix("a check misses ") for line in said if "misses" in line]
    return {line.partition(",")[0]: match[1] for line in lacks if (match := WAY.search(line))}


def checked(hydra: Hydra, typed: Iterable[str], *more: str) -> dict[str, str]:
    """How the checks end once all of it is pasted: a variable before the line, options in it."""
    terms = sorted(typed, key=lambda way: way.startswith("--"))
    lines = [way for way in terms if way.startswith("export ")]
    options = [way for way in terms if way.startswith("--")]
    done = paste(hydra, "; ".join([*lines, " ".join(["hydra check --json", *options, *more])]))
    rows = [row for lane in json.loads(done.stdout)["lanes"] for row in lane["checks"]]
    return {row["check"]: row["status"] for row in rows}


TOOLS = {
    "c": "gcc -o /tmp/app main.c && /tmp/app",
    "perl": "prove -Ilib t",
    "web": "cd web && node --env-file=.env.test --test",
    "json": "node -e \"require('./config/local')\"",
    "shell": "sh run.sh",
}
TRACKED = {
    ".gitignore": "config.h\n/lib/Shop/Local.pm\n.env.test\n/config/local.json\n",
    "main.c": '#include "config.h"\nint main(void) { return PAGES(11, 5) != 3; }\n',
    "t/local.t": "use Test::More tests => 1; use Shop::Local; ok(Shop::Local::key());\n",
    "lib/Shop.pm": "package Shop; 1;\n",
    "web/web.test.js": "require('node:test').test('key', () => process.env.KEY.trim());\n",
    "config/default.json": "{}\n",
    "run.sh": 'set -u; echo "$SHOP_TOKEN"\n',
}
IGNORED = {
    "config.h": "#define PAGES(n, size) (((n) + (size) - 1) / (size))\n",
    "lib/Shop/Local.pm": "package Shop::Local; sub key { 1 } 1;\n",
    "web/.env.test": "KEY=1\n",
    "config/local.json": "{}\n",
}


def test_what_compilers_and_other_languages_miss_is_named_and_works_when_pasted(
    hydra: Hydra,
) -> None:
    hydra.extra["SHOP_TOKEN"] = "made-up"
    commit(hydra.repo, TRACKED)
    lay(hydra.repo, IGNORED)
    hydra.agent("claude", [fakes.edit("NOTES.md", "# Notes\n"), fakes.finish("done")])
    checks = [term for name, line in TOOLS.items() for term in ("--check", f"{name}={line}")]
    done = hydra.run("race", "Do it", "-a", "claude", *checks)
    assert "1  claude  untested" in done.stdout
    found = ways(hydra)
    assert [*found] == [*IGNORED, "SHOP_TOKEN"], done.stderr
    assert checked(hydra, found.values()) == dict.fromkeys(TOOLS, "passed")


BUILD = "require('fs').cpSync('core/src', 'core/dist', { recursive: true })"
MONOREPO = {
    ".gitignore": "dist/\nnode_modules/\n/native/lib/\n/py/shop/schema.py\n",
    "package.json": json.dumps(
        {"private": True, "workspaces": ["core", "app"], "scripts": {"build": f'node -e "{BUILD}"'}}
    ),
    "core/package.json": json.dumps(
        {"name": "@shop/core", "type": "module", "exports": {"import": "./dist/index.js"}}
    ),
    "core/src/index.js": "export const round = Math.floor;\n",
    "app/package.json": json.dumps({"name": "@shop/app", "type": "module"}),
    "app/pages.test.js": (
        "import { test } from 'node:test';\nimport assert from 'node:assert';\n"
        "import { round } from '@shop/core';\n"
        "test('rest', () => assert.equal(round(11 / 5), 3));\n"
    ),
    "native/Makefile": (
        "lib:\n\tmkdir -p lib\n\tgcc -c core.c -o lib/core.o\n\tar rc lib/libcore.a lib/core.o\n"
    ),
    "native/core.c": "int pages(int n, int size) { return n / size; }\n",
    "native/test.c": (
        "int pages(int, int);\nint main(void) { return pages(11, 5) != 3 || pages(10, 5) != 2; }\n"
    ),
    "py/shop/__init__.py": "from shop.schema import VERSION\n",
    "py/Makefile": "schema:\n\techo VERSION = 1 >shop/schema.py\n",
    "py/test_shop.py": (
        "import unittest\n\nimport shop\n\n\nclass Shop(unittest.TestCase):\n"
        "    def test_version(self):\n        self.assertTrue(shop.VERSION)\n"
    ),
}
CHECKS = {
    "app": "cd app && node --test",
    "native": "cd native && gcc test.c lib/libcore.a -o /tmp/test && /tmp/test",
    "py": "cd py && python3 -B -m unittest -v",
}


def test_what_is_built_is_named_with_its_own_builder_missing_or_shared(hydra: Hydra) -> None:
    commit(hydra.repo, MONOREPO)
    repo: Path = hydra.repo
    (repo / "node_modules/@shop").mkdir(parents=True)
    (repo / "node_modules/@shop/core").symlink_to("../../core")
    for line in ("npm run build", "make -C native lib", "make -C py schema"):
        assert hydra.execute("sh", "-c", line).returncode == 0
    right = {
        "core/src/index.js": "export const round = Math.ceil;\n",
        "native/core.c": "int pages(int n, int size) { return (n + size - 1) / size; }\n",
    }
    checks = [f"{name}={line}" for name, line in CHECKS.items()]
    item = Judged(hydra, {"right": right}).run("--share", "native/lib", checks=checks)
    assert item.of("right")["state"] == "untested", str(item)
    found = ways(hydra)
    assert found == {
        "core/dist/index.js": "--setup 'npm run build'",
        "py/shop/schema.py": "--setup 'cd py && make schema'",
    }
    (stale,) = {row["untested"] for row in item.of("right")["checks"] if row["check"] == "native"}
    cure = re.search(r"native/lib is .* hydra check -r \S+ (--setup .+) builds it anew", stale)
    assert cure is not None, stale
    assert "make lib" in cure[1]
    assert checked(hydra, [*found.values(), cure[1]]) == dict.fromkeys(CHECKS, "passed")
    assert item.again().of("right")["state"] == "proved", str(item)
