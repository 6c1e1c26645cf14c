"""The measured reads, each with the bare query for the same rows.

The bare queries are frozen: they are as they were when the read model was chosen. They have
literals for all values and no FINAL. They take the ids or bounds of the rows from the read's
answer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import urlencode

import msgspec
from clickhouse_driver import Client

from bench.workload import RARE_TOOLS, SESSION_ID, Workload
from shared.foundation.core.clock import format_us

_DAY_US = 86_400_000_000
_FACETS = {
    "environments": "environment",
    "event_types": "event_type",
    "agent_ids": "agent_id",
    "models": "model",
    "tool_names": "tool_name",
    "hook_names": "hook_name",
    "error_types": "error_type",
}


@dataclass(frozen=True)
class Call:
    """One request. `bare` makes the statement for the same rows from the body of the answer."""

    org: int
    path: str
    bare: Callable[[bytes], str] | None
    body: dict[str, Any] | None = None
    # The Redis key of the cached answer, deleted before the call of a cold read.
    cached_as: str | None = None


@dataclass(frozen=True)
class Read:
    """A row of the table. The growth of a read that is `bounded` by a page or a session is judged.

    `key` is its name among the figures. `orientation_ms` is for 10 million events. `cold` clears
    the cache before each call.
    """

    key: str
    name: str
    call: Callable[["Calls"], Call]
    orientation_ms: int | None
    bounded: bool = True
    cold: bool = False


class Calls:
    """Chooses the parameters of each call. The same seed gives the same calls in every run."""

    def __init__(self, workload: Workload, clickhouse: Client, seed: str) -> None:
        self._workload = workload
        self._dice = Random(seed)
        self._sessions = _sample(clickhouse, workload, "number % 200 != 7", self._dice)
        self._long = _sample(clickhouse, workload, "number % 200 = 7", self._dice)
        self._users = _users(clickhouse, workload, [one[1] for one in self._sessions])
        weights = clickhouse.execute("SELECT org_id, count() FROM events GROUP BY org_id")
        sizes = dict(weights)
        self._sizes = [sizes.get(org_id, 0) for org_id in workload.org_ids]

    def newest(self) -> Call:
        """The newest page of an organization. Larger organizations are chosen more often."""
        org = self._org()
        return Call(org, "/v1/events", lambda _: _page(self._where(org), _EVENT))

    def newest_summaries(self) -> Call:
        """The same without payloads."""
        org = self._org()
        return Call(org, "/v1/events/summary", lambda _: _page(self._where(org), _SUMMARY))

    def session_events(self) -> Call:
        """The first page of one session."""
        org, session_id, first, last = self._dice.choice(self._sessions)
        where = f"{self._where(org)} AND session_id = '{session_id}' AND {_within(first, last)}"
        return Call(org, f"/v1/events?session_id={session_id}", lambda _: _page(where, _EVENT))

    def rare_tool(self) -> Call:
        """A tool with some 60 calls in the month, in one environment."""
        org, tool = self._org(), f"rare_{self._dice.randrange(RARE_TOOLS)}"
        environment = self._dice.choice(["production", "staging"])
        start = self._workload.ended_at - 30 * _DAY_US
        asked = {"tool_name": tool, "environment": environment, "ts_from": format_us(start)}
        where = (
            f"{self._where(org)} AND tool_name = '{tool}' AND environment = '{environment}'"
            f" AND ts >= fromUnixTimestamp64Micro({start})"
        )
        return Call(org, f"/v1/events?{urlencode(asked)}", lambda _: _page(where, _EVENT))

    def sessions(self) -> Call:
        """The first page of sessions."""
        org = self._org()
        return Call(org, "/v1/sessions", lambda body: _sessions_of(self._where(org), body))

    def sessions_by_result(self) -> Call:
        """Sessions by their newest result, in the organization with the most results."""
        low = self._dice.randrange(90) / 100
        asked = {"status": "done", "score_filters": f"goal:{low}..{low + 0.1:.2f}"}
        return Call(
            0, f"/v1/sessions?{urlencode(asked)}", lambda body: _sessions_of(self._where(0), body)
        )

    def sessions_by_cost(self) -> Call:
        """The dearest sessions of the month in the largest organization. No bare query has them."""
        return Call(0, "/v1/sessions?sort=cost_usd", None)

    def events_of_user(self) -> Call:
        """The newest page of a user whom the first event of a session names."""
        org, user = self._user()
        return Call(org, f"/v1/events?user_id={user}", None)

    def sessions_of_user(self) -> Call:
        """The first page of sessions of a user."""
        org, user = self._user()
        return Call(org, f"/v1/sessions?user_id={user}", None)

    def values(self) -> Call:
        """The users of the last days with the most sessions. No two calls have the same range."""
        start = self._workload.ended_at - 30 * _DAY_US + self._dice.randrange(_DAY_US)
        asked = {"field": "user_id", "ts_from": format_us(start)}
        return Call(self._org(), f"/v1/dimensions/values?{urlencode(asked)}", None)

    def costs(self) -> Call:
        """A month's costs by user, in the organization with the most calls.

        No two calls have the same range, so none is cached.
        """
        start = self._workload.ended_at - 30 * _DAY_US + self._dice.randrange(_DAY_US)
        asked = {"group_by": "user_id", "ts_from": format_us(start)}
        where = f"{self._where(0)} AND ts >= fromUnixTimestamp64Micro({start})"
        return Call(0, f"/v1/costs?{urlencode(asked)}", lambda _: _costs(where))

    def cached_costs(self) -> Call:
        """The same again within 10 s."""
        return Call(0, "/v1/costs?group_by=user_id", None, cached_as="costs")

    def export(self) -> Call:
        """All events of a session of a thousand events."""
        org, session_id, first, last = self._dice.choice(self._long)
        where = f"{self._where(org)} AND session_id = '{session_id}' AND {_within(first, last)}"
        sql = (
            "SELECT id, toUnixTimestamp64Micro(ts), event_type, payload FROM events"
            f" WHERE {where} ORDER BY ts, arrival, id"
        )
        return Call(org, f"/v1/sessions/{session_id}/export", lambda _: sql)

    def facet(self) -> Call:
        """The values of one column."""
        org, (name, column) = self._org(), self._dice.choice(list(_FACETS.items()))
        sql = (
            f"SELECT {column}, count() FROM events WHERE {self._where(org)}"
            f" AND isNotNull({column}) GROUP BY {column} ORDER BY count() DESC LIMIT 500"
        )
        key = f"facet:{self._workload.org_ids[org]}:{name}"
        return Call(org, f"/v1/events/{name}", lambda _: sql, cached_as=key)

    def cached_facet(self) -> Call:
        """The same from the cache. No bare query is comparable."""
        call = self.facet()
        return Call(call.org, call.path, None, cached_as=call.cached_as)

    def aggregate(self) -> Call:
        """All 200,000 results of the first organization."""
        bucket = self._dice.choice(["hour", "6h", "day", "auto"])
        sql = (
            "SELECT key, count(), avg(value), min(value), max(value),"
            " quantileExactInclusive(value)"
            " FROM (SELECT arrayJoin(scores) AS pair, pair.1 AS key, pair.2 AS value"
            f" FROM evaluations WHERE {self._where(0)}) GROUP BY key"
        )
        return Call(0, f"/v1/evaluations/aggregate?bucket={bucket}", lambda _: sql)

    def latency(self) -> Call:
        """The latencies of tools over a day."""
        org, end = self._org(), self._workload.ended_at - self._dice.randrange(3) * 3_600_000_000
        asked = {"ts_from": format_us(end - _DAY_US), "ts_to": format_us(end)}
        sql = (
            "SELECT intDiv(toUnixTimestamp64Milli(ended), 3600000) AS bin, count(),"
            " quantilesExactInclusive(0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)(took), max(took)"
            " FROM (SELECT session_id, tool_call_id,"
            " maxIf(ts, event_type = 'tool_result') AS ended,"
            " anyIf(duration_ms, event_type = 'tool_result') AS took FROM events"
            f" WHERE {self._where(org)} AND event_type IN ('tool_use', 'tool_result')"
            f" AND {_within(end - _DAY_US, end)} GROUP BY session_id, tool_call_id"
            " HAVING count() > 1) GROUP BY bin"
        )
        return Call(org, f"/v1/events/latency_aggregate?{urlencode(asked)}", lambda _: sql)

    def query(self) -> Call:
        """An analyst's query over a week."""
        org = self._org()
        end = self._workload.ended_at - self._dice.randrange(21) * _DAY_US
        sql = (
            "SELECT event_type, count(), countIf(is_error), avg(duration_ms),"
            f" max(input_tokens) FROM events WHERE {{org}}{_within(end - 7 * _DAY_US, end)}"
            " GROUP BY event_type ORDER BY event_type"
        )
        bare = sql.format(org=f"{self._where(org)} AND ")
        return Call(org, "/v1/queries/run", lambda _: bare, body={"sql": sql.format(org="")})

    def _user(self) -> tuple[int, str]:
        """Returns an organization and the user of one of its sessions."""
        org, user = self._dice.choice(self._users)
        return org, user

    def _org(self) -> int:
        return self._dice.choices(range(len(self._sizes)), self._sizes)[0]

    def _where(self, org: int) -> str:
        return f"org_id = '{self._workload.org_ids[org]}'"


