"""Paths of pages, which answers cite. A path of another form is no evidence."""

from urllib.parse import quote, urlencode


def session_link(org_slug: str, session_id: str, event_id: int | None = None) -> str:
    """Returns the path of a session's page, at one of its events if one is given."""
    query = "" if event_id is None else f"?{urlencode({'e': event_id})}"
    return page_link(org_slug, "sessions", session_id) + query


def page_link(org_slug: str, page: str, one: str | None = None) -> str:
    """Returns the path of a page, or of one thing on it."""
    path = f"/o/{quote(org_slug, safe='')}/{page}"
    return path if one is None else f"{path}/{quote(one, safe='')}"


def sql_link(org_slug: str, sql: str) -> str:
    """Returns the path of the page on which a person runs this statement again."""
    return f"{page_link(org_slug, 'sql')}?{urlencode({'sql': sql}, quote_via=quote)}"
