"""The pages about what came in and what was removed: "Sources" and "Deletions"."""

import json
import re

from playwright.sync_api import expect

from tests.support.otlp import make_span, text_attribute, traces
from tests.support.processes import wait_until
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site, newcomer, session


def test_sources_say_what_was_skipped_and_why(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    bad = {"type": "error", "agent_id": "a", "timestamp": "2026-11-01T00:00:00Z"}
    doubtful = {**session(1)[0], "type": "agent_strat"}
    body = json.dumps([*session(0), doubtful, bad]).encode()
    sender = {"Content_Type": "application/json", "User_Agent": "our-collector/2.1"}
    assert api.request("POST", "/events", body, **sender)[0] == 202
    page = visit(person, f"/o/{org.slug}/sources")
    row = page.get_by_role("table", name="Senders").get_by_role("row").nth(1)
    expect(row).to_contain_text("our-collector/2.1")
    expect(row).to_contain_text("1 skipped, 1 warning")
    expect(row.get_by_text("1 warning")).to_have_class("warn")
    row.get_by_role("button", name="1 skipped, 1 warning").click()
    reasons = page.get_by_role("dialog", name="our-collector/2.1").get_by_role("listitem")
    expect(reasons).to_have_text([re.compile("session_id is missing"), re.compile("a known type")])
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Skipped lines").click()
    line = page.get_by_role("table", name="Skipped lines").get_by_role("row").nth(1)
    expect(line).to_contain_text("session_id")
    expect(line).to_contain_text('"type": "error"')


def test_a_service_without_messages_learns_which_variable_to_set(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    agent = make_span(1, attributes=[text_attribute("gen_ai.operation.name", "invoke_agent")])
    call = make_span(
        2,
        parent_span_id=agent.span_id,
        attributes=[text_attribute(*pair) for pair in attributes.items()],
    )
    body = traces(agent, call).SerializeToString()
    status, answer = api.request("POST", "/traces", body, Content_Type="application/x-protobuf")
    assert status == 200, answer
    wait_until(lambda: api.get("/otel/status")["content_missing"], 30)
    page = visit(person, f"/o/{org.slug}/sources?view=otel")
    expect(page.get_by_role("table", name="OpenTelemetry services")).to_contain_text("bot")
    variable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"
    expect(page.get_by_role("tabpanel")).to_contain_text(f"messages: set {variable} where")
    # So does the one who looks at a transcript of it.
    wait_until(lambda: len(list(api.rows("sessions"))) == 1)
    [row] = api.rows("sessions")
    page.goto(f"/o/{org.slug}/sessions/{row['session_id']}?view=transcript")
    expect(page.get_by_role("note")).to_contain_text(f"Set {variable} where the agent runs")
    expect(page.get_by_role("article", name="End")).to_be_visible()
    # The agent started without a goal.
    expect(page.get_by_role("article", name="Goal")).to_have_count(0)


def test_a_deletion_is_counted_asked_about_and_proved(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    api.deliver([json.dumps(event).encode() for event in session(7)])
    wait_until(lambda: len(list(api.rows("sessions"))) == 1)
    page = visit(person, f"/o/{org.slug}/deletions")
    page.get_by_role("button", name="Delete sessions").click()
    page.get_by_role("textbox", name="Sessions").fill("s-007")
    page.get_by_role("button", name="Count and ask").click()
    question = page.get_by_role("dialog", name="Delete 1 session?")
    expect(question).to_contain_text("6 events")
    question.get_by_role("button", name="Delete").click()
    row = page.get_by_role("table", name="Deletions").get_by_role("row").nth(1)
    # Without a reload: the page asks again while the worker is busy.
    expect(row).to_contain_text(re.compile("hidden|rewritten|done"))
    row.click()
    proofs = page.get_by_role("dialog", name="Deletion")
    expect(proofs).to_contain_text("Removed: 6 events")
    proofs.get_by_role("link", name="Open in SQL").first.click()
    results = page.get_by_role("region", name="Results").get_by_role("table")
    expect(results.get_by_role("row").nth(1)).to_contain_text("0")
