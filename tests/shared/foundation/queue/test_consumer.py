"""Consumers that wait in Redis for messages."""

import secrets
import threading
from collections.abc import Iterator

import pytest

from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue import Task
from shared.foundation.queue.consumer import WaitingConsumer


@pytest.fixture
def task(runtime: Runtime) -> Iterator[Task]:
    """A task on a queue of its own."""
    made = Task(actor="look", queue=f"q{secrets.token_hex(6)}")
    yield made
    runtime.broker.flush(made.queue)


def consumer_of(runtime: Runtime, task: Task, prefetch: int = 1) -> WaitingConsumer:
    return WaitingConsumer(runtime.broker, task.queue, prefetch, 0)


def test_a_message_that_is_sent_while_a_consumer_waits_arrives(
    runtime: Runtime, task: Task
) -> None:
    consumer = consumer_of(runtime, task)
    assert next(consumer) is None
    sender = threading.Timer(0.2, runtime.queue.send, [task])
    sender.start()
    message = next(consumer) or next(consumer)
    sender.join()
    assert message is not None
    assert message.actor_name == "look"
    consumer.ack(message)
    assert runtime.broker.do_qsize(task.queue) == 0


def test_waiting_changes_neither_the_messages_nor_their_order(runtime: Runtime, task: Task) -> None:
    for number in range(3):
        runtime.queue.send(task, number)
    consumer_of(runtime, task)._wait()
    consumer = consumer_of(runtime, task, prefetch=3)
    assert [message.args[0] for message in (next(consumer) for _ in range(3)) if message] == [
        0,
        1,
        2,
    ]


def test_a_consumer_takes_no_more_than_it_has_room_for(runtime: Runtime, task: Task) -> None:
    for number in range(2):
        runtime.queue.send(task, number)
    consumer = consumer_of(runtime, task)
    first = next(consumer)
    assert first is not None
    assert next(consumer) is None
    threading.Timer(0.2, consumer.ack, [first]).start()
    second = next(consumer) or next(consumer)
    assert second is not None
    assert second.args[0] == 1


def test_nothing_is_delayed_by_dramatiq(runtime: Runtime) -> None:
    assert runtime.broker.get_declared_delay_queues() == set()
