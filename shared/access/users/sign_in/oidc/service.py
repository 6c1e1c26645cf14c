"""Sign-in at the provider, with its transactions."""

from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy.orm import Session

from shared.access import audit_log
from shared.access.users.models import User
from shared.access.users.sign_in import codes
from shared.access.users.sign_in.oidc import flows, identities
from shared.access.users.sign_in.oidc.configuration import OidcConfig
from shared.access.users.sign_in.oidc.groups import Groups, Step
from shared.access.users.sign_in.oidc.provider import Provider
from shared.access.users.sign_in.oidc.subject import Subject, subject_of
from shared.access.users.sign_in.service import NewSignInSession, open_for
from shared.access.users.sign_in.sessions import close_sessions_of
from shared.foundation.cache import at_once
from shared.foundation.core.errors import Forbidden, Unauthorized, WatchpostError
from shared.foundation.core.logs import get_logger
from shared.foundation.deployment.runtime import Runtime

log = get_logger(__name__)


def begin(runtime: Runtime, provider: Provider, next_path: str) -> tuple[str, flows.Begun]:
    """Returns the URL at the provider, and the sign-in that begins there.

    Raises `Unavailable` while the provider or Redis is down.
    """
    begun = flows.begin(runtime.redis, next_path)
    return provider.authorization_url(begun.flow, begun.state), begun


def finish(
    runtime: Runtime, provider: Provider, flow: flows.Flow, code: str, browser: str | None = None
) -> NewSignInSession:
    """Opens a session for the code that the provider gave.

    Raises `Unauthorized` for a code or token that is not right, `Forbidden` for a person who may
    not sign in, `Unavailable` while the provider or a store is down.
    """
    email: str | None = None
    try:
        subject = subject_of(provider.config, provider.claims(flow, code))
        email = subject.email
        opened = _open(_SignIn(runtime, provider.config, subject, browser))
    except (Unauthorized, Forbidden) as error:
        record_failure(runtime, error, email)
        raise
    log.info("signed_in_by_provider", user_id=str(opened.user_id))
    return opened


def record_failure(runtime: Runtime, error: WatchpostError, email: str | None = None) -> None:
    """Adds a line about a sign-in that was refused to the operator's audit log.

    `email` is known once the provider has vouched for it.
    """
    by = audit_log.current_caller()
    if email is not None:
        by = replace(by, name=email)
    with runtime.postgres.transaction() as session:
        after = {"reason": error.code}
        audit_log.record(session, None, "user.sign_in_refused", name=email, after=after, by=by)


def _open(signing_in: "_SignIn") -> NewSignInSession:
    runtime = signing_in.runtime
    changes = signing_in.changes()
    # Every process must notice a change of somebody's access, and most sign-ins make none.
    with (
        at_once(runtime.postgres, runtime.redis) if changes else runtime.postgres.transaction()
    ) as session:
        opened = signing_in.open(session, apply_groups=changes)
    # Refused after the commit: what groups no longer give is gone all the same.
    if opened is None:
        raise Forbidden(
            "you are not a member here: ask an administrator to invite your address",
            code="not_a_member",
        )
    return opened


@dataclass(frozen=True)
class _SignIn:
    """A person whom the provider has vouched for."""

    runtime: Runtime
    config: OidcConfig
    subject: Subject
    browser: str | None

    def changes(self) -> bool:
        """Returns whether groups change somebody's access."""
        with self.runtime.postgres.transaction() as session:
            account = identities.account_of(session, self.subject)
            return self._groups(session).pending(*self._whose(account))

    def open(self, session: Session, *, apply_groups: bool) -> NewSignInSession | None:
        """Applies the groups and opens a session; None for a person who may not sign in."""
        account = identities.account_of(session, self.subject)
        user_id, address = self._whose(account)
        made = self._groups(session).apply(user_id, address) if apply_groups else []
        if user_id is not None and Step.WITHDRAW in made:
            close_sessions_of(session, user_id)
        members = codes.members_to_sign_in(session, self.runtime.settings, address)
        if not members:
            return None
        identities.link(session, self.subject, members[0].user_id)
        return open_for(session, self.runtime.settings, members, self.browser)

    def _whose(self, account: User | None) -> tuple[UUID | None, str]:
        # The account keeps its address, whatever the provider calls the person by now.
        return (None, self.subject.email) if account is None else (account.id, account.email)

    def _groups(self, session: Session) -> Groups:
        runtime = self.runtime
        groups = self.subject.groups
        return Groups(session, runtime.settings, runtime.queue, self.config.rules, groups)
