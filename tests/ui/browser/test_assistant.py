"""The assistant beside the pages, with a model that is scripted."""

import json
import re
import threading

from playwright.sync_api import Page, expect

from tests.flows.api import Api
from tests.support import chat
from tests.support.evaluator import Evaluator, Exchange, reply
from tests.ui.browser.conftest import NARROW, Opened
from tests.ui.browser.site import Site, newcomer

SQL = "SELECT count() AS n FROM agent_sessions"


def ask(page: Page, question: str) -> None:
    field = page.get_by_role("textbox", name="Question")
    field.fill(question)
    field.press("Enter")


def test_a_question_is_answered_beside_the_page(
    visit: Opened, site: Site, model: Evaluator
) -> None:
    own = f"/o/{site.org.slug}/sessions/s-001"
    model.script = [
        chat.calling(("run_sql", {"sql": SQL}), ("list_sessions", {"limit": 1})),
        chat.saying(
            f"Look at [s-001]({own}), not [here](https://evil.example/?d=1). **9731** failed."
            " <img src=x onerror=alert(1)>"
        ),
    ]
    page = visit("admin", "sessions?environment=production")
    expect(page.get_by_role("row").nth(3)).to_be_visible()
    page.keyboard.press("Control+j")
    rail = page.get_by_role("complementary", name="Assistant")
    ask(page, "What failed?")
    log = rail.get_by_role("log", name="Conversation")
    expect(log.get_by_text("(unverified)")).to_be_visible()
    expect(log.get_by_role("img")).to_have_count(0)
    expect(log.get_by_role("link")).to_have_count(1)
    expect(log.get_by_text("<img src=x")).to_be_visible()
    # The model knows the page, and a person can run the statement again.
    asked = json.loads(model.requests[-2].body)["messages"]
    assert "environment=production" in asked[-2]["content"]
    log.get_by_text("run_sql").click()
    expect(log.get_by_text(SQL)).to_be_visible()
    expect(log.get_by_role("link", name="Run again")).to_be_visible()
    log.get_by_role("link", name="s-001").click()
    expect(page.get_by_role("heading", level=1, name="s-001")).to_be_visible()
    # The rail stays while the page changes, and its conversation is kept on the server.
    expect(log.get_by_text("What failed?")).to_be_visible()
    rail.get_by_role("button", name="New conversation").click()
    expect(log.get_by_text("What failed?")).to_have_count(0)
    expect(rail.get_by_role("list", name="Suggestions").get_by_role("button")).to_have_count(3)
    rail.get_by_role("button", name="Conversations").click()
    page.get_by_role("menuitemradio", name="What failed?").click()
    expect(log.get_by_text("(unverified)")).to_be_visible()
    page.keyboard.press("Control+j")
    expect(rail).to_have_count(0)


def test_an_answer_is_stopped_and_asked_for_again(visit: Opened, model: Evaluator) -> None:
    ended = threading.Event()

    def talk(exchange: Exchange) -> None:
        chat.begin(exchange)
        for _ in range(600):
            if exchange.evaluator.stopping.wait(0.05) or ended.is_set():
                return
            chat.send(exchange, chat.text_chunk("on and on "))

    model.script = [talk, reply(500), chat.saying("At last.")]
    page = visit("standard", "events", viewport=NARROW)
    page.get_by_role("button", name="Assistant").click()
    ask(page, "Why?")
    expect(page.get_by_text("on and on").first).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Stopped.")).to_be_visible()
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("answered with status 500")).to_be_visible()
    page.get_by_role("button", name="Ask again").last.click()
    expect(page.get_by_text("At last.")).to_be_visible()
    ended.set()


def test_a_draft_is_stored_by_the_person_who_approves_it(
    visit: Opened, site: Site, model: Evaluator
) -> None:
    draft = {"name": "Sessions a day", "sql_text": SQL}
    model.script = [chat.calling(("draft_query", draft)), chat.saying("Here it is.")]
    page = visit("admin", "sql")
    page.get_by_role("button", name="Assistant").click()
    ask(page, "Draft a query.")
    shown = page.get_by_role("region", name="Draft: saved query")
    expect(shown.get_by_text("+ name: Sessions a day")).to_be_visible()
    assert "Sessions a day" not in json.dumps(site.call("GET", "/queries"))
    shown.get_by_role("button", name="Approve").click()
    expect(shown.get_by_text("Saved.")).to_be_visible()
    [stored] = [
        one for one in site.call("GET", "/queries")["queries"] if one["name"] == draft["name"]
    ]
    assert stored["sql_text"] == SQL
    site.call("DELETE", f"/queries/{stored['id']}")


def test_who_may_not_ask_sees_no_assistant(visit: Opened) -> None:
    page = visit("reader", "sessions")
    expect(page.get_by_role("row").nth(3)).to_be_visible()
    expect(page.get_by_role("button", name="Assistant")).to_have_count(0)
    page.keyboard.press("Control+j")
    expect(page.get_by_role("complementary", name="Assistant")).to_have_count(0)


def test_every_conversation_can_be_deleted(visit: Opened, site: Site) -> None:
    """Also one that is neither open nor among the newest. A refusal is shown."""
    org, person, _ = newcomer(site)
    own = Api(site.api.port, person.token)
    for index in range(60):
        body = json.dumps({"title": f"question {index:02}"}).encode()
        made = own.request("POST", "/agent/conversations", body, Content_Type="application/json")
        assert made[0] == 201, made
    page = visit(person, f"/o/{org.slug}/events", answers=500)
    page.get_by_role("button", name="Assistant").click()
    page.get_by_role("button", name="Conversations").click()
    page.get_by_role("menuitem", name="All conversations…").click()
    dialog = page.get_by_role("dialog", name="Conversations")
    dialog.get_by_role("button", name="Load more").click()
    oldest = dialog.get_by_role("row", name=re.compile("question 00"))
    question = page.get_by_role("dialog", name="Delete question 00?")
    page.route(
        "**/v1/agent/conversations/*",
        lambda route: route.fulfill(status=500, json={"error": "the store is away"}),
        times=1,
    )
    oldest.get_by_role("button", name="Delete").click()
    question.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The store is away")
    oldest.get_by_role("button", name="Delete").click()
    question.get_by_role("button", name="Delete").click()
    expect(oldest).to_have_count(0)
    expect(dialog.get_by_role("alert")).to_have_count(0)
    left = own.get("/agent/conversations", limit=1000)["conversations"]
    assert "question 00" not in {one["title"] for one in left}
