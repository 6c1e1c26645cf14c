"""Settings of an organization: list, describe and change them."""

from typing import Any

from shared.access.settings import service as settings
from shared.access.settings.catalogue import CATALOGUE
from shared.access.settings.reading import default_of
from shared.access.settings.service import Editor
from web.auth import current_identity, requires
from web.blueprint import Blueprint
from web.settings import schemas
from web.state import runtime
from web.transaction import Tx, in_transaction, in_transaction_at_once

blueprint = Blueprint("settings", "Values that people change while the service runs")


@blueprint.route("/settings")
@requires("settings:read")
@blueprint.response(200, schemas.SettingList)
@in_transaction
def list_settings(tx: Tx) -> dict[str, Any]:
    """List every setting with its current value. Secrets are never shown.

    Without `settings:write` URLs are cut after their origin, because the path of a webhook is often
    its secret.
    """
    whole_urls = "settings:write" in current_identity().permissions
    found = settings.list_(tx.session, runtime().settings, tx.org_id, whole_urls=whole_urls)
    return {"settings": [schemas.setting_row(current) for current in found]}


@blueprint.route("/settings/schema")
@requires("settings:read")
@blueprint.response(200, schemas.SettingEntryList)
def list_setting_schemas() -> dict[str, Any]:
    """List all settings with their kinds and allowed values."""
    entries = [
        schemas.setting_entry(setting, default_of(runtime().settings, setting.key))
        for setting in CATALOGUE.values()
    ]
    return {"settings": entries}


@blueprint.route("/settings/<key>", methods=["PUT"])
@requires("settings:write")
@blueprint.arguments(schemas.SettingBody)
@blueprint.response(200, schemas.SettingRow, errors=(409,))
@in_transaction_at_once
def put_setting(tx: Tx, body: dict[str, Any], key: str) -> dict[str, Any]:
    """Set a value, from the next request or event on in every process.

    The body is `{"value": …}` or the bare value. Null resets the setting to its default.
    """
    identity = current_identity()
    editor = Editor(identity.name, None if identity.user is None else identity.user.email)
    changed = settings.replace(
        tx.session, runtime().settings, tx.org_id, key, body["value"], editor
    )
    return schemas.setting_row(changed)
