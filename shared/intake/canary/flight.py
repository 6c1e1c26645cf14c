"""Sends canaries of one group, one after the other, until the process stops."""

import json
import threading
import time

from clickhouse_driver.errors import Error as ClickHouseError
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from shared.access import organizations
from shared.access.organizations import CANARY_ID, CANARY_SLUG
from shared.foundation.core.clock import format_us, now_us
from shared.foundation.core.errors import QueryTimeout, Unavailable
from shared.foundation.core.ids import new_request_id
from shared.foundation.core.logs import get_logger
from shared.foundation.core.metrics.catalogue import CANARY_SECS
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.queue.jobs import PERSIST_EVENTS
from shared.intake.canary import passages
from shared.intake.canary.address import NoWebAnswer, Web, post
from shared.intake.canary.key import CanaryKey
from shared.intake.canary.passages import Passage
from shared.intake.ingest import stream
from shared.intake.ingest.decode import decode_events
from shared.reading.events.filters import EventFilters
from shared.reading.events.page import read_page

log = get_logger(__name__)

_ORG = str(CANARY_ID)
# Between two looks whether it came through, and between two attempts to send it.
_LOOK_SECS = 0.25
_LONGEST_LOOK_SECS = 1.0
# An event that ingest has not stored by then is said to wait for it.
_PATIENCE_SECS = 5.0
# A canary that was lost is replaced by another one.
_LOST_SECS = 60.0
# The codes with which web says which store keeps it from accepting events.
_STORES = {
    "redis_unavailable": "redis",
    "backlog_full": "ingest",
    "postgres_unavailable": "postgres",
}


class CanaryStopped(Exception):
    """A part of the pipeline stops the canary."""

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(reason)
        self.part = part


class Flight:
    """The canaries of a group."""

    def __init__(self, runtime: Runtime, group: str, stop: threading.Event) -> None:
        self._runtime = runtime
        self._settings = runtime.settings
        self._group = group
        self._stop = stop
        self._web = Web(runtime.settings)
        self._key = CanaryKey(runtime.postgres, group)
        self._begins = "web"
        self._since: float | None = None
        self._came_at: float | None = None
        self._part: str | None = None

    def run(self) -> None:
        """Sends one canary after the other until `stop` is set."""
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self._fly()
            except Exception:
                # It watches the pipeline, and must never be what breaks it.
                log.exception("canary_broke")
            self._stop.wait(
                max(_LOOK_SECS, began + self._settings.canary_interval_secs - time.monotonic())
            )
        self._leave()

    def _fly(self) -> None:
        """Returns when a canary has come through, or the process stops."""
        sent, pause, mark = None, _LOOK_SECS, ""
        while not self._stop.is_set():
            try:
                if sent is None or time.monotonic() > sent + _LOST_SECS:
                    mark = new_request_id()
                    began = time.monotonic()
                    self._send(mark)
                    sent, pause = began, _LOOK_SECS
                if self._has_come(mark, sent):
                    CANARY_SECS.observe(time.monotonic() - sent)
                    self._say(None, came=True)
                    return
                pause = min(pause * 1.5, _LONGEST_LOOK_SECS)
                self._say(self._part)
            except CanaryStopped as stopped:
                pause = _LONGEST_LOOK_SECS
                self._say(stopped.part, reason=str(stopped))
            self._stop.wait(min(pause, self._settings.canary_interval_secs))

    def _send(self, mark: str) -> None:
        line = json.dumps(
            {
                "timestamp": format_us(now_us()),
                "session_id": self._group,
                "type": "canary",
                "mark": mark,
            }
        ).encode()
        url = self._web.url()
        begins = "redis" if url is None else "web"
        if begins != self._begins:
            log.info(
                "canary_begins",
                at=begins,
                reason="no address of web answers" if url is None else "",
            )
            self._begins = begins
        if url is None:
            self._append(line)
        else:
            self._post(url, line)

    def _append(self, line: bytes) -> None:
        most = self._settings.ingest_max_event_bytes
        batch = decode_events([line], _ORG, most).batch
        try:
            with self._runtime.postgres.transaction() as session:
                organizations.ensure_canary(session)
        except (Unavailable, SQLAlchemyError) as error:
            raise CanaryStopped("postgres", type(error).__name__) from error
        try:
            stream.append(self._runtime.redis, _ORG, CANARY_SLUG, batch)
            self._runtime.queue.nudge_soon(PERSIST_EVENTS)
        except (Unavailable, RedisError) as error:
            raise CanaryStopped("redis", type(error).__name__) from error

    def _post(self, url: str, line: bytes) -> None:
        try:
            secret = self._key.secret()
        except (Unavailable, SQLAlchemyError) as error:
            raise CanaryStopped("postgres", type(error).__name__) from error
        try:
            status, code = post(url, line, secret)
        except NoWebAnswer as error:
            raise CanaryStopped("web", str(error)) from error
        if status == 401:
            self._key.refuse()
        if status != 202:
            raise CanaryStopped(_STORES.get(code, "web"), f"{status} {code}")

    def _has_come(self, mark: str, sent: float) -> bool:
        """Returns whether it can be read; raises `CanaryStopped` if it waits for too long."""
        filters = EventFilters(session_id=[self._group])
        try:
            page = read_page(
                self._runtime.clickhouse,
                _ORG,
                ("payload",),
                filters,
                ascending=False,
                cursor=None,
                limit=3,
            )
        except (Unavailable, QueryTimeout, ClickHouseError) as error:
            raise CanaryStopped("clickhouse", type(error).__name__) from error
        if any(mark in str(row) for row in page.rows):
            return True
        if time.monotonic() > sent + _PATIENCE_SECS:
            raise CanaryStopped("ingest", "it is not stored yet")
        return False

    def _say(self, part: str | None, *, came: bool = False, reason: str = "") -> None:
        if part != self._part:
            log.info(
                "canary_came_through" if part is None else "canary_stopped",
                part=part,
                reason=reason,
            )
            self._part = part
        client = self._runtime.redis
        try:
            moment = passages.now(client)
            if self._since is None:
                self._since = moment
            if came:
                self._came_at = moment
            passage = Passage(
                interval=self._settings.canary_interval_secs,
                since=self._since,
                came_at=self._came_at,
                said_at=moment,
                part=part,
                begins=self._begins,
            )
            passages.say(client, self._group, passage)
        except RedisError:
            # Every reader sees the same.
            log.debug("canary_not_said")

    def _leave(self) -> None:
        try:
            passages.leave(self._runtime.redis, self._group)
            self._key.remove()
        except (Unavailable, RedisError, SQLAlchemyError):
            log.debug("canary_not_removed")
