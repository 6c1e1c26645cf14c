"""Evaluations: figures and drawings of scores, the lowest ones, and what waits."""

import re

from playwright.sync_api import expect

from tests.flows.api import eventually
from tests.support.jobs import insert_job
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Site


def test_scores_are_shown_with_their_reasons(visit: Opened, site: Site) -> None:
    eventually(60, "a result", lambda: len(list(site.api.rows("evaluations"))) >= 10)
    with site.runtime.postgres.transaction() as session:
        insert_job(session, site.org, "waits-until-tomorrow", agent_id="desk")
    page = visit("admin", "evaluations?agent_id=support")
    terms = page.get_by_role("term")
    expect(terms).to_have_text(["Evaluations", "task_success"])
    expect(page.get_by_role("definition").last).to_contain_text("1.00")
    expect(page.get_by_role("figure", name="Scores over time")).to_be_visible()
    distribution = page.get_by_role("figure", name="Distribution of task_success")
    expect(distribution.get_by_role("row", include_hidden=True)).to_have_count(21)
    lowest = page.get_by_role("table", name="Lowest scores")
    heads = ["Session", "task_success", "Reasoning", "Agent", "Environment", "Completed"]
    expect(lowest.get_by_role("columnheader")).to_have_text(heads)
    jobs = page.get_by_role("table", name="Evaluation jobs")
    waiting = jobs.get_by_role("row", name=re.compile("waits-until-tomorrow"))
    expect(waiting).to_contain_text("pending")
    expect(waiting).to_contain_text("manual")
    result = lowest.get_by_role("link").first
    expect(result).to_have_attribute("href", re.compile(r"/sessions/s-\d+\?view=evaluations$"))
    result.click()
    expect(page.get_by_role("tab", name="Evaluations")).to_have_attribute("aria-selected", "true")


def test_without_scores_there_is_a_way_out(visit: Opened) -> None:
    page = visit("admin", "evaluations?environment=nowhere&t=15m")
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", name="No evaluations match")).to_be_visible()
    expect(page.get_by_role("table", name="Lowest scores")).to_have_count(0)
    main.get_by_role("button", name="Clear filters").last.click()
    expect(page.get_by_role("button", name=re.compile("^Remove Environment"))).to_have_count(0)
