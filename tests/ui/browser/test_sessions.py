"""The list of sessions: its rows, filters, range, keys, and what is new."""

import json
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support.jobs import insert_job
from tests.support.processes import wait_until
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site, newcomer, session

# A cell without a value.
NONE = re.compile("^.$")


def query(page: Page) -> dict[str, list[str]]:
    """Returns the state that the URL holds."""
    return parse_qs(urlsplit(page.url).query)


def rows(page: Page) -> int:
    return page.get_by_role("table", name="Sessions").get_by_role("row").count() - 1


def shown(site: Site, **filters: str) -> str:
    """Returns what the list says of its sessions. Other tests add some."""
    return f"{len(list(site.api.rows('sessions', **filters)))} sessions shown"


@pytest.fixture(scope="module")
def evaluated(site: Site) -> None:
    """Waits for the scores of the sessions."""
    wait_until(
        lambda: all(
            row["latest_evaluation"] for row in site.api.rows("sessions", session_id="s-005,s-059")
        )
    )


def test_rows_say_what_the_api_says(visit: Opened, site: Site, evaluated: None) -> None:
    page = visit("admin", "sessions?live=0")
    table = page.get_by_role("table", name="Sessions")
    heads = table.get_by_role("columnheader")
    names = ["Session", "Agents", "Environment", "User", "Started", "Last event"]
    names += ["Duration", "Events", "Errors"]
    expect(heads).to_have_text([*names, "Tokens", "Cost", re.compile("."), "State"])
    row = table.get_by_role("row", name=re.compile("s-005"))
    expect(row.get_by_role("cell")).to_have_text(
        [
            "s-005", "support", "production", NONE, *[re.compile(r"\d\d \w{3} \d\d:\d\d:\d\d")] * 2,
            "5.0 s", "6", "1", "1.3k", NONE, "1.00", "Ended",
        ]
    )  # fmt: skip
    moment = row.get_by_role("cell").nth(4).locator("time")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", moment.get_attribute("datetime") or "")
    expect(page.get_by_role("status").filter(has_text="sessions shown")).to_have_text(
        "50 sessions shown, more below"
    )
    # A click would scroll there first, and then the button presses itself.
    page.get_by_role("button", name="Load more").dispatch_event("click")
    expect(page.get_by_text(shown(site))).to_be_visible()
    assert page.title().startswith("Sessions · ")


def test_filters_are_steps_of_the_history(visit: Opened, site: Site) -> None:
    staging = shown(site, environment="staging")
    billing = shown(site, environment="staging", agent_id="billing")
    page = visit("admin", "sessions?live=0")
    filters = page.get_by_role("search", name="Filters")
    filters.get_by_role("combobox", name="Environment").click()
    page.get_by_role("option", name="staging").click()
    expect(page).to_have_url(re.compile(r"environment=staging"))
    expect(page.get_by_text(staging)).to_be_visible()
    agent = filters.get_by_role("combobox", name="Agent")
    agent.fill("billing")
    agent.press("Enter")
    expect(page.get_by_text(billing)).to_be_visible()
    page.go_back()
    expect(page.get_by_text(staging)).to_be_visible()
    page.reload()
    expect(page.get_by_text(staging)).to_be_visible()
    page.get_by_role("button", name="Remove Environment: staging").click()
    expect(page.get_by_text("50 sessions shown")).to_be_visible()
    session_box = filters.get_by_role("combobox", name="Session")
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("/")
    expect(session_box).to_be_focused()
    session_box.fill("nowhere")
    session_box.press("Enter")
    expect(page.get_by_role("heading", name="No sessions match")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="Clear filters").last.click()
    expect(page.get_by_text("50 sessions shown")).to_be_visible()


def test_the_oldest_come_first_on_request(visit: Opened) -> None:
    page = visit("admin", "sessions?agent_id=support")
    header = page.get_by_role("columnheader", name="Last event")
    expect(header).to_have_attribute("aria-sort", "descending")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    first = page.get_by_role("table", name="Sessions").get_by_role("link").first
    expect(first).to_have_text("s-059")
    expect(page.get_by_role("checkbox", name="Live")).not_to_be_checked()
    assert query(page) == {"agent_id": ["support"], "order": ["asc"]}


