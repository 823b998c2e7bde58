"""A real browser, Debian's Chromium, on the pages of a live server.

Without Chromium the tests are skipped aloud, and fail where CI is set. ``LODE_SCREENSHOTS`` names a
folder to keep pictures in.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.world import make_user

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"wide": (1440, 900), "narrow": (800, 1000)}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the session. Django forbids its ORM beside a running event loop, which playwright has."""
    if not CHROMIUM.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{CHROMIUM} is missing: install Debian's package chromium")
        pytest.skip(f"{CHROMIUM} is missing: the pages are not looked at (install Debian's package chromium)")
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def context(browser: Browser, live_server: LiveServer) -> Iterator[BrowserContext]:
    """A fresh profile on the live server, which may ask no other."""
    with browser.new_context(base_url=live_server.url, viewport={"width": 1440, "height": 900}) as fresh:
        fresh.set_default_timeout(20_000)
        yield fresh


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page; an error on its console, a failed request or a refused one fails the test."""
    fresh, wrong = context.new_page(), []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            wrong.append(message.text)

    fresh.on("console", hear)
    fresh.on("pageerror", lambda error: wrong.append(str(error)))
    fresh.on("response", lambda response: wrong.append(response.url) if response.status >= 500 else None)
    yield fresh
    assert wrong == []


@pytest.fixture
def log_in(page: Page) -> Callable[[User], None]:
    """Log somebody in through the login page, by keyboard."""

    def by_keyboard(user: User) -> None:
        page.goto("/admin/")
        page.get_by_label("Username").focus()
        page.keyboard.type(user.get_username())
        page.keyboard.press("Tab")
        page.keyboard.type("secret")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()

    return by_keyboard


@pytest.fixture
def author(db: None) -> User:
    """Somebody who writes the curriculum."""
    return make_user("anna", "curriculum author")


@pytest.fixture
def picture(page: Page) -> Callable[[str], None]:
    """Keep a picture of the page in each size, where ``LODE_SCREENSHOTS`` names a folder."""

    def take(name: str) -> None:
        folder, before = os.environ.get("LODE_SCREENSHOTS"), page.viewport_size
        for size, (width, height) in SIZES.items() if folder else ():
            page.set_viewport_size({"width": width, "height": height})
            page.screenshot(path=Path(str(folder)) / f"{name}-{size}.png", full_page=True)
        if before:
            page.set_viewport_size(before)

    return take
