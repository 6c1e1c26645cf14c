"""The table of permissions, compared with the names that clients rely on."""

import pytest

from shared.access.permissions import ALL, CATALOGUE, FOR_KEYS, effective, require_for_keys
from shared.foundation.core.errors import Invalid

# The names that clients rely on, in the order of the catalogue.
EXPECTED = (
    "events:add events:read events:delete evaluations:read evaluations:trigger"
    " dashboards:read dashboards:write dashboards:delete queries:read queries:write"
    " queries:delete queries:run agent:use keys:create keys:read keys:update keys:disable"
    " keys:regenerate users:create users:read users:update users:delete settings:read"
    " settings:write alerts:read alerts:write incidents:read incidents:write incidents:ack"
    " audits:read audits:write orgs:admin"
)


def test_the_catalogue_has_every_token_in_order() -> None:
    assert [permission.token for permission in CATALOGUE] == EXPECTED.split()
    assert {"keys:update", "orgs:admin"} == ALL - FOR_KEYS


def test_old_grants_are_read_as_what_they_mean_now() -> None:
    assert effective(["alerts:ack", "events:add"]) == {"incidents:ack", "events:add"}
    assert effective(["forgotten:token"]) == frozenset()


def test_each_permission_that_cannot_be_granted_is_named() -> None:
    with pytest.raises(Invalid) as refused:
        require_for_keys(["events:add", "alerts:ack", "orgs:admin"])
    reasons = refused.value.fields["permissions"]
    assert len(reasons) == 2
    assert "alerts:ack" in reasons[0]
    assert "orgs:admin" in reasons[1]
