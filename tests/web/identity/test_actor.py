"""X-Service-Actor: a dashboard acts for its members with one key of the instance (wire §2)."""

from collections.abc import Callable

from flask.testing import FlaskClient

from tests.support.app import Headers
from tests.support.people import acting_as, new_email
from tests.support.runtime import Org


def test_the_permissions_are_the_members(
    client: FlaskClient, org: Org, person: Callable[..., Headers]
) -> None:
    email = new_email()
    own = person("keys:read", email=email)
    for headers in (own, acting_as(email), acting_as(email.upper(), org.slug)):
        assert client.get("/v1/keys", headers=headers).status_code == 200
        refused = client.get("/v1/events", headers=headers)
        assert refused.status_code == 403
        assert refused.get_json()["required_permission"] == "events:read"
