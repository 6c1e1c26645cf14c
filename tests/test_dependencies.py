"""The packages of `setup.cfg`, compared with the imports and the documents."""

import ast
import configparser
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.support import markdown
from tests.support.markdown import PROJECT

EXTRAS = "options.extras_require"
OURS = {"web", "workers", "orgctl", "shared"}
# Many packages put modules into this one.
SHARED_NAMESPACE = "opentelemetry"
PARTS = {"sdk": "opentelemetry-sdk", "exporter": "opentelemetry-exporter-otlp-proto-http"}


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
    return parts[0] if parts[0] != SHARED_NAMESPACE else ".".join(parts[:2])


def packages_of(module: str) -> list[str]:
    """Returns the packages that contain a module."""
    if not module.startswith(SHARED_NAMESPACE):
        return packages_distributions()[module]
    return [PARTS.get(module.partition(".")[2], "opentelemetry-api")]


def imported(node: ast.AST) -> Iterator[str]:
    """Returns the modules, as of `top_level`, that code imports when it runs, at any depth."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (top_level(alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        yield top_level(node.module)
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def test_production_needs_what_install_requires_names_and_nothing_else() -> None:
    modules = {
        module for path in production_files() for module in imported(ast.parse(path.read_text()))
    }
    needed = {
        plain(package)
        for module in modules - OURS - sys.stdlib_module_names
        for package in packages_of(module)
    }
    names = ("grpc", "mcp", "s3", "parquet", "tracing")
    extras = {one for name in names for one in asked_for(EXTRAS, name)}
    listed = asked_for("options", "install_requires") | extras
    assert needed == {plain(package) for package in listed}


def test_every_locked_package_has_hashes() -> None:
    """`bin/setup` installs with --require-hashes, so nothing else can take a package's place."""
    lock = (PROJECT / "requirements.lock").read_text().replace("\\\n", " ")
    packages = [line for line in lock.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(packages) > 50
    for package in packages:
        assert re.match(r"[\w.-]+==\S+", package), package
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", package), package
    assert "--require-hashes" in (PROJECT / "bin/setup").read_text()


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
    document = (PROJECT / "docs/dependencies.md").read_text()
    first_cells = [row[0] for row in markdown.rows(markdown.section(document, heading))]
    described = {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}
    assert described == asked_for(section, option)
