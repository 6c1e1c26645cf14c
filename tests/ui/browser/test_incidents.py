"""An incident as somebody sees it who may only read."""

import re

from playwright.sync_api import Route, expect

from tests.support.processes import wait_until
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site

DESCRIPTION = "Call the airline, then https://runbooks.example/lookups."


def test_a_reader_sees_what_breached_and_what_to_do(visit: Opened, site: Site) -> None:
    alert = site.call(
        "POST",
        "/alerts",
        {
            "name": "Many lookups fail",
            "description": DESCRIPTION,
            "trigger_kind": "metric_threshold",
            "trigger_spec": {
                "metric": "error_rate",
                "op": ">",
                "value": 0.125,
                "window_secs": 86_400,
                "filter": {"event_type": "tool_result"},
            },
            "channels": [{"kind": "dashboard"}],
        },
    )
    wait_until(lambda: site.api.get(f"/alerts/{alert['id']}/incidents"), 60)
    [incident] = site.api.get(f"/alerts/{alert['id']}/incidents")
    failed = int(incident["evidence"]["counts"]["errors"])
    assert failed > 10
    page = visit("reader", f"incidents/{incident['id']}")
    breached = page.get_by_role("region", name="What breached")
    expect(breached.get_by_role("heading")).to_have_text(
        re.compile(r"^error_rate was \d+\.\d % over .* \(> 12\.5 %\)$")
    )
    expect(breached).to_contain_text(f"What to do: {DESCRIPTION}")
    figure = breached.get_by_role("figure", name="Value of the rule")
    expect(figure).to_be_visible()
    expect(figure.get_by_role("row", include_hidden=True).last).to_contain_text("%")
    expect(page.get_by_role("button", name="Resolve")).to_have_count(0)
    evidence = page.get_by_role("region", name="Evidence")
    expect(evidence.get_by_role("table").get_by_role("link")).to_have_count(10)
    expect(evidence).to_contain_text(f"10 of {failed} shown")
    evidence.get_by_role("table").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/sessions/s-\d+\?e=\d+$"))
    expect(page.get_by_role("row", selected=True)).to_be_in_viewport()
    status, answer = site.api.request("DELETE", f"/alerts/{alert['id']}")
    assert status == 204, answer


SPENT = {
    "metric": "spent_usd",
    "value": 41.2,
    "op": ">=",
    "bound": 50,
    "window": {"from": "2026-11-01T00:00:00Z", "to": "2026-12-01T00:00:00Z"},
    "filter": {"agent_id": "support"},
    "counts": {"calls": 210, "unpriced_calls": 2},
    "period": "month",
    "level": 80,
    "levels": [50, 80, 100],
    "share": 0.824,
    "forecast_usd": 61.8,
    "groups_more": 3,
}


def test_an_incident_of_a_budget_shows_its_levels(visit: Opened, site: Site) -> None:
    body = {"title": "Research", "summary": "spent", "severity": "info"}
    found = site.call("POST", "/alerts/incidents", body)
    of_budget = {"alert_id": found["id"], "group": {"user_id": "zoe"}, "level": 80}
    points = [
        {"ts": f"2026-11-20T0{hour}:00:00Z", "value": 36 + hour, "breach": None} for hour in (1, 2)
    ]
    span = {"from": points[0]["ts"], "to": points[1]["ts"], "step_secs": 3600}
    values = {"bounds": span, "op": ">=", "bound": 50, "points": points, "incidents": []}

    def fulfil(route: Route) -> None:
        incident = route.fetch().json()
        route.fulfill(json={**incident, **of_budget, "evidence": SPENT})

    page = visit("reader", "incidents")
    path = f"**/alerts/incidents/{found['id']}"
    page.route(path, fulfil)
    page.route(
        f"{path}/values",
        lambda route: route.fulfill(
            json={**values, "groups": None, "replayed": True, "reason": None}
        ),
    )
    page.get_by_role("link", name="Research", exact=True).click()
    figure = page.get_by_role("figure", name="Spending")
    for label in ("$50.00", "80 %", "50 %"):
        expect(figure.locator("svg").get_by_text(label, exact=True).last).to_be_visible()
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text(re.compile(r"user zoe.*80 %"))
    evidence = page.get_by_role("region", name="Evidence")
    for text in ("≥ $41.20 of $50.00, 82.4 %", "$61.80", "3 more groups breached"):
        expect(evidence).to_contain_text(text)
    expect(evidence.get_by_role("link", name="Open in Events")).to_have_attribute(
        "href", re.compile(r"agent_id=support&user_id=zoe&from=2026-11-01")
    )
    site.call("POST", f"/alerts/incidents/{found['id']}/resolve", {})
