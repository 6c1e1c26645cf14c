"""An organization whose every text is hostile: each page shows texts, and nothing else."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.flows.api import Api
from tests.support.app import new_key
from tests.support.processes import wait_until
from tests.ui.browser.conftest import NARROW, WIDE, Opened
from tests.ui.browser.planted import SHORT_MARKUP, Planted, follow, settled
from tests.ui.browser.site import Site

# Returns what a page has made of texts: elements, links, characters and texts that nobody sees.
LOOK = Path(__file__).with_name("look.js").read_text()
SOUND = {"executed": False, "elements": [], "links": [], "hidden": [], "lost": [], "wide": []}

# These show nothing that people have written.
OWN_TEXTS = {"sql", "alerts/new", "sources?view=otel", "deletions", "usage", "start"}


def require_texts_only(page: Page, *, narrow: bool = False) -> None:
    """Fails unless the page shows texts as texts, and still answers."""
    assert page.evaluate(LOOK) == SOUND, page.url
    if narrow:
        page.set_viewport_size(NARROW)
        assert page.evaluate(LOOK) == SOUND, page.url
        page.set_viewport_size(WIDE)


@pytest.fixture
def opened(visit: Opened, rival: Planted) -> Callable[[str], Page]:
    """Opens a page of the organization as its administrator."""
    return lambda path: visit(rival.people["admin"], f"/o/{rival.org.slug}/{path}")


def pages_of(rival: Planted) -> Iterator[str]:
    """Yields the path of each page and view that shows the organization's texts."""
    ids = rival.pages
    session = quote(ids["session"], safe="")
    yield from (
        f"sessions/{session}?view={view}"
        for view in ("waterfall", "transcript", "evaluations", "table")
    )
    yield from (
        "sessions?live=0&cols=user,version,tags,attr.constructor",
        f"compare?a={session}&b={session}",
        "events?live=0",
    )
    yield from ("errors?t=all", "errors?t=all&by=tool_name", "errors?t=all&by=agent_id")
    yield from ("latency?t=all", "evaluations?t=all", "costs", "prices", "sql")
    yield from (f"sql/{ids['query']}", "dashboards")
    yield from (f"dashboards/{ids['dashboard']}", "alerts", "alerts/new", f"alerts/{ids['alert']}")
    yield from ("incidents", f"incidents/{ids['incident']}", f"incidents/{ids['rule_incident']}")
    yield from (f"incidents/{ids['sql_incident']}", "audits", f"audits/{ids['audit']}")
    yield from ("findings", f"findings/{ids['finding']}", "keys", "members", "permission-sets")
    yield from ("settings", "model-windows", "audit-log", "usage", "start")
    yield from ("sources?t=all", "sources?view=otel", "sources?view=skipped", "deletions")


def test_every_page_shows_texts(opened: Callable[[str], Page], rival: Planted) -> None:
    page = opened("sessions?live=0")
    for path in pages_of(rival):
        follow(page, f"/o/{rival.org.slug}/{path}")
        settled(page)
        if path not in OWN_TEXTS:
            expect(page.locator("main")).to_contain_text(rival.mark)
        require_texts_only(page, narrow=True)
        assert rival.mark in page.title()


