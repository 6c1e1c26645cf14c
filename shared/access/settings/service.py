"""The settings of an organization: lists all of them, and changes one."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from datetime import datetime
from urllib.parse import urlsplit

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.access.audit_log import record
from shared.access.permissions.custom_sets import service as permission_sets
from shared.access.settings.catalogue import CATALOGUE, Setting, Value
from shared.access.settings.models import OrganizationSetting
from shared.access.settings.reading import default_of
from shared.access.settings.rules import FIELD, lets_in, masked_url, normal_value
from shared.foundation.core.addresses import is_surely_private
from shared.foundation.core.config import Settings
from shared.foundation.core.errors import Conflict, Invalid, NotFound


@dataclass(frozen=True)
class Current:
    """A setting as people see it: `value` is the effective one.

    A secret appears as "", and a URL without its path to those who may not change it.
    `value_set` shows whether the organization set it (a secret: to a text that is not empty).
    `updated_at` and `updated_by` are null if it never did. `note` says why the value will not work.
    """

    setting: Setting
    default: Value
    value: Value
    value_set: bool
    updated_at: datetime | None
    updated_by: str | None
    note: str | None = None


@dataclass(frozen=True)
class Editor:
    """The author of a change: a name to record, and the address if it is a person."""

    name: str
    address: str | None


def list_(
    session: Session, config: Settings, org_id: uuid.UUID, *, whole_urls: bool
) -> list[Current]:
    """Lists every setting of an organization, in the order of the catalogue.

    `whole_urls` is for those who may change settings. Others see only the origin of a URL.
    """
    query = select(OrganizationSetting).where(OrganizationSetting.org_id == org_id)
    stored = {row.key: row for row in session.scalars(query)}
    found = [_current(config, setting, stored.get(key)) for key, setting in CATALOGUE.items()]
    return found if whole_urls else [_masked(one) for one in found]


def replace(
    session: Session, config: Settings, org_id: uuid.UUID, key: str, value: object, by: Editor
) -> Current:
    """Sets `key` to a decoded JSON value; null restores the default.

    Run it in `cache.at_once`. Raises `NotFound` for an unknown key, `Invalid` naming `value` for a
    value that is not allowed, such as one that would lock out its editor, and `Conflict` for one
    that this deployment cannot carry out.
    """
    setting = CATALOGUE.get(key)
    if setting is None:
        raise NotFound.named("setting", key)
    before = _logged(setting, _stored(session, config, org_id, key))
    if value is None:
        session.execute(
            delete(OrganizationSetting).where(
                OrganizationSetting.org_id == org_id, OrganizationSetting.key == key
            )
        )
        after = _logged(setting, default_of(config, key))
        record(session, org_id, "setting.reset", target=key, before=before, after=after)
        return _current(config, setting, None)
    normal = normal_value(setting, value)
    if setting.kind == "permission_set_ref":
        permission_sets.chosen(session, org_id, str(normal), FIELD)
    if key == "exports.schedule" and normal != "off" and config.export_target is None:
        raise Conflict(
            "this deployment has no place for scheduled exports: its operator sets EXPORT_TARGET",
            code="no_export_target",
        )
    if key == "allowed_sign_ins" and by.address is not None and not lets_in(normal, by.address):
        raise Invalid.field(FIELD, "would lock you out: include your own address")
    after = _logged(setting, normal)
    record(session, org_id, "setting.update", target=key, before=before, after=after)
    return _current(config, setting, _store(session, org_id, key, normal, by))


def _stored(session: Session, config: Settings, org_id: uuid.UUID, key: str) -> Value:
    """Locks and returns the present value, so that the log has no gap between two changes."""
    query = select(OrganizationSetting.value).where(
        OrganizationSetting.org_id == org_id, OrganizationSetting.key == key
    )
    row = session.execute(query.with_for_update()).one_or_none()
    return default_of(config, key) if row is None else row.value


def _logged(setting: Setting, value: Value) -> dict[str, object]:
    """Returns a value for the audit log: of a secret whether it is set, of a URL its origin."""
    if setting.kind == "secret":
        return {"is_set": value != ""}
    if setting.kind == "url":
        return {"value": masked_url(str(value))}
    return {"value": value}


def _masked(current: Current) -> Current:
    if current.setting.kind != "url":
        return current
    return replace_fields(current, value=masked_url(str(current.value)))


def _store(
    session: Session, org_id: uuid.UUID, key: str, value: Value, by: Editor
) -> OrganizationSetting:
    values: Mapping[str, object] = {
        "value": value,
        "updated_at": func.clock_timestamp(),
        "updated_by": by.name,
    }
    upsert = (
        insert(OrganizationSetting)
        .values(org_id=org_id, key=key, **values)
        .on_conflict_do_update(index_elements=["org_id", "key"], set_=values)
        .returning(OrganizationSetting)
    )
    return session.scalars(upsert, execution_options={"populate_existing": True}).one()


def _current(config: Settings, setting: Setting, stored: OrganizationSetting | None) -> Current:
    default = default_of(config, setting.key)
    value: Value = default if stored is None else stored.value
    is_secret = setting.kind == "secret"
    return Current(
        setting=setting,
        default=default,
        value="" if is_secret else value,
        value_set=stored is not None and (not is_secret or value != ""),
        updated_at=None if stored is None else stored.updated_at,
        updated_by=None if stored is None else stored.updated_by,
        note=_note(config, setting, value),
    )


def _note(config: Settings, setting: Setting, value: Value) -> str | None:
    if setting.kind != "url" or not value or config.webhook_allow_private:
        return None
    if not is_surely_private(urlsplit(str(value)).hostname or ""):
        return None
    return (
        "This host is in a private network. Deliveries to it fail unless the operator of this"
        " deployment sets WEBHOOK_ALLOW_PRIVATE=1."
    )
