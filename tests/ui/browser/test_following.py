"""Pages that follow what happens: evaluations, runs of audits, and incidents, without Refresh."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.flows.api import Api
from tests.support.processes import wait_until
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site, newcomer, session
from tests.ui.browser.views import View


def send(api: Api, method: str, path: str, body: dict[str, Any]) -> Any:
    """Sends a request and returns its answer."""
    content = json.dumps(body).encode()
    status, answer = api.request(method, path, content, Content_Type="application/json")
    assert status in (200, 201), answer
    return json.loads(answer)


def deliver_failures(api: Api, count: int) -> None:
    """Stores so many sessions whose calls all failed."""
    for index in range(count):
        api.deliver([json.dumps(event).encode() for event in session(5 * index)])
    wait_until(lambda: len(list(api.rows("sessions"))) == count)


def test_a_new_result_is_there_without_a_reload(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions/s-040?view=evaluations")
    expect(page.get_by_role("region", name="Newest result")).to_be_visible()
    expect(page.get_by_role("region", name="Results")).to_have_count(0)
    page.get_by_role("button", name="Re-evaluate").click()
    results = page.get_by_role("region", name="Results").get_by_role("listitem")
    expect(results).to_have_count(2)
    expect(page.get_by_role("region", name="Why no score")).to_have_count(0)


def test_a_new_audit_shows_its_first_run_and_leads_to_what_it_found(
    visit: Opened, site: Site
) -> None:
    org, person, api = newcomer(site)
    deliver_failures(api, 12)
    page = visit(person, f"/o/{org.slug}/audits")
    page.get_by_role("button", name="New audit").first.click()
    page.get_by_role("textbox", name="Name").fill("first look")
    page.get_by_role("radio", name="high").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("first look")
    run = page.get_by_role("table", name="Runs").get_by_role("row").nth(1)
    expect(run).to_contain_text("succeeded", timeout=30_000)
    expect(page.get_by_role("link", name=re.compile(r"^[1-9]\d* open findings?$"))).to_be_visible()
    run.get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Report")).to_contain_text("This run has none.")
    found = len(api.get("/audits/findings"))
    for place in (1, 2):
        run.get_by_role("link").nth(place).click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Findings")
        rows = page.get_by_role("table", name="Findings").get_by_role("row")
        expect(rows).to_have_count(found + 1)
        expect(page.get_by_role("button", name=re.compile("^Remove Run: "))).to_be_visible()
        page.go_back()
    run.get_by_role("link").nth(1).click()
    rows.nth(1).get_by_role("link").click()
    # The evidence leads to the event that shows it, once that is known.
    link = page.get_by_role("table", name="Evidence").get_by_role("link").first
    expect(link).to_have_attribute("href", re.compile(r"\?e=\d+$"))
    link.click()
    expect(page).to_have_url(re.compile(r"/sessions/s-\d+\?e=\d+$"))
    expect(page.get_by_role("row", selected=True)).to_be_in_viewport()


def test_evaluations_that_were_asked_for_are_shown_when_they_end(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    api.deliver([json.dumps(event).encode() for event in session(0)])
    wait_until(lambda: len(list(api.rows("evaluations"))) == 1)
    page = visit(person, f"/o/{org.slug}/evaluations?list=results")
    rows = page.get_by_role("table", name="Results", exact=True).get_by_role("row")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Evaluate again…").click()
    page.get_by_role("dialog").get_by_role("button", name="Evaluate again").click()
    expect(rows).to_have_count(3)
    expect(page.get_by_role("definition").first).to_contain_text(re.compile("^2"))


def test_the_incident_of_an_audit_shows_what_the_audit_found(visit: Opened, site: Site) -> None:
    """The named events, and the statement that the finding opens too."""
    org, person, api = newcomer(site)
    deliver_failures(api, 24)
    send(api, "POST", "/audits", {"name": "first look"})
    wait_until(lambda: bool(api.get("/alerts/incidents")), 60)
    incident = api.get("/alerts/incidents")[0]
    finding = api.get(f"/audits/findings/{incident['source_finding_id']}")
    view = View(visit(person, f"/o/{org.slug}/findings/{finding['id']}"), person.token)
    in_sql = view.toolbar.get_by_role("link", name="Open in SQL")

    def statement() -> str:
        return parse_qs(urlsplit(in_sql.get_attribute("href") or "").query)["sql"][0]

    assert statement() == finding["evidence_queries"][1]["sql"]
    view.open(f"{site.url}/o/{org.slug}/incidents/{incident['id']}")
    expect(view.table("Evidence").get_by_role("link").first).to_be_visible()
    named = incident["evidence"]["event_ids"]
    assert view.events("Evidence") == named == finding["evidence"]["event_ids"]
    assert named
    expect(in_sql).to_be_visible()
    assert statement() == finding["evidence_queries"][1]["sql"]


def test_board_and_navigation_show_a_new_incident(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    page = visit(person, f"/o/{org.slug}/sessions")
    page.clock.install()
    page.goto(f"/o/{org.slug}/incidents")
    expect(page.get_by_role("heading", name="No incidents yet")).to_be_visible()
    counted = page.get_by_role("navigation", name="Main").get_by_role("img", name="1 open")
    body = json.dumps({"title": "Bookings are lost", "summary": "all of them"}).encode()
    status, _ = api.request("POST", "/alerts/incidents", body, Content_Type="application/json")
    assert status == 201
    page.clock.fast_forward("00:31")
    expect(page.get_by_role("region", name="Firing")).to_contain_text("Bookings are lost")
    expect(page.get_by_role("status").filter(has_text="1 open incident")).to_be_visible()
    expect(counted).to_be_visible()
    # Also where only one of the two has looked.
    page.route("**/v1/alerts/incidents/count", lambda route: route.fulfill(json={"count": 2}))
    status, _ = api.request("POST", "/alerts/incidents", body, Content_Type="application/json")
    assert status == 201
    page.clock.fast_forward("00:31")
    expect(page.get_by_role("status").filter(has_text="2 open incidents")).to_be_visible()
