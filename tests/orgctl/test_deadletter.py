"""`service-orgctl deadletter`: list, show, retry, drop."""

import json
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from devstack import DevStack
from orgctl.cli import main
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.waiting import event_stream
from shared.intake.ingest import dead_letters
from shared.intake.ingest.batch import encode_batch
from shared.intake.ingest.decode import decode_events
from tests.support.runtime import Org

EVENT = b'{"session_id":"s-%d","timestamp":"2026-11-01T08:00:00Z","type":"note"}'

Run = Callable[..., Result]


@pytest.fixture
def run(migrated_stack: DevStack) -> Run:
    """Runs a command against the stack."""
    urls = migrated_stack.urls
    environ = {
        "DATABASE_URL": urls.database_url,
        "REDIS_URL": urls.redis_url,
        "CLICKHOUSE_URL": urls.clickhouse_url,
    }
    return lambda *words, **options: CliRunner(env=environ).invoke(
        main, ["deadletter", *words], **options
    )


@pytest.fixture
def letters(runtime: Runtime, org: Org) -> Iterator[list[str]]:
    """Stores three dead letters, the last one unreadable, and returns their ids, oldest first."""
    runtime.redis.delete(dead_letters.STREAM_KEY)
    for number in range(2):
        batch = decode_events([EVENT % number], org.id, 10_000).batch
        dead_letters.bury(
            runtime.redis, org.id, org.slug, encode_batch(batch), "VIOLATED_CONSTRAINT"
        )
    dead_letters.bury(runtime.redis, org.id, org.slug, b"garbage", "not a batch")
    yield [letter.id for letter in dead_letters.letters(runtime.redis)]
    runtime.redis.delete(dead_letters.STREAM_KEY, event_stream(org.id))


def test_list(run: Run, letters: list[str], org: Org) -> None:
    rows = json.loads(run("list", "--json").output)
    assert [row["id"] for row in rows] == letters
    assert rows[0]["org"] == org.slug
    assert rows[0]["session_id"] == "s-0"
    assert rows[0]["reason"] == "VIOLATED_CONSTRAINT"
    assert rows[2]["session_id"] is None
    assert "2 of 3" in run("list", "--limit", "2").output
    assert json.loads(run("list", "--json", "--org", "nobody").output) == []


def test_show_gives_the_event_as_it_was_sent(run: Run, letters: list[str]) -> None:
    assert json.loads(run("show", letters[1], "--json").output)["payload"] == (EVENT % 1).decode()
    assert (EVENT % 1).decode() in run("show", letters[1]).output


def test_retry_puts_the_event_back_into_its_queue(
    run: Run, letters: list[str], runtime: Runtime, org: Org
) -> None:
    result = run("retry", letters[0])
    assert (result.exit_code, result.output) == (0, "1 sent again\n")
    assert runtime.redis.xlen(event_stream(org.id)) == 1
    assert [letter.id for letter in dead_letters.letters(runtime.redis)] == letters[1:]


def test_retry_of_all_passes_over_what_holds_no_event(
    run: Run, letters: list[str], runtime: Runtime
) -> None:
    result = run("retry", "--all")
    assert "2 sent again" in result.output
    assert "contains no readable event" in result.output
    assert [letter.id for letter in dead_letters.letters(runtime.redis)] == letters[2:]


def test_drop_asks_first(run: Run, letters: list[str], runtime: Runtime) -> None:
    assert run("drop", letters[0], input="n\n").exit_code == 1
    assert dead_letters.count(runtime.redis) == 3
    assert run("drop", letters[0], "--yes").output == "1 dropped\n"
    assert run("drop", "--all", "--yes").output == "2 dropped\n"
    assert dead_letters.count(runtime.redis) == 0


@pytest.mark.parametrize("command", ["show", "retry"])
@pytest.mark.parametrize("letter_id", ["1-1", "nonsense"])
def test_an_unknown_letter_is_said_to_be_unknown(
    run: Run, letters: list[str], command: str, letter_id: str
) -> None:
    result = run(command, letter_id)
    assert result.exit_code == 1
    assert f"there is no dead letter {letter_id}" in result.output


def test_ids_or_all_must_be_given(run: Run, letters: list[str]) -> None:
    assert run("retry").exit_code == 2
    assert run("retry", letters[0], "--all").exit_code == 2
