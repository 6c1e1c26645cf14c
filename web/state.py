"""What the routes of one application share; each process has its own."""

from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app

from shared.clickhouse.published import schema_of
from shared.deployment.runtime import Runtime
from shared.events.ingest.accept import Ingest
from shared.identity import Authenticator
from shared.queries.run import Runner
from shared.queries.slots import RUNS_AT_ONCE
from shared.users.sign_in.limits import SignInLimits
from web.readiness import Readiness

_NAME = "watchpost"


@dataclass(frozen=True)
class State:
    """The runtime, and what is made of it once rather than in every request."""

    runtime: Runtime
    authenticator: Authenticator
    ingest: Ingest
    sign_in_limits: SignInLimits
    readiness: Readiness
    queries: Runner


def attach(app: Flask, runtime: Runtime) -> None:
    """Gives the application its state."""
    app.extensions[_NAME] = State(
        runtime=runtime,
        authenticator=Authenticator(runtime),
        ingest=Ingest(runtime),
        sign_in_limits=SignInLimits(runtime.redis),
        readiness=Readiness(runtime),
        # An eighth of the threads: however long queries run, other requests are served, and results
        # of 64 MiB that are decoded at the same time take no more than some gigabytes. No fewer
        # than one organization may run.
        queries=Runner(runtime, pool_size=max(RUNS_AT_ONCE, runtime.settings.web_threads // 8)),
    )


def state() -> State:
    """The state of the application that is handling the request."""
    return cast("State", current_app.extensions[_NAME])


def runtime() -> Runtime:
    """The runtime of the application that is handling the request."""
    return state().runtime


def published_schema() -> str:
    """The database that statements may name; none where this deployment runs no SQL."""
    url = runtime().settings.clickhouse_readonly_url
    return "" if url is None else schema_of(url)
