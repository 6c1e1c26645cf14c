"""An organization with scheduled exports, and the files that it gets."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import update

from shared.access.settings import service as settings
from shared.access.settings.service import Editor
from shared.foundation.deployment.runtime import Runtime
from shared.foundation.objects import Objects, open_objects
from shared.reading.exports.schedules import service
from shared.reading.exports.schedules.models import ExportSchedule
from shared.reading.exports.schedules.running import Exports
from tests.support.events import store_events
from tests.support.runtime import Org

# The day of `tests.support.events.event`.
DAY = datetime(2026, 11, 2, tzinfo=UTC)
BY = Editor("a test", None)


class Site:
    """An organization with a place for its files."""

    def __init__(self, runtime: Runtime, org: Org, target: str) -> None:
        chosen = msgspec.structs.replace(runtime.settings, export_target=target)
        self.runtime = replace(runtime, settings=chosen)
        self.org = org
        self.target = target

    def set(self, **values: object) -> None:
        for key, value in values.items():
            with self.runtime.postgres.transaction() as session:
                settings.replace(
                    session,
                    self.runtime.settings,
                    self.org.uuid,
                    key.replace("__", "."),
                    value,
                    BY,
                )

    def begin(self, every: str = "hourly", since: datetime = DAY) -> None:
        self.set(exports__schedule=every)
        with self.runtime.postgres.transaction() as session:
            service.begin_at(session, self.org.uuid, since)

    def look(self, *, full: bool = True) -> None:
        """Looks as a worker does, at all periods or at the recent ones."""
        with self.runtime.postgres.transaction() as session:
            service.look_again(session, self.org.uuid)
            if not full:
                later = datetime.now(UTC) + timedelta(hours=1)
                session.execute(update(ExportSchedule).values(full_look_at=later))
        Exports(self.runtime, threading.Event(), org_id=self.org.uuid).run()

    def store(self, *lines: bytes) -> None:
        store_events(self.runtime.clickhouse, self.org.id, list(lines))

    @property
    def objects(self) -> Objects:
        return open_objects(self.target)

    @property
    def names(self) -> list[str]:
        """The files that are really there, without the organization's folder."""
        folder = f"{self.org.id}/"
        found = sorted(entry.name for entry in self.objects.list())
        assert all(name.startswith(folder) for name in found)
        return [name.removeprefix(folder) for name in found]

    def content(self, name: str) -> bytes:
        return self.objects.read(f"{self.org.id}/{name}")

    def rows(self, prefix: str) -> list[dict[str, Any]]:
        """All rows of the files whose names begin like this."""
        return [
            json.loads(line)
            for name in self.names
            if name.startswith(prefix)
            for line in self.content(name).splitlines()
        ]

    def writes(self) -> dict[str, int]:
        with self.runtime.postgres.transaction() as session:
            found = service.files_of(session, self.org.uuid, limit=200, offset=0)
        return {file.name: file.writes for file in found}

    @property
    def schedule(self) -> ExportSchedule | None:
        with self.runtime.postgres.transaction() as session:
            return service.schedule_of(session, self.org.uuid)

    @property
    def error(self) -> str | None:
        schedule = self.schedule
        assert schedule is not None
        return schedule.error
