"""API keys for the requests of a test."""

import secrets
from collections.abc import Iterable

from shared.access.keys import service as keys
from shared.access.keys.rules import new_secret
from shared.access.keys.service import NewKey
from shared.access.permissions import FOR_KEYS
from shared.foundation.deployment.runtime import Runtime
from tests.support.runtime import Org

ADMIN_KEY = "admin-key-of-the-tests"
AGENT_API_KEY = "assistant-key-of-the-tests"

Headers = dict[str, str]


def bearer(secret: str, org_slug: str | None = None) -> Headers:
    """Returns the headers of a credential, with an organization if one is given."""
    headers = {"Authorization": f"Bearer {secret}"}
    return headers if org_slug is None else {**headers, "X-Service-Org": org_slug}


def new_key(runtime: Runtime, org: Org, permissions: Iterable[str] = FOR_KEYS) -> Headers:
    """Returns the headers of a fresh key of this organization, with every permission by default."""
    name, secret = f"key-{secrets.token_hex(6)}", new_secret()
    wanted = NewKey(name=name, secret=secret, permissions=permissions)
    with runtime.postgres.transaction() as session:
        keys.create(session, org.uuid, wanted, granter=FOR_KEYS)
    return bearer(secret)
