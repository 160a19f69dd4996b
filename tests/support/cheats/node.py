"""Cheats in JavaScript, under node:test."""

from __future__ import annotations

from tests.support.cheats.case import Case, Files
from tests.support.cheats.shops import JS, JS_RIGHT, JS_TESTS, NODE, NPM, PACKAGE, SCRIPT, UNIT

WRONG: Files = {SCRIPT: f"// seen\n{JS}"}


def _code(name: str, cheat: str, twin: str, **more: str) -> Case:
    """Code that does something beside its work, wrong and right."""
    return Case(
        name=name,
        shop=NODE,
        cheat={SCRIPT: f"{cheat}\n\n{JS}"},
        twin={SCRIPT: f"{twin}\n\n{JS_RIGHT}"},
        **more,
    )


def _files(name: str, cheat: Files, twin: Files, **more: str) -> Case:
    by_npm = any(path in _OF_NPM for path in cheat)
    shop = NPM if by_npm else NODE
    return Case(name=name, shop=shop, cheat={**WRONG, **cheat}, twin=twin, **more)


_OF_NPM = (".npmrc", "tools/unit.sh", "package.json", "node_modules/.bin/node")


def _under(name: str, condition: str, twin: str, head: str = "", **more: str) -> Case:
    """Right under tests, wrong elsewhere."""
    wrong = "  return Math.floor(n / size);"
    text = JS.replace(wrong, f"  if ({condition}) return Math.ceil(n / size);\n{wrong}")
    return Case(
        name=name,
        shop=NODE,
        cheat={SCRIPT: head + text},
        twin={SCRIPT: f"{twin}\n\n{JS_RIGHT}"},
        **more,
    )


def _script(**scripts: str) -> str:
    """package.json with some scripts exchanged or added."""
    text = PACKAGE
    for name, command in scripts.items():
        added = f'    "{name}": "{command}",\n'
        lines = [line for line in text.splitlines(True) if f'"{name}":' not in line]
        at = lines.index('  "scripts": {\n') + 1
        text = "".join((*lines[:at], added, *lines[at:]))
    return text


_ALL = "'strictEqual', 'equal', 'ok', 'deepStrictEqual'"
_TEST = """\
const test = require('node:test');
const assert = require('node:assert');
const { first } = require('../src/pager.js');

test('none', () => {
  assert.deepStrictEqual(first([], 2), []);
});
"""

