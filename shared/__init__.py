"""The code that all front ends share; see "Floor plan" in docs/change/architecture.md."""

import os

from shared.foundation.core.extras import import_without

# The driver of ClickHouse would build a table of every date from 1900 to 2299 when it is imported:
# 26 MB and 0.25 s in each process (measured at eec2b7f). With this it adds dates as they appear.
os.environ.setdefault("CLICKHOUSE_DRIVER_LASY_DATE_LUT", "1")

# These two would load packages of the extras `devstack` and `dev` wherever they are installed:
# 9 MB and 0.1 s in each process, for tracebacks and metrics that nothing here asks for.
import_without("structlog", ("rich", "better_exceptions"))
import_without("redis", ("opentelemetry",))
