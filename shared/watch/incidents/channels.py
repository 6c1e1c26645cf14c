"""The channels of an alert or audit: where its notifications go (docs/use/webhooks.md)."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from shared.access.settings.catalogue import CATALOGUE
from shared.foundation.core import channels
from shared.foundation.core.channels import CHANNELS, KINDS
from shared.foundation.core.email_address import normal_address
from shared.foundation.core.errors import Invalid

MAX_CHANNELS = 20
MAX_RECIPIENTS = 50

Channel = dict[str, Any]


def _shape(channel: channels.Channel) -> type[msgspec.Struct]:
    """Returns the members of a channel of this kind, all optional, as a struct."""
    recipients = Annotated[
        list[str],
        Meta(max_length=MAX_RECIPIENTS, description="without any those of the organization"),
    ]
    members: list[tuple[str, Any, None]] = [
        (name, Annotated[str, Meta(description=f"default: {setting.default}")] | None, None)
        for name, setting in channel.settings.items()
    ]
    if channel.has_recipients:
        members.append(("recipients", recipients | None, None))
    name = f"{channel.kind.title()}Channel"
    return msgspec.defstruct(name, members, tag_field="kind", tag=channel.kind)


# The structs of all kinds, which the API describes.
SHAPES = tuple(map(_shape, CHANNELS.values()))


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
    if not isinstance(kind, str) or kind not in CHANNELS:
        raise Invalid.field(f"{field}.kind", f"must be one of {', '.join(KINDS)}")
    channel: Channel = {"kind": kind}
    if CHANNELS[kind].has_recipients:
        channel["recipients"] = _recipients(raw.get("recipients"), f"{field}.recipients")
    for name, setting in CHANNELS[kind].settings.items():
        if raw.get(name) is not None:
            channel[name] = _setting_key(raw[name], f"{field}.{name}", setting.kind)
    return channel


def _recipients(raw: object, field: str) -> list[str] | None:
    if raw is None:
        return None
    if not isinstance(raw, list) or not all(isinstance(one, str) for one in raw):
        raise Invalid.field(field, "must be null or a list of e-mail addresses")
    if len(raw) > MAX_RECIPIENTS:
        raise Invalid.field(field, f"must have at most {MAX_RECIPIENTS} addresses")
    # A person on call need not be a member.
    return list(dict.fromkeys(normal_address(one, field) for one in raw))


def _setting_key(raw: object, field: str, kind: str) -> object:
    fitting = [setting.key for setting in CATALOGUE.values() if setting.kind == kind]
    if raw not in fitting:
        raise Invalid.field(field, f"must be one of {', '.join(fitting)}")
    return raw
