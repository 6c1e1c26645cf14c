"""gunicorn's configuration: `gunicorn -c web/gunicorn.py web.wsgi:app`."""

import gc
import sys

from gunicorn import util
from gunicorn.arbiter import Arbiter

from shared.core.config import load_settings
from shared.core.errors import ConfigurationError
from shared.core.logs import configure_logging
from web.server import StructuredLogger, write_json_error

try:
    settings = load_settings()
except ConfigurationError as error:
    sys.exit(str(error))
configure_logging(settings, "web")

# What never gets as far as the application, such as a malformed request line, has our error body.
util.write_error = write_json_error

wsgi_app = "web.wsgi:app"
bind = f"{settings.web_bind}:{settings.port}"
worker_class = "web.worker.Worker"
workers = settings.web_concurrency
threads = settings.web_threads
# Connections of a process, idle ones included; with those to the stores they stay below the 1024
# files that many systems allow.
worker_connections = settings.web_threads + 512
# Without it a file goes to the client piece by piece, which is what `Connection` keeps a limit on.
sendfile = False
# The schema is checked and the bootstrap keys are made once, before the workers are forked. A
# worker that dies is forked again without asking any store, which may just then be away.
preload_app = True
# A worker that is silent for this long is killed. Its main thread only shuffles connections, so
# this says nothing of slow requests, only of a machine that is badly overloaded.
timeout = 120
graceful_timeout = 30
keepalive = 30
# The longest URL that gunicorn can be made to take: filters hold many ids of up to 256 characters.
limit_request_line = 8190
# No peer's word is taken for where the application is mounted or which scheme was used; from
# loopback, where a proxy passes on what anybody sends, gunicorn would take it.
forwarded_allow_ips = ""
# Our own line a request is written by `web.request_log`.
accesslog = None
logger_class = StructuredLogger
# Would be a socket in the home directory of whoever runs it; nobody asked for one.
control_socket_disable = True


def when_ready(_arbiter: Arbiter) -> None:
    """What is imported stays for good: no collection has to go through it.

    That leaves its memory shared between the processes, and each of them ends half a second of
    processor time sooner.
    """
    gc.freeze()
