"""The channels of an alert or audit: the destinations of its notifications (docs/webhooks.md)."""

from collections.abc import Callable, Mapping
from typing import Any

from shared.core.email_address import normal_address
from shared.core.errors import Invalid
from shared.settings.catalogue import CATALOGUE

MAX_CHANNELS = 20
MAX_RECIPIENTS = 50

Channel = dict[str, Any]


def check_channels(raw: object, field: str = "channels") -> list[Channel]:
    """Returns the channels in the form to store; `raw` is decoded JSON.

    Leaves out members that a kind does not have, and setting keys that are null. Raises `Invalid`
    naming the bad part of `field`: `channels`, `channels.0.kind`, `channels.0.recipients`,
    `channels.0.url_setting_key`.
    """
    if not isinstance(raw, list):
        raise Invalid.field(field, "must be a list of channels")
    if len(raw) > MAX_CHANNELS:
        raise Invalid.field(field, f"must have at most {MAX_CHANNELS} channels")
    return [_channel(one, f"{field}.{number}") for number, one in enumerate(raw)]


def _channel(raw: object, field: str) -> Channel:
    if not isinstance(raw, dict):
        raise Invalid.field(field, "must be an object")
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise Invalid.field(f"{field}.kind", f"must be one of {', '.join(_KINDS)}")
    return {"kind": kind, **_KINDS[kind](raw, field)}


def _email(raw: Mapping[str, object], field: str) -> Channel:
    field = f"{field}.recipients"
    recipients = raw.get("recipients")
    if recipients is None:
        return {"recipients": None}
    if not isinstance(recipients, list) or not all(isinstance(one, str) for one in recipients):
        raise Invalid.field(field, "must be null or a list of e-mail addresses")
    if len(recipients) > MAX_RECIPIENTS:
        raise Invalid.field(field, f"must have at most {MAX_RECIPIENTS} addresses")
    # A person on call need not be a member.
    return {"recipients": list(dict.fromkeys(normal_address(one, field) for one in recipients))}


def _slack(raw: Mapping[str, object], field: str) -> Channel:
    return _setting_key(raw, field, "webhook_setting_key", kind="url")


def _webhook(raw: Mapping[str, object], field: str) -> Channel:
    return {
        **_setting_key(raw, field, "url_setting_key", kind="url"),
        **_setting_key(raw, field, "secret_setting_key", kind="secret"),
    }


def _dashboard(_raw: Mapping[str, object], _field: str) -> Channel:
    return {}


def _setting_key(raw: Mapping[str, object], field: str, name: str, *, kind: str) -> Channel:
    key = raw.get(name)
    if key is None:
        return {}
    setting = CATALOGUE.get(key) if isinstance(key, str) else None
    if setting is None or setting.kind != kind:
        fitting = [one.key for one in CATALOGUE.values() if one.kind == kind]
        raise Invalid.field(f"{field}.{name}", f"must be one of {', '.join(fitting)}")
    return {name: key}


_KINDS: Mapping[str, Callable[[Mapping[str, object], str], Channel]] = {
    "email": _email,
    "slack": _slack,
    "webhook": _webhook,
    "dashboard": _dashboard,
}
