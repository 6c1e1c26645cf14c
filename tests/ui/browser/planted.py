"""Organizations with one of everything, whose texts all carry the organization's mark."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page, expect
from sqlalchemy import text

from shared.access.permissions import ADMIN_SET, READ_ONLY_SET
from shared.foundation.core.clock import format_ts
from shared.watch.alerts.opening import measured
from shared.watch.incidents.opening import Breach
from tests.flows.api import Api
from tests.support.app import new_key
from tests.support.evaluator import Exchange, reply, scored
from tests.support.findings import Audited, candidate
from tests.support.incidents import add_alert, breach
from tests.support.people import add_member, signed_in
from tests.support.processes import wait_until
from tests.support.runtime import Org, make_org
from tests.ui.browser.site import Person, Site

# Each of these would run, if it ran at all: `executed` is then a property of the window.
MARKUP = (
    '<img src=x onerror="executed=1"><script>executed=1</script>'
    "{{7*7}}</title><svg onload=executed=1>"
)
SHORT_MARKUP = "<img src=x onerror=executed=1>"
# Reorders, hides, says something to models only, and moves a terminal's cursor.
HIDDEN = "\u202egnp.exe\u200b\u2066\U000e0041\U000e0042"
CONTROL = "\0\x07\x1b[2J\x7f"
LINKS = "javascript:executed=1 data:text/html,<script>executed=1</script> https://example.com/a?b=1"
# A spreadsheet runs it, and so does a shell.
FORMULA = '=HYPERLINK("https://example.com")\'; touch /tmp/executed; `reboot` $(reboot)'

HOSTILE, PLAIN = "rival-7f3a", "ours-51c0"
PERMISSION_SETS = {"admin": ADMIN_SET, "standard": "standard", "reader": READ_ONLY_SET}

# The text of a field, of at most so many characters; free texts may hold any character.
Word = Callable[..., str]


@dataclass(frozen=True)
class Planted:
    """An organization, its members by role, and the paths of its pages below the organization."""

    org: Org
    mark: str
    api: Api
    people: dict[str, Person]
    pages: dict[str, str]


def words_of(mark: str) -> Word:
    """Returns the texts of an organization: hostile ones for the mark `HOSTILE`."""

    def word(name: str, most: int = 200, *, free: bool = False) -> str:
        if mark != HOSTILE:
            return f"{mark} {name}"[:most]
        long = f"{mark} {name} {MARKUP}{HIDDEN + CONTROL if free else ''}"
        return long if len(long) <= most else f"{mark} {SHORT_MARKUP} {name}"[:most]

    return word


def judge(exchange: Exchange) -> None:
    """Answers as an evaluator, with hostile texts for hostile sessions."""
    if not str(exchange.received.session_id).startswith(HOSTILE):
        return scored()(exchange)
    word = words_of(HOSTILE)
    key = word("score", 100)
    reasons = {key: f"{word('reasoning', free=True)} {LINKS}", word("other key"): word("other")}
    answer = {"scores": {key: 0.25, "__proto__": 0.5}, "reasoning": reasons}
    return reply(200, {**answer, "summary": word("summary", free=True)})(exchange)


def plant(site: Site, mark: str) -> Planted:
    """Creates the organization and everything in it."""
    org, word = make_org(site.runtime), words_of(mark)
    with site.runtime.postgres.transaction() as session:
        renamed = {"name": word("organization"), "slug": org.slug}
        session.execute(text("UPDATE organizations SET name = :name WHERE slug = :slug"), renamed)
    people = {}
    for role, permission_set in PERMISSION_SETS.items():
        email = f"{role}-{mark}@example.com"
        user_id = add_member(site.runtime, org, permission_set=permission_set, email=email)
        token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
        people[role] = Person(email, token)
    secret = new_key(site.runtime, org)["Authorization"].removeprefix("Bearer ")
    api = Api(site.api.port, secret)
    session_id = word("session", 256).replace("\0", "") + (HIDDEN if mark == HOSTILE else "")
    api.deliver(_events(session_id, word, hostile=mark == HOSTILE))
    _send_a_bad_event(api, word)
    person = Api(site.api.port, people["admin"].token)
    pages = _resources(person, word) | {"finding": _finding(site, org, word, session_id)}
    pages |= _incidents_of_rules(site, org, word, session_id)
    wait_until(lambda: len(person.get("/evaluations")["evaluations"]) > 0, 30)
    return Planted(org, mark, person, people, {"session": session_id, **pages})


def _send_a_bad_event(api: Api, word: Word) -> None:
    """Sends an event without a session, which is skipped, as a sender with the mark in its name."""
    bad = {"type": word("bad event"), "agent_id": word("agent")}
    status, answer = api.request(
        "POST",
        "/events",
        json.dumps([bad]).encode(),
        Content_Type="application/json",
        User_Agent=word("sender", 100),
    )
    assert (status, json.loads(answer)["skipped"]) == (202, 1), answer


def _resources(api: Api, word: Word) -> dict[str, str]:
    """Creates what people configure; returns the ids."""
    alias = word("column").replace('"', "").replace("\\", "")
    query = _make(
        api,
        "/queries",
        {
            "name": word("query"),
            "description": word("description"),
            "sql_text": f'SELECT session_id, id, event_type AS "{alias}", payload, 1 AS n'
            " FROM events LIMIT 50",
        },
    )
    board = _make(api, "/dashboards", {"name": word("dashboard"), "description": word("about")})
    for chart_type in ("table", "bar", "pie", "kpi"):
        config = {"x": "session_id", "y": ["n"]}
        tile = {"query_id": query, "title": word(f"tile {chart_type}"), "chart_config": config}
        _make(api, f"/dashboards/{board}/tiles", {**tile, "chart_type": chart_type})
    spec = {"event_type": word("type", 64), "lookback_secs": 300}
    spec["message_contains"] = word("message")
    alert = _make(
        api,
        "/alerts",
        {
            "name": word("alert"),
            "description": word("why"),
            "trigger_kind": "per_event",
            "trigger_spec": spec,
            "channels": [{"kind": "dashboard"}],
        },
    )
    report = {"title": word("incident"), "summary": f"{word('told')} {LINKS}"}
    incident = _make(api, f"/alerts/{alert}/incidents", report)
    _make(api, f"/alerts/incidents/{incident}/comments", {"body": f"{word('comment')} {LINKS}"})
    audit = _make(
        api,
        "/audits",
        {
            "name": word("audit"),
            "description": word("reason"),
            "scope": {"environments": [word("environment", 64)], "agent_ids": [word("agent")]},
            "ignore_error_types": [word("ignored")],
        },
    )
    _make(
        api,
        "/keys",
        {"name": word("key", 100), "key": secrets.token_urlsafe(24), "permissions": ["events:add"]},
    )
    name = word("set", 60).replace("/", "")
    _make(
        api,
        "/permission-sets",
        {"name": name, "description": word("grants"), "permissions": ["events:read"]},
    )
    _put(api, "/settings/model-context-windows", model_id=word("model"), context_window=1000)
    _make(
        api,
        "/prices",
        {
            "model": word("priced", 256),
            "provider": word("provider", 64),
            "note": word("terms"),
            "prices": {"input": 1, "output": 2},
        },
    )
    _put(api, "/settings/redaction.payload_keys", value=[word("redacted", 60)])
    return {
        "query": query,
        "dashboard": board,
        "alert": alert,
        "incident": incident,
        "audit": audit,
    }


def _make(api: Api, path: str, body: dict[str, Any]) -> str:
    status, answer = api.request(
        "POST", path, json.dumps(body).encode(), Content_Type="application/json"
    )
    assert status in (200, 201), answer
    made: dict[str, Any] = json.loads(answer)
    return str(made.get("id") or made.get("name"))


def _put(api: Api, path: str, **body: object) -> None:
    status, answer = api.request(
        "PUT", path, json.dumps(body).encode(), Content_Type="application/json"
    )
    assert status == 200, answer


def _finding(site: Site, org: Org, word: Word, session_id: str) -> str:
    audited = Audited(site.runtime, org, word("finding's audit"))
    audited.file(
        candidate(
            word("failure"),
            title=word("finding"),
            category=word("category"),
            failure_type=word("failure"),
            description=f"{word('description', free=True)} {LINKS}".replace("\0", ""),
            session_ids=(session_id,),
            numbers={word("number"): 1},
        )
    )
    told = {"org_id": org.uuid, "report": f"# {word('report')}\n{LINKS}"}
    with site.runtime.postgres.transaction() as session:
        session.execute(
            text(
                "UPDATE audit_runs SET started_at = now(), finished_at = now(), report = :report"
                " WHERE org_id = :org_id"
            ),
            told,
        )
    api = Api(site.api.port, new_key(site.runtime, org)["Authorization"].removeprefix("Bearer "))
    return str(api.get("/audits/findings")[0]["id"])


def _incidents_of_rules(site: Site, org: Org, word: Word, session_id: str) -> dict[str, str]:
    """Opens the incidents of a rule with a filter and of one in SQL, as their evaluation does."""
    until = datetime.now(UTC)
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "rule_incident": (
            {"name": word("rule")},
            {
                "metric": "error_rate",
                "filter": {"agent_id": word("agent", 256)},
                "window": {
                    "from": format_ts(until - timedelta(hours=1)),
                    "to": format_ts(until + timedelta(hours=1)),
                },
                "counts": {"events": 9, "errors": 3},
                "event_ids": [],
                "session_ids": [session_id],
            },
        ),
        "sql_incident": (
            {
                "name": word("rule in SQL"),
                "trigger_kind": "custom_sql",
                "trigger_spec": {"sql": "SELECT count() AS n FROM events"},
            },
            {
                "metric": word("column"),
                "counts": {"rows": 1, "truncated": False},
                "columns": [word("column")],
                "rows": [[word("value")]],
            },
        ),
    }
    incidents = {}
    for name, (rule, evidence) in found.items():
        alert = add_alert(site.runtime, org, enabled=False, **rule)
        made = measured(alert, Breach(1, word("breach"), {"op": ">", "bound": 0, **evidence}))
        incidents[name] = str(breach(site.runtime, made).incident.id)
    return incidents


def _events(session_id: str, word: Word, *, hostile: bool) -> list[bytes]:
    """Returns the events of a session in which every text is the organization's."""
    begun = datetime.now(UTC) - timedelta(minutes=5)
    agent, environment = word("agent", 256), word("environment", 64)
    free = word("payload", 4000, free=True)
    tool = {"tool_name": word("tool", 256), "tool_call_id": word("call", 256)}
    model = {"model": word("model", 256), "request_id": word("request", 256)}
    hook = {"hook_name": word("hook", 256), "hook_id": "h", "trigger_event": word("trigger", 256)}
    whose = {
        "user_id": word("user", 256),
        "agent_version": word("version", 128),
        "tags": [word("tag", 64)],
        "metadata": {"constructor": word("attribute", 256)},
    }
    child = "__proto__" if hostile else "child"
    said = [{"role": word("role"), "content": [{"type": "text", "text": f"{free} {LINKS}"}]}]
    values: dict[str, Any] = {word("field", 4000, free=True): free, "formula": FORMULA}
    steps: list[dict[str, Any]] = [
        {"type": "agent_start", "goal": free, **whose},
        {"type": "model_request", **model, "messages": said, "system": free},
        {"type": "model_response", **model, "content": f"{free} {LINKS}", "input_tokens": 9},
        {"type": "agent_start", "agent_id": child, "parent_id": agent, "goal": free},
        {"type": "tool_use", **tool, "agent_id": child, "input": values},
        {"type": "tool_result", **tool, "agent_id": child, "error": f"{free} {LINKS}"},
        {"type": "hook_triggered", **hook, "input": free},
        {"type": "hook_completed", **hook, "error": free, "output": free},
        {"type": "human_wait", "input_id": "i", "prompt": free},
        {"type": "human_input", "input_id": "i", "response": free},
        {"type": "error", "error_type": word("error", 256), "message": free, "traceback": free},
        {"type": word("type", 64), "message": free},
    ]
    if hostile:
        steps += extreme()
    steps += [
        {"type": "agent_end", "agent_id": child, "outcome": word("outcome", 200)},
        {"type": "agent_end", "outcome": "success", "summary": free},
    ]
    envelope = {"session_id": session_id, "agent_id": agent, "environment": environment}
    return [
        json.dumps(
            {**envelope, "timestamp": (begun + timedelta(seconds=index)).isoformat(), **step}
        ).encode()
        for index, step in enumerate(steps)
    ]


