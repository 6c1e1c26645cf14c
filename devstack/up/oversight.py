"""The alert and the audit of the demonstration: set up, awaited, and computed independently.

Both look at the last four hours of its agents, which may include sessions of earlier
demonstrations. The expected values are therefore computed from the events that were sent now and
from those earlier sessions as the service has them.
"""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from devstack.up.api import Api, Row
from devstack.up.expected import tool_failed
from devstack.up.profiles import PROFILES
from devstack.up.recording import Recording
from devstack.up.script import Event

_WINDOW_SECS = 4 * 3600
_DAY_SECS = 86_400
_AGENTS = [profile.agent_id for profile in PROFILES]
_ALERTED_AGENT = "travel-booking-v2"
_ALERT = {
    "name": "demonstration: bookings fail",
    "severity": "critical",
    "trigger_kind": "metric_threshold",
    "trigger_spec": {
        "metric": "error_rate",
        "op": ">",
        "value": 0.15,
        "window_secs": _WINDOW_SECS,
        "filter": {"event_type": "tool_result", "agent_id": _ALERTED_AGENT},
    },
    "eval_interval_secs": _DAY_SECS,
    "channels": [{"kind": "dashboard"}],
}
_AUDIT = {
    "name": "demonstration: the last four hours",
    "enabled": True,
    "schedule_interval_secs": _DAY_SECS,
    "window_mode": "fixed",
    "lookback_window_secs": _WINDOW_SECS,
    "scope": {"agent_ids": _AGENTS},
    "sensitivity": "medium",
}
# At medium sensitivity a tool is a finding with at least this many failed calls and a Wilson lower
# bound (95 %) of at least this share.
_LEAST_FAILED, _LEAST_SHARE, _Z = 3, 0.06, 1.96

_WAITING_SECONDS = 60.0
_POLL_SECONDS = 0.2
_EVENTS_A_PAGE = 1000

# Failed calls, all calls, sessions with a failed call.
Failures = tuple[int, int, int]


@dataclass(frozen=True)
class Oversight:
    """The results. The incident and the run are None when there was none in time.

    `findings`: the findings of the run, the most urgent first. `earlier`: tool results that earlier
    demonstrations sent, as the service has them.
    """

    incident: Row | None
    run: Row | None
    findings: tuple[Row, ...] = ()
    earlier: tuple[Event, ...] = ()

    @property
    def failure_rate(self) -> float | None:
        """The failure rate of the alerted agent's calls, as the incident shows it."""
        return None if self.incident is None else self.incident["breach_value"]

    @property
    def failing_tools(self) -> list[Failures]:
        """The failing tools that the run found."""
        numbers = (
            one["evidence"]["numbers"]
            for one in self.findings
            if one["failure_type"] == "tool_failure"
        )
        return sorted((one["failures"], one["calls"], one["failed_sessions"]) for one in numbers)


def oversee(api: Api, recording: Recording) -> Oversight:
    """Sets up the alert and the audit and waits for both. The events have to be stored already."""
    alert_id, audit_id = _alert(api), _audit(api)
    run_id = api.send("POST", f"/v1/audits/{audit_id}/run", {})["run_id"]
    incident = _awaited(lambda: _incident(api, alert_id))
    run = _awaited(lambda: _ended_run(api, audit_id, run_id))
    findings = api.listing("/v1/audits/findings", {"run_id": run_id, "limit": "500"})
    windows = [incident["evidence"]["window"]["from"]] if incident else []
    windows += [run["window_from"]] if run else []
    earlier = _earlier(api, recording, min(windows)) if windows else ()
    return Oversight(incident, run, tuple(findings), earlier)


def expected_failure_rate(recording: Recording, found: Oversight) -> float | None:
    """Returns the share of the alerted agent's calls that failed, None without an incident."""
    if found.incident is None:
        return None
    window = found.incident["evidence"]["window"]
    calls = [
        tool_failed(one)
        for one in _results(recording, found, window["from"], window["to"])
        if one["agent_id"] == _ALERTED_AGENT
    ]
    return sum(calls) / len(calls) if calls else None


