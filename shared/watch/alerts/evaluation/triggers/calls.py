"""The events that are calls, which have a cost."""

from shared.reading.events.families import MODEL, TOOL
from shared.watch.alerts.evaluation.triggers.aggregates import Term

# The types of events that may be calls.
CALLS = (MODEL.end, TOOL.end)
IS_CALL = Term("cost_source IS NOT NULL")
IS_UNPRICED = Term("cost_source = 'unpriced'")
HAS_COST = Term("cost_usd IS NOT NULL")
