"""gunicorn's configuration: `gunicorn -c web/gunicorn.py web.wsgi:app`."""

import gc
import sys
from functools import partial

from gunicorn import util
from gunicorn.arbiter import Arbiter

from shared.foundation.core.config import load_settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.logs import configure_logging
from shared.foundation.core.metrics.exporter import Exporter
from shared.foundation.core.tracing.exporter import Tracing
from web.priority import go_first
from web.server import StructuredLogger, write_json_error

try:
    settings = load_settings()
    metrics = Exporter(settings, "web")
    tracing = Tracing(settings)
except ConfigurationError as error:
    sys.exit(str(error))
configure_logging(settings, "web")
go_first()

# Requests that never reach the application, such as a malformed request line, get our error body.
util.write_error = partial(write_json_error, settings.public_url)

wsgi_app = "web.wsgi:app"
bind = f"{settings.web_bind}:{settings.port}"
worker_class = "web.worker.Worker"
workers = settings.web_concurrency
threads = settings.web_threads
# Connections of a process, including idle ones. With those to the stores they stay below the 1024
# files that many systems allow.
worker_connections = settings.web_threads + 512
# With it, gunicorn would send a file piece by piece and bypass the time limit of `Connection`.
sendfile = False
# The schema is checked and the bootstrap keys are created once, before the workers are forked. A
# worker that dies is forked again without a store, which may be away just then.
preload_app = True
# A worker that is silent for this long is killed. Its main thread only passes connections on, so a
# slow request does not count, only a badly overloaded machine.
timeout = 120
graceful_timeout = 30
keepalive = 30
# The longest URL that gunicorn can accept: filters hold many ids of up to 256 characters.
limit_request_line = 8190
# Ignore what a peer says about the mount point and the scheme. By default gunicorn trusts a peer on
# loopback, where a proxy passes on anything that a client sends.
forwarded_allow_ips = ""
# To the application `X_Forwarded_Email` would look like `X-Forwarded-Email`, and proxies remove
# only the second one from what clients send.
header_map = "drop"
# A thread that comes back from a store waits this long for its turn while another one parses
# events, and a read comes back dozens of times. The default is 5 ms.
sys.setswitchinterval(0.001)
# `web.request_log` writes one line for each request.
accesslog = None
logger_class = StructuredLogger
# The control socket would be a file in the user's home directory, and nothing uses it.
control_socket_disable = True


# The collector would search for garbage for 0.2 s while the application is imported, in vain.
# `when_ready` enables it; it is not called when this file is loaded again.
if not gc.get_freeze_count():
    gc.disable()


def when_ready(_arbiter: Arbiter) -> None:
    """Freezes the imported objects, so that no garbage collection has to visit them.

    Their memory stays shared between the processes, and each process ends half a second of
    processor time sooner.
    """
    gc.freeze()
    gc.enable()


def post_fork(_arbiter: Arbiter, _worker: object) -> None:
    """Lets each worker count and make spans, and one of them answer for all."""
    metrics.start("web")
    tracing.start("web")


def worker_exit(_arbiter: Arbiter, _worker: object) -> None:
    """Sends the last spans of a worker."""
    tracing.stop()
