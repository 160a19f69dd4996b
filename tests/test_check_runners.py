"""Reading what runners of JavaScript and of workspaces print: recordings of the real ones."""

from __future__ import annotations

import shutil

import pytest

from hydra.checks.comparison import compare, reconcile
from hydra.checks.junit import read_junit
from hydra.checks.results import Status, Tests
from hydra.checks.text_parsers.output import read_text
from tests.check_recordings import FIXTURES
from tests.support import fakes
from tests.support.check_expectations import counts, only, spread
from tests.support.command import Hydra
from tests.support.verdict_races import Files, Judged, shop

SPEC = spread(
    passed="""
        opens
        empty
        cart > adds
        cart > weighs
        cart > total (in \u20ac) > sums
        cart > total (in \u20ac) > rounds (5ms)
        till > counts
        prices > one euro
    """,
    failed="""
        test/broken.mjs
        closes
        cart > removes
        cart > again > sums
        till
        prices > half a cent
    """,
    skipped="pays\nwaits\nrefunds\nlends\ndoor\nasks itself",
)
MOCHA = spread(
    passed="""
        opens
        cart > adds
        cart > total (in \u20ac) > sums
        cart > total (in \u20ac) > takes its time
        door > shuts
    """,
    failed="""
        cart > removes
        cart > total (in \u20ac) > rounds
        cart > again > sums
        till
        door
    """,
    skipped="cart > pays\ncart > refunds",
)
HOOKS = {
    "till": 'till "before all" hook for "counts"',
    "door": 'door "after each" hook: locks it for "shuts"',
}
LIST = {HOOKS.get(name, name.replace(" > ", " ")): status for name, status in MOCHA.items()}
"""With all its groups in one line."""
AVA = spread(
    passed="cart > adds\ncart > takes > 2 (5ms)\ntill > adds",
    failed="cart > removes\ntill > opens\ntest/broken.js",
    skipped="cart > pays\ncart > refunds\ncart > lends",
)
AVA_3 = AVA | {"cart > lends": "passed"}
"""Its rows do not tell a known failure."""
BUN = spread(
    passed="""
        test/cart.test.js::cart > adds
        test/cart.test.js::cart > total (in \u20ac) > sums 1
        test/cart.test.js::cart > total (in \u20ac) > takes 3 > 2
        test/cart.test.js::opens
        test/cart.test.js::adds
        test/till.test.js::adds
    """,
    failed="""
        test/cart.test.js::cart > removes
        test/cart.test.js::cart > total (in \u20ac) > sums 2
        test/till.test.js::till
        test/broken.test.js
    """,
    skipped="test/cart.test.js::cart > pays\ntest/cart.test.js::cart > refunds",
)
DENO = spread(
    passed="""
        test/cart.test.ts::adds
        test/cart.test.ts::total (in \u20ac) > sums
        test/cart.test.ts::total (in \u20ac) > rounds > up ... ok (5ms)
        test/cart.test.ts::prices > one euro
        test/till.test.ts::adds
        test/till.test.ts::opens
    """,
    failed="""
        test/cart.test.ts::removes
        test/cart.test.ts::total (in \u20ac) > rounds > down
    """,
    skipped="test/cart.test.ts::pays\ntest/cart.test.ts::total (in \u20ac) > waits",
)
NODE_TAP = {
    f"test/cart.js > {name}": status
    for name, status in spread(passed="adds\nrefunds", failed="removes", skipped="pays").items()
}
WHOLE = {
    "node-test-20.20.2/spec": SPEC,
    "node-test-20.20.2/tap": SPEC,
    "node-test-24.21.0/spec": SPEC,
    "mocha-12.0.3/spec": MOCHA,
    "mocha-12.0.3/colour": MOCHA,
    "mocha-12.0.3/list": LIST,
    "ava-7.0.0/plain": AVA,
    "ava-3.15.0/plain": AVA_3,
    "bun-1.4.5/plain": BUN,
    "bun-1.4.5/colour": BUN,
    "deno-2.9.6/plain": DENO,
    "deno-2.9.6/broken": DENO | {"test/broken.test.ts": "failed"},
    "node-tap-18.8.0/plain": NODE_TAP,
}


def recording(name: str) -> bytes:
    return (FIXTURES / f"{name}.txt").read_bytes()


def read_whole(output: bytes) -> Tests:
    tests = read_text(output, ["/lane/shop"])
    assert tests is not None
    return tests


@pytest.mark.parametrize("name", WHOLE)
def test_every_test_is_named_with_its_groups(name: str) -> None:
    tests = read_whole(recording(name))
    assert tests.by_id == WHOLE[name]
    assert not tests.unnamed
    assert not tests.remarks


@pytest.mark.parametrize(
    ("name", "whole", "counted"),
    [("mocha-12.0.3/dot", MOCHA, (5, 5, 2)), ("bun-1.4.5/dots", BUN, (6, 4, 2))],
)
def test_dots_name_failures_and_count_the_rest(
    name: str, whole: dict[str, Status], counted: tuple[int, int, int]
) -> None:
    tests = read_whole(recording(name))
    assert tests.by_id == only("failed", whole)
    assert counts(tests) == counted
    assert tests.unnamed == {"passed", "skipped"}


