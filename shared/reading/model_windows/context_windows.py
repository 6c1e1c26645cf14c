"""The context windows that workers use for events, cached by each process."""

import uuid
from collections.abc import Collection, Mapping

from shared.foundation.cache import EpochCache, current_epoch
from shared.foundation.deployment.runtime import Runtime
from shared.reading.model_windows.builtin import WindowOf, builtin_window
from shared.reading.model_windows.service import overrides_of


class _WindowsByModel(dict[str, int | None]):
    """An organization's own windows, and the built-in ones for all other models."""

    def __missing__(self, model: str) -> int | None:
        return builtin_window(model)


class ContextWindows:
    """A lookup of the context windows of models for a block of events.

    If it is called after the events were read, it sees every change that was answered before they
    were sent: see `shared.foundation.cache`. A cached answer costs one round trip to Redis.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._remembered: EpochCache[str, WindowOf] = EpochCache()

    def __call__(self, org_ids: Collection[str]) -> Mapping[str, WindowOf]:
        """Returns the windows of each of these organizations.

        Raises `Unavailable` if PostgreSQL is needed and down.
        """
        epoch = current_epoch(self._runtime.redis)
        return self._remembered.get_many(org_ids, epoch, self._load)

    def _load(self, org_ids: Collection[str]) -> Mapping[str, WindowOf]:
        with self._runtime.postgres.transaction() as session:
            found = overrides_of(session, [uuid.UUID(org_id) for org_id in org_ids])
        return {
            str(org_id): _WindowsByModel(windows).__getitem__ if windows else builtin_window
            for org_id, windows in found.items()
        }