def extreme() -> list[dict[str, Any]]:
    """Returns events whose payloads are long, deep, wide, or named like parts of JavaScript."""
    deep: Any = MARKUP
    for _ in range(900):
        deep = [deep]
    names = ("__proto__", "constructor", "toString", "hasOwnProperty", "")
    return [
        {
            "type": "tool_use",
            "tool_name": "long",
            "tool_call_id": "1",
            "input": "<b>x</b>" * 640_000,
        },
        {"type": "tool_use", "tool_name": "lines", "tool_call_id": "2", "input": "<b>\n" * 20_000},
        {"type": "tool_use", "tool_name": "deep", "tool_call_id": "3", "input": deep},
        {
            "type": "tool_use",
            "tool_name": "text",
            "tool_call_id": "4",
            "input": "[" * 50_000 + "]" * 50_000,
        },
        {
            "type": "tool_use",
            "tool_name": "wide",
            "tool_call_id": "5",
            "input": {f"<b>{n}": n for n in range(10_000)},
        },
        {
            "type": "constructor",
            "tool_name": "__proto__",
            "model": "toString",
            "input": dict.fromkeys(names, SHORT_MARKUP),
        },
        {
            "type": "tool_use",
            "tool_name": "constructor",
            "tool_call_id": "__proto__",
            "input": {"__proto__": {"x": 1}},
        },
        {"type": "error", "error_type": "__proto__", "message": {"message": SHORT_MARKUP}},
    ]


def follow(page: Page, path: str) -> None:
    """Goes to a path as a link of the UI does: without loading the page again."""
    page.evaluate(
        """path => {
            const link = Object.assign(document.createElement("a"), { href: path });
            document.body.append(link);
            link.click();
            link.remove();
        }""",
        path,
    )


def settled(page: Page) -> None:
    """Waits until the page has read what it shows."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    expect(page.locator("main .skeleton")).to_have_count(0)
