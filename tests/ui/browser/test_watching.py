"""Alerts, incidents, audits and findings, from a rule to the end of its incident."""

import re
from datetime import UTC, datetime
from typing import Any

from playwright.sync_api import Page, Response, expect
from sqlalchemy import update

from shared.watch.audits.models import AuditRun
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site, session


def test_a_rule_is_previewed_saved_and_handled(visit: Opened, site: Site) -> None:
    page = visit("admin", "alerts/new")
    page.get_by_role("textbox", name="Name").fill("Lookups fail")
    page.get_by_role("combobox", name="Event type").fill("tool_result")
    page.keyboard.press("Enter")
    page.get_by_role("textbox", name="Value").fill("many")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("textbox", name="Value")).to_have_attribute("aria-invalid", "true")
    page.get_by_role("textbox", name="Value").fill("0.1")
    expect(page.get_by_role("figure", name="Preview of the last 7 days")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Would have opened \d+ incident"))).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(re.compile(r"/alerts/[0-9a-f-]{36}$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Lookups fail")
    [alert] = [one for one in site.api.get("/alerts") if one["name"] == "Lookups fail"]
    assert alert["trigger_spec"]["filter"] == {"event_type": "tool_result"}
    page.get_by_role("button", name="Send test").click()
    expect(page.get_by_text("The test was sent: dashboard sent")).to_be_visible()

    page.get_by_role("link", name="Alerts", exact=True).click()
    condition = "error_rate of tool_result > 10.0 % over 1 h"
    expect(page.get_by_role("row", name=re.compile("Lookups fail"))).to_contain_text(condition)

    page.get_by_role("link", name="Incidents").click()
    firing = page.get_by_role("region", name="Firing")
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    page.get_by_role("button", name="Open incident").click()
    page.get_by_role("textbox", name="Title").fill("Bookings are lost")
    page.get_by_role("textbox", name="Summary").fill("three people reported it")
    page.get_by_role("dialog").get_by_role("button", name="Open incident").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bookings are lost")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_text("Acknowledged by")).to_be_visible()
    comment = page.get_by_role("textbox", name="Comment")
    comment.fill("see https://example.com <b>now</b>")
    page.get_by_role("button", name="Add comment").click()
    history = page.get_by_role("list", name="Activity")
    expect(history).to_contain_text("see https://example.com <b>now</b>")
    expect(comment).to_have_value("")
    page.get_by_role("button", name="Resolve").click()
    page.get_by_role("dialog").get_by_role("button", name="Resolve").click()
    expect(page.get_by_role("button", name="Resolve")).to_have_count(0)
    page.get_by_role("link", name="Incidents").click()
    expect(page.get_by_role("region", name="Resolved")).to_contain_text("Bookings are lost")
    expect(firing).not_to_contain_text("Bookings are lost")


def _is_save(answer: Response) -> bool:
    wanted = re.search(r"/v1/alerts(/[0-9a-f-]{36})?$", answer.url)
    return wanted is not None and answer.request.method in {"POST", "PUT"}


def saved(page: Page, site: Site, name: str) -> dict[str, Any]:
    """Saves the alert of the editor and returns it as stored."""
    with page.expect_response(_is_save) as answer:
        page.get_by_role("button", name="Save").click()
    assert answer.value.ok, answer.value.text()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    [alert] = [one for one in site.api.get("/alerts") if one["name"] == name]
    return dict(alert)


def choose(page: Page, label: str, value: str) -> None:
    """Types a value into a combobox and takes it, once the choices are there."""
    field = page.get_by_role("combobox", name=label, exact=True)
    field.fill(value)
    page.keyboard.press("Enter")
    expect(field).to_have_attribute("aria-expanded", "false")


def test_the_preview_of_a_budget_and_of_a_metric_has_groups(visit: Opened, site: Site) -> None:
    # Of the first an amount of 4.5 is spent, of the second 80 %, and of the third no level.
    users = {"zoe": 9, "adam": 4, "mia": 1}
    now = datetime.now(UTC)
    for place, (user, cost) in enumerate(users.items()):
        [call] = (one for one in session(890 + place, now) if one["type"] == "model_response")
        site.send(
            {
                **call,
                "timestamp": now.isoformat(),
                "agent_id": "grouped",
                "user_id": user,
                "cost_usd": cost,
            }
        )
    page = visit("admin", "alerts/new")
    page.get_by_role("textbox", name="Name").fill("Spending")
    page.get_by_role("radio", name="Budget").check()
    page.get_by_role("textbox", name="Amount").fill("4.5")
    choose(page, "Agent", "grouped")
    choose(page, "For each", "User")
    preview = page.get_by_role("region", name="The last 7 days")
    groups = preview.get_by_role("heading", level=3)
    expect(groups).to_have_text([f"user {user}" for user in users])
    expect(preview).to_contain_text("The groups with most breaches, at most 10.")
    figure = preview.get_by_role("figure", name="Preview of the last 7 days, user zoe")
    expect(figure).to_be_visible()
    results = preview.get_by_text("Would have opened")
    one, none = "Would have opened 1 incident", "Would have opened 0 incidents"
    expect(results).to_have_text([one, one, none])

    page.get_by_role("radio", name="Metric").check()
    choose(page, "Metric", "cost_sum")
    page.get_by_role("textbox", name="Value").fill("4.5")
    expect(results).to_have_text([one, none, none])
    expect(groups).to_have_text([f"user {user}" for user in users])


def test_a_rule_about_scores_or_sql_is_made_and_deleted(visit: Opened, site: Site) -> None:
    page = visit("admin", "alerts")
    page.get_by_role("link", name="New alert").click()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.get_by_role("textbox", name="Name").fill("Scores are low")
    page.get_by_role("radio", name="Several scores").check()
    expect(page.get_by_text("Complete the rule to see its preview")).to_be_visible()
    choose(page, "Score 1", "task_success")
    page.get_by_role("textbox", name="Value 1").fill("0.5")
    page.get_by_role("button", name="Add condition").click()
    choose(page, "Score 2", "tool_reliability")
    page.get_by_role("textbox", name="Value 2").fill("low")
    choose(page, "Breached if these hold", "all")
    page.get_by_role("button", name="Save").click()
    value = page.get_by_role("textbox", name="Value 2")
    expect(value).to_be_focused()
    expect(value).to_have_accessible_description("must be a number")
    expect(value).to_have_value("low")
    value.fill("0.9")
    page.get_by_role("checkbox", name="email").check()
    choose(page, "Recipients", "ada@example.com")
    choose(page, "Recipients", "bob@example.com")
    page.get_by_role("button", name="Remove ada@example.com").click()
    page.get_by_role("checkbox", name="slack").check()
    choose(page, "Slack address", "Webhook")
    page.get_by_role("checkbox", name="Resolve by itself").check()
    spec = saved(page, site, "Scores are low")
    assert spec["channels"] == [
        {"kind": "dashboard"},
        {"kind": "email", "recipients": ["bob@example.com"]},
        {"kind": "slack", "webhook_setting_key": "alerts.webhook_default_url"},
    ]
    assert spec["trigger_spec"]["combinator"] == "all"
    assert [one["value"] for one in spec["trigger_spec"]["conditions"]] == [0.5, 0.9]
    assert spec["trigger_spec"]["auto_resolve"]

    page.get_by_role("radio", name="Score", exact=True).check()
    choose(page, "Score", "task_success")
    page.get_by_role("textbox", name="Value").fill("0.5")
    spec = saved(page, site, "Scores are low")
    assert spec["trigger_spec"]["score_key"] == "task_success"

    page.get_by_role("radio", name="SQL").check()
    page.get_by_role("textbox", name="SQL").fill("SELECT count() AS metric_value FROM events")
    page.get_by_role("textbox", name="Value").fill("1e9")
    expect(page.get_by_text("SQL names its own window")).to_be_visible()
    page.get_by_role("link", name="Incidents").click()
    question = page.get_by_role("dialog", name="Leave without saving?")
    question.get_by_role("button", name="Cancel").click()
    expect(question).to_have_count(0)
    assert saved(page, site, "Scores are low")["trigger_kind"] == "custom_sql"

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Alerts")
    assert all(one["name"] != "Scores are low" for one in site.api.get("/alerts"))


def test_the_evidence_of_an_incident_is_what_breached(visit: Opened, site: Site) -> None:
    page = visit("admin", "alerts/new")
    page.get_by_role("textbox", name="Name").fill("Bookings are missing")
    page.get_by_role("radio", name="Event").check()
    choose(page, "Event type", "tool_result")
    page.get_by_role("textbox", name="Message contains").fill("no such booking")
    # Every fifth of the sessions failed.
    expect(page.get_by_text(re.compile(r"^[1-9]\d* breaches? in \d+ evaluations"))).to_be_visible()
    saved(page, site, "Bookings are missing")
    # A new rule is evaluated at once, and its page looks again until then.
    page.get_by_role("link", name="Open incident (firing)").click(timeout=30_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("Bookings are missing")
    expect(page.get_by_role("figure", name="Value of the rule")).to_be_visible()
    evidence = page.get_by_role("table", name="Evidence")
    # The search finds results of these calls only; what breached failed.
    expect(evidence.get_by_role("row").nth(1)).to_contain_text("no such booking")
    link = evidence.get_by_role("link").first
    assert re.search(r"/sessions/s-\d\d[05]\?e=\d+$", link.get_attribute("href") or "")

    mine = page.get_by_role("complementary", name="Details")
    email = site.people["admin"].email
    page.get_by_role("button", name="Subscribe", exact=True).click()
    expect(mine).to_contain_text(email)
    page.get_by_role("button", name="Unsubscribe").click()
    expect(page.get_by_role("button", name="Subscribe", exact=True)).to_be_visible()
    page.get_by_role("button", name="Assign").click()
    choose(page, "Assignees", email)
    page.get_by_role("dialog").get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("list", name="Activity")).to_contain_text(f"assigned it to {email}")
    page.get_by_role("textbox", name="Comment").fill("wrong")
    page.get_by_role("button", name="Add comment").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("This comment was deleted.")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    expect(page.get_by_role("button", name="Acknowledge")).to_be_hidden()
    expect(evidence).to_be_visible()
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Resolve").click()
    page.get_by_role("dialog").get_by_role("button", name="Resolve").click()
    expect(page.get_by_role("button", name="Resolve")).to_have_count(0)


def test_an_audit_runs_and_its_finding_is_handled(visit: Opened, site: Site) -> None:
    page = visit("admin", "audits")
    page.get_by_role("button", name="New audit").click()
    page.get_by_role("textbox", name="Name").fill("nightly")
    page.get_by_role("radio", name="high").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("nightly")
    page.get_by_role("button", name="Run now").click()
    runs = page.get_by_role("table", name="Runs")
    expect(runs).to_contain_text("succeeded", timeout=30_000)
    # Only a language model writes one.
    with site.runtime.postgres.transaction() as session:
        found = AuditRun.audit_id == page.url.rpartition("/")[2]
        session.execute(update(AuditRun).where(found).values(report="# <b>Lookups</b> fail"))
    page.get_by_role("button", name="Refresh").click()
    expect(page.get_by_role("region", name="Report")).to_contain_text("# <b>Lookups</b> fail")
    page.get_by_role("link", name=re.compile(r"\d+ open findings?")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Findings")
    rows = page.get_by_role("table", name="Findings").get_by_role("row")
    title = rows.nth(1).get_by_role("link").inner_text()
    page.keyboard.press("j")
    expect(rows.nth(1).get_by_role("link")).to_be_focused()
    for key, verb in (("a", "Acknowledge"), ("r", "Resolve"), ("d", "Dismiss")):
        page.keyboard.press(key)
        dialog = page.get_by_role("dialog", name=f"{verb} {title}?")
        expect(dialog.get_by_role("textbox", name="Reason")).to_be_focused()
        expect(dialog.get_by_role("button", name=verb)).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Remove Audit").click()
    expect(page.get_by_role("button", name="Remove Audit")).to_have_count(0)
    rows.nth(1).get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    expect(page.get_by_role("table", name="Evidence").get_by_role("link").first).to_be_visible()
    page.get_by_role("button", name="Run query").first.click()
    expect(page.get_by_text(re.compile(r"\d+ rows? in \d+ ms"))).to_be_visible()
    email = site.people["admin"].email
    page.get_by_role("button", name="Assign").click()
    # Enter takes the only choice that fits.
    assignee = page.get_by_role("combobox", name="Assignee", exact=True)
    assignee.fill(email.partition("@")[0])
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_text(email)
    assignee.press("Enter")
    expect(assignee).to_have_value(email)
    page.get_by_role("dialog").get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_role("definition").filter(has_text=email)).to_be_visible()
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Reason").fill("known since yesterday")
    dialog.get_by_role("button", name="Mute").click()
    page.get_by_role("button", name="Reopen").click()
    page.get_by_role("dialog").get_by_role("button", name="Reopen").click()
    expect(page.get_by_role("button", name="Acknowledge")).to_be_visible()
    [finding] = [one for one in site.api.get("/audits/findings") if one["id"] in page.url]
    assert finding["status"] in {"open", "recurring"}


def test_latencies_and_scores_are_those_of_the_sessions(visit: Opened) -> None:
    page = visit("admin", "latency")
    names = page.get_by_role("table", name="Slowest names")
    expect(names.get_by_role("row", name=re.compile("lookup"))).to_contain_text("500 ms")
    for figure in ("Latency heat map", "Latency percentiles"):
        expect(page.get_by_role("figure", name=figure)).to_be_visible()
    page.get_by_role("tab", name="Models").click()
    expect(names.get_by_role("row", name=re.compile("m-1"))).to_contain_text("900 ms")
    page.get_by_role("link", name="Evaluations").click()
    expect(page.get_by_role("figure", name="Scores over time")).to_be_visible()
    lowest = page.get_by_role("table", name="Lowest scores")
    expect(lowest.get_by_role("row").nth(1)).to_be_visible()
