"""Faults for the second of two days, with the findings that they have to cause.

docs/change/signals.md has the table of faults: the event, the required finding, and findings that
it may cause in addition. Each function here draws the details from its `rng`.
"""

import random
import string
from collections.abc import Sequence

from tests.support.days import REFUNDS, SUPPORT, Days, Event, Session
from tests.support.injection import Expected, Fault, Injected

MODEL = "gpt-4o"
# Most sessions call these, and they never fail in the whole recording.
_FREQUENT = ("get_reservation_details", "search_direct_flight", "get_user_details")
_SOUND = (*_FREQUENT, "calculate", "think", "cancel_reservation")
_SECOND = 1_000_000
_WINDOW_TOKENS = 128_000


def tool_fails(rng: random.Random, days: Days) -> Injected:
    """Fails a third to four fifths of a tool's calls.

    Every second seed has `error` events as well.
    """
    tool, rate, error_type = rng.choice(_SOUND), rng.uniform(0.33, 0.8), "UpstreamTimeout"
    with_events = rng.random() < 0.5
    for session in days.now:
        for call in _calls(session, tool):
            if rng.random() < rate:
                call["error"] = f"upstream timed out after {rng.randint(900, 9000)} ms"
                if with_events:
                    fields = {"error_type": error_type, "message": call["error"]}
                    session.events.append(_after(call, "error", **fields))
    found = (Expected("tool_failure", tool), Expected("error_drift", tool))
    cluster = Expected("error_cluster", "upstream timed out")
    return Injected(found, (cluster, Expected("error_drift", error_type)))


def model_fails(rng: random.Random, days: Days) -> Injected:
    """Fails a tenth to a third of the responses."""
    rate = rng.uniform(0.1, 0.33)
    for response in _responses(days.now):
        if rng.random() < rate:
            response["error"] = f"overloaded, retry in {rng.randint(1, 60)} s"
    return Injected((Expected("error_drift", MODEL),), (Expected("error_cluster", "overloaded"),))


def latency_step(rng: random.Random, days: Days) -> Injected:
    """Makes calls two to four times as long, from within the first quarter of the day on."""
    subject, factor = rng.choice((*_SOUND, MODEL)), rng.uniform(2, 4)
    sessions = sorted(days.now, key=lambda session: session.events[0]["us"])
    for session in sessions[int(len(sessions) * rng.uniform(0, 0.25)) :]:
        for event in session.events:
            name = event.get("tool_name", event.get("model"))
            if event["type"] in ("tool_result", "model_response") and name == subject:
                event["duration_ms"] = round(event["duration_ms"] * factor)
    return Injected((Expected("latency_drift", subject),))


def score_drops(rng: random.Random, days: Days) -> Injected:
    """Lowers the helpfulness of an agent by 0.12 to 0.3, with a deviation of about 0.18."""
    lost = rng.uniform(0.12, 0.3)
    for session in days.of(SUPPORT):
        if session.scores is not None:
            session.scores["helpfulness"] = max(0.0, session.scores["helpfulness"] - lost)
    return Injected((Expected("score_drift", "helpfulness"),))


def session_loops(rng: random.Random, days: Days) -> Injected:
    """Repeats one call with one input 8 to 20 times, in up to three sessions."""
    tool = rng.choice(_FREQUENT)
    having = [session for session in days.of(SUPPORT) if _calls(session, tool)]
    looping = rng.sample(having, rng.randint(1, 3))
    for session in looping:
        at = next(
            number
            for number, event in enumerate(session.events)
            if event["type"] == "tool_result" and event["tool_name"] == tool
        )
        result = session.events[at]
        use = next(
            event
            for event in session.events
            if event["type"] == "tool_use" and event["tool_call_id"] == result["tool_call_id"]
        )
        times = rng.randint(8, 20)
        for number in range(1, times):
            for event, later in ((use, 0.4), (result, 0.8)):
                call_id = f"{event['tool_call_id']}-{number}"
                moment = result["us"] + int((number + later) * _SECOND)
                session.events.append(event | {"us": moment, "tool_call_id": call_id})
        for event in session.events[at + 1 : -2 * (times - 1)]:
            event["us"] += (times + 1) * _SECOND
    return Injected((Expected("tool_loop", tool, _ids(looping)),))


def key_leaks(rng: random.Random, days: Days) -> Injected:
    """Puts a key into a person's answer, the output of a tool or the text of the model."""
    session = rng.choice(days.now)
    event = rng.choice(
        [
            event
            for event in session.events
            if event["type"] in ("human_input", "tool_result", "model_response")
        ]
    )
    name = {"human_input": "response", "tool_result": "output", "model_response": "content"}
    where = name[event["type"]]
    event[where] = f"{event.get(where) or ''} Here it is: {_key(rng)} (keep it)"
    return Injected((Expected("leaked_credential", None, _ids([session])),))


