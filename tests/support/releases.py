"""The code of other releases, as a directory beside this one."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.foundation.clickhouse import migrate as clickhouse_migrations
from shared.foundation.deployment.floor import PREVIOUS, PREVIOUS_COMMIT
from shared.foundation.deployment.schema import own_versions
from shared.foundation.postgres.revisions import revisions

PROJECT = Path(__file__).resolve().parents[2]
_PACKAGES = ("shared", "web", "workers", "orgctl")
_UNUSED = ("node_modules", "src", "__pycache__")

_REVISION = '''
"""A column that this release does not know, and a table."""

import sqlalchemy as sa
from alembic import op

revision = "9000"
down_revision = "{newest}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("watched_sessions", sa.Column("later", sa.Boolean, server_default=sa.false()))
    op.create_table("later", sa.Column("id", sa.Uuid, primary_key=True))


def downgrade() -> None:
    op.drop_table("later")
    op.drop_column("watched_sessions", "later")
'''
_MIGRATION = '''
"""A column that this release does not know."""


def up(ddl):
    ddl.run("ALTER TABLE {table:events} ADD COLUMN IF NOT EXISTS later UInt8")


def down(ddl):
    ddl.run("ALTER TABLE {table:events} DROP COLUMN IF EXISTS later")
'''


def previous_release(directory: Path) -> Path:
    """Unpacks the code of the release before this one. Skips the test if git does not have it."""
    command = ["git", "cat-file", "-e", f"{PREVIOUS_COMMIT}^{{commit}}"]
    if (
        shutil.which("git") is None
        or subprocess.run(command, cwd=PROJECT, capture_output=True, check=False).returncode != 0
    ):
        pytest.skip(
            f"the previous release {PREVIOUS_COMMIT} is not in this checkout: fetch the history"
        )
    root = directory / "previous"
    root.mkdir()
    packed = directory / "previous.tar"
    archive = ["git", "archive", "-o", str(packed), PREVIOUS_COMMIT, *_PACKAGES]
    subprocess.run(archive, cwd=PROJECT, check=True)
    shutil.unpack_archive(packed, root, filter="data")
    return root


def next_release(directory: Path) -> Path:
    """Copies this code and adds a migration to each database."""
    root = directory / "next"
    for package in _PACKAGES:
        ignore = shutil.ignore_patterns(*_UNUSED)
        shutil.copytree(PROJECT / package, root / package, ignore=ignore)
    newest = revisions()[-1]
    versions = root / "shared/foundation/postgres/migrations/versions"
    (versions / "9000_later.py").write_text(_REVISION.strip().format(newest=newest) + "\n")
    migrations = root / "shared/foundation/clickhouse/migrations"
    (migrations / "m9000_later.py").write_text(_MIGRATION.strip() + "\n")
    listing = (migrations / "__init__.py").read_text()
    number = clickhouse_migrations.LATEST
    assert listing.rstrip().endswith(")"), "the list of migrations ends the module"
    (migrations / "__init__.py").write_text(
        f"from shared.foundation.clickhouse.migrations import m9000_later\n\n"
        f"{listing}\nMIGRATIONS = (*MIGRATIONS, m9000_later)\n"
        f"assert len(MIGRATIONS) == {number + 1}\n"
    )
    floor = root / "shared/foundation/deployment/floor.py"
    own, previous = own_versions(), PREVIOUS
    changed = floor.read_text().replace(
        f'Versions("{previous.postgres}", {previous.clickhouse})',
        f'Versions("{own.postgres}", {own.clickhouse})',
    )
    assert changed != floor.read_text()
    floor.write_text(changed)
    return root


def environ_of(root: Path, environ: dict[str, str]) -> dict[str, str]:
    """Returns the variables with which Python runs the code of `root`."""
    return {"PATH": os.environ["PATH"], **environ, "PYTHONPATH": str(root)}
