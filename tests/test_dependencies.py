"""The packages of `setup.cfg`, compared with the imports and the documents."""

import ast
import configparser
import json
import re
import sys
import tomllib
import zoneinfo
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.deploy import files
from tests.support import markdown
from tests.support.markdown import PROJECT

WORKFLOWS = sorted((PROJECT / ".github/workflows").glob("*.yml"))
# No registry of images or actions was within reach to look up their digests.
UNPINNED = {
    "actions/checkout@v5",
    "actions/setup-node@v5",
    "actions/setup-python@v6",
    "caddy:2.10-alpine",
    "clickhouse/clickhouse-server:26.9",
    "postgres:18-bookworm",
    "python:3.11-slim-bookworm",
    "valkey/valkey:9.1-bookworm",
}
# Commands that may take a package's place from a registry. `npm ci` takes what the lock names.
INSTALLS = re.compile(
    r"\b(pip.* install|pipx run|uv pip (install|sync)|uvx|npx|npm .*\b(install|i|add))\b"
)
EXTRAS = "options.extras_require"
OURS = {"web", "workers", "orgctl", "shared"}
# Many packages put modules into these.
SHARED_NAMESPACES = {"google", "opentelemetry"}
PARTS = {
    "google.protobuf": "protobuf",
    "opentelemetry.exporter": "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry.sdk": "opentelemetry-sdk",
}


def asked_for(section: str, option: str) -> set[str]:
    """Returns the packages of an option of `setup.cfg`, without their versions."""
    config = configparser.ConfigParser()
    config.read(PROJECT / "setup.cfg")
    return {re.split(r" *[<>=]", line)[0] for line in config[section][option].split("\n") if line}


def plain(package: str) -> str:
    """Returns a package's name without its extras, in the spelling that registries compare."""
    return re.sub(r"[-_.]+", "-", package.partition("[")[0]).lower()


def production_files() -> list[Path]:
    return [path for name in sorted(OURS) for path in (PROJECT / name).rglob("*.py")]


def top_level(module: str) -> str:
    """Returns the module by which a package is known: its first part, in most cases."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] in SHARED_NAMESPACES else parts[0]


# Reads the lists of files of all packages, which takes a tenth of a second.
distributions = cache(packages_distributions)


def packages_of(module: str) -> list[str]:
    """Returns the packages that contain a module."""
    if module.partition(".")[0] not in SHARED_NAMESPACES:
        return distributions()[module]
    return [PARTS.get(module, "opentelemetry-api")]


def imported(statements: list[ast.stmt]) -> Iterator[str]:
    """Returns the modules, as of `top_level`, that code imports when it runs, at any depth."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (top_level(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield top_level(node.module)
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            for block in ("body", "orelse", "handlers", "finalbody", "cases"):
                yield from imported(getattr(node, block, []))


def test_production_needs_what_install_requires_names_and_nothing_else() -> None:
    modules = {
        module
        for path in production_files()
        for module in imported(ast.parse(path.read_text()).body)
    }
    needed = {
        plain(package)
        for module in modules - OURS - sys.stdlib_module_names
        for package in packages_of(module)
    }
    # The standard library reads it where the system has no time zones.
    assert "zoneinfo" in modules
    needed.add("tzdata")
    names = ("grpc", "mcp", "s3", "parquet", "tracing")
    extras = {one for name in names for one in asked_for(EXTRAS, name)}
    listed = asked_for("options", "install_requires") | extras
    assert needed == {plain(package) for package in listed}


def test_time_zones_are_there_on_a_system_without_any() -> None:
    [line] = re.findall(r"^tzdata==.*", (PROJECT / "requirements.txt").read_text(), re.MULTILINE)
    assert Requirement(line.rstrip("\\ ")).marker is None
    try:
        zoneinfo.reset_tzpath(to=())
        berlin = zoneinfo.ZoneInfo.no_cache("Europe/Berlin")
    finally:
        zoneinfo.reset_tzpath()
    assert datetime(2026, 7, 1, tzinfo=berlin).utcoffset() == timedelta(hours=2)


