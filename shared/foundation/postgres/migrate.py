"""Applies the Alembic revisions."""

import io
import time
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from shared.foundation.core.errors import Unavailable
from shared.foundation.core.logs import get_logger
from shared.foundation.postgres.revisions import current_revision, revisions

log = get_logger(__name__)

_SCRIPTS = Path(__file__).parent / "migrations"

# A migration waits this long for a lock, and makes later statements of the service wait as long.
LOCK_TIMEOUT_MS = 2000
# Between two attempts the service works as if nothing was going on.
_PAUSE_SECS = 3.0
# A lock that is not free for this long belongs to something that an operator has to end.
LONGEST_WAIT_SECS = 600.0
_LOCK_NOT_AVAILABLE = "55P03"


def _config(engine: Engine | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    config.attributes["lock_timeout_ms"] = LOCK_TIMEOUT_MS
    return config


def migrate(
    engine: Engine, target: str = "head", *, longest_wait_secs: float = LONGEST_WAIT_SECS
) -> None:
    """Steps up or down to `target`, a revision id or `head` or `base`.

    A migration that does not get a lock within 2 s is undone and tried again. Raises `Unavailable`
    if it did not get the lock for `longest_wait_secs`; earlier migrations stay done.
    """
    config = _config(engine)
    deadline = time.monotonic() + longest_wait_secs
    while True:
        current = current_revision(engine)
        ordered = revisions()
        forward = target == "head" or (
            target in ordered and current not in ordered[ordered.index(target) :]
        )
        try:
            (command.upgrade if forward else command.downgrade)(config, target)
        except OperationalError as error:
            if getattr(error.orig, "pgcode", None) != _LOCK_NOT_AVAILABLE:
                raise
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"a statement of the migration after {current} did not get its lock for"
                    f" {longest_wait_secs:g} s: end the transactions that hold it"
                    " (pg_stat_activity), and run `bin/release` again"
                ) from error
            log.info("migration_waits_for_a_lock", after=current)
            time.sleep(min(_PAUSE_SECS, longest_wait_secs))
        else:
            return


def statements_of(revision: str) -> str:
    """Returns the SQL of a migration without running it.

    A migration that computes with rows writes no such SQL for it.
    """
    ordered = revisions()
    place = ordered.index(revision)
    before = "base" if place == 0 else ordered[place - 1]
    config, said = _config(), io.StringIO()
    config.output_buffer = said
    command.upgrade(config, f"{before}:{revision}", sql=True)
    return said.getvalue()
