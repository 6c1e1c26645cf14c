"""Revision 0012: the protected members of `default` count as created by ADMIN_EMAIL."""

from sqlalchemy import text

from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Postgres
from shared.foundation.postgres.migrate import migrate
from tests.support.databases import empty_postgres

_MEMBER = """
INSERT INTO memberships (org_id, user_id, is_protected)
SELECT organizations.id, :user_id, :is_protected FROM organizations WHERE slug = :slug
"""


def test_protected_members_of_the_default_organization_are_remembered(postgres_url: str) -> None:
    with empty_postgres(postgres_url) as url:
        postgres = Postgres(url, pool_size=1)
        try:
            migrate(postgres.engine, "0011")
            with postgres.transaction() as session:
                session.execute(
                    text("INSERT INTO organizations (id, slug, name) VALUES (:id, 'other', 'o')"),
                    {"id": new_id()},
                )
                for email, slug, is_protected in (
                    ("ada@example.org", "default", True),
                    ("bob@example.org", "default", False),
                    ("eve@example.org", "other", True),
                ):
                    user = {"user_id": new_id(), "email": email}
                    session.execute(
                        text("INSERT INTO users (id, email) VALUES (:user_id, :email)"), user
                    )
                    session.execute(
                        text(_MEMBER), {**user, "slug": slug, "is_protected": is_protected}
                    )
            migrate(postgres.engine)
            with postgres.transaction() as session:
                kept = session.scalars(text("SELECT email FROM first_members")).all()
            assert kept == ["ada@example.org"]
        finally:
            postgres.close()