def test_headers_sort_and_say_so(visit: Opened, site: Site, evaluated: None) -> None:
    """An event moves an old session to the top of the standard order, and of no other."""
    page = visit("admin", "sessions?live=0&agent_id=support")
    table = page.get_by_role("table", name="Sessions")
    first = table.get_by_role("link").first
    table.get_by_role("columnheader", name="Started").get_by_role("button").click()
    expect(table.locator("[aria-sort=descending]")).to_have_text("Started")
    expect(first).to_have_text(
        next(site.api.rows("sessions", sort="started_at", agent_id="support"))["session_id"]
    )
    expect(page.get_by_role("button", name="Time range: Last 30 days")).to_be_visible()
    for name, sort in (("Tokens", "tokens"), ("Cost", "cost_usd")):
        table.get_by_role("columnheader", name=name).get_by_role("button").click()
        expect(table.locator("[aria-sort=descending]")).to_have_text(name)
        assert query(page)["sort"] == [sort]
    score = table.get_by_role("columnheader").filter(
        has=page.get_by_role("button", name="Score: task_success")
    )
    score.get_by_role("button").click()
    page.get_by_role("menuitemradio", name="Sort by lowest").click()
    expect(score).to_have_attribute("aria-sort", "ascending")
    lowest = next(
        site.api.rows("sessions", sort="score:task_success", order="asc", agent_id="support")
    )
    expect(first).to_have_text(lowest["session_id"])
    assert query(page)["sort"] == ["score:task_success"]


def test_the_range_is_chosen_in_a_zone(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    page.get_by_role("button", name="Time range: All time Europe/Berlin").click()
    dialog = page.get_by_role("dialog", name="Time range")
    dialog.get_by_role("textbox", name="From").fill("2020-01-01 01:00:00")
    dialog.get_by_role("textbox", name="To").fill("2020-01-02 01:00:00")
    dialog.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name="No sessions match")).to_be_visible()
    assert query(page)["from"] == ["2020-01-01T00:00:00.000Z"]
    page.get_by_role("button", name="Go to the latest").click()
    expect(page.get_by_text("50 sessions shown")).to_be_visible()
    page.keyboard.press("t")
    zone = dialog.get_by_role("combobox", name="Time zone")
    zone.fill("Asia/Kathmandu")
    zone.press("Enter")
    dialog.get_by_role("radio", name="Last 24 hours").check()
    dialog.get_by_role("button", name="Apply").click()
    expect(
        page.get_by_role("button", name="Time range: Last 24 hours Asia/Kathmandu")
    ).to_be_visible()
    assert query(page) == {"live": ["0"], "t": ["24h"], "tz": ["Asia/Kathmandu"]}


def test_the_toolbar_copies_links_and_requests(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions?live=0&environment=staging")
    toolbar = page.get_by_role("toolbar", name="View")
    toolbar.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Copy link: copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{site.path()}?live=0&environment=staging&tz=Europe/Berlin"
    toolbar.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_role("status").filter(has_text="curl: copied")).to_be_visible()
    line = page.evaluate("navigator.clipboard.readText()")
    assert "$WATCHPOST_KEY" in line
    assert f"{site.url}/v1/sessions?environment=staging" in line
    assert "\n" not in line
    expect(toolbar.get_by_role("link", name="Open in SQL")).to_have_attribute(
        "href", re.compile(r"/sql\?of=/sessions%3Fenvironment%3Dstaging$")
    )


def noted_in(urls: list[str]) -> Callable[[Request], None]:
    """Returns a function that adds a request's address to the list."""

    def note(request: Request) -> None:
        urls.append(request.url)

    return note


