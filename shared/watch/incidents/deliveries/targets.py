"""The targets of an alert's or audit's channels, by the settings of the organization."""

import functools
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from shared.access.settings import reading as settings
from shared.access.settings.catalogue import Value
from shared.access.settings.rules import masked_url
from shared.foundation.core.channels import CAN_BE_OFF, CHANNELS
from shared.foundation.core.config import Settings

ENABLED = "alerts.enabled_channels"
RECIPIENTS = "alerts.email_default_recipients"


@dataclass(frozen=True)
class DeliveryTarget:
    """The target of one delivery, or the reason why there is none (`skipped`).

    `target` is an address, the origin of a URL, `dashboard`, or the empty setting.
    """

    channel: str
    target: str
    url_setting_key: str | None = None
    secret_setting_key: str | None = None
    skipped: str | None = None


def targets_of(
    session: Session, config: Settings, org_id: uuid.UUID, channels: Sequence[Mapping[str, Any]]
) -> list[DeliveryTarget]:
    """Returns the targets of these channels, each once, in their order."""

    @functools.cache
    def setting(key: str) -> Value:
        return settings.value(session, config, org_id, key)

    found: dict[DeliveryTarget, None] = {}
    for channel in channels:
        for target in _of_channel(channel, setting):
            found[_if_enabled(target, setting)] = None
    return list(found)


def is_empty(setting_key: str) -> str:
    """Returns the reason why nothing can be sent to the URL of a setting."""
    return f"the setting {setting_key} is empty"


_Setting = Callable[[str], Value]


def _if_enabled(target: DeliveryTarget, setting: _Setting) -> DeliveryTarget:
    enabled = setting(ENABLED)
    if target.channel not in CAN_BE_OFF or not isinstance(enabled, list):
        return target
    if target.channel in enabled:
        return target
    return replace(target, skipped=f"{target.channel} is not enabled in the setting {ENABLED}")


def _of_channel(channel: Mapping[str, Any], setting: _Setting) -> list[DeliveryTarget]:
    row = CHANNELS[channel["kind"]]
    if row.has_recipients:
        return _mails(channel, setting)
    keys = {one.kind: channel.get(name, one.default) for name, one in row.settings.items()}
    if keys:
        return [_over_http(row.kind, keys["url"], keys.get("secret"), setting)]
    return [DeliveryTarget(row.kind, row.kind)]


def _mails(channel: Mapping[str, Any], setting: _Setting) -> list[DeliveryTarget]:
    defaults = setting(RECIPIENTS)
    recipients = channel.get("recipients") or (defaults if isinstance(defaults, list) else [])
    if not recipients:
        why = f"the channel names no recipients, and {is_empty(RECIPIENTS)}"
        return [DeliveryTarget("email", RECIPIENTS, skipped=why)]
    return [DeliveryTarget("email", recipient) for recipient in recipients]


def _over_http(
    channel: str, url_key: str, secret_key: str | None, setting: _Setting
) -> DeliveryTarget:
    url = str(setting(url_key))
    if not url:
        return DeliveryTarget(channel, url_key, skipped=is_empty(url_key))
    return DeliveryTarget(channel, masked_url(url), url_key, secret_key)
