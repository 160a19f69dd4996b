"""Reading what runners of JavaScript and of workspaces print: recordings of the real ones."""

from __future__ import annotations

import shutil

import pytest

from hydra.checks.comparison import compare
from hydra.checks.results import Tests
from hydra.checks.text_parsers.output import read_text
from tests.check_recordings import FIXTURES
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdict_races import Files, Judged, shop


def recording(name: str) -> bytes:
    return (FIXTURES / f"{name}.txt").read_bytes()


def read_whole(output: bytes) -> Tests:
    tests = read_text(output, ["/lane/shop"])
    assert tests is not None
    return tests


def test_packages_that_run_at_once_may_come_in_any_order() -> None:
    whole = recording("pnpm-9.15.9/recursive")
    lines = whole.decode().splitlines()
    announced, rest = lines[:3], sorted(lines[3:], key=lambda line: line.startswith("packages/a"))
    assert read_whole("\r\n".join([*announced, *rest]).encode()).by_id == read_whole(whole).by_id


def test_runners_one_after_another_between_npm_s_own_lines() -> None:
    names = ("mocha-12.0.3/spec", "node-test-24.21.0/spec", "ava-7.0.0/plain")
    parts = [recording(name) for name in names]
    head = b"\n> shop@1.0.0 test\n> npm run each\n\n\n> shop@1.0.0 each\n> node each.js\n\n"
    tail = b"\nnpm notice\nnpm notice New minor version of npm available! 11.19.1 -> 11.21.2\n"
    tests = read_whole(head + b"\n".join(parts) + tail)
    apart = [item for part in parts for item in read_whole(part).by_id.items()]
    assert tests.by_id == dict(apart) | {id: end for id, end in apart if end == "failed"}


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
    failing = {id for id, end in whole.by_id.items() if end == "failed"}
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