@pytest.mark.parametrize("name", ["requirements.lock", "requirements.txt"])
def test_every_locked_package_has_hashes(name: str) -> None:
    """All are installed with --require-hashes, so nothing else can take a package's place."""
    lock = (PROJECT / name).read_text().replace("\\\n", " ")
    packages = [line for line in lock.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(packages) > 50
    for package in packages:
        assert re.match(r"[\w.-]+==\S+", package), package
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package), package


def test_nothing_is_installed_without_a_hash() -> None:
    files = [*(PROJECT / "bin").iterdir(), PROJECT / ".ci/run", PROJECT / "deploy/Dockerfile"]
    for path in (*files, *WORKFLOWS):
        text = path.read_text().replace("\\\n", " ")
        for line in re.findall(r"^[^#\n]*\b(?:pip|pipx|uv|npm|npx)\b[^\n]*", text, re.MULTILINE):
            if INSTALLS.search(line):
                ours = {"--no-deps", "--no-build-isolation"} <= set(line.split())
                assert "--require-hashes" in line or ours, f"{path.name}: {line}"


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("npm install --silent", True),
        ("npm i -g esbuild", True),
        ("npm --prefix web/ui add preact", True),
        ("python -m pip install .", True),
        ("npm ci --ignore-scripts", False),
        ("npm audit --audit-level=high", False),
    ],
)
def test_commands_that_install_are_known(line: str, *, is_refused: bool) -> None:
    assert (INSTALLS.search(line) is not None) == is_refused


def test_every_package_of_the_ui_has_a_hash() -> None:
    """`npm ci` compares packages with these; without one it takes what the registry sends."""
    lock = json.loads((PROJECT / "web/ui/package-lock.json").read_text())
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert len(packages) > 50
    for name, package in packages.items():
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/]{86}==", package.get("integrity", "")), name


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "collector/pyproject.toml", "evaluator/pyproject.toml"]
)
def test_our_packages_are_built_with_what_is_locked(name: str) -> None:
    locked = (PROJECT / "requirements.lock").read_text()
    for wanted in tomllib.loads((PROJECT / name).read_text())["build-system"]["requires"]:
        requirement = Requirement(wanted)
        [version] = re.findall(rf"^{requirement.name}==(\S+)", locked, re.MULTILINE)
        assert version in requirement.specifier


def test_actions_and_images_have_a_digest_or_are_named_here() -> None:
    """A tag can be moved. A name leaves `UNPINNED` once somebody has looked its digest up."""
    used = [
        *(one for path in WORKFLOWS for one in re.findall(r"uses: (\S+)", path.read_text())),
        *re.findall(r"^FROM (\S+)", (PROJECT / "deploy/Dockerfile").read_text(), re.MULTILINE),
        *(service["image"] for service in files.compose()["services"].values()),
    ]
    by_name = {one for one in used if not re.search(r"@([0-9a-f]{40}|sha256:[0-9a-f]{64})$", one)}
    built_here = {one for one in by_name if one.startswith("watchpost:")}
    assert by_name - built_here == UNPINNED


@pytest.mark.parametrize(
    ("heading", "section", "option"),
    [
        ("In production", "options", "install_requires"),
        ("For OTLP over gRPC", EXTRAS, "grpc"),
        ("For MCP", EXTRAS, "mcp"),
        ("For S3", EXTRAS, "s3"),
        ("For Parquet", EXTRAS, "parquet"),
        ("For traces", EXTRAS, "tracing"),
        ("For the development stack", EXTRAS, "devstack"),
        ("For development", EXTRAS, "dev"),
    ],
)
def test_every_dependency_has_its_reason_and_nothing_else_has(
    heading: str, section: str, option: str
) -> None:
    document = (PROJECT / "docs/change/dependencies.md").read_text()
    first_cells = [row[0] for row in markdown.rows(markdown.section(document, heading))]
    described = {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}
    assert described == asked_for(section, option)
