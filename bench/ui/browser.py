"""Chromium with somebody signed in, and the lines of a result."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import click
from playwright.sync_api import BrowserContext, sync_playwright


@contextmanager
def chromium(url: str, token: str) -> Iterator[BrowserContext]:
    """Yields a browser with the cookie of a sign-in session."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise click.ClickException("no Chromium: apt-get install chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": "service_session", "value": token, "url": url}])
        yield context
        browser.close()


def line(label: str, value: float, unit: str, bar: str, missed: bool) -> str:
    """Returns a line of the result."""
    return f"{'!' if missed else ' '} {label:<34} {value:8.1f} {unit:<9} {bar}"
