"""Applies the Alembic revisions and reports the revision of a database."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

_SCRIPTS = Path(__file__).parent / "migrations"


def _config(engine: Engine) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    return config


def migrate(engine: Engine, target: str = "head") -> None:
    """Steps up or down to `target`, a revision id or `head` or `base`."""
    config = _config(engine)
    current = current_revision(engine)
    ordered = revisions(engine)
    if target == "head" or (target in ordered and current not in ordered[ordered.index(target) :]):
        command.upgrade(config, target)
    else:
        command.downgrade(config, target)


def current_revision(engine: Engine) -> str | None:
    """Returns the revision of the database, None for an empty one."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def revisions(engine: Engine) -> list[str]:
    """Lists every revision that this code knows, oldest first."""
    scripts = ScriptDirectory.from_config(_config(engine))
    return [script.revision for script in scripts.walk_revisions()][::-1]
