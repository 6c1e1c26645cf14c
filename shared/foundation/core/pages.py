"""Paths of the web UI's pages, for everything that sends or cites a link.

`web/ui/src/routes.ts` has the pages. `tests/web/ui/test_links.py` follows every link that is sent.
"""

from urllib.parse import quote, urlencode
from uuid import UUID

ROOT = "/"
SIGN_IN = "/sign-in"
# Stands before ids that browsers would resolve (`web/ui/src/api/segment.ts`).
_LITERAL = "\x1d"


def page(org_slug: str, name: str, one: str | UUID | None = None) -> str:
    """Returns the path of a page of an organization, or of one thing on it."""
    path = f"/o/{quote(org_slug, safe='')}/{name}"
    if one is None:
        return path
    named = f"{_LITERAL}{one}" if one in (".", "..") else str(one)
    return f"{path}/{quote(named, safe='')}"


def session(org_slug: str, session_id: str, event_id: int | None = None) -> str:
    """Returns the path of a session's page, at one of its events if one is given."""
    query = "" if event_id is None else f"?{urlencode({'e': event_id})}"
    return page(org_slug, "sessions", session_id) + query


def alert(org_slug: str, alert_id: str | UUID) -> str:
    """Returns the path of the page of a rule."""
    return page(org_slug, "alerts", alert_id)


def incident(org_slug: str, incident_id: str | UUID) -> str:
    """Returns the path of an incident's page."""
    return page(org_slug, "incidents", incident_id)


def incident_in_api(incident_id: UUID) -> str:
    """Returns the path at which programs read an incident."""
    return f"/v1/alerts/incidents/{incident_id}"


def finding(org_slug: str, finding_id: str | UUID) -> str:
    """Returns the path of a finding's page."""
    return page(org_slug, "findings", finding_id)


def sql(org_slug: str, statement: str) -> str:
    """Returns the path of the page on which a person runs this statement again."""
    return f"{page(org_slug, 'sql')}?{urlencode({'sql': statement}, quote_via=quote)}"


def url(public_url: str | None, path: str | None) -> str | None:
    """Returns the URL of a path of this deployment; None without PUBLIC_URL or a path."""
    if public_url is None or path is None:
        return None
    return public_url.rstrip("/") + path