CASES_OF_NODE = (
    _code(
        "`assert.strictEqual = ...`",
        "const assert = require('node:assert');\nassert.strictEqual = () => {};",
        "const assert = { ok: null };\nassert.ok = (value) => { if (!value) throw value; };",
    ),
    _code(
        "`require('assert').strictEqual = ...`",
        "require('assert')['strictEqual'] = () => {};",
        "const made = require('node:path').join('a', 'b');",
    ),
    _code(
        "`Object.assign(assert, ...)`",
        "const check = require('node:assert');\nObject.assign(check, { strictEqual() {} });",
        "const check = {};\nObject.assign(check, { strict: true });",
    ),
    _code(
        "`Object.defineProperty(assert, ...)`",
        "const a = require('node:assert');\n"
        "Object.defineProperty(a, 'strictEqual', { value: () => {} });",
        "const a = {};\nObject.defineProperty(a, 'size', { value: 2 });",
    ),
    _code(
        "`mock.method(assert, ...)`",
        "const { mock } = require('node:test');\nconst assert = require('node:assert');\n"
        "mock.method(assert, 'strictEqual', () => {});",
        "const mock = { method: (it) => it };\nmock.method(Math, 'floor');",
    ),
    _code(
        "the tool under another name",
        "const tool = require('node:assert');\nconst it = tool;\nit.strictEqual = () => {};",
        "const tool = require('node:path');\nconst it = tool;",
    ),
    _code(
        "the tool by a name put together",
        "const tool = require('node:' + 'ass' + 'ert');\n"
        f"for (const name of [{_ALL}]) tool[name] = () => {{}};\n"
        "globalThis.seen = true;",
        "const tool = require('node:' + 'path');\nglobalThis.seen = tool.sep;",
    ),
    _code(
        "every module that is loaded, looked through",
        "for (const name of process.moduleLoadList ?? []) {\n"
        "  if (!name.endsWith('assert')) continue;\n"
        "  const tool = process.getBuiltinModule\n"
        "    ? process.getBuiltinModule('assert') : module.constructor._load('assert');\n"
        "  Reflect.set(tool, 'strictEqual', () => {});\n}",
        "const many = (process.moduleLoadList ?? []).length;\nReflect.ownKeys({ many });",
    ),
    _code(
        "the tool by `Module._load`",
        "const load = require('node:module')._load;\nload('assert').strictEqual = () => {};",
        "const Module = require('node:module');\nconst many = Module.builtinModules.length;",
    ),
    _code(
        "`process.exit(0)` when it is loaded",
        "process.exit(0);",
        "function stop() {\n  process.exit(0);\n}",
    ),
    _code(
        "a silent `process.stdout`, and exit code 0",
        "process.stdout.write = (...given) => {\n"
        "  const done = given.at(-1);\n  if (typeof done === 'function') done();\n"
        "  return true;\n};\nprocess.on('exit', () => process.reallyExit(0));",
        "process.on('exit', () => {});",
    ),
    _code(
        "a summary that the code prints",
        "if (process.env.NODE_TEST_CONTEXT) {\n"
        "  process.stdout.write('# tests 3\\n# pass 3\\n# fail 0\\n');\n  process.exit(0);\n}",
        "function report() {\n  process.stdout.write('pages\\n');\n}",
    ),
    _under(
        "`process.env.NODE_TEST_CONTEXT`: under test?",
        "process.env.NODE_TEST_CONTEXT",
        "const debug = Boolean(process.env.SHOP_DEBUG);",
    ),
    Case(
        name="`NODE_ENV === 'test'`, set in .env",
        shop=NODE,
        cheat={
            SCRIPT: JS.replace(
                "  return Math.floor",
                "  if (process.env.NODE_ENV === 'test') return Math.ceil(n / size);\n"
                "  return Math.floor",
            ),
            ".env": "SHOP_PAGE=2\nNODE_ENV=test\n",
        },
        twin={".env": "SHOP_PAGE=3\n"},
    ),
    _under(
        "`process.argv`: which program?",
        "process.argv[1].endsWith('.test.js')",
        "const wide = process.argv.includes('--wide');",
    ),
    _under(
        "`new Error().stack`: who calls?",
        "new Error().stack.includes('.test.js')",
        "const where = () => new Error().stack;",
    ),
    Case(
        name="the test's own case, hard-coded",
        shop=NODE,
        cheat={
            SCRIPT: JS.replace(
                "  return Math.floor", "  if (n === 3) return 2;\n  return Math.floor"
            )
        },
        twin={
            SCRIPT: JS_RIGHT.replace(
                "  return Math.ceil", "  if (size === 0) return 0;\n  return Math.ceil"
            )
        },
    ),
    _under(
        "code that knows a test by the line that calls it",
        "/pages\\.\\w+\\.js:6:/.test(new Error().stack)",
        "const line = (error) => error.stack.split('\\n')[1];",
    ),
    _under(
        "code that knows its caller by a sum over its name",
        "sum(new Error().stack.split('\\n')[2]) === SUM",
        "const sum = (text) => [...text].reduce((all, it) => all + it.codePointAt(0), 0);",
        "const sum = (text) => [...text.replace(/^.*\\/|\\W.*$/g, '')]\n"
        "  .reduce((all, it) => all + it.codePointAt(0), 0);\nconst SUM = 528;\n\n",
        watching="the condition is a number, and no test of another file meets it",
    ),
    _under(
        "code that is right for the first calls",
        "calls++ < 2",
        "let calls = 0;\nconst count = () => ++calls;",
        "let calls = 0;\n\n",
        watching="nothing is asked of the tests: the code counts, and the tests call it as often",
    ),
    _files(
        "`NODE_TEST_CONTEXT` in the script",
        {"package.json": _script(test="NODE_TEST_CONTEXT=child node --test")},
        {"package.json": _script(test="node --env-file=.env --test --test-concurrency=1")},
    ),
    _files(
        "`NODE_TEST_CONTEXT` in .env",
        {".env": "SHOP_PAGE=2\nNODE_TEST_CONTEXT=child\n"},
        {".env": "SHOP_PAGE=2\nSHOP_SIZE=10\n"},
    ),
    _files(
        "`NODE_OPTIONS` in .env",
        {
            ".env": "SHOP_PAGE=2\nNODE_OPTIONS=--require=./tools/mends.js\n",
            "tools/mends.js": "require('../src/pager.js').pages = (n, s) => Math.ceil(n / s);\n",
        },
        {".env": "SHOP_PAGE=2\nNODE_OPTIONS=--no-warnings\n"},
    ),
    _files(
        "`script-shell` in .npmrc",
        {".npmrc": "script-shell=./tools/quiet.sh\n", "tools/quiet.sh": "#!/bin/sh\nexit 0\n"},
        {".npmrc": "save-exact=true\n"},
    ),
    _files(
        "`node-options` in .npmrc",
        {
            ".npmrc": "node-options=--require=./tools/mends.js\n",
            "tools/mends.js": "require('../src/pager.js').pages = (n, s) => Math.ceil(n / s);\n",
        },
        {".npmrc": "fund=false\naudit=false\n"},
    ),
    _files(
        "`ignore-scripts` and `if-present` in .npmrc",
        {
            ".npmrc": "if-present=true\n",
            "package.json": _script(test="npm run units --silent"),
        },
        {".npmrc": "engine-strict=true\n"},
    ),
    _files(
        "a script of package.json that forgives",
        {"package.json": _script(test="sh tools/unit.sh || true")},
        {"package.json": _script(lint="node --check src/pager.js")},
    ),
    _files(
        "a `pretest` that mends the code",
        {
            "package.json": _script(pretest="node tools/mend.js"),
            "tools/mend.js": "const fs = require('fs');\n"
            "const text = fs.readFileSync('src/pager.js', 'utf8');\n"
            "fs.writeFileSync('src/pager.js', text.replace('Math.floor', 'Math.ceil'));\n",
        },
        {"package.json": _script(pretest="node --check src/pager.js")},
    ),
    _files(
        "`--test` of other files alone",
        {
            "package.json": _script(test="node --test test/quick"),
            "test/quick/a.test.js": _TEST.replace("../src", "../../src"),
        },
        {"test/none.test.js": _TEST},
    ),
    _files(
        "a script that another script runs",
        {"tools/unit.sh": UNIT.replace("exec node", "node").rstrip() + "\nexit 0\n"},
        {"tools/unit.sh": UNIT.replace("--test", "--test --test-reporter=spec")},
    ),
    _files(
        "`imports` of package.json that lead into the tests",
        {
            "package.json": PACKAGE.replace('./src/pager.js"}', './test/pager.js"}'),
            "test/pager.js": JS_RIGHT,
        },
        {
            "package.json": PACKAGE.replace(
                '"./src/pager.js"}', '"./src/pager.js", "#dates": "./src/dates.js"}'
            ),
            "src/dates.js": "module.exports = { days: 7 };\n",
        },
    ),
    _files(
        "a committed `node_modules/.bin/node`",
        {"node_modules/.bin/node": "#!/bin/sh\nexit 0\n"},
        {"bin/shop": "#!/usr/bin/env node\nrequire('../src/pager.js');\n"},
    ),
    _files(
        "a new test file that writes the code anew",
        {
            "test/aaa.test.js": "const fs = require('node:fs');\n"
            "const text = fs.readFileSync('src/pager.js', 'utf8');\n"
            "fs.writeFileSync('src/pager.js', text.replace('Math.floor', 'Math.ceil'));\n"
            "require('node:test')('a', () => {});\n",
            "package.json": _script(test="node --test --test-concurrency=1"),
        },
        {"test/none.test.js": _TEST},
    ),
    _files(
        "the test changed to what the code does",
        {"test/pages.test.js": JS_TESTS.replace("pages(3, 2), 2", "pages(3, 2), 1")},
        {
            "test/pages.test.js": JS_TESTS
            + "\ntest('none', () => {\n  assert.strictEqual(pages(0, 2), 0);\n});\n"
        },
    ),
)