def test_node_s_xml_has_the_names_of_its_text() -> None:
    data = (FIXTURES / "node-test-20.20.2" / "junit.xml").read_bytes()
    ends = {name: status for name, status in SPEC.items() if name != "till"}  # a suite
    assert read_junit(data, ["/lane/shop"]).by_id == ends


def test_ava_names_no_file_where_there_is_one() -> None:
    assert read_whole(recording("ava-7.0.0/one")).by_id == spread(passed="adds", failed="opens")


def scales(label_of_a: str, label_of_b: str) -> dict[str, Status]:
    return {
        f"{label_of_a}scale > weighs": "passed",
        f"{label_of_b}scale > weighs": "failed",
        f"{'' if not label_of_a else label_of_b}scale > rounds": "passed",
        "packages/b/torn.test.js": "failed",
    }


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("npm-11.19.1/workspaces", scales("", "@shop/b > ")),
        ("pnpm-9.15.9/recursive", scales("packages/a > ", "packages/b > ")),
        ("turbo-2.11.11/plain", scales("@shop/a > ", "@shop/b > ")),
    ],
)
def test_packages_of_a_workspace_are_told_apart(name: str, ends: dict[str, Status]) -> None:
    tests = read_whole(recording(name))
    assert tests.by_id == ends
    assert not tests.unnamed


def test_packages_that_run_at_once_may_come_in_any_order() -> None:
    lines = recording("pnpm-9.15.9/recursive").decode().splitlines()
    announced, rest = lines[:3], sorted(lines[3:], key=lambda line: line.startswith("packages/a"))
    assert read_whole("\r\n".join([*announced, *rest]).encode()).by_id == scales(
        "packages/a > ", "packages/b > "
    )


def test_runners_one_after_another_between_npm_s_own_lines() -> None:
    parts = [recording(f"{name}/{form}") for name, form in (("mocha-12.0.3", "spec"),)]
    parts += [recording("node-test-24.21.0/spec"), recording("ava-7.0.0/plain")]
    head = b"\n> shop@1.0.0 test\n> npm run each\n\n\n> shop@1.0.0 each\n> node each.js\n\n"
    tail = b"\nnpm notice\nnpm notice New minor version of npm available! 11.19.1 -> 11.21.2\n"
    tests = read_whole(head + b"\n".join(parts) + tail)
    worst = {**MOCHA, **SPEC, **AVA} | {
        name: "failed"
        for ends in (MOCHA, SPEC, AVA)
        for name, status in ends.items()
        if status == "failed"
    }
    assert tests.by_id == worst


def test_what_a_test_of_mocha_s_prints_is_no_group() -> None:
    text = """
> shop@1.0.0 test
> eslint . && nyc mocha

/x/index.js
  1:1  warning  Unexpected console statement  no-console

\u2716 1 problem (0 errors, 1 warning)


  cart
{
  "a": 1,
  b: { c: 2 }
}
    \u2713 adds (12ms)
  Debug: asked twice
    total
      \u2713 sums

  till
    - counts


  2 passing (9ms)
  1 pending

----------|---------|
File      | % Stmts |
"""
    ends = spread(passed="cart > adds\ncart > total > sums", skipped="till > counts")
    for output in (text, text.replace("\n", "\r\n")):
        assert read_whole(output.encode()).by_id == ends


def test_a_script_that_a_test_starts_is_no_other_package() -> None:
    inner = "> fixture@1.0.0 test\n> false\n"
    mocha = f"> shop@1.0.0 test\n\n  cli\n    \u2714 runs\n{inner}    \u2714 fails\n\n  2 passing\n"
    tap = f"> shop@1.0.0 test\nTAP version 13\n# runs\n{inner}ok 1 a\n# fails\nok 2 b\n1..2\n"
    assert read_whole(mocha.encode()).by_id == spread(passed="cli > runs\ncli > fails")
    assert read_whole(tap.encode()).by_id == spread(passed="runs\nfails")


FAKES = {
    "mocha-12.0.3/spec": "  \u2714 opens\n  cart\n    \u2714 removes\n",
    "node-test-24.21.0/spec": "\u2714 closes (0.1ms)\n\u25b6 cart\n  \u2714 removes (0.1ms)\n",
    "node-test-20.20.2/tap": "ok 1 - closes\n",
    "ava-7.0.0/plain": "  \u2714 cart \u203a removes\n",
    "ava-3.15.0/plain": "  \u2714 cart \u203a removes\n",
    "bun-1.4.5/plain": "(pass) cart > removes [0.1ms]\n",
    "deno-2.9.6/plain": "removes ... ok (1ms)\n",
}


