"""The kinds of channels that announce incidents.

A new channel is a row here and its sender in `shared.watch.incidents.deliveries.service`. The rest
follows: the settings, the schemas of the API, the metrics, and the check of the table
`notifications`, which a migration has to renew.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple


class NamedSetting(NamedTuple):
    """A member of a channel that names a setting: the kind of the setting, and the default one."""

    kind: Literal["url", "secret"]
    default: str


@dataclass(frozen=True)
class Channel:
    """A kind of channel.

    `settings` are those of a request over HTTP, by the member that names them. An organization can
    switch off what leaves the service (`leaves`).
    """

    kind: str
    leaves: bool = True
    has_recipients: bool = False
    settings: Mapping[str, NamedSetting] = field(default_factory=dict)


CHANNELS: Mapping[str, Channel] = {
    channel.kind: channel
    for channel in (
        Channel("email", has_recipients=True),
        Channel(
            "slack",
            settings={"webhook_setting_key": NamedSetting("url", "alerts.slack_default_webhook")},
        ),
        Channel(
            "webhook",
            settings={
                "url_setting_key": NamedSetting("url", "alerts.webhook_default_url"),
                "secret_setting_key": NamedSetting("secret", "alerts.webhook_signing_secret"),
            },
        ),
        Channel("dashboard", leaves=False),
    )
}
KINDS = tuple(CHANNELS)
OVER_HTTP = tuple(channel.kind for channel in CHANNELS.values() if channel.settings)
CAN_BE_OFF = tuple(channel.kind for channel in CHANNELS.values() if channel.leaves)
