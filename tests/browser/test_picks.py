"""Ticking files and hunks gives a line, and the line lands what was ticked."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from hydra.commands.merge import command as merge_command
from tests.conftest import git
from tests.support.page_small import PAGER
from tests.support.pages import PageRun

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Open

Made = Callable[[str], PageRun]


def the_line(page: Page) -> str:
    text: str = page.locator("#picks code.line").inner_text()
    return text


def take_hunk(page: Page, lane: str, place: int = 0) -> None:
    page.locator("#file .choices button", has_text=lane).first.click()
    page.locator("#file input[data-hunk]").nth(place).check()


def open_file(page: Page, name: str) -> None:
    page.locator(".entry", has_text=name).first.click()


def dry_run(run: PageRun, line: str) -> tuple[int, str]:
    terms = shlex.split(line)
    assert terms[0] == "hydra"
    done = run.shelf.command(*terms[1:], "--dry-run", "--no-check")
    return done.returncode, done.stdout + done.stderr


def test_a_file_of_one_lane_and_a_hunk_of_another_land_as_one(made: Made, show: Open) -> None:
    run, page = made("small"), show("small", "changes").page
    open_file(page, "test_pager.py")
    page.locator("#file .choices button", has_text="codex").first.click()
    page.get_by_label("Take this file from codex").check()
    open_file(page, "usage.md")
    page.locator("#file input[data-hunk]").check()
    line = the_line(page)
    assert line == (
        "hydra merge -r abc --pick codex:tests/test_pager.py --pick claude:docs/usage.md"
    )
    code, text = dry_run(run, line)
    assert code == 0, text
    assert "docs/usage.md" in text
    assert "tests/test_pager.py" in text
    assert "src/pager.py" not in text


def test_the_line_lands_exactly_what_was_ticked(made: Made, show: Open) -> None:
    run, page = made("small"), show("small", "changes").page
    open_file(page, "pager.py")
    take_hunk(page, "codex-2")
    line = the_line(page)
    terms = shlex.split(line)
    before = git(run.shelf.repo, "rev-parse", "HEAD")
    done = run.shelf.command(*terms[1:], "--branch", "picked", "--no-check")
    assert done.returncode == 0, done.stderr
    landed = git(run.shelf.repo, "show", "picked:src/pager.py")
    assert landed + "\n" == PAGER.replace("start + size - 1]", "start + size]")
    assert git(run.shelf.repo, "diff", "--name-only", before, "picked") == "src/pager.py"
    git(run.shelf.repo, "branch", "-D", "picked")


def test_a_whole_lane_is_its_name(made: Made, show: Open) -> None:
    page = show("small").page
    page.locator("details.fold summary").first.click()
    page.get_by_role("button", name="Take all of it").first.click()
    assert the_line(page) == "hydra merge codex -r abc"
    assert dry_run(made("small"), the_line(page))[0] == 0
    assert (
        page.get_by_role("button", name="Take all of it").first.get_attribute("aria-pressed")
        == "true"
    )
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#picks").is_hidden()


def test_a_whole_lane_and_a_part_of_another(made: Made, show: Open) -> None:
    page = show("small").page
    page.locator("details.fold summary").first.click()
    page.get_by_role("button", name="Take all of it").first.click()
    page.get_by_role("link", name="Changes").click()
    open_file(page, "CHANGELOG.md")
    page.get_by_label("Take this file from claude").check()
    assert the_line(page) == "hydra merge -r abc --pick codex:. --pick claude:CHANGELOG.md"
    code, text = dry_run(made("small"), the_line(page))
    assert code == 0, text
    assert "CHANGELOG.md" in text
    assert "src/pager.py" in text


def test_names_that_a_shell_would_read_are_quoted(made: Made, show: Open) -> None:
    run, page = made("hostile"), show("hostile", "changes").page
    values = {
        "touch pwned": "a'b\"c $(touch pwned) `touch pwned`;.py",
        "new ": "new\nline \u202e.py",
        "bytes-": "bytes-\udcff.py",
        "-rf.py": "-rf.py",
        "script>.html": "</script><script>window.pwned=1</script>.html",
    }
    for part, path in values.items():
        open_file(page, part)
        page.get_by_label("Take this file from codex").check()
        line = the_line(page)
        terms = bash_words(line)
        assert terms[:4] == ["hydra", "merge", "-r", "abc"]
        assert terms[4:] == ["--pick", f"codex:{path}"]
        merge_command.make_context("merge", terms[2:])
        done = run.shelf.command(*terms[1:], "--dry-run", "--no-check")
        assert done.returncode == 0, done.stderr
        page.get_by_role("button", name="Clear").click()


def bash_words(line: str) -> list[str]:
    """What bash makes of a line."""
    import os
    import subprocess

    script = f"set -- {line}\nprintf '%s\\0' \"$@\""
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    return [os.fsdecode(content) for content in done.stdout.split(b"\0")[:-1]]


def test_a_folder_that_is_taken_whole_is_one_pick(show: Open) -> None:
    page = show("many", "changes").page
    page.locator("#filter").fill("part001/")
    for place in range(20):
        page.locator(".entry").nth(place).click()
        page.get_by_label("Take this file from codex", exact=True).check()
    assert the_line(page) == "hydra merge -r abc --pick codex:src/part001/"


def test_the_line_can_be_copied(show: Open) -> None:
    page = show("small", "changes").page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("x")
    page.keyboard.press("c")
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == the_line(page)
