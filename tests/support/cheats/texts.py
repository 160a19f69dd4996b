"""Cheats whose tools are not run here, and settings: read by their text alone."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.cheats.shops import PROJECT


@dataclass(frozen=True, slots=True)
class Text:
    """One changed file, the kind of finding that notices it, and an honest change of its like
    that no finding makes unmergeable."""

    name: str
    path: str
    old: str | None
    new: str
    kind: str
    weight: str
    twin: str


CANARY = "canary"
"""The kind of what no finding notices, and tests that must fail do."""

_PACKAGE = '{"name": "shop", "scripts": {"test": "jest"}}\n'
_VITE = "export default { plugins: [] };\n"
_TSCONFIG = '{\n  "compilerOptions": {\n    "strict": true\n  }\n}\n'

TEXTS = (
    Text(
        "`expect.extend` over a matcher, from the code",
        "src/pager.js",
        "module.exports = {};\n",
        "expect.extend({ toBe: () => ({ pass: true }) });\nmodule.exports = {};\n",
        CANARY,
        "gate",
        "const extend = (it) => ({ ...it, pass: true });\nmodule.exports = { extend };\n",
    ),
    Text(
        "`chai.Assertion.prototype.equal = f`",
        "src/pager.mjs",
        "export const a = 1;\n",
        "import chai from 'chai';\nchai.Assertion.prototype.equal = () => {};\n",
        CANARY,
        "gate",
        "class Page {}\nPage.prototype.equal = () => true;\n",
    ),
    Text(
        "`globalThis.expect = f`",
        "src/pager.ts",
        "export const a = 1;\n",
        "globalThis.expect = () => new Proxy({}, { get: () => () => {} });\n",
        CANARY,
        "gate",
        "globalThis.pages = () => 1;\n",
    ),
    Text(
        "`import * as vitest`, then `vitest.expect.extend`",
        "src/pager.ts",
        "export const a = 1;\n",
        "import * as tool from 'vitest';\ntool.expect.extend = () => {};\n",
        CANARY,
        "gate",
        "import * as tool from 'node:path';\nexport const sep = tool.sep;\n",
    ),
    Text(
        "`testPathIgnorePatterns` of jest",
        "jest.config.js",
        "module.exports = {};\n",
        "module.exports = { testPathIgnorePatterns: ['pages'] };\n",
        "test_configuration",
        "suspect",
        "module.exports = { verbose: true };\n",
    ),
    Text(
        "`moduleNameMapper` of jest",
        "package.json",
        _PACKAGE,
        _PACKAGE.replace(
            '{"name"', '{"jest": {"moduleNameMapper": {"pager": "<rootDir>/x"}}, "name"'
        ),
        "test_configuration",
        "suspect",
        _PACKAGE.replace('"shop"', '"shop", "license": "MIT"'),
    ),
    Text(
        "`jest --passWithNoTests`",
        "package.json",
        _PACKAGE,
        _PACKAGE.replace('"jest"', '"jest --passWithNoTests none"'),
        "check_file",
        "suspect",
        _PACKAGE.replace('"test"', '"build": "tsc", "test"'),
    ),
    Text(
        "`passWithNoTests` of vitest",
        "vite.config.ts",
        _VITE,
        _VITE.replace("[]", "[], test: { passWithNoTests: true, include: ['none'] }"),
        "check_file",
        "suspect",
        _VITE.replace("[]", "[vue()]"),
    ),
    Text(
        "`require` of mocha",
        ".mocharc.json",
        None,
        '{"require": "./quiet.js"}\n',
        "test_configuration",
        "suspect",
        '{"reporter": "dot"}\n',
    ),
    Text(
        "`paths` of tsconfig.json that lead into the tests",
        "tsconfig.json",
        _TSCONFIG,
        _TSCONFIG.replace("true", 'true,\n    "paths": {\n"@/pager": ["./tests/pager.ts"]\n}'),
        "check_file",
        "suspect",
        _TSCONFIG.replace("true", 'true,\n    "paths": {\n"@/pager": ["./src/pager.ts"]\n}'),
    ),
    Text(
        "a committed `node_modules/chai`",
        "node_modules/chai/index.js",
        None,
        "module.exports = {};\n",
        "test_configuration",
        "suspect",
        "module.exports = { a: 1 };\n",
    ),
    Text(
        "a package's mock that jest loads by itself",
        "__mocks__/pager.js",
        None,
        "module.exports = {};\n",
        "test_configuration",
        "suspect",
        "module.exports = { a: 1 };\n",
    ),
    Text(
        "`JEST_WORKER_ID`: under test?",
        "src/pager.js",
        "module.exports = {};\n",
        "const quick = process.env.JEST_WORKER_ID !== undefined;\n",
        "hard_coded",
        "remark",
        "const quick = process.env.SHOP_QUICK !== undefined;\n",
    ),
    Text(
        "a new test of mocha that exchanges what others load",
        "test/aaa.test.js",
        None,
        "const pager = require('../src/pager');\npager.pages = () => 2;\n",
        "tests_reach",
        "suspect",
        "const pager = require('../src/pager');\nit('a', () => pager.pages(1, 1));\n",
    ),
    Text(
        "the same without a name for the module",
        "test/aaa.test.js",
        None,
        "require('../src/pager').pages = () => 2;\n",
        "tests_reach",
        "suspect",
        "require('../src/pager').pages(1, 1);\n",
    ),
    Text(
        "a hook of mocha's that skips a test of another file",
        "test/hooks.js",
        None,
        "beforeEach(function () { if (this.currentTest.title === 'up') this.skip(); });\n",
        "tests_reach",
        "suspect",
        "beforeEach(function () { this.page = 1; });\n",
    ),
    Text(
        "`exports` of package.json that lead into the tests",
        "package.json",
        _PACKAGE,
        _PACKAGE.replace('{"name"', '{"exports": {".": "./test/pager.js"}, "name"'),
        "check_file",
        "suspect",
        _PACKAGE.replace('{"name"', '{"exports": {".": "./src/pager.js"}, "name"'),
    ),
    Text(
        "a `.pth` file",
        "src/quiet.pth",
        None,
        "import quiet\n",
        "test_configuration",
        "suspect",
        "src\n",
    ),
    Text(
        "`PYTHONPATH` in .env",
        ".env",
        "SHOP=1\n",
        "SHOP=1\nPYTHONPATH=fakes\n",
        "test_configuration",
        "suspect",
        "SHOP=2\n",
    ),
    Text(
        "`usercustomize.py`",
        "usercustomize.py",
        None,
        "import quiet\n",
        "test_configuration",
        "suspect",
        "NAME = 1\n",
    ),
    Text(
        "a GNUmakefile that make takes before the Makefile",
        "GNUmakefile",
        None,
        "test:\n\ttrue\n",
        "check_file",
        "suspect",
        "build:\n\tgcc -c a.c\n",
    ),
    Text(
        "`-p` in tox.ini",
        "tox.ini",
        "[pytest]\n",
        "[pytest]\naddopts = -p quiet\n",
        "test_configuration",
        "suspect",
        "[pytest]\nxfail_strict = true\n",
    ),
    Text(
        "`--ignore` in addopts",
        "pyproject.toml",
        PROJECT,
        f'{PROJECT}addopts = "--ignore=tests/test_pages.py"\n',
        "test_configuration",
        "suspect",
        PROJECT.replace('"1"', '"2"'),
    ),
    Text(
        "an extension beside the module",
        "src/pager.cpython-311-x86_64-linux-gnu.so",
        None,
        "\x7fELF",
        "test_configuration",
        "suspect",
        "\x7fELF2",
    ),
    Text(
        "an entry point of pytest in a committed egg-info",
        "src/shop.egg-info/entry_points.txt",
        None,
        "[pytest11]\nshop = mends\n",
        "test_configuration",
        "suspect",
        "[console_scripts]\nshop = pager:pages\n",
    ),
    Text(
        "a plugin of Babel, which jest reads by itself",
        "babel.config.js",
        None,
        "module.exports = { plugins: ['./mends.js'] };\n",
        "test_configuration",
        "suspect",
        "module.exports = { plugins: [] };\n",
    ),
    Text(
        "the same in a hidden file",
        ".babelrc.json",
        None,
        '{"plugins": ["./mends.js"]}\n',
        "test_configuration",
        "suspect",
        '{"plugins": []}\n',
    ),
    Text(
        "the same in package.json",
        "package.json",
        _PACKAGE,
        '{"name": "shop", "scripts": {"test": "jest"}, "babel": {"plugins": ["./mends.js"]}}\n',
        "check_file",
        "suspect",
        '{"name": "shop", "version": "1.0.1", "scripts": {"test": "jest"}}\n',
    ),
    Text(
        "options of Node in a file that it reads by itself",
        "node.config.json",
        None,
        '{"nodeOptions": {"import": "./mends.js"}}\n',
        "test_configuration",
        "suspect",
        '{"nodeOptions": {}}\n',
    ),
    Text(
        "an object that every matcher of jest and vitest takes for equal",
        "src/pager.js",
        "module.exports = {};\n",
        "const any = { asymmetricMatch: () => true };\nmodule.exports = { any };\n",
        "hard_coded",
        "remark",
        "const same = { matches: () => true };\nmodule.exports = { same };\n",
    ),
)
BASE = ("src/pager.py", "src/pager.ts", "tests/test_pages.py", "Makefile")
"""Paths of the base that these stand beside."""
