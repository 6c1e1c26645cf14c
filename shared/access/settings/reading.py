"""The effective value of a setting: the organization's, else the default."""

import uuid
from collections.abc import Collection, Mapping
from typing import cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.access.settings.catalogue import CATALOGUE, Value
from shared.access.settings.models import OrganizationSetting
from shared.foundation.core.config import Settings


def default_of(config: Settings, key: str) -> Value:
    """Returns the value of a setting that the organization did not change."""
    if key == "default_user_permissions":
        return config.default_user_permissions
    return CATALOGUE[key].default


def value(session: Session, config: Settings, org_id: uuid.UUID, key: str) -> Value:
    """Returns the value of `key` in one organization; raises `KeyError` for an unknown key."""
    return values(session, config, [org_id], key)[org_id]


def several(
    session: Session, config: Settings, org_id: uuid.UUID, keys: Collection[str]
) -> Mapping[str, Value]:
    """Returns the values of these keys in one organization, with one query."""
    query = select(OrganizationSetting.key, OrganizationSetting.value).where(
        OrganizationSetting.org_id == org_id, OrganizationSetting.key.in_(keys)
    )
    found = {key: cast("Value", stored) for key, stored in session.execute(query)}
    return {key: found.get(key, default_of(config, key)) for key in keys}


def values(
    session: Session, config: Settings, org_ids: Collection[uuid.UUID], key: str
) -> Mapping[uuid.UUID, Value]:
    """Returns the value of `key` in each of these organizations."""
    default = default_of(config, key)
    query = select(OrganizationSetting.org_id, OrganizationSetting.value).where(
        OrganizationSetting.org_id.in_(org_ids), OrganizationSetting.key == key
    )
    found = {org_id: cast("Value", stored) for org_id, stored in session.execute(query)}
    return {org_id: found.get(org_id, default) for org_id in org_ids}
