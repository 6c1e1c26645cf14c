"""The levels of budgets that were announced."""

import uuid
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base, same_org, timestamp_type
from shared.foundation.postgres.columns import KeyedInOrganization


class BudgetLevel(KeyedInOrganization, Base):
    """What was announced of a group in a period; another trigger begins from the start.

    `group_value` is the group's value of `group_field`, "" if it has none, and for all calls
    together. `level` is the highest that was announced, 0 if none was, and `has_forecast` whether
    the forecast was. Neither a resolution nor other costs take that back.
    """

    __tablename__ = "budget_levels"

    alert_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    spec_revision: Mapped[int] = mapped_column(primary_key=True)
    starts_at: Mapped[datetime] = mapped_column(timestamp_type, primary_key=True)
    group_value: Mapped[str] = mapped_column(primary_key=True)
    group_field: Mapped[str | None]
    level: Mapped[int] = mapped_column(server_default=text("0"))
    has_forecast: Mapped[bool] = mapped_column(server_default=text("false"))

    __table_args__ = (same_org("alert_id", "alerts", name="fk_budget_levels_alert"),)
