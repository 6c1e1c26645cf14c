"""Context windows of models: an organization's own ones, and the effective one of a model."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import collate, func, select
from sqlalchemy import delete as sql_delete
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access.audit_log import record
from shared.foundation.core.errors import Conflict, Invalid, NotFound
from shared.reading.model_windows.builtin import WindowOf, builtin_window
from shared.reading.model_windows.models import ModelContextWindow

MAX_MODEL_LENGTH = 256
MAX_WINDOW = 1_000_000
# Ingest workers cache the overrides of every organization that sends events.
MAX_OVERRIDES = 1000


@dataclass(frozen=True)
class ModelWindow:
    """The window of a model in tokens, None if unknown, and its source.

    `source` is `override`, `default` (the built-in table) or `unknown`.
    """

    model_id: str
    context_window: int | None
    source: str


def list_(session: Session, org_id: uuid.UUID) -> list[ModelContextWindow]:
    """Lists the windows that an organization set, by model."""
    query = (
        select(ModelContextWindow)
        .where(ModelContextWindow.org_id == org_id)
        .order_by(collate(ModelContextWindow.model_id, "C"))
    )
    return list(session.scalars(query))


def overrides_of(
    session: Session, org_ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, dict[str, int]]:
    """Maps models to windows in each of these organizations, 0 if unknown; runs one query."""
    found: dict[uuid.UUID, dict[str, int]] = {org_id: {} for org_id in org_ids}
    query = select(
        ModelContextWindow.org_id, ModelContextWindow.model_id, ModelContextWindow.context_window
    ).where(ModelContextWindow.org_id.in_(org_ids))
    for org_id, model_id, window in session.execute(query):
        found[org_id][model_id] = window
    return found


class _OwnFirst(dict[str, int | None]):
    """An organization's own windows, and the built-in ones for all other models."""

    def __missing__(self, model: str) -> int | None:
        return builtin_window(model)


def window_lookup(overrides: Mapping[str, int]) -> WindowOf:
    """Returns the windows of an organization with these ones of its own."""
    return _OwnFirst(overrides).__getitem__ if overrides else builtin_window


def replace(
    session: Session, org_id: uuid.UUID, model_id: str, context_window: int
) -> ModelContextWindow:
    """Sets the window of a model, spelled as in events; 0 means unknown.

    Run it in `cache.at_once`. Raises `Invalid` naming the field, `Conflict` if the organization has
    set 1000 others.
    """
    require_model(model_id, "model_id")
    if not 0 <= context_window <= MAX_WINDOW:
        raise Invalid.field("context_window", f"must be between 0 and {MAX_WINDOW}")
    others = select(func.count()).where(
        ModelContextWindow.org_id == org_id, ModelContextWindow.model_id != model_id
    )
    if (session.scalar(others) or 0) >= MAX_OVERRIDES:
        raise Conflict(
            f"an organization can set at most {MAX_OVERRIDES} windows: delete one first",
            code="too_many_windows",
        )
    present = select(ModelContextWindow.context_window).where(
        ModelContextWindow.org_id == org_id, ModelContextWindow.model_id == model_id
    )
    before = {"context_window": session.scalar(present.with_for_update())}
    after = {"context_window": context_window}
    record(session, org_id, "model_window.update", target=model_id, before=before, after=after)
    values = {"context_window": context_window, "updated_at": func.clock_timestamp()}
    upsert = (
        insert(ModelContextWindow)
        .values(org_id=org_id, model_id=model_id, **values)
        .on_conflict_do_update(index_elements=["org_id", "model_id"], set_=values)
        .returning(ModelContextWindow)
    )
    return session.scalars(upsert, execution_options={"populate_existing": True}).one()


def delete(session: Session, org_id: uuid.UUID, model_id: str) -> None:
    """Resets a model to the built-in table; run it in `cache.at_once`.

    Raises `NotFound` if the organization set no window for it.
    """
    require_model(model_id, "model")
    gone = session.scalars(
        sql_delete(ModelContextWindow)
        .where(ModelContextWindow.org_id == org_id, ModelContextWindow.model_id == model_id)
        .returning(ModelContextWindow.context_window)
    ).first()
    if gone is None:
        raise NotFound("no window is set for this model")
    before = {"context_window": gone}
    record(session, org_id, "model_window.delete", target=model_id, before=before)


def resolve(session: Session, org_id: uuid.UUID, model_id: str) -> ModelWindow:
    """Returns the window that the next event of this model gets.

    Raises `Invalid` naming `model`.
    """
    require_model(model_id, "model")
    override = session.get(ModelContextWindow, {"org_id": org_id, "model_id": model_id})
    if override is not None:
        return ModelWindow(model_id, override.context_window or None, "override")
    window = builtin_window(model_id)
    return ModelWindow(model_id, window, "unknown" if window is None else "default")


def require_model(model_id: str, field: str) -> None:
    """Raises `Invalid` naming `field`."""
    if not 1 <= len(model_id) <= MAX_MODEL_LENGTH or "\0" in model_id:
        raise Invalid.field(field, f"must have 1 to {MAX_MODEL_LENGTH} characters")