def test_figures_are_of_the_listed_sessions_without_any_sql(
    visit: Opened, site: Site, evaluated: None
) -> None:
    """A reader may run no SQL, and a visit of somebody who may runs none."""
    listed = list(site.api.rows("sessions", agent_id="billing"))
    for role in ("reader", "admin"):
        page = visit(role, "about:blank")
        asked: list[str] = []
        page.on("request", noted_in(asked))
        page.goto(f"/o/{site.org.slug}/sessions?live=0&agent_id=billing&t=24h")
        figure = page.get_by_role("term").filter(has_text="Sessions").locator("xpath=..")
        events = sum(row["event_count"] for row in listed)
        expect(figure).to_contain_text(f"{len(listed)}{events} events")
        mean = page.get_by_role("term").filter(has_text="Mean task_success").locator("xpath=..")
        expect(mean).to_contain_text("scored")
        scored = int((mean.locator("small").inner_text()).split(" ")[0])
        assert scored <= len(listed)
        assert not [url for url in asked if "/queries/" in url]


def test_live_figures_follow_the_rows(visit: Opened, site: Site) -> None:
    site.send(*({**event, "agent_id": "livery"} for event in session(910)))
    page = visit("admin", "sessions?agent_id=livery")
    expect(page.get_by_role("link", name="s-910")).to_be_visible()
    figure = page.get_by_role("term").filter(has_text="Sessions").locator("xpath=..")
    expect(figure).to_contain_text("1")
    site.send(*({**event, "agent_id": "livery"} for event in session(911)))
    expect(page.get_by_role("link", name="s-911")).to_be_visible()
    expect(figure.get_by_role("definition")).to_have_text(re.compile("^2"))


def test_a_reader_is_not_offered_sql(visit: Opened) -> None:
    page = visit("reader", "sessions?live=0")
    expect(page.get_by_role("toolbar", name="View")).to_be_visible()
    expect(page.get_by_role("link", name="Open in SQL")).to_have_count(0)


def test_keys_move_and_open_rows(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    first = page.get_by_role("table", name="Sessions").get_by_role("link").first
    expect(first).to_be_visible()
    page.keyboard.press("j")
    expect(first).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(first).to_be_focused()
    name = first.inner_text()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/sessions/{name}"))
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Command palette")
    palette.get_by_role("combobox").fill("laten")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Latency")


def test_a_job_is_the_reason_for_no_score_among_many_jobs(visit: Opened, site: Site) -> None:
    org, person, api = newcomer(site)
    [*events, _end] = session(0)
    api.deliver([json.dumps(event).encode() for event in events])
    wait_until(lambda: any(api.rows("sessions")))
    with site.runtime.postgres.transaction() as transaction:
        for index in range(300):
            insert_job(transaction, org, "s-000" if index == 150 else f"other-{index}")
    page = visit(person, f"/o/{org.slug}/sessions?live=0")
    expect(page.get_by_role("row", name=re.compile("s-000"))).to_contain_text("queued")


def test_two_sessions_can_be_compared(visit: Opened) -> None:
    page = visit("admin", "sessions?live=0")
    page.get_by_role("checkbox", name="Select s-001").check()
    expect(page.get_by_role("link", name="Compare")).to_have_count(0)
    page.get_by_role("checkbox", name="Select s-002").check()
    expect(page.get_by_role("link", name="Compare")).to_have_attribute(
        "href", re.compile(r"/compare\?a=s-001&b=s-002$")
    )


def test_what_is_new_waits_while_a_row_has_the_focus(visit: Opened, site: Site) -> None:
    page = visit("admin", "sessions?agent_id=newcomer")
    expect(page.get_by_role("heading", name="No sessions match")).to_be_visible()
    site.send(*({**event, "agent_id": "newcomer"} for event in session(900)))
    row = page.get_by_role("link", name="s-900")
    expect(row).to_be_visible()
    row.focus()
    site.send(*({**event, "agent_id": "newcomer"} for event in session(901)))
    button = page.get_by_role("button", name="1 new")
    expect(button).to_be_visible()
    assert rows(page) == 1
    button.click()
    expect(page.get_by_role("link", name="s-901")).to_be_visible()


@pytest.mark.parametrize("role", ["admin", "reader"])
def test_a_phone_shows_two_lines_a_row(visit: Opened, role: str) -> None:
    page = visit(role, "sessions?live=0", viewport=NARROW)
    table = page.get_by_role("table", name="Sessions")
    first = table.get_by_role("row").nth(1)
    expect(first.get_by_role("cell")).to_have_count(4)
    box = first.bounding_box()
    assert box is not None
    assert 50 <= box["height"] <= 70
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == NARROW["width"]
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Events").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Events")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Sessions").click()
    page.get_by_role("button", name="Filters").click()
    dialog = page.get_by_role("dialog", name="Filters")
    expect(dialog.get_by_role("combobox", name="Environment")).to_be_visible()


