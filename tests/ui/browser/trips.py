"""An organization for the tests of the session page: others count the sessions of theirs."""

from dataclasses import dataclass

from tests.flows.api import Api
from tests.support.app import new_key
from tests.support.people import add_member, new_email, signed_in
from tests.support.processes import wait_until
from tests.support.runtime import make_org
from tests.ui.browser.site import Person, Site

# One member who may do everything, and two with one permission each.
ROLES = {"all": (), "events": ("events:read",), "scores": ("evaluations:read",)}


@dataclass(frozen=True)
class Trips:
    """`org` is the slug, and `api` calls with a key of it."""

    org: str
    api: Api

    def deliver(self, session_id: str, lines: list[bytes]) -> None:
        """Sends events and waits until all of the session are stored."""
        self.send(lines)
        self.wait(session_id, len(lines))

    def send(self, lines: list[bytes]) -> None:
        """Sends events in batches."""
        for start in range(0, len(lines), 5000):
            self.api.deliver(lines[start : start + 5000])

    def wait(self, session_id: str, count: int) -> None:
        """Waits until so many events of the session are stored."""
        wait_until(lambda: self._stored(session_id) >= count)

    def _stored(self, session_id: str) -> int:
        found = list(self.api.rows("sessions", session_id=session_id))
        return int(found[0]["event_count"]) if found else 0


def open_trips(site: Site) -> Trips:
    """Creates the organization and its members, who are then people of the site."""
    org = make_org(site.runtime)
    for role, permissions in ROLES.items():
        email = new_email()
        user_id = add_member(site.runtime, org, *permissions, email=email)
        token = signed_in(site.runtime, user_id)["Authorization"].removeprefix("Bearer ")
        site.people[role] = Person(email, token)
    secret = new_key(site.runtime, org)["Authorization"].removeprefix("Bearer ")
    return Trips(org.slug, Api(site.api.port, secret))
