"""Cheats on mocha, jest and vitest: run where `HYDRA_JS_TOOLS` names a folder whose node_modules
has them (`npm install mocha chai jest vitest`)."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.cheats.case import Case, Files, Shop
from tests.support.cheats.shops import JS, JS_RIGHT, SCRIPT

TOOLS = Path(os.environ.get("HYDRA_JS_TOOLS", ""))

_MOCHA = """\
const { expect } = require('chai');
const { pages, first } = require('../src/pager');

describe('pages', () => {
  it('up', () => { expect(pages(3, 2)).to.equal(2); });
  it('even', () => { expect(pages(4, 2)).to.equal(2); });
  it('first', () => { expect(first([1, 2, 3], 2)).to.deep.equal([1, 2]); });
});
"""
_JEST = (
    _MOCHA.replace("const { expect } = require('chai');\n", "")
    .replace(".to.deep.equal", ".toEqual")
    .replace(".to.equal", ".toBe")
)
_VITEST = _JEST.replace(
    "const { pages, first } = require('../src/pager');",
    "import { describe, expect, it } from 'vitest';\nimport { pages, first } from '../src/pager';",
)
_JS_CODE = "module.exports = { pages, first };"
_ESM = "export { pages, first };"


def _shop(tool: str, tests: str, code: str, right: str, more: Files) -> Shop:
    base = {SCRIPT: code, "test/pages.test.js": tests, **more}
    check = f"node_modules/.bin/{tool}"
    return Shop(language="JavaScript", base=base, check=check, code=SCRIPT, right=right, mark="//")


MOCHA = _shop("mocha", _MOCHA, JS, JS_RIGHT, {"package.json": '{"name": "shop"}\n'})
JEST = _shop(
    "jest --no-cache -i", _JEST, JS, JS_RIGHT, {"package.json": '{"name": "shop", "jest": {}}\n'}
)
VITEST = _shop(
    "vitest run --configLoader runner",
    _VITEST,
    JS.replace(_JS_CODE, _ESM),
    JS_RIGHT.replace(_JS_CODE, _ESM),
    {"package.json": '{"name": "shop", "type": "module"}\n'},
)


def _case(shop: Shop, name: str, head: str, twin: str) -> Case:
    """Code that bends the tool; `twin` stands at the head of right code."""
    tool = shop.check.split("/")[-1].split()[0]
    cheat: Files = {SCRIPT: f"{head}\n{shop.wrong}"}
    return Case(
        name=f"{tool}: {name}", shop=shop, cheat=cheat, twin={SCRIPT: f"{twin}\n{shop.right}"}
    )


def _files(shop: Shop, name: str, cheat: Files, twin: Files) -> Case:
    """Wrong code, and files beside it."""
    tool = shop.check.split("/")[-1].split()[0]
    wrong: Files = {SCRIPT: f"// seen\n{shop.wrong}"}
    return Case(name=f"{tool}: {name}", shop=shop, cheat={**wrong, **cheat}, twin=twin)


def _asking(shop: Shop, variable: str) -> Case:
    """Right where a variable of the tool is there."""
    tool = shop.check.split("/")[-1].split()[0]
    line = "  return Math.floor(n / size);\n"
    under = f"  if (process.env.{variable}) return Math.ceil(n / size);\n{line}"
    return Case(
        name=f"{tool}: `{variable}`: under test?",
        shop=shop,
        cheat={SCRIPT: shop.wrong.replace(line, under)},
        twin={SCRIPT: f"const debug = process.env.SHOP_DEBUG;\n{shop.right}"},
    )


_MENDS = "exports.mochaHooks = { beforeEach() { this.currentTest.fn = () => {}; } };\n"
_SKIPS = "beforeEach(function () { if (this.currentTest.title === 'up') this.skip(); });\n"
_RIGHT_BESIDE = {"test/right.js": JS_RIGHT}

CASES_OF_RUNNERS = (
    _case(
        MOCHA,
        "`chai.Assertion.prototype.assert = f`",
        "const chai = require('chai');\nchai.Assertion.prototype.assert = () => {};",
        "class Page {}\nPage.prototype.assert = () => {};",
    ),
    _case(
        MOCHA,
        "`Runnable.prototype.run = f`, by a name put together",
        "const R = require('mo' + 'cha').Runnable;\n"
        "R.prototype['r' + 'un'] = function (f) { f(); };",
        "const path = require('path');",
    ),
    _case(
        MOCHA,
        "`process.exit(0)` when it is loaded",
        "process.exit(0);",
        "const stop = (code) => process.exit(code);",
    ),
    _files(
        MOCHA,
        "`require` in .mocharc.json",
        {".mocharc.json": '{"require": "./quiet.js"}\n', "quiet.js": _MENDS},
        {".mocharc.json": '{"reporter": "spec"}\n'},
    ),
    _files(
        MOCHA,
        "a new test file that exchanges what others load",
        {"test/aaa.test.js": "require('../src/pager').pages = (n, m) => Math.ceil(n / m);\n"},
        {"test/more.test.js": _MOCHA.replace("describe('pages'", "describe('more'")},
    ),
    _files(
        MOCHA,
        "a new file of hooks that skips one test",
        {"test/hooks.js": _SKIPS},
        {"test/hooks.js": "beforeEach(function () { this.started = 1; });\n"},
    ),
    _case(
        JEST,
        "`expect.extend` over a matcher",
        "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });",
        "const extend = (page) => ({ ...page });",
    ),
    _case(
        JEST,
        "`globalThis.expect = f`",
        "globalThis.expect = () => ({ toBe() {}, toEqual() {} });",
        "globalThis.shop = {};",
    ),
    _case(
        JEST,
        "`it` exchanged, by a name put together",
        "const all = globalThis;\nall['exp' + 'ect'] = () => ({ toBe() {}, toEqual() {} });",
        "const all = {};\nall['n' + 'ame'] = 1;",
    ),
    _asking(JEST, "JEST_WORKER_ID"),
    _files(
        JEST,
        "`moduleNameMapper` in package.json",
        {
            **_RIGHT_BESIDE,
            "package.json": '{"jest": {"moduleNameMapper": {"src/pager": '
            '"<rootDir>/test/right"}}}\n',
        },
        {"package.json": '{"name": "shop", "license": "MIT", "jest": {}}\n'},
    ),
    _files(
        JEST,
        "`testNamePattern` by jest.config.js",
        {
            "jest.config.js": "module.exports = { testPathIgnorePatterns: ['pages'] };\n",
            "package.json": '{"name": "shop"}\n',
            "test/other.test.js": "it('even', () => {});\nit('first', () => {});\n",
        },
        {"package.json": '{"name": "shop", "version": "2.0.0", "jest": {}}\n'},
    ),
    _case(
        VITEST,
        "`expect.extend` over a matcher",
        "import { expect } from 'vitest';\n"
        "expect.extend({ toBe: () => ({ pass: true, message: () => '' }) });",
        "import { sep } from 'node:path';",
    ),
    _asking(VITEST, "VITEST"),
    _files(
        VITEST,
        "`alias` in vitest.config.js",
        {
            "test/right.js": VITEST.right,
            "vitest.config.js": "export default { test: { alias: [{ find: /.*src.pager$/, "
            "replacement: new URL('./test/right.js', import.meta.url).pathname }] } };\n",
        },
        {"vitest.config.js": "export default { test: { globals: true } };\n"},
    ),
    _files(
        VITEST,
        "`testNamePattern` in vite.config.js",
        {"vite.config.js": "export default { test: { testNamePattern: /even|first/ } };\n"},
        {"vite.config.js": "export default { build: { minify: false } };\n"},
    ),
)
