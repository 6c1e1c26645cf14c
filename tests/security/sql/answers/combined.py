"""Payloads, windows, scores, and several tables at once."""

from collections import Counter

from tests.security.sql.answers.answer import Answer
from tests.security.sql.answers.slow import (
    gaps,
    hours_filled,
    is_error,
    running,
    score_sums,
    tokens,
    written,
)
from tests.security.sql.questions import QUESTIONS
from tests.security.sql.recorded import moment

ERRORS_BY_PLAN = (
    "SELECT JSONExtractString(payload, 'customer', 'plan') AS plan, countIf(is_error), count()"
    " FROM events GROUP BY plan ORDER BY plan"
)
NEXT_AFTER = (
    "SELECT max(toUnixTimestamp64Micro(next) - toUnixTimestamp64Micro(ts)) FROM (SELECT ts,"
    " leadInFrame(ts, 1, ts) OVER (PARTITION BY session_id ORDER BY ts ROWS BETWEEN UNBOUNDED"
    " PRECEDING AND UNBOUNDED FOLLOWING) AS next FROM events)"
)
RUNNING = (
    "SELECT session_id, ts, sum(coalesce(output_tokens, 0)) OVER (PARTITION BY session_id"
    " ORDER BY ts) FROM events ORDER BY ts, session_id"
)

ANSWERS: dict[str, Answer] = {
    "count-results": ("SELECT count() FROM evaluations", [], lambda r: [[len(r.evaluations)]]),
    "by-hour-filled": (QUESTIONS["with-fill"], [], hours_filled),
    "running-total": (RUNNING, [], running),
    "longest-gap": (NEXT_AFTER, [], lambda r: [[gaps(r)]]),
    "last-of-each": (
        QUESTIONS["qualify"] + " ORDER BY session_id",
        [],
        lambda r: [
            [session, written(moment(events[-1]))]
            for session, events in sorted(r.sessions().items())
        ],
    ),
    "rank": (
        (
            "SELECT session_id, rank() OVER (ORDER BY input_tokens DESC) FROM agent_sessions"
            " ORDER BY session_id"
        ),
        [],
        lambda r: [
            [
                session,
                1
                + sum(
                    tokens(other, "input_tokens") > tokens(events, "input_tokens")
                    for other in r.sessions().values()
                ),
            ]
            for session, events in sorted(r.sessions().items())
        ],
    ),
    "plans": (
        ERRORS_BY_PLAN,
        [],
        lambda r: [
            [
                plan,
                sum(is_error(e) for e in r.events if e["customer"]["plan"] == plan),
                sum(e["customer"]["plan"] == plan for e in r.events),
            ]
            for plan in ("free", "pro")
        ],
    ),
    "costs": (
        "SELECT sum(JSONExtractFloat(payload, 'cost')) FROM events",
        [],
        lambda r: [[sum(event.get("cost", 0) for event in r.events)]],
    ),
    "tags": (
        (
            "SELECT arrayJoin(JSONExtract(payload, 'tags', 'Array(String)')) AS tag, count() FROM"
            " events GROUP BY tag ORDER BY tag"
        ),
        [],
        lambda r: [
            list(item)
            for item in sorted(Counter(t for e in r.events for t in e.get("tags", ())).items())
        ],
    ),
    "agents": (
        (
            "SELECT session_id, arraySort(arrayMap(a -> (a.agent_id, a.event_count), agents))"
            " FROM agent_sessions ORDER BY session_id"
        ),
        [],
        lambda r: [
            [session, sorted([k, len(v)] for k, v in r.by("agent_id", events).items())]
            for session, events in sorted(r.sessions().items())
        ],
    ),
    "score": (
        (
            "SELECT session_id, scores['helpful'] FROM evaluations WHERE length(scores) > 0"
            " ORDER BY session_id"
        ),
        [],
        lambda r: sorted([e.session_id, e.scores["helpful"]] for e in r.evaluations if e.scores),
    ),
    "score-sums": ("SELECT sumMap(scores) FROM evaluations", [], lambda r: [[score_sums(r)]]),
    "status-of-sessions": (
        (
            "SELECT v.status, count() FROM agent_sessions AS s JOIN evaluations AS v"
            " ON s.session_id = v.session_id GROUP BY v.status ORDER BY v.status"
        ),
        [],
        lambda r: [list(pair) for pair in sorted(Counter(e.status for e in r.evaluations).items())],
    ),
    "events-of-done": (
        (
            "SELECT count() FROM events AS e JOIN evaluations AS v USING (session_id)"
            " WHERE v.status = 'done'"
        ),
        [],
        lambda r: [
            [sum(len(r.sessions()[e.session_id]) for e in r.evaluations if e.status == "done")]
        ],
    ),
    "without-result": (
        (
            "SELECT * FROM (SELECT session_id FROM agent_sessions EXCEPT SELECT session_id FROM"
            " evaluations) ORDER BY session_id"
        ),
        [],
        lambda r: [
            [s] for s in sorted(r.sessions().keys() - {e.session_id for e in r.evaluations})
        ],
    ),
    "left-join": (
        "SELECT count() FROM agent_sessions LEFT ANTI JOIN evaluations USING session_id",
        [],
        lambda r: [[len(r.sessions()) - len(r.evaluations)]],
    ),
    "limit-by": (
        (
            "SELECT environment, session_id FROM agent_sessions ORDER BY session_id LIMIT 2 BY"
            " environment LIMIT 5"
        ),
        [],
        lambda _: [
            [("production", "staging", "default")[n % 3], f"session-{n:02}"] for n in range(5)
        ],
    ),
    "union": (
        (
            "SELECT sum(n) FROM (SELECT count() AS n FROM events UNION ALL SELECT count() FROM"
            " evaluations)"
        ),
        [],
        lambda r: [[len(r.events) + len(r.evaluations)]],
    ),
    "names": (
        (
            "SELECT DISTINCT JSONExtractString(payload, 'customer', 'name') AS n FROM events"
            " ORDER BY n LIMIT 2"
        ),
        [],
        lambda r: [[name] for name in sorted({e["customer"]["name"] for e in r.events})[:2]],
    ),
}
