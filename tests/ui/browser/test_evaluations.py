"""Evaluations: figures and drawings of scores, the lowest ones, and what waits."""

import re

from playwright.sync_api import expect

from shared.foundation.core.clock import now_us
from shared.reading.evaluations import store
from tests.flows.api import eventually
from tests.support.evaluations import evaluation
from tests.support.jobs import insert_job
from tests.support.people import add_member, new_email, signed_in
from tests.ui.browser.conftest import Opened
from tests.ui.browser.site import Person, Site


def test_scores_are_shown_with_their_reasons(visit: Opened, site: Site) -> None:
    eventually(60, "a result", lambda: len(list(site.api.rows("evaluations"))) >= 10)
    with site.runtime.postgres.transaction() as session:
        insert_job(session, site.org, "waits-until-tomorrow", agent_id="desk")
    page = visit("admin", "evaluations?agent_id=support")
    terms = page.get_by_role("term")
    expect(terms).to_have_text(["Evaluations", "task_success"])
    expect(page.get_by_role("definition").last).to_contain_text("1.00")
    expect(page.get_by_role("figure", name="Scores over time")).to_be_visible()
    # All of them are 1.00: the header and one bin.
    distribution = page.get_by_role("figure", name="Distribution of task_success")
    expect(distribution.get_by_role("row", include_hidden=True)).to_have_count(2)
    lowest = page.get_by_role("table", name="Lowest scores")
    heads = ["Session", "task_success", "Reasoning", "Agent", "Environment", "Completed"]
    expect(lowest.get_by_role("columnheader")).to_have_text(heads)
    page.get_by_role("tab", name="Evaluation jobs").click()
    jobs = page.get_by_role("table", name="Evaluation jobs")
    waiting = jobs.get_by_role("row", name=re.compile("waits-until-tomorrow"))
    expect(waiting).to_contain_text("pending")
    expect(waiting).to_contain_text("manual")
    page.get_by_role("tab", name="Lowest scores").click()
    result = lowest.get_by_role("link").first
    expect(result).to_have_attribute("href", re.compile(r"/sessions/s-\d+\?view=evaluations$"))
    result.click()
    expect(page.get_by_role("tab", name="Evaluations")).to_have_attribute("aria-selected", "true")


def test_failed_results_are_listed_with_session_and_error(visit: Opened, site: Site) -> None:
    """The number of failures leads to the list; all of it can be evaluated again."""
    failed = evaluation(
        str(site.org.uuid), "went-wrong", now_us(), agent_id="broken", scores=None,
        status="error", error="the evaluator answered 401: wrong token",
    )  # fmt: skip
    store.insert(site.runtime.clickhouse, [failed])
    page = visit("admin", "evaluations?agent_id=broken&time=completion")
    page.get_by_role("link", name="1 failed").click()
    row = page.get_by_role("table", name="Results", exact=True).get_by_role("row").nth(1)
    expect(row).to_contain_text("401: wrong token")
    href = re.compile(r"/sessions/went-wrong\?view=evaluations$")
    expect(row.get_by_role("link")).to_have_attribute("href", href)
    page.get_by_role("button", name="Evaluate again…").click()
    dialog = page.get_by_role("dialog", name="Evaluate 1 session again?")
    dialog.get_by_role("button", name="Evaluate again").click()
    expect(page.get_by_role("status").filter(has_text="1 evaluation queued")).to_be_visible()


def test_results_count_at_the_time_of_their_sessions(visit: Opened) -> None:
    page = visit("admin", "evaluations?agent_id=support")
    heading = page.get_by_role("heading", name="Scores over time")
    expect(heading).to_contain_text("by the session's last event")
    page.get_by_role("checkbox", name="By completion").check()
    expect(heading).to_contain_text("by completion")
    expect(page).to_have_url(re.compile("time=completion"))


def test_agents_are_offered_to_those_who_read_evaluations_only(visit: Opened, site: Site) -> None:
    email = new_email()
    user_id = add_member(site.runtime, site.org, "evaluations:read", email=email)
    token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
    page = visit(Person(email, token), "evaluations")
    page.get_by_role("combobox", name="Agent", exact=True).click()
    page.get_by_role("option", name="billing").click()
    expect(page.get_by_role("button", name="Remove Agent: billing")).to_be_visible()
    expect(page.get_by_role("figure", name="Scores over time")).to_be_visible()


def test_without_scores_there_is_a_way_out(visit: Opened) -> None:
    page = visit("admin", "evaluations?environment=nowhere&t=15m")
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", name="No evaluations match")).to_be_visible()
    expect(page.get_by_role("table", name="Lowest scores")).to_have_count(0)
    main.get_by_role("button", name="Clear filters").last.click()
    expect(page.get_by_role("button", name=re.compile("^Remove Environment"))).to_have_count(0)
