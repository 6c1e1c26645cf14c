"""`python -m devstack.screenshots LINK`: renews the pictures of the README.

LINK is the sign-in link that `bin/up` prints. The pictures show its demonstration: a session with
a failed call in the light theme, and the list of sessions in the dark one. Needs Chromium.
"""

import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import click
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

_DOCS = Path(__file__).resolve().parents[1] / "docs/use"
_SIZE: ViewportSize = {"width": 1440, "height": 900}


def _rest(page: Page) -> None:
    """Waits until the page has read what it shows."""
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)


def _shoot(browser: Browser, link: str, folder: Path) -> None:
    context = browser.new_context(viewport=_SIZE, reduced_motion="reduce", color_scheme="dark")
    page = context.new_page()
    page.goto(link)
    page.wait_for_url("**/sessions*")
    page.goto(f"{page.url.partition('?')[0]}?live=0")
    _rest(page)
    page.screenshot(path=folder / "sessions-dark.png")
    # Sessions of this agent have a second one, and failed calls.
    page.get_by_role("row").filter(has_text="code-review").first.get_by_role("link").click()
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    _rest(page)
    page.keyboard.press("Shift+E")
    expect(page.get_by_role("treegrid").locator("[aria-selected=true]")).to_be_visible()
    _rest(page)
    page.screenshot(path=folder / "session-light.png")


@click.command(help=__doc__)
@click.argument("link")
@click.option("--folder", type=click.Path(path_type=Path), default=_DOCS, show_default="docs/use")
def main(link: str, folder: Path) -> None:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        raise click.ClickException("no Chromium: apt-get install chromium")
    if urlsplit(link).hostname not in {"127.0.0.1", "localhost", "::1"}:
        raise click.UsageError("LINK must be the one that bin/up printed on this machine")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        _shoot(browser, link, folder)
        browser.close()


if __name__ == "__main__":
    main()
