"""The revisions of the schema that this code knows, and the one of a database; without Alembic.

Every process asks for both when it starts. Alembic would import all migrations for it.
"""

from pathlib import Path

from sqlalchemy import Engine, text

_VERSIONS = Path(__file__).parent / "migrations" / "versions"


def current_revision(engine: Engine) -> str | None:
    """Returns the revision of the database, None for an empty one."""
    with engine.connect() as connection:
        if connection.scalar(text("SELECT to_regclass('alembic_version')")) is None:
            return None
        revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
        return revision


def revisions() -> list[str]:
    """Lists every revision that this code knows, oldest first: the numbers of the files."""
    return sorted(path.name.partition("_")[0] for path in _VERSIONS.glob("[0-9]*_*.py"))


def file_of(revision: str) -> Path:
    """Returns the module of a revision."""
    [path] = _VERSIONS.glob(f"{revision}_*.py")
    return path
