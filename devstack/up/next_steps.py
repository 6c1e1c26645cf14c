"""The end of the output of `bin/up`: where everything is, and what to try."""

from datetime import UTC, datetime

import msgspec

from devstack.up.deployment import Deployment

_EXAMPLE_SQL = "SELECT event_type, count() AS events FROM events GROUP BY event_type"


def next_steps(deployment: Deployment) -> list[str]:
    """Returns lines with the page and how to sign in, URLs, the key, and commands to paste."""
    url, key = deployment.url, deployment.admin_key
    event = {
        "session_id": "my-first-session",
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "type": "agent_start",
        "goal": "try Watchpost",
    }
    line = msgspec.json.encode(event).decode()
    auth = f"-H 'Authorization: Bearer {key}'"
    sql = msgspec.json.encode({"sql": _EXAMPLE_SQL}).decode()
    json = "-H 'Content-Type: application/json'"
    return [
        "",
        f"Open:      {deployment.sign_in_link.at(url)}",
        f"           It signs you in as {deployment.admin_email}, once, within an hour.",
        f"Later:     {url}/",
        f"           Sign in {deployment.sign_in}.",
        f"API:       {url}/v1/docs",
        f"OpenAPI:   {url}/v1/openapi.json",
        f"ADMIN_KEY: {key}",
        "",
        "Next steps:",
        f"curl {auth} '{url}/v1/sessions?limit=3'",
        f"curl {auth} '{url}/v1/evaluations?limit=3'",
        f"curl {auth} '{url}/v1/alerts/incidents?limit=3'",
        f"curl {auth} '{url}/v1/audits/findings?limit=3'",
        *([f"curl {auth} {json} -d '{sql}' {url}/v1/queries/run"] if deployment.runs_sql else []),
        f"curl {auth} -H 'Content-Type: application/x-ndjson' -d '{line}' {url}/v1/events",
        "",
        "Send your own agents' data: docs/send/send.md",
        "Administer the deployment: bin/orgctl --help",
        "",
    ]