@pytest.mark.parametrize("name", FAKES)
def test_what_a_patch_prints_makes_no_pass_of_a_failure(name: str) -> None:
    """Wherever it stands between the runner's lines."""
    lines = recording(name).decode().split("\n")
    whole = read_whole(recording(name))
    failing = {*only("failed", dict(whole.by_id))}
    script = "> other@1.0.0 test\n"
    for at in range(0, len(lines), 1 + len(lines) // 60):
        text = "\n".join([*lines[:at], script if at % 3 else FAKES[name], *lines[at:]])
        tests = read_text(text.encode(), ["/lane/shop"])
        if tests is None:
            continue
        gone = failing - {id for id, end in tests.by_id.items() if end == "failed"}
        compared = compare(whole, tests)
        assert compared is not None
        assert not {*compared.fixed} & failing, (at, text)
        # A name that was taken from a failure is a test that is missing.
        assert not gone or not compared.breaks_nothing or tests.failed >= whole.failed, (at, gone)


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("mocha-12.0.3/spec", "    1) removes"),
        ("node-test-24.21.0/spec", "\u2716 closes ("),
        ("node-test-20.20.2/tap", "not ok 3 - closes"),
        ("ava-7.0.0/plain", "  \u2718 [fail]: cart \u203a removes"),
        ("ava-3.15.0/plain", "  \u2716 cart \u203a removes"),
        ("bun-1.4.5/plain", "(fail) cart > removes"),
        ("deno-2.9.6/plain", "removes ... \x1b[0m\x1b[31mFAILED"),
    ],
)
def test_a_runner_s_own_total_holds_where_a_failure_is_hidden(name: str, hidden: str) -> None:
    """As by a word in its place, that a test prints without a newline."""
    whole = recording(name).decode()
    assert hidden in whole
    tests = read_whole(whole.replace(hidden, "word", 1).encode())
    before = read_whole(whole.encode())
    assert tests.failed == before.failed
    named_again = tests.by_id == before.by_id  # mocha lists its failures at the end
    assert named_again or "failed" in tests.unnamed


def test_a_failed_run_of_fakes_is_explained_by_no_test() -> None:
    tests = read_whole(b"TAP version 13\nok 1 - adds\n1..1\n")
    says = reconcile(tests, 1)
    assert "exited with 1" in says[0]
    assert "no failing test" in says[0]
    for text in (
        "\u2714 adds (0.1ms)\n",
        "  \u2714 adds\n",
        "(pass) adds\n",
        "adds ... ok (1ms)\n",
    ):
        assert read_text(text.encode()) is None


SUMS = """\
export const add = (a, b) => a - b;
export const half = (a) => a;
export const no = (a) => -a;
"""
CASES = """\
import assert from 'node:assert';
import { describe, it } from 'node:test';
import { add, half, no } from './sums.js';

describe('sums', () => {
  it('adds', () => assert.equal(add(1, 2), 3));
  it('halves', () => assert.equal(half(4), 2));
  it('says no', () => assert.equal(no(1), -1));
});
"""
SEEN = "its tests were not run (race from the top, or name a check for them)"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")
def test_one_of_two_red_tests_of_node_is_mended_and_what_breaks_another_is_said(
    hydra: Hydra,
) -> None:
    """A real race from a package of a workspace, with the spec form of each node."""
    package = "packages/sums"
    manifest = '{"name": "sums", "type": "module"}\n'
    files = {"package.json": manifest, "sums.js": SUMS, "sums.test.js": CASES}
    shop(hydra.repo, {f"{package}/{name}": text for name, text in files.items()})
    right = SUMS.replace("a - b", "a + b")
    lanes: dict[str, Files | list[fakes.Step]] = {
        "mends": {f"{package}/sums.js": right},
        "breaks": {
            f"{package}/sums.js": right.replace("-a", "a"),
            "packages/scale/scale.js": "export const scale = 2;\n",
        },
    }
    item = Judged(hydra, lanes)
    hydra.repo = hydra.repo / package
    item.run(checks=("node --test --test-reporter=spec",))
    mends, breaks = (item.of(does) for does in lanes)
    assert (mends["state"], mends["rank"]) == ("proved", 1), str(item)
    assert mends["reason"].startswith("fixes 1 of the 2 failing tests, breaks nothing (2 passed)")
    assert breaks["state"] == "broken", str(item)
    assert breaks["reason"] == 'breaks "says no", which passed on the base'
    (check,) = item.document["baseline"]
    assert check["tests"]["failing"] == ["sums > adds", "sums > halves"]
    assert item.race is not None
    shown = " ".join(item.race.stdout.split())
    assert f"note: claude-breaks also changes packages/scale; {SEEN}" in shown


CUT = """\
TAP version 13
# Subtest: test/slow.js
    # Subtest: waits
        ok 1 - begins
not ok 1 - test/slow.js # time=30711.391ms
  ---
  timeout: 30000
  ...
# Subtest: test/more.js
    # Subtest: adds\x20
        ok 1 - one
        1..1
    ok 1 - adds  # time=2ms
    1..1
ok 2 - test/more.js # time=4ms
1..2
"""


def test_a_file_that_is_stopped_in_a_subtest_takes_no_other_file_s_names() -> None:
    tests = read_text(CUT.encode(), ())
    assert tests is not None
    assert tests.by_id == {"test/slow.js > waits": "failed", "test/more.js > adds": "passed"}
