"""Applies the Alembic revisions."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine

from shared.postgres.revisions import current_revision, revisions

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
    ordered = revisions()
    if target == "head" or (target in ordered and current not in ordered[ordered.index(target) :]):
        command.upgrade(config, target)
    else:
        command.downgrade(config, target)