READS: tuple[Read, ...] = (
    Read("newest", "newest page of /events", Calls.newest, 20),
    Read("summaries", "/events/summary", Calls.newest_summaries, 15),
    Read("session", "one session's events", Calls.session_events, 20),
    Read("rare_tool", "rare tool_name + environment", Calls.rare_tool, 60),
    Read("sessions", "/sessions", Calls.sessions, 40),
    Read("sessions_by_result", "/sessions by status and score", Calls.sessions_by_result, 80),
    Read(
        "sessions_by_cost",
        "/sessions by cost, a month",
        Calls.sessions_by_cost,
        800,
        bounded=False,
    ),
    Read("events_of_user", "/events of a user", Calls.events_of_user, 60),
    Read("sessions_of_user", "/sessions of a user", Calls.sessions_of_user, 60),
    Read("values", "/dimensions/values, a month, cold", Calls.values, 150, bounded=False),
    Read("costs", "/costs by user, a month", Calls.costs, 1000, bounded=False),
    Read("costs_cached", "/costs by user, cached", Calls.cached_costs, 5),
    Read("export", "export of 1,000 events", Calls.export, 80),
    Read("facet_cached", "a facet, cached", Calls.cached_facet, 5),
    Read("facet", "a facet, cold", Calls.facet, 200, bounded=False, cold=True),
    Read(
        "evaluations", "/evaluations/aggregate, 200,000 rows", Calls.aggregate, 150, bounded=False
    ),
    Read("latency", "/events/latency_aggregate, 24 h", Calls.latency, 200, bounded=False),
    Read("query", "/queries/run, a week", Calls.query, None, bounded=False),
)

