"""The prices of several organizations, as ingest loads them."""

from typing import Any

from sqlalchemy import event
from sqlalchemy.orm import Session

from shared.foundation.deployment.runtime import Runtime
from shared.reading.prices import service
from shared.reading.prices.builtin import builtin_prices
from shared.reading.prices.service import PriceContent
from tests.support.runtime import Org, make_org

BUILTIN = builtin_prices(None)


def create(session: Session, org: Org, model: str) -> str:
    wanted = PriceContent(model, None, None, {"input": 1, "output": 2}, None, None, "")
    return service.create(session, org.uuid, wanted, created_by="test").id


def test_prices_of_several_organizations_are_one_statement(runtime: Runtime) -> None:
    orgs = [make_org(runtime) for _ in range(4)]
    with runtime.postgres.transaction() as session:
        ids = {org.uuid: create(session, org, "gpt-*") for org in orgs[:2]}
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        statements.append(statement)

    with runtime.postgres.transaction() as session:
        event.listen(runtime.postgres.engine, "before_cursor_execute", note)
        try:
            books = service.prices_of(session, [org.uuid for org in orgs], BUILTIN)
        finally:
            event.remove(runtime.postgres.engine, "before_cursor_execute", note)
    assert len(statements) == 1
    assert books.keys() == {org.uuid for org in orgs}
    found = {org_id: book.price_of("gpt-4o", None, None, 0) for org_id, book in books.items()}
    assert {org_id: one.price_id for org_id, one in found.items() if one} == {
        **{org.uuid: BUILTIN.find("gpt-4o", None)[0].id for org in orgs},
        **ids,
    }
    # Those without prices of their own share one book.
    assert books[orgs[2].uuid] is books[orgs[3].uuid]
