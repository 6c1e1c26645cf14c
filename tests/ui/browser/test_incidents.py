"""An incident as somebody sees it who may only read."""

import re

from playwright.sync_api import expect

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
