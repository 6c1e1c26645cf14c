"""State that the routes of one application share. Each process has its own."""

from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app

from shared.access.identity import Authenticator
from shared.access.limits.service import Limits
from shared.access.users.sign_in.limits import SignInLimits
from shared.foundation.clickhouse.published import schema_of
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.slots import RUNS_AT_ONCE
from shared.intake.imports.service import Imports
from shared.intake.ingest.accept import Ingest
from shared.intake.otlp.accept import OtlpIngest
from shared.reading.exports.places import ExportPlaces
from shared.reading.queries.run import QueryRunner
from web.proxy_auth import ProxyAuth, proxy_auth_of
from web.readiness import Readiness

_NAME = "watchpost"


@dataclass(frozen=True)
class WebState:
    """The runtime, and objects that are created once instead of in every request."""

    runtime: Runtime
    authenticator: Authenticator
    ingest: Ingest
    imports: Imports
    otlp: OtlpIngest
    limits: Limits
    sign_in_limits: SignInLimits
    readiness: Readiness
    queries: QueryRunner
    exports: ExportPlaces
    proxy_auth: ProxyAuth | None


def attach(app: Flask, runtime: Runtime) -> None:
    """Creates the application's state; raises `ConfigurationError`."""
    ingest = Ingest(runtime)
    app.extensions[_NAME] = WebState(
        runtime=runtime,
        authenticator=Authenticator(runtime),
        ingest=ingest,
        imports=Imports(runtime, ingest),
        otlp=OtlpIngest(runtime, ingest),
        limits=Limits(runtime),
        sign_in_limits=SignInLimits(runtime.redis),
        readiness=Readiness(runtime),
        proxy_auth=proxy_auth_of(runtime.settings),
        # An eighth of the threads: however long queries run, other requests are served, and decoded
        # results of 64 MiB take a few gigabytes at most. One organization can always run its share.
        queries=QueryRunner(
            runtime, pool_size=max(RUNS_AT_ONCE, runtime.settings.web_threads // 8)
        ),
        exports=ExportPlaces(),
    )


def state() -> WebState:
    """Returns the state of the application that handles the request."""
    return cast("WebState", current_app.extensions[_NAME])


def runtime() -> Runtime:
    """Returns the runtime of the application that handles the request."""
    return state().runtime


def published_schema() -> str:
    """Returns the database that statements may name, or None when this deployment runs no SQL."""
    url = runtime().settings.clickhouse_readonly_url
    return "" if url is None else schema_of(url)
