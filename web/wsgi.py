"""The application that a WSGI server runs: `web.wsgi:app`.

It starts only when the databases have this release's schema and the bootstrap keys are in place.
Otherwise it prints the reason in one sentence and exits. Every connection made on the way is closed
again, so a server may fork after importing this.
"""

import sys

from flask import Flask

from shared.access.identity import bootstrap
from shared.access.permissions.custom_sets import service as custom_sets
from shared.evaluation.evaluators.secrets import IN_CLEAR
from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError, Unavailable
from shared.foundation.core.logs import configure_logging, get_logger
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.deployment.schema import require_current
from shared.foundation.deployment.stores import wait_for_stores
from web.app import create_app
from web.ui import shell
from web.ui.routes import STATIC

log = get_logger(__name__)


def start() -> Flask:
    """Creates the application from the environment. Exits when it cannot serve."""
    try:
        settings = load_settings()
        configure_logging(settings, "web")
        runtime = Runtime.connect(settings)
        wait_for_stores(runtime)
        require_current(runtime.postgres, runtime.clickhouse)
        with runtime.postgres.transaction() as session:
            custom_sets.require_default(session, settings)
        bootstrap(runtime)
        runtime.close()
        if settings.secrets_key is None:
            log.info("secrets_in_clear", reason=IN_CLEAR)
        if not shell.is_built(STATIC):
            log.warning("ui_not_built", reason=shell.NOT_BUILT)
        return create_app(Runtime.connect(settings))
    except (ConfigurationError, Unavailable) as error:
        log.error("web_refused_to_start", reason=str(error))  # noqa: TRY400 the reason suffices
        sys.exit(1)


app = start()
