"""The agents of the demonstration: their tasks, their tools and their failure rates."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """An agent. Rates are probabilities. `turns` is the range of the number of model calls.

    `tool_error` is the message of a call that fails, and `slowness` a factor of the time of calls.
    """

    agent_id: str
    model: str
    goals: tuple[str, ...]
    tools: tuple[str, ...]
    turns: tuple[int, int]
    success_rate: float
    tool_failure_rate: float
    helper: str | None = None
    tool_error: str = "connection reset by peer"
    slowness: float = 1.0


_BOOKING_GOALS = (
    "Book the cheapest train from Vienna to Trieste on Friday",
    "Move the return flight of reservation ZK4XQP by one day",
    "Find a hotel near the fair for three nights, breakfast included",
)
_BOOKING_TOOLS = ("search_trips", "get_reservation", "book", "refund")

PROFILES = (
    Profile(
        agent_id="support-triage",
        model="gpt-4o-mini",
        goals=(
            "Find out why invoice 2291 was charged twice and answer the customer",
            "Route the ticket about the lost password to the right team",
            "Tell the customer when order 88120 will arrive",
        ),
        tools=("search_tickets", "get_customer", "send_reply"),
        turns=(3, 8),
        success_rate=0.9,
        tool_failure_rate=0.04,
    ),
    Profile(
        agent_id="code-review",
        model="claude-sonnet-4",
        goals=(
            "Review the pull request that moves session storage to Redis",
            "Find out why the nightly build fails on Windows",
            "Suggest tests for the date parser",
        ),
        tools=("read_file", "run_tests", "search_code", "comment"),
        turns=(8, 27),
        success_rate=0.75,
        tool_failure_rate=0.12,
        helper="test-runner",
    ),
    # Two versions of one agent. The new one is worse in everything that Watchpost shows.
    Profile(
        agent_id="travel-booking",
        model="gpt-4o",
        goals=_BOOKING_GOALS,
        tools=_BOOKING_TOOLS,
        turns=(4, 12),
        success_rate=0.9,
        tool_failure_rate=0.03,
    ),
    Profile(
        agent_id="travel-booking-v2",
        model="gpt-4o-mini",
        goals=_BOOKING_GOALS,
        tools=_BOOKING_TOOLS,
        turns=(12, 30),
        success_rate=0.35,
        tool_failure_rate=0.3,
        tool_error="the booking service answered 422: field 'passengers' is missing",
        slowness=2.5,
    ),
    Profile(
        agent_id="invoice-extraction",
        model="gemini-2.5-flash",
        goals=(
            "Extract the line items of the 14 scanned invoices in batch 7",
            "Compare the totals of March with the ledger",
        ),
        tools=("ocr_page", "lookup_vendor", "write_record"),
        turns=(3, 9),
        success_rate=0.95,
        tool_failure_rate=0.08,
    ),
    Profile(
        agent_id="research",
        model="claude-opus-4",
        goals=(
            "Summarise what changed in EU battery regulation since 2023, with sources",
            "Compare three vector databases for 50 million documents",
        ),
        tools=("web_search", "fetch_page", "take_note"),
        turns=(6, 24),
        success_rate=0.7,
        tool_failure_rate=0.15,
        helper="page-reader",
    ),
)

ENVIRONMENTS = ("production", "staging", "development")
