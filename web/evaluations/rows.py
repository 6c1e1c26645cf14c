"""Results as JSON."""

from shared.foundation.core.clock import format_us
from shared.reading.evaluations.records import Evaluation
from web.evaluations import schemas
from web.responses import row_of


def evaluation_row(record: Evaluation) -> dict[str, object]:
    """Returns the row of one result, also within a session."""
    completed_at = format_us(record.completed_at)
    return row_of(
        schemas.Evaluation,
        record,
        id=record.evaluation_id,
        completed_at=completed_at,
        created_at=completed_at,
    )
