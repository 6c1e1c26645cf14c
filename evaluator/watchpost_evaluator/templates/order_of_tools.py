"""Whether tools were used in the order that a policy demands."""

from __future__ import annotations

from watchpost_evaluator import Assertion, Session, Skip, evaluator

# A tool, and those of which each must have been used before it without a failure.
NEEDS = {
    "refund": ("get_policy",),
    "cancel_reservation": ("get_reservation_details",),
    "update_reservation_flights": ("get_reservation_details",),
    "update_reservation_baggages": ("get_reservation_details",),
}


@evaluator("order_of_tools", version="1", result="assertion", labels=["policy", "tools"])
def order_of_tools(session: Session) -> Assertion | Skip:
    """Looks at each call of a tool in `NEEDS`; a call that failed changed nothing."""
    applies = False
    done: set[str] = set()
    for event in session.events:
        if event.type == "tool_result" and not event.failed:
            done.add(event.text("tool_name") or "")
        needed = NEEDS.get(event.text("tool_name") or "", ()) if event.type == "tool_use" else ()
        applies = applies or bool(needed)
        for tool in needed:
            if tool not in done:
                reasoning = f"{event.text('tool_name')} was used before {tool}"
                return Assertion(False, reasoning, evidence=event)
    if not applies:
        return Skip("no_such_tool")
    return Assertion(True, "every tool came after those that it needs")
