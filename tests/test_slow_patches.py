"""Large and hostile patches are read in time that grows with their length."""

from __future__ import annotations

import time

import pytest

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.findings import findings
from tests.support.evidences import file

BODY = "def f(a):\n    b = {0}\n    return a + {0}\n"
MOVED = [file(f"src/m{n}.py", BODY.format(n), None) for n in range(4000)]
MOVED += [file(f"lib/m{n}.py", None, BODY.format(n)) for n in range(4000)]
OPENED = {
    "test": "test(\n" * 8000,
    "expect": "expect(\n" * 8000,
    "expect in expect": "expect(a, " * 8000 + ")" * 8000,
    "helper": "it('x', () => {\n" + "checkAll(\n" * 8000,
}
PATCHES = {
    "moved": MOVED,
    **{name: [file("web/a.test.js", text, f"{text}x\n")] for name, text in OPENED.items()},
    "go": [file("a_test.go", text := "assert.Equal(\n" * 8000, f"{text}x\n")],
    "ruby": [file("spec/a_spec.rb", text := "expect(\n" * 8000, f"{text}x\n")],
    "java": [file("src/test/ATest.java", text := "assertThat(\n" * 8000, f"{text}x\n")],
}


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_a_large_patch_is_read_soon(patch: list[FileChange]) -> None:
    began = time.process_time()
    findings(patch)
    assert time.process_time() - began < 10


def test_a_file_that_is_most_of_a_new_one_is_not_deleted() -> None:
    text = "".join(f"line {number}\n" for number in range(200))
    gone = file("src/a.py", text, None)
    assert [row.kind for row in findings([gone])] == ["rewrite"]
    assert findings([gone, file("lib/b.py", None, text + "more\n")]) == ()
    assert [row.kind for row in findings([gone, file("lib/b.py", None, text[:600])])] == ["rewrite"]
