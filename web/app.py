"""The web application: `create_app(runtime)`. A server runs the one of `web.wsgi`."""

from flask import Flask

from shared.deployment.runtime import Runtime
from web import errors, openapi, request_log, state
from web.alerts import routes as alerts
from web.audits import routes as audits
from web.audits.findings import routes as findings
from web.conversations import routes as conversations
from web.dashboards import routes as dashboards
from web.evaluation_jobs import routes as evaluation_jobs
from web.evaluations import routes as evaluations
from web.events import routes as events
from web.health import routes as health
from web.identity import routes as identity
from web.incidents import routes as incidents
from web.keys import routes as keys
from web.model_windows import routes as model_windows
from web.paths import EncodedSlashes, keep_fixed_paths
from web.permissions import routes as permission_sets
from web.queries import routes as queries
from web.sessions import routes as sessions
from web.settings import routes as settings
from web.usage import routes as usage
from web.users import routes as users
from web.users.sign_in import routes as sign_in

# One line for each resource: its blueprint.
BLUEPRINTS = (
    openapi.blueprint,
    health.blueprint,
    events.blueprint,
    identity.blueprint,
    sign_in.blueprint,
    keys.blueprint,
    users.blueprint,
    permission_sets.blueprint,
    sessions.blueprint,
    evaluations.blueprint,
    evaluation_jobs.blueprint,
    queries.blueprint,
    dashboards.blueprint,
    incidents.blueprint,
    audits.blueprint,
    findings.blueprint,
    alerts.blueprint,
    conversations.blueprint,
    settings.blueprint,
    model_windows.blueprint,
    usage.blueprint,
)

# The limit for JSON bodies. POST /events has its own.
_MAX_BODY_BYTES = 2 * 1024 * 1024


def create_app(runtime: Runtime) -> Flask:
    """Creates the application. It opens no connection before the first request."""
    app = Flask("web", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _MAX_BODY_BYTES
    app.url_map.merge_slashes = False
    app.json.sort_keys = False  # type: ignore[attr-defined] # keep the schema's order
    state.attach(app, runtime)
    request_log.init_app(app)
    errors.init_app(app)
    api = openapi.make_api(app)
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    openapi.publish(app, api)
    keep_fixed_paths(app)
    app.wsgi_app = EncodedSlashes(app.wsgi_app)  # type: ignore[method-assign] # as in Flask's docs
    return app
