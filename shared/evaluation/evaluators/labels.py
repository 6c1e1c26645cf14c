"""Labels of evaluators and of results."""

from shared.evaluation.evaluators.exact import items
from shared.foundation.core import bounds
from shared.foundation.core.errors import Invalid

MAX_LABELS = 20
MAX_LABEL_BYTES = 64


def require_labels(field: str, value: object) -> list[str]:
    """Returns distinct labels in their order; raises `Invalid` naming the field."""
    labels = []
    for one in items(field, value, most=MAX_LABELS):
        if not isinstance(one, str):
            raise Invalid.field(field, "must contain texts")
        label = bounds.require_name(field, one, most=MAX_LABEL_BYTES)
        if len(label.encode()) > MAX_LABEL_BYTES:
            raise Invalid.field(field, f"must contain texts of 1 to {MAX_LABEL_BYTES} bytes")
        labels.append(label)
    return list(dict.fromkeys(labels))
