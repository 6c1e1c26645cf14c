"""The surroundings of a deployment that a storm disturbs: its disks, its network and its clock."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from bench.storm.proxy import Proxies
from devstack.up.deployment import Deployment

_CLOCK = Path(__file__).resolve().parent / "clock"
_VARIABLES = {
    "redis": ("REDIS_URL",),
    "clickhouse": ("CLICKHOUSE_URL", "CLICKHOUSE_READONLY_URL"),
    "postgres": ("DATABASE_URL",),
}
# Room for a storm of an hour. Memory is only taken for what is written.
_DISK_BYTES = {"redis": 256 << 20, "clickhouse": 1 << 30, "postgres": 1 << 30}
_PIECE = bytes(1 << 20)


class Surroundings:
    """Disks of limited size (if they could be mounted), proxies and a clock."""

    def __init__(self, directory: Path, disks: Mapping[str, Path], proxies: Proxies) -> None:
        self.directory, self.disks, self.proxies = directory, disks, proxies
        self._clock = directory / "clock"
        self.turn_clock(0)

    @property
    def variables(self) -> dict[str, str]:
        """The variables that give processes the clock."""
        return {"PYTHONPATH": str(_CLOCK), "STORM_CLOCK": str(self._clock)}

    def turn_clock(self, secs: float) -> None:
        """Makes the clock of all processes wrong by so many seconds."""
        new = self._clock.with_suffix(".new")
        new.write_text(str(secs))
        new.replace(self._clock)

    def fill(self, name: str) -> None:
        """Fills the disk of a store to the last byte."""
        with suppress(OSError), self._ballast(name).open("ab", buffering=0) as ballast:
            while True:
                ballast.write(_PIECE)

    def empty(self, name: str) -> None:
        """Makes room on the disk again."""
        self._ballast(name).unlink(missing_ok=True)

    def _ballast(self, name: str) -> Path:
        return self.disks[name] / "ballast"


class DisturbedDeployment(Deployment):
    """A deployment whose processes reach the stores through proxies."""

    def __init__(
        self,
        surroundings: Surroundings,
        directory: Path,
        given: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        # A killed program starts again after a second at most.
        super().__init__(directory, {**given, **surroundings.variables}, say, longest_pause=1.0)
        self._proxies = surroundings.proxies

    def _make_environ(self) -> dict[str, str]:
        environ = super()._make_environ()
        for store, variables in _VARIABLES.items():
            port = urlsplit(environ[variables[0]]).port
            if port is None:
                raise ValueError(f"{variables[0]} names no port")
            through = self._proxies.add(store, port)
            for variable in variables:
                environ[variable] = environ[variable].replace(f":{port}/", f":{through}/")
        return environ


@contextmanager
def surrounded(directory: Path | None) -> Iterator[Surroundings]:
    """Yields the surroundings of a deployment in a new directory that is removed.

    Disks are in memory, so a `directory` that is to be kept has none.
    """
    with ExitStack() as stack:
        sizes = _DISK_BYTES if directory is None else {}
        if directory is None:
            directory = Path(tempfile.mkdtemp(prefix="watchpost-storm-"))
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
        directory.mkdir(parents=True, exist_ok=True)
        disks: dict[str, Path] = {}
        for name, size in sizes.items():
            disk = directory / name
            disk.mkdir(exist_ok=True)
            if _mounted(disk, size):
                disks[name] = disk
                stack.callback(_unmount, disk)
        proxies = stack.enter_context(Proxies().running())
        yield Surroundings(directory, disks, proxies)


def _mounted(disk: Path, size: int) -> bool:
    """Mounts a disk of that size, which needs root. Returns False where that is refused."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "watchpost-storm", str(disk)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _unmount(disk: Path) -> None:
    subprocess.run(["umount", "-l", str(disk)], check=False)