def test_every_payload_is_shown_as_text(opened: Callable[[str], Page], rival: Planted) -> None:
    session = quote(rival.pages["session"], safe="")
    page = opened(f"sessions/{session}?view=table")
    events = page.get_by_role("table", name="Events", exact=True)
    expect(events.get_by_role("row")).to_have_count(23)
    rows = rival.api.get("/events/summary", session_id=rival.pages["session"], limit=50)["events"]
    ids = [str(row["id"]) for row in reversed(rows)]
    assert len(ids) == 22
    panel = page.get_by_role("complementary", name="Event")
    # One of each kind of text, and those that are long, deep, wide or oddly named.
    for event in (ids[1], *ids[12:-2]):
        follow(page, f"/o/{rival.org.slug}/sessions/{session}?view=table&e={event}")
        expect(panel.get_by_text(event, exact=True)).to_be_visible()
        for tab in ("Raw", "Pair", "Payload"):
            panel.get_by_role("tab", name=tab).click()
            expect(panel.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
            if tab != "Pair":
                expect(panel.get_by_role("tabpanel")).not_to_be_empty()
            require_texts_only(page)
    panel.get_by_role("button", name="Copy payload").click()
    assert SHORT_MARKUP in page.evaluate("navigator.clipboard.readText()")


# Each of these would run, or load from elsewhere, if it were more than text.
MARKDOWN = """# <script>executed=1</script> heading

[click](javascript:executed=1) [JAVASCRIPT](JaVaScRiPt:executed=1)
[data](data:text/html,<script>x</script>)
![picture](https://evil.example/x.png) ![inline](data:image/svg+xml,<svg onload=executed=1>)
<img src=https://evil.example/y.png onerror=executed=1><iframe src=javascript:executed=1></iframe>
<https://evil.example/auto> [ref]

[ref]: javascript:executed=1

| <b onclick=executed=1>a</b> | [![nested](https://evil.example/z.png)](javascript:executed=1) |
|---|---|
| **[bold](javascript:executed=1)** | `</code><script>executed=1</script>` |

1. *[in a list](javascript:executed=1)*
2. **`<svg onload=executed=1>`** [out](https://example.com/ok)

```html
<script>executed=1</script></pre><img src=x onerror=executed=1>
```
"""


def test_hostile_markdown_is_formatted_text(visit: Opened, site: Site, rival: Planted) -> None:
    """In all turns that are formatted: nothing runs, and nothing is loaded from elsewhere."""
    api = Api(site.api.port, new_key(site.runtime, rival.org)["Authorization"].split(" ")[1])
    steps: list[dict[str, object]] = [
        {"type": "agent_start", "goal": MARKDOWN},
        {"type": "human_input", "input_id": "i", "response": MARKDOWN},
        {
            "type": "model_request",
            "model": "m",
            "messages": [
                {"role": "user", "content": MARKDOWN},
                {"role": "assistant", "content": MARKDOWN},
            ],
        },
        {"type": "model_response", "model": "m", "content": MARKDOWN},
        {"type": "tool_use", "tool_name": "t", "tool_call_id": "c", "input": MARKDOWN},
        {"type": "tool_result", "tool_name": "t", "tool_call_id": "c", "output": MARKDOWN},
    ]
    envelope = {"session_id": "markdown", "agent_id": "a", "environment": "e"}
    begun = datetime.now(UTC) - timedelta(minutes=5)
    moments = [(begun + timedelta(seconds=index)).isoformat() for index in range(len(steps))]
    api.deliver(
        [
            json.dumps({**envelope, "timestamp": at, **step}).encode()
            for at, step in zip(moments, steps, strict=True)
        ]
    )
    wait_until(
        lambda: any(
            row["event_count"] == len(steps) for row in api.rows("sessions", session_id="markdown")
        )
    )
    page = visit(rival.people["admin"], f"/o/{rival.org.slug}/sessions/markdown?view=transcript")
    # A request has one from the person and one from the assistant.
    for name, texts in (("Goal", 1), ("Person", 1), ("Request", 2), ("Assistant", 1)):
        turn = page.get_by_role("article", name=name)
        more = turn.get_by_role("button", name=re.compile("^Show all"))
        # Each is cut after some lines.
        expect(more).to_have_count(texts)
        for _ in range(texts):
            more.first.click()
        expect(turn.get_by_role("table")).to_contain_text(["bold"] * texts)
        expect(turn.get_by_role("listitem")).to_have_count(2 * texts)
        link = turn.get_by_role("link", name="https://example.com/ok")
        expect(link).to_have_count(texts)
        expect(turn).to_contain_text("![picture](https://evil.example/x.png)")
        for text in turn.get_by_text("[click](javascript:executed=1)").all():
            text.click()
    require_texts_only(page, narrow=True)


# A page, and a button there that opens a dialog.
DIALOGS = (
    ("keys", "Edit permissions"),
    ("keys", "Disable"),
    ("members", "Edit"),
    ("permission-sets", "Edit"),
    ("permission-sets", "Delete"),
    ("dashboards", "Delete"),
    ("model-windows", "Edit"),
    ("prices", "Edit"),
    ("costs", "Set a price"),
    ("incidents", "Open incident"),
)


def test_dialogs_and_choices_show_texts(opened: Callable[[str], Page], rival: Planted) -> None:
    page = opened("events?live=0")
    for name in ("Environment", "Type", "Agent", "Tool", "Model", "Hook", "Trigger", "Error type"):
        field = page.get_by_role("search", name="Filters").get_by_role(
            "combobox", name=name, exact=True
        )
        field.click()
        choice = page.get_by_role("option").filter(has_text=rival.mark).first
        expect(choice).to_be_visible()
        require_texts_only(page)
        choice.click()
        field.press("Escape")
    expect(page.get_by_role("button", name=f"Remove Tool: {rival.mark}")).to_be_visible()
    require_texts_only(page)
    for path, button in DIALOGS:
        follow(page, f"/o/{rival.org.slug}/{path}")
        settled(page)
        page.get_by_role("button", name=button, exact=True).last.click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        require_texts_only(page)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
