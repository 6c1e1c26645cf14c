"""The first event of an organization."""

import re
import subprocess

from playwright.sync_api import expect

from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site


def test_the_command_sends_the_first_event_as_it_is(visit: Opened, site: Site) -> None:
    page = visit("admin", f"/o/{site.other.slug}/sessions")
    expect(page.get_by_role("heading", level=1)).to_have_text("Send your first event")
    waiting = page.get_by_role("status").filter(has_text="first event")
    expect(waiting).to_have_text("Waiting for the first event…")
    command = page.get_by_role("textbox", name="Command")
    page.get_by_role("button", name="Create a key").click()
    expect(command).to_have_value(re.compile(r"Bearer wp_[\w-]{43}'"))
    page.get_by_role("button", name="Copy command").click()
    copied: str = page.evaluate("navigator.clipboard.readText()")
    assert copied == command.input_value()
    page.get_by_role("tab", name="Python").click()
    script = command.input_value()
    for text in (copied, script):
        sent = subprocess.run(
            ["bash", "-c", text], check=True, capture_output=True, text=True, timeout=30
        )
        assert '"accepted":1' in sent.stdout
    expect(waiting).to_have_text("First event received", timeout=20_000)
    page.get_by_role("link", name="Open session hello-1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("hello-1")
