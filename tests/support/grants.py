"""Keys, sets and members with grants, as rows of any revision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.access.users import effective_permissions
from shared.foundation.core.ids import new_id
from shared.foundation.postgres import Postgres

ORG = "00000000-0000-4000-8000-000000000001"

Grants = Mapping[str, list[str]]


@dataclass(frozen=True)
class Held:
    """The grant of a member."""

    permission_set: str | None
    added: Sequence[str]
    removed: Sequence[str]


def fill(session: Session, sets: Grants, members: Mapping[str, Held], keys: Grants) -> None:
    """Inserts them into the default organization; the names of members are their addresses."""
    for name, tokens in sets.items():
        session.execute(
            text("INSERT INTO permission_sets (org_id, name, permissions) VALUES (:o, :n, :p)"),
            {"o": ORG, "n": name, "p": tokens},
        )
    for name, member in members.items():
        user_id = new_id()
        session.execute(
            text("INSERT INTO users (id, email) VALUES (:i, :e)"), {"i": user_id, "e": name}
        )
        session.execute(
            text(
                "INSERT INTO memberships"
                " (org_id, user_id, permission_set, permission_added, permission_removed)"
                " VALUES (:o, :u, :s, :a, :r)"
            ),
            {
                "o": ORG,
                "u": user_id,
                "s": member.permission_set,
                "a": list(member.added),
                "r": list(member.removed),
            },
        )
    for name, tokens in keys.items():
        session.execute(
            text(
                "INSERT INTO api_keys (id, org_id, name, key_hash, permissions)"
                " VALUES (:i, :o, :n, :h, :p)"
            ),
            {"i": new_id(), "o": ORG, "n": name, "h": name.encode(), "p": tokens},
        )


@dataclass(frozen=True)
class State:
    """The content of the tables: tokens of sets and keys, (set, added, removed) of members."""

    sets: dict[str, list[str]]
    keys: dict[str, list[str]]
    members: dict[str, tuple[str | None, list[str], list[str]]]

    def effective(self, name: str) -> frozenset[str]:
        """Returns a member's effective permissions."""
        permission_set, added, removed = self.members[name]
        custom = self.sets.get(permission_set or "")
        return effective_permissions(permission_set, custom, added, removed)


def state(postgres: Postgres) -> State:
    """Reads them all."""
    with postgres.transaction() as session:
        sets = session.execute(text("SELECT name, permissions FROM permission_sets"))
        keys = session.execute(text("SELECT name, permissions FROM api_keys"))
        members = session.execute(
            text(
                "SELECT email, permission_set, permission_added, permission_removed"
                " FROM memberships JOIN users ON users.id = user_id"
            )
        )
        return State(
            sets={name: list(tokens) for name, tokens in sets},
            keys={name: list(tokens) for name, tokens in keys},
            members={name: (of, added, removed) for name, of, added, removed in members},
        )