_EVENT = (
    "id, session_id, agent_id, event_type, ts, environment, payload, is_error, error_type,"
    " output_tokens, context_window, context_fill"
)
_SUMMARY = _EVENT.replace("payload", "summary")


def _page(where: str, columns: str) -> str:
    return (
        f"SELECT {columns} FROM events WHERE {where} ORDER BY ts DESC, arrival DESC, id DESC"
        " LIMIT 50"
    )


def _within(first: int, last: int) -> str:
    return f"ts BETWEEN fromUnixTimestamp64Micro({first}) AND fromUnixTimestamp64Micro({last})"


def _sessions_of(where: str, body: bytes) -> str:
    """Returns the query for the rows of an answer, with the session ids and times as literals."""
    sessions = msgspec.json.decode(body)["sessions"]
    if not sessions:
        return f"SELECT count() FROM events WHERE {where} AND false"
    ids = ", ".join(f"'{session['session_id']}'" for session in sessions)
    first = min(session["started_at"] for session in sessions)
    last = max(session["last_event_at"] for session in sessions)
    return (
        "SELECT * FROM (SELECT session_id, groupArray((agent_id, events)), sum(events),"
        " sum(errors), sum(tokens_in), sum(tokens_out), argMin(environment, first),"
        " argMin(agent_id, first), max(ended), min(first), max(last) FROM ("
        "SELECT session_id, agent_id, count() AS events, countIf(is_error) AS errors,"
        " sum(input_tokens) AS tokens_in, sum(output_tokens) AS tokens_out,"
        " min((ts, arrival, id)) AS first, max((ts, arrival, id)) AS last,"
        " maxIf(ts, event_type = 'agent_end') AS ended, any(environment) AS environment"
        f" FROM events WHERE {where} AND session_id IN ({ids})"
        f" AND ts BETWEEN parseDateTime64BestEffort('{first}', 6, 'UTC')"
        f" AND parseDateTime64BestEffort('{last}', 6, 'UTC') GROUP BY session_id, agent_id"
        ") GROUP BY session_id) AS session LEFT JOIN (SELECT * FROM evaluations"
        f" WHERE {where} AND session_id IN ({ids}) ORDER BY completed_at DESC"
        " LIMIT 1 BY session_id) AS result ON result.session_id = session.session_id"
    )


