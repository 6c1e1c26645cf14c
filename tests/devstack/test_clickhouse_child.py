"""The pages of ClickHouse's library that are unmapped after its start."""

import ctypes
import mmap
import sys
from pathlib import Path

import pytest

from devstack.clickhouse_child import unchanged_pages


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc/self/pagemap")
def test_a_page_that_exists_only_in_memory_is_kept(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.write_bytes(bytes(4 * mmap.PAGESIZE))
    with library.open("r+b") as file, mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE) as mapped:
        assert not any(mapped[:])
        mapped[mmap.PAGESIZE] = 1
        view = ctypes.c_char.from_buffer(mapped)
        first = ctypes.addressof(view) // mmap.PAGESIZE
        del view
        assert list(unchanged_pages(first, first + 4)) == [(first, 1), (first + 2, 2)]
