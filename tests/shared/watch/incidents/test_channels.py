"""Channels of alerts and audits: stored form and refusals."""

import re
from typing import Any

import pytest
from sqlalchemy import text

from shared.access.settings.catalogue import CATALOGUE
from shared.foundation.core.channels import CHANNELS, OVER_HTTP
from shared.foundation.core.errors import Invalid
from shared.foundation.deployment.runtime import Runtime
from shared.watch.incidents.channels import MAX_CHANNELS, MAX_RECIPIENTS, check_channels
from shared.watch.incidents.deliveries.service import CONTENTS

URL, SLACK, SECRET = (
    "alerts.webhook_default_url",
    "alerts.slack_default_webhook",
    "alerts.webhook_signing_secret",
)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"kind": "dashboard", "recipients": ["a@b.example"]}, {"kind": "dashboard"}),
        ({"kind": "email"}, {"kind": "email", "recipients": None}),
        ({"kind": "email", "recipients": []}, {"kind": "email", "recipients": []}),
        (
            {"kind": "email", "recipients": [" Ann@Example.net", "ann@example.net", "b@c.example"]},
            {"kind": "email", "recipients": ["ann@example.net", "b@c.example"]},
        ),
        ({"kind": "slack", "webhook_setting_key": None}, {"kind": "slack"}),
        (
            {"kind": "slack", "webhook_setting_key": SLACK},
            {"kind": "slack", "webhook_setting_key": SLACK},
        ),
        ({"kind": "webhook"}, {"kind": "webhook"}),
        (
            {"kind": "webhook", "url_setting_key": URL, "secret_setting_key": SECRET, "url": "x"},
            {"kind": "webhook", "url_setting_key": URL, "secret_setting_key": SECRET},
        ),
    ],
)
def test_a_channel_is_stored_with_what_its_kind_has(given: Any, stored: Any) -> None:
    assert check_channels([given]) == [stored]


@pytest.mark.parametrize(
    ("channel", "field"),
    [
        ("email", "channels.1"),
        ({}, "channels.1.kind"),
        ({"kind": "pager"}, "channels.1.kind"),
        ({"kind": ["email"]}, "channels.1.kind"),
        ({"kind": "email", "recipients": "ann@example.net"}, "channels.1.recipients"),
        ({"kind": "email", "recipients": [1]}, "channels.1.recipients"),
        ({"kind": "email", "recipients": ["nobody"]}, "channels.1.recipients"),
        (
            {"kind": "email", "recipients": ["a@b.example"] * (MAX_RECIPIENTS + 1)},
            "channels.1.recipients",
        ),
        ({"kind": "slack", "webhook_setting_key": SECRET}, "channels.1.webhook_setting_key"),
        ({"kind": "slack", "webhook_setting_key": {}}, "channels.1.webhook_setting_key"),
        (
            {"kind": "webhook", "url_setting_key": "retention.events_days"},
            "channels.1.url_setting_key",
        ),
        ({"kind": "webhook", "url_setting_key": "https://a.example"}, "channels.1.url_setting_key"),
        ({"kind": "webhook", "secret_setting_key": URL}, "channels.1.secret_setting_key"),
    ],
)
def test_an_invalid_channel_is_refused_by_name(channel: Any, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_channels([{"kind": "dashboard"}, channel])
    assert list(refused.value.fields) == [field]


@pytest.mark.parametrize("raw", [None, {}, "email", [{"kind": "dashboard"}] * (MAX_CHANNELS + 1)])
def test_only_a_short_list_holds_channels(raw: Any) -> None:
    with pytest.raises(Invalid) as refused:
        check_channels(raw, "body.channels")
    assert list(refused.value.fields) == ["body.channels"]


def test_the_database_takes_every_kind(postgres_runtime: Runtime) -> None:
    with postgres_runtime.postgres.transaction() as session:
        query = text(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE conrelid = 'notifications'::regclass AND conname LIKE '%channel'"
            " AND contype = 'c'"
        )
        [constraint] = session.scalars(query)
    assert set(re.findall(r"'(\w+)'", constraint)) == {*CHANNELS}


def test_every_channel_over_http_has_a_sender_and_settings_that_exist() -> None:
    assert {*CONTENTS} == {*OVER_HTTP}
    for channel in CHANNELS.values():
        for setting in channel.settings.values():
            assert CATALOGUE[setting.default].kind == setting.kind
