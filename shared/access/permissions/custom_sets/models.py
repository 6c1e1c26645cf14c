"""Permission sets that an organization created."""

from sqlalchemy import Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from shared.foundation.postgres import Base
from shared.foundation.postgres.columns import KeyedInOrganization, Timestamps


class PermissionSet(KeyedInOrganization, Timestamps, Base):
    """A named grant of one organization; the built-in sets are in `shared.access.permissions`."""

    __tablename__ = "permission_sets"

    name: Mapped[str] = mapped_column(primary_key=True)
    description: Mapped[str] = mapped_column(server_default=text("''"))
    permissions: Mapped[list[str]] = mapped_column(ARRAY(Text))
