"""The process in which ClickHouse runs: `python clickhouse_child.py DATA_DIRECTORY`.

The working directory holds `clickhouse-local.xml`. chdb has no call that serves, but its legacy
entry point `_chdb.query` accepts the statement SYSTEM START LISTEN and serves for as long as that
call runs. A connection made with `connect` refuses the statement. The output format must be CSV:
with "Null" every client of the server would get empty results too.
"""

import ctypes
import importlib.util
import mmap
import sys
import time
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from threading import Thread
from typing import Any

# The server runs until this query ends (see ClickHouseServer.stop). It notices after each row.
SERVE = (
    "SYSTEM START LISTEN TCP; "
    "SELECT sleepEachRow(0.2) FROM system.numbers SETTINGS max_block_size = 1, "
    "function_sleep_max_microseconds_per_block = 0 FORMAT Null"
)


_START_SECS = 20.0


def load_chdb() -> Any:
    """Loads chdb's extension module without its package.

    `import chdb` starts a second engine to read its version. That costs 0.8 s and leaves a
    directory in /tmp when the process is killed. The extension alone takes 0.03 s.
    """
    package = importlib.util.find_spec("chdb")
    if package is None or not package.submodule_search_locations:
        raise ImportError("chdb-core is not installed")
    library = Path(package.submodule_search_locations[0]) / "_chdb.abi3.so"
    loader = ExtensionFileLoader("_chdb", str(library))
    spec = importlib.util.spec_from_loader("_chdb", loader)
    if spec is None:
        raise ImportError(f"{library} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def give_back_the_start(library: str) -> None:
    """Unmaps the code that only the start needed, 125 MB of 190; code that runs comes back.

    Only mappings with code are touched: others hold what was written when the library was linked.
    """
    time.sleep(_START_SECS)
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, name = line.split(maxsplit=5)
        if name == library and rights == "r-xp":
            first, end = (int(address, 16) for address in addresses.split("-"))
            madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), mmap.MADV_DONTNEED)


if __name__ == "__main__":
    chdb = load_chdb()
    if sys.platform == "linux":
        Thread(target=give_back_the_start, args=(chdb.__file__,), daemon=True).start()
    chdb.query(SERVE, "CSV", path=sys.argv[1])
