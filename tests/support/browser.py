"""Debian's Chromium, headless, driven by Playwright: offline, with a profile that goes with it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request

Scheme = Literal["light", "dark"]
SWITCHES = (
    *("--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--no-sandbox"),
)
"""Its own sandbox is nothing that root, or a container, has; what it opens here is ours."""


def chromium() -> str | None:
    """The browser's program: HYDRA_CHROMIUM, or the first of its names on PATH."""
    named = (os.environ.get("HYDRA_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((text for name in named if name and (text := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """One browser for many pages."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=chromium(), args=[*SWITCHES])
        try:
            yield started
        finally:
            started.close()


@dataclass
class Watched:
    """What a page did besides being a page: nothing of it is wanted."""

    page: Page
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def listen(self, own: str) -> None:
        """Notes what it does from here on; `own` is its address, which it may ask for."""

        def asked(sent: Request) -> None:
            if not sent.url.startswith((own, "data:")):
                self.requests.append(sent.url)

        def spoke(document: Dialog) -> None:
            self.dialogs.append(document.message)
            document.dismiss()

        self.page.on("console", lambda item: self.console.append(item.text))
        self.page.on("pageerror", lambda item: self.errors.append(str(item)))
        self.page.on("dialog", spoke)
        self.page.on("request", asked)

    @property
    def quiet(self) -> bool:
        """Whether it kept to itself."""
        return not (self.console or self.errors or self.requests or self.dialogs)


@contextmanager
def opened(
    started: Browser,
    file: Path,
    *,
    width: int = 1280,
    height: int = 900,
    scheme: Scheme = "light",
    view: str = "",
) -> Iterator[Watched]:
    """A page from a file in a context of its own, watched from before it loads."""
    context = started.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
    )
    try:
        page = context.new_page()
        seen = Watched(page)
        url = file.as_uri() + (f"#{view}" if view else "")
        seen.listen(file.as_uri())
        page.goto(url)
        yield seen
    finally:
        context.close()