def test_the_outcome_stands_beside_the_state(visit: Opened, site: Site) -> None:
    for index, outcome in enumerate(("failed", "success", "handed over", None)):
        events = [{**event, "agent_id": "ender"} for event in session(930 + index)]
        events[-1]["outcome"] = outcome
        site.send(*events)
    page = visit("admin", "sessions?live=0&agent_id=ender")
    table = page.get_by_role("table", name="Sessions")
    states = [
        table.get_by_role("row", name=re.compile(f"s-93{index}")).get_by_role("cell").last
        for index in range(4)
    ]
    for state, outcome in zip(states, ("failed", "success", "handed over"), strict=False):
        expect(state).to_have_text("Ended")
        expect(state.get_by_role("img", name=outcome)).to_be_visible()
        assert state.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), "it is cut"
    expect(states[0].get_by_title("Outcome: failed")).to_have_css("color", red_of(page))
    expect(states[1].get_by_title("Outcome: success")).not_to_have_css("color", red_of(page))
    expect(states[3].get_by_role("img")).to_have_count(0)
    # The page of a session says it in words.
    for index, words in enumerate(("Failed", "Success", "handed over")):
        page.goto(f"/o/{site.org.slug}/sessions/s-93{index}")
        expect(page.get_by_text("Ended", exact=True)).to_be_visible()
        expect(page.get_by_title(f"Outcome: {words}", exact=True)).to_have_text(words)
    page.goto(f"/o/{site.org.slug}/sessions/s-933")
    expect(page.get_by_text("Ended", exact=True)).to_be_visible()
    expect(page.get_by_title("Outcome:")).to_have_count(0)


def red_of(page: Page) -> str:
    """Returns the colour of failures, as the failed events of the first row have it."""
    failures = page.get_by_role("table", name="Sessions").locator("span.err").first
    return str(failures.evaluate("element => getComputedStyle(element).color"))


def test_ids_that_differ_read_differently(visit: Opened, site: Site) -> None:
    """As those of one minute do, which begin alike, and those that end alike."""
    ids = [
        "019a1b2c-3d4e-7f50-8a61-0123456789ab",
        "019a1b2c-3d4e-7f50-8a61-0123456789ac",
        "019b77c0-3d4e-7f50-8a61-0123456789ab",
    ]
    for name in ids:
        site.send(*({**event, "session_id": name, "agent_id": "uuid"} for event in session(940)))
    page = visit("admin", "sessions?live=0&agent_id=uuid")
    links = page.get_by_role("table", name="Sessions").get_by_role("link")
    expect(links).to_have_count(3)
    page.get_by_role("heading", level=1).hover()
    cells = page.get_by_role("table", name="Sessions").locator("td", has=page.get_by_role("link"))
    # The text alone: lines between rows differ too.
    drawn = set()
    for cell in cells.all():
        box = cell.bounding_box()
        assert box is not None
        clip = {
            "x": box["x"],
            "y": box["y"] + 4,
            "width": box["width"],
            "height": box["height"] - 8,
        }
        drawn.add(page.screenshot(clip=clip))  # type: ignore[arg-type]
    assert len(drawn) == 3


def test_a_session_of_dots_has_a_page(visit: Opened, site: Site) -> None:
    site.send(*({**event, "session_id": "..", "agent_id": "dots"} for event in session(920)))
    page = visit("admin", "sessions?agent_id=dots")
    page.get_by_role("table", name="Sessions").get_by_role("link", name="..").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("..")
    page.reload()
    expect(page.get_by_role("treegrid")).to_be_visible()