def _costs(where: str) -> str:
    return (
        "SELECT person, count(), uniqExact(session_id), sum(cost_usd), sum(input_tokens),"
        " sum(output_tokens) FROM"
        " (SELECT session_id, cost_usd, input_tokens, output_tokens FROM events"
        f" WHERE {where} AND cost_source IS NOT NULL) AS call LEFT JOIN"
        " (SELECT session_id, argMin(user_id, ts) AS person FROM events"
        f" WHERE {where} AND user_id IS NOT NULL GROUP BY session_id) AS session"
        " USING (session_id) GROUP BY person"
    )


def _sample(
    clickhouse: Client, workload: Workload, which: str, dice: Random
) -> list[tuple[int, str, int, int]]:
    """Returns (organization, session id, first and last event in microseconds) of 400 sessions."""
    numbers = (
        f"SELECT {SESSION_ID.format(number='number')} FROM numbers({workload.sessions})"
        f" WHERE {which} ORDER BY cityHash64(number, {dice.randrange(1000)}) LIMIT 400"
    )
    rows = clickhouse.execute(
        "SELECT org_id, session_id, toUnixTimestamp64Micro(min(ts)),"
        f" toUnixTimestamp64Micro(max(ts)) FROM events WHERE session_id IN ({numbers})"
        " GROUP BY org_id, session_id ORDER BY session_id"
    )
    places = {org_id: place for place, org_id in enumerate(workload.org_ids)}
    return [(places[org_id], *rest) for org_id, *rest in rows]


def _users(clickhouse: Client, workload: Workload, session_ids: list[str]) -> list[tuple[int, str]]:
    """Returns (organization, user) of some sessions."""
    rows = clickhouse.execute(
        "SELECT org_id, any(user_id) FROM events"
        " WHERE session_id IN %(ids)s AND user_id IS NOT NULL GROUP BY org_id, session_id"
        " ORDER BY session_id",
        {"ids": session_ids},
    )
    places = {org_id: place for place, org_id in enumerate(workload.org_ids)}
    return [(places[org_id], user) for org_id, user in rows]
