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
from array import array
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import ExtensionFileLoader
from itertools import groupby
from pathlib import Path
from threading import Thread
from typing import Any

# The server runs until this query ends (see ClickHouseServer.stop). It notices after each row.
SERVE = (
    "SYSTEM START LISTEN TCP; "
    "SELECT sleepEachRow(0.2) FROM system.numbers SETTINGS max_block_size = 1, "
    "function_sleep_max_microseconds_per_block = 0 FORMAT Null"
)


# Where other programs are busy, the service needs half of it to be ready.
_START_SECS = 40.0

# By three flags of a page in Linux's pagemap: it is in memory, it is in the swap, it is the file's.
_OWN_PAGE = (False, False, True, True, True, False, True, True)


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
    """Unmaps the pages of the library that the start needed; those in use come back.

    They stay in the page cache. Pages that linking has changed exist only here and are kept.
    """
    time.sleep(_START_SECS)
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, rights, *_, name = line.split(maxsplit=5)
        if name == library and "w" not in rights:
            first, end = (int(address, 16) for address in addresses.split("-"))
            for start, pages in unchanged_pages(first // mmap.PAGESIZE, end // mmap.PAGESIZE):
                size = ctypes.c_size_t(pages * mmap.PAGESIZE)
                madvise(ctypes.c_void_p(start * mmap.PAGESIZE), size, mmap.MADV_DONTNEED)


def unchanged_pages(first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the first page and the length of each run of pages that the file can restore."""
    pagemap = array("Q")
    with Path("/proc/self/pagemap").open("rb") as kernel:
        kernel.seek(first * pagemap.itemsize)
        pagemap.fromfile(kernel, end - first)
    page = first
    for own, run in groupby(_OWN_PAGE[flags >> 61] for flags in pagemap):
        pages = len(list(run))
        if not own:
            yield page, pages
        page += pages


def go_first() -> None:
    """Lets this session have the processor before others, as `web.priority` does, if it may.

    A list for a person takes several statements, and each would wait while web parses events. The
    priorities of inserts and merges inside the session stay as they are.
    """
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text("-10")


if __name__ == "__main__":
    go_first()
    chdb = load_chdb()
    if sys.platform == "linux":
        Thread(target=give_back_the_start, args=(chdb.__file__,), daemon=True).start()
    chdb.query(SERVE, "CSV", path=sys.argv[1])
