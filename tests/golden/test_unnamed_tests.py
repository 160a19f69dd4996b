"""Tests in places that no name gives away: what a patch does to them is judged as in test files."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import Files, Judged, shop
from tests.support.wild import paste

# ---- One race each: what a patch does to its tests, and what is said of it.


def states(judged: Judged, lanes: Collection[str]) -> dict[str, str]:
    return {does: judged.of(does)["state"] for does in lanes}


CARGO = """\
[package]
name = "pager"
version = "0.1.0"
edition = "2021"
"""
LOCK = """\
version = 3

[[package]]
name = "pager"
version = "0.1.0"
"""
RUST = """\
/// How many.
///
/// ```
/// assert_eq!(pager::half(4), 2);
/// ```
pub fn half(n: u32) -> u32 {
    n / 2
}

pub fn pages(n: u32, size: u32) -> u32 {
    n / size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up() {
        assert_eq!(pages(3, 2), 2);
    }

    #[test]
    fn half_of_six() {
        assert_eq!(half(6), 3);
    }
}
"""
RUST_MENDED = RUST.replace("n / size", "(n + size - 1) / size")


@pytest.mark.full
def test_modules_of_tests_in_rust(hydra: Hydra) -> None:
    programs = next(Path("/root/.rustup/toolchains").glob("stable*/bin"), None)
    if programs is None or not os.access(programs / "cargo", os.X_OK):
        pytest.skip("no toolchain of rustup's is here")
    hydra.path.append(programs)
    shop(
        hydra.repo,
        {"Cargo.toml": CARGO, "Cargo.lock": LOCK, "src/lib.rs": RUST, ".gitignore": "/target\n"},
    )
    up = "    #[test]\n    fn up() {\n        assert_eq!(pages(3, 2), 2);\n    }\n\n"
    more = up.replace("fn up", "fn up_more").replace("3, 2), 2", "7, 2), 4")
    lanes: dict[str, Files] = {
        "edits": {"src/lib.rs": RUST.replace("2), 2);", "2), 1);")},
        "breaks": {
            "src/lib.rs": RUST_MENDED.replace("n / 2", "n / 2 + 1")
            .replace("half(4), 2", "half(4), 3")
            .replace("half(6), 3", "half(6), 4")
        },
        "grows": {"src/lib.rs": RUST_MENDED.replace(up, up + more)},
        "copies": {
            "src/lib.rs": RUST.replace("2), 2);", "2), 1);"),
            "src/nobodys.rs": RUST[RUST.index("#[cfg") :],
        },
    }
    judged = Judged(hydra, lanes).run(checks=("cargo test --offline",))
    assert states(judged, lanes) == {
        "edits": "held_back",
        "breaks": "held_back",
        "grows": "proved",
        "copies": "held_back",
    }, str(judged)
    assert judged.gates("edits") == [
        "changes what tests.up expects: 2 -> 1; the base's version still fails with it"
    ]
    assert judged.top() == "grows"


RUNS_RUST = """\
import re
from pathlib import Path

print("\\nrunning 2 tests")
text = Path("src/lib.rs").read_text()
body = re.search(r"fn pages.*?{\\n *(.*?)\\n}", text, re.S)[1].replace("/", "//")
failed, asked = [], 0
asks = re.compile(r"fn (\\w+)[^}]*pages\\((\\d+), (\\d+)\\), (\\d+)\\)")
for name, n, size, expected in asks.findall(text):
    asked += 1
    good = eval(body, {"n": int(n), "size": int(size)}) == int(expected)
    print(f"test tests::{name} ... {'ok' if good else 'FAILED'}")
    failed += [] if good else [name]
result = f"{asked - len(failed)} passed; {len(failed)} failed; 0 ignored; 0 measured"
print(f"\\ntest result: {'FAILED' if failed else 'ok'}. {result}; finished in 0.00s")
raise SystemExit(101 if failed else 0)
"""
"""cargo's words, of tests that ask `pages` alone."""


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["    fn up", "    use super"])
def test_tests_in_code_go_with_the_code_of_another_where_a_hunk_has_nothing_else(
    hydra: Hydra, beside: str
) -> None:
    shop(hydra.repo, {"src/lib.rs": RUST, "tools/run.py": RUNS_RUST})
    more = "    #[test]\n    fn up_more() {\n        assert_eq!(pages(7, 2), 4);\n    }\n\n"
    after = {"    fn up": "2);\n    }\n\n", "    use super": "super::*;\n\n"}[beside]
    code = RUST.replace("n / size", "(n - 1) / size + 1")
    tested = RUST_MENDED.replace(after, after + more)
    if beside == "    use super":  # a line of code, three lines from the test
        tested = tested.replace("#[cfg", "pub const LEAST: u32 = 1;\n\n#[cfg")
    lanes: dict[str, Files] = {"code": {"src/lib.rs": code}, "tested": {"src/lib.rs": tested}}
    judged = Judged(hydra, lanes).run(checks=("python3 -B tools/run.py",))
    assert judged.top() == "tested", str(judged)
    assert judged.race is not None
    offered = [line for line in judged.race.stdout.splitlines() if " --pick " in line]
    if beside == "    use super":
        assert not offered
        return
    (line,) = offered
    assert f" --pick claude-code:src/lib.rs --hunk {judged.document['hunks'][0]}" in line
    assert "\nor claude-code's code with claude-tested's tests:\n" in judged.race.stdout
    landed = paste(hydra, line)
    assert landed.returncode == 0, landed.stderr
    assert (hydra.repo / "src/lib.rs").read_text() == code.replace(after, after + more)