def expected_failing_tools(recording: Recording, found: Oversight) -> list[Failures]:
    """Returns the tools that the run had to find, none without a run."""
    if found.run is None:
        return []
    calls, failed, sessions = Counter[str](), Counter[str](), defaultdict[str, set[str]](set)
    for one in _results(recording, found, found.run["window_from"], found.run["window_to"]):
        calls[one["tool_name"]] += 1
        if tool_failed(one):
            failed[one["tool_name"]] += 1
            sessions[one["tool_name"]].add(one["session_id"])
    return sorted(
        (count, calls[tool], len(sessions[tool]))
        for tool, count in failed.items()
        if count >= _LEAST_FAILED and _least_share(count, calls[tool]) >= _LEAST_SHARE
    )


def _least_share(failed: int, calls: int) -> float:
    """Returns the smaller share p at which (failed / calls - p)^2 is z^2 p (1 - p) / calls."""
    a, b, c = 1 + _Z**2 / calls, 2 * failed / calls + _Z**2 / calls, (failed / calls) ** 2
    return (b - math.sqrt(b * b - 4 * a * c)) / (2 * a)


def _results(recording: Recording, found: Oversight, start: str, stop: str) -> Sequence[Event]:
    sent = (one for one in recording.events if one["type"] == "tool_result")
    return [one for one in (*sent, *found.earlier) if start <= one["timestamp"] < stop]


def _alert(api: Api) -> str:
    """Returns the id of the alert, which is evaluated at once."""
    made = _named(api, "/v1/alerts", _ALERT["name"])
    if made is None:
        return str(api.send("POST", "/v1/alerts", _ALERT)["id"])
    # Disabling and enabling the alert starts a new evaluation.
    for enabled in (False, True):
        api.send("PUT", f"/v1/alerts/{made}", {**_ALERT, "enabled": enabled})
    return made


def _audit(api: Api) -> str:
    made = _named(api, "/v1/audits", _AUDIT["name"])
    if made is None:
        return str(api.send("POST", "/v1/audits", _AUDIT)["id"])
    api.send("PUT", f"/v1/audits/{made}", _AUDIT)
    return made


def _named(api: Api, path: str, name: object) -> str | None:
    """Returns the id of the row that an earlier demonstration created."""
    return next((str(row["id"]) for row in api.listing(path, {}) if row["name"] == name), None)


def _awaited(look: Callable[[], Row | None]) -> Row | None:
    deadline = time.monotonic() + _WAITING_SECONDS
    while True:
        found = look()
        if found is not None or time.monotonic() > deadline:
            return found
        time.sleep(_POLL_SECONDS)


def _incident(api: Api, alert_id: str) -> Row | None:
    """Returns the alert's open incident as the newest evaluation left it."""
    alert = api.get(f"/v1/alerts/{alert_id}", {})
    if (alert["last_attempted_at"] or "") <= alert["updated_at"]:
        return None
    unresolved = {"state": "firing,acknowledged"}
    return next(iter(api.listing(f"/v1/alerts/{alert_id}/incidents", unresolved)), None)


def _ended_run(api: Api, audit_id: str, run_id: str) -> Row | None:
    runs = api.listing(f"/v1/audits/{audit_id}/runs", {"limit": "5"})
    return next((one for one in runs if one["id"] == run_id and one["finished_at"]), None)


def _earlier(api: Api, recording: Recording, start: str) -> tuple[Event, ...]:
    query = {"event_type": "tool_result", "agent_id": ",".join(_AGENTS), "ts_from": start}
    own = set(recording.session_ids)
    return tuple(
        {**row["payload"], "agent_id": row["agent_id"], "timestamp": row["ts"]}
        for row in api.pages("events", query | {"limit": str(_EVENTS_A_PAGE)})
        if row["session_id"] not in own
    )
