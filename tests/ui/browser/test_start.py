"""The first event of an organization."""

import json
import re
import secrets
import subprocess
import time

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


def one_span() -> str:
    """Returns an export request with the span of an agent, as JSON."""
    span = {
        "traceId": secrets.token_hex(16),
        "spanId": secrets.token_hex(8),
        "name": "invoke_agent weather",
        "startTimeUnixNano": str(time.time_ns()),
        "endTimeUnixNano": str(time.time_ns()),
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def test_what_a_new_key_sends_by_opentelemetry_counts_and_older_sessions_do_not(
    visit: Opened, site: Site
) -> None:
    with_the_command = re.compile(r"/v1/sessions\?.*session_id=hello-1")
    page = visit("admin", f"/o/{site.org.slug}/sessions")
    with page.expect_response(with_the_command):
        page.goto(f"/o/{site.org.slug}/start")
    arrived = page.get_by_role("status").filter(has_text="first event")
    expect(arrived).to_have_text("Waiting for the first event…")
    page.get_by_role("button", name="Create a key").click()
    page.get_by_role("tab", name="OpenTelemetry").click()
    variables = page.get_by_role("textbox", name="Command")
    expect(variables).to_have_value(re.compile(r'HEADERS="x-api-key=wp_[\w-]{43}"'))
    with page.expect_response(re.compile(r"/v1/receipts\?")):
        expect(arrived).to_have_text("Waiting for the first event…")
    send = (
        'curl -sSf "$OTEL_EXPORTER_OTLP_ENDPOINT/v1/traces"'
        ' -H "${OTEL_EXPORTER_OTLP_HEADERS/=/: }"'
        f" -H 'Content-Type: application/json' -d '{one_span()}'"
    )
    script = f"{variables.input_value()}\n{send}"
    subprocess.run(["bash", "-c", script], check=True, capture_output=True, timeout=30)
    expect(arrived).to_have_text("First event received", timeout=20_000)
    page.get_by_role("link", name="Open Sessions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
