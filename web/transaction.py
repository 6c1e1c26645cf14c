"""The transactions of views.

    @blueprint.response(200, KeyRow(many=True))
    @in_transaction
    def list_keys(tx: Tx) -> list[ApiKey]:
        return keys.list_(*tx)

The decorator stands directly above the view: the body is read before the transaction begins, and
the answer is written after its commit. A view that waits for more than PostgreSQL opens a
transaction itself, so that it keeps no connection meanwhile.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from shared.foundation.cache import at_once
from web.auth import current_org_id
from web.state import runtime

P = ParamSpec("P")
R = TypeVar("R")


class Tx(NamedTuple):
    """A transaction, and the organization of its request."""

    session: Session
    org_id: UUID


def in_transaction(view: Callable[Concatenate[Tx, P], R]) -> Callable[P, R]:
    """Hands the view a transaction, which `Postgres.transaction` describes."""
    return _in(lambda: runtime().postgres.transaction(), view)


def in_transaction_at_once(view: Callable[Concatenate[Tx, P], R]) -> Callable[P, R]:
    """Hands the view a transaction of `cache.at_once`: its change holds from the next request."""
    return _in(lambda: at_once(runtime().postgres, runtime().redis), view)


def _in(
    begun: Callable[[], AbstractContextManager[Session]], view: Callable[Concatenate[Tx, P], R]
) -> Callable[P, R]:
    @wraps(view)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        with begun() as session:
            return view(Tx(session, current_org_id()), *args, **kwargs)

    return within