def evaluations_stop(rng: random.Random, days: Days) -> Injected:
    """Removes the evaluations of one agent, or of the larger one in one environment."""
    if rng.random() < 0.5:
        subject, gap = REFUNDS, days.of(REFUNDS)
    else:
        subject = rng.choice(("production", "staging"))
        gap = [one for one in days.of(SUPPORT) if one.environment == subject]
    for session in gap:
        session.evaluated_at, session.scores = 0, None
    return Injected((Expected("evaluation_gap", subject),))


def sessions_never_end(rng: random.Random, days: Days) -> Injected:
    """Stops a quarter to a half of the sessions of `REFUNDS` in the middle."""
    sessions = days.of(REFUNDS)
    for session in rng.sample(sessions, int(len(sessions) * rng.uniform(0.25, 0.5))):
        del session.events[rng.randint(len(session.events) // 2, len(session.events) - 1) :]
        session.evaluated_at, session.scores = 0, None
    return Injected((Expected("abandoned_session", REFUNDS),))


def goals_fail(rng: random.Random, days: Days) -> Injected:
    """Lets a third to two thirds of the sessions of `REFUNDS` miss their goal."""
    sessions = days.of(REFUNDS)
    for session in rng.sample(sessions, int(len(sessions) * rng.uniform(0.33, 0.67))):
        session.events[-1]["outcome"] = "failed"
    return Injected((Expected("goal_failure", REFUNDS),), (Expected("error_drift", REFUNDS),))


def errors_cluster(rng: random.Random, days: Days) -> Injected:
    """Puts one to three errors with varying numbers into a tenth to a third of all sessions."""
    error_type = rng.choice(("GatewayError", "QuotaExceeded", "SerializationError"))
    share = rng.uniform(0.1, 0.33)
    for session in rng.sample(days.now, int(len(days.now) * share)):
        for _ in range(rng.randint(1, 3)):
            message = f"request {rng.getrandbits(32):08x} refused after {rng.randint(1, 900)} ms"
            fields = {"error_type": error_type, "message": message}
            place = rng.choice(session.events[:-1])
            session.events.append(_after(place, "error", **fields))
    drift = Expected("error_drift", error_type)
    return Injected((Expected("error_cluster", error_type),), (drift,))


def context_fills(rng: random.Random, days: Days) -> Injected:
    """Fills the context in the last responses of one to eight sessions."""
    full = rng.sample(days.of(SUPPORT), rng.randint(1, 8))
    for session in full:
        for response in _responses([session])[-2:]:
            tokens = _WINDOW_TOKENS * rng.uniform(0.82, 0.99)
            response["input_tokens"] = round(tokens) - response["output_tokens"]
    found = Expected("context_pressure", SUPPORT, _ids(full))
    return Injected((found,), (Expected("token_outlier", SUPPORT, _ids(full)),))


def tokens_burn(rng: random.Random, days: Days) -> Injected:
    """Uses two to five million tokens in one or two sessions.

    Other sessions use tens of thousands.
    """
    burning = rng.sample(days.of(SUPPORT), rng.randint(1, 2))
    for session in burning:
        response, gap = _responses([session])[0], _SECOND // 10
        for number in range(rng.randint(250, 600)):
            more = {"us": response["us"] + (number + 1) * gap, "request_id": f"more-{number}"}
            tokens = {"input_tokens": 8000 + rng.randint(0, 500)}
            session.events.append(response | more | tokens)
    return Injected((Expected("token_outlier", SUPPORT, _ids(burning)),))


FAULTS: tuple[Fault, ...] = (
    tool_fails,
    model_fails,
    latency_step,
    score_drops,
    session_loops,
    key_leaks,
    evaluations_stop,
    sessions_never_end,
    goals_fail,
    errors_cluster,
    context_fills,
    tokens_burn,
)


def _calls(session: Session, tool: str) -> list[Event]:
    return [
        event
        for event in session.events
        if event["type"] == "tool_result" and event["tool_name"] == tool
    ]


def _responses(sessions: Sequence[Session]) -> list[Event]:
    return [
        event
        for session in sessions
        for event in session.events
        if event["type"] == "model_response"
    ]


def _after(event: Event, event_type: str, **fields: object) -> Event:
    return {"us": event["us"] + 1000, "type": event_type, **fields}


def _ids(sessions: Sequence[Session]) -> frozenset[str]:
    return frozenset(session.session_id for session in sessions)


def _key(rng: random.Random) -> str:
    """Returns a key that looks like a provider's.

    It is assembled here so that no file holds one.
    """

    def some(alphabet: str, count: int) -> str:
        return "".join(rng.choices(alphabet, k=count))

    upper, mixed = string.ascii_uppercase + string.digits, string.ascii_letters + string.digits
    return rng.choice(
        (
            f"AKIA{some(upper.translate({ord(c): None for c in '0189'}), 16)}",
            f"ghp_{some(mixed, 36)}",
            f"sk-proj-{some(mixed, 48)}",
            f"xoxb-{some(string.digits, 12)}-{some(string.digits, 12)}-{some(mixed, 24)}",
        )
    )
