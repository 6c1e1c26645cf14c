"""An organization whose records are assigned and stored on demand."""

from dataclasses import dataclass

from shared.access.settings.models import OrganizationSetting
from shared.foundation.deployment.runtime import Runtime
from shared.intake.ingest import dead_letters
from shared.intake.ingest.drain import Drain
from shared.intake.ingest.rules import IngestRulesCache
from shared.intake.otlp import stream
from shared.intake.otlp.assignment import waiting
from shared.intake.otlp.assignment.assigner import Assigner
from shared.intake.otlp.assignment.rules import OrganizationRules
from shared.intake.otlp.records import Records, Span, decode_records, encode_records
from tests.support.records import make_records, make_span
from tests.support.runtime import Org

WAIT_MS = 5000
START_NS = 1_795_336_000_000_000_000
ROOT = make_span(
    start_ns=START_NS,
    end_ns=START_NS + 10**9,
    attributes={
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "planner",
        "session.id": "turns",
        "input.value": "find it",
    },
)


@dataclass
class Desk:
    """One organization, an assigner and a drain that run on demand. `shift_ms` moves the clock."""

    runtime: Runtime
    org: Org
    shift_ms: int = 0

    def send(self, *requests: Records) -> None:
        """Appends requests to the streams."""
        for records in requests:
            stream.append(self.runtime.redis, self.org.id, self.org.slug, copy_of(records))

    def assign(self) -> None:
        """Runs an assigner."""
        Assigner(self.runtime, OrganizationRules(self.runtime)).run()

    def store(self) -> None:
        """Runs a drain."""
        Drain(self.runtime, "c1", IngestRulesCache(self.runtime)).run()

    def pass_time(self, ms: int) -> None:
        """Moves the clock of the assigner, and runs it."""
        self.shift_ms += ms
        self.assign()

    def finish(self) -> list[tuple[object, ...]]:
        """Assigns what is left and returns the stored events."""
        self.assign()
        self.pass_time(WAIT_MS)
        self.store()
        assert stream.active(self.runtime.redis) == []
        assert waiting.next_moment(self.runtime.redis) is None
        assert dead_letters.count(self.runtime.redis) == 0
        return self.events()

    def events(self) -> list[tuple[object, ...]]:
        """Returns the stored events as readers see them, in their order."""
        return self.runtime.clickhouse.rows(
            "SELECT session_id, agent_id, event_type, ts, id, payload FROM events FINAL"
            " WHERE org_id = {org_id:String} ORDER BY ts, arrival, id",
            {"org_id": self.org.id},
        )

    def choose(self, key: str, value: object) -> None:
        """Changes a setting."""
        with self.runtime.postgres.transaction() as session:
            row = OrganizationSetting(org_id=self.org.uuid, key=key, value=value, updated_by="")
            session.add(row)

    def counted(self) -> tuple[int, int]:
        """Returns the rows that were inserted, and those that readers see."""
        [row] = self.runtime.clickhouse.rows(
            "SELECT (SELECT count() FROM events WHERE org_id = {org_id:String}),"
            " (SELECT count() FROM events FINAL WHERE org_id = {org_id:String})",
            {"org_id": self.org.id},
        )
        return row

    def sessions(self) -> set[object]:
        """Returns the sessions of the stored events."""
        return {event[0] for event in self.events()}


def copy_of(records: Records) -> Records:
    """Records like these, because sending moves them."""
    return decode_records(encode_records(records))


def model_call(number: int, parent: str = "", **attributes: object) -> Span:
    """A call of a model below the span with the id `parent`."""
    return make_span(
        span=number,
        parent_id=parent,
        start_ns=START_NS + number,
        end_ns=START_NS + 10**9,
        attributes={"gen_ai.operation.name": "chat", **attributes},
    )


def of(*spans: Span, received_ms: int | None = None) -> Records:
    """The records of a request with these spans."""
    records = make_records(list(spans))
    records.received_ms = received_ms or records.received_ms
    return records
