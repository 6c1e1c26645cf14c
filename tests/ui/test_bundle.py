"""The committed bundle is the one that its sources make, and it is small enough."""

import gzip
import json
from pathlib import Path

import pytest

from tests.ui.node import UI, node, require_packages
from web.document import FILE
from web.filters import typescript
from web.ui.families import families
from web.ui.routes import STATIC

# Bytes of gzip: what the first page loads, its styles, and all there is.
_INITIAL, _STYLES, _ALL = 24_000, 20_000, 300_000


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the present sources."""
    require_packages()
    folder = tmp_path_factory.mktemp("bundle")
    node("tools/build.mjs", "--out", folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Returns the files without the packed ones, whose bytes depend on the packer."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".gz"}


def packed(name: str) -> int:
    return (STATIC / f"{name}.gz").stat().st_size


@pytest.mark.flow
def test_the_types_are_those_of_the_document() -> None:
    require_packages()
    types = node("tools/types.mjs", FILE).stdout
    assert (UI / "src" / "api" / "types.ts").read_text() == types, "run bin/ui types"


def test_what_is_printed_from_tables_is_theirs() -> None:
    assert (UI / "src" / "api" / "families.ts").read_text() == families(), "run bin/ui types"
    assert (UI / "src" / "api" / "filters.ts").read_text() == typescript(), "run bin/ui types"


@pytest.mark.flow
def test_the_sources_have_no_type_errors() -> None:
    require_packages()
    node("node_modules/typescript/bin/tsc", "--noEmit")


@pytest.mark.flow
def test_the_bundle_and_its_licences_are_those_of_the_sources(rebuilt: Path) -> None:
    committed, fresh = contents(STATIC), contents(rebuilt)
    assert committed.keys() == fresh.keys(), "run bin/ui"
    assert committed == fresh, "run bin/ui"


def test_each_file_has_a_packed_twin() -> None:
    for name, content in contents(STATIC).items():
        if name not in ("manifest.json", "THIRD-PARTY.md"):
            assert gzip.decompress((STATIC / f"{name}.gz").read_bytes()) == content


def test_the_bundle_is_small() -> None:
    manifest = json.loads((STATIC / "manifest.json").read_text())
    initial = sum(packed(name) for name in [manifest["main.js"], *manifest["preload"]])
    everything = sum(file.stat().st_size for file in STATIC.glob("*.gz"))
    assert initial <= _INITIAL
    assert packed(manifest["main.css"]) <= _STYLES
    assert everything <= _ALL
