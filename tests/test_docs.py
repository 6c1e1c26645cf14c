"""Compares the documents with the code: variables, tables, commands, files and links."""

import importlib
import importlib.util
import os
import re
import subprocess
import tomllib
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import get_args

import click
import msgspec
import pytest
from honcho.environ import parse_procfile

from orgctl.cli import main as orgctl
from shared.access.mail.kinds import KINDS
from shared.access.permissions.__main__ import permissions_list
from shared.access.permissions.builtin_sets import BUILTIN_SETS
from shared.access.settings.catalogue import CATALOGUE as SETTINGS
from shared.evaluation.evaluators.conditions.fields import FIELDS
from shared.foundation.core.config import Settings, variables_table
from shared.foundation.core.version import VERSION
from shared.watch.alerts.specs import SPECS, EventFilter, Spec
from shared.watch.audits.signals import NAMES
from shared.watch.audits.signals.interface import Sensitivity
from tests.support import markdown, repository
from tests.support.markdown import PROJECT
from web.filters import DOCUMENTED, filters_list

DOCUMENTS = markdown.documents()
# What readers follow while they change the code or use it.
GUIDES = [PROJECT / "CONTRIBUTING.md", *sorted(PROJECT.glob("docs/**/*.md"))]
# The most words of the pages of a folder. They only fall, unless a page gets a new subject.
MOST_WORDS = {"send": 4_800, "use": 15_200, "run": 9_700, "change": 10_700}
PACKAGES = {"bench", "devstack", "orgctl", "shared", "tests", "web", "workers"}
PACKAGES_OF_WHEELS = ["collector/watchpost_collect", "evaluator/watchpost_evaluator"]
# Files that readers or programs write.
FILES_OF_READERS = {
    *("agent.mjs", "cases/refund.json", "deploy/.env", "evaluators.py", "manifest.json")
}
# A class, or a constant or class that begins with `_`.
OF_CODE = re.compile(r"_?[A-Z]\w*[a-z]\w*|_[A-Z][A-Z_0-9]+")
# Names of ClickHouse, of HTTP and of a coding agent's records.
FOREIGN_NAMES = {
    "Distributed",
    "HttpOnly",
    "JSONExtractString",
    "RateLimit",
    "ReplicatedReplacingMergeTree",
    "Secure",
    "UserMessage",
}
SCRIPT_VARIABLES = {"DEVSTACK_DIR", "WATCHPOST_FUZZ_SEED", "WATCHPOST_SHARED"}
# Variables of the collector and of the kit for evaluators.
CLIENT_VARIABLES = {"WATCHPOST_URL", "WATCHPOST_KEY", "WATCHPOST_POOL_TOKEN", "FAILPROOFAI_HOME"}
# Variables of `deploy/compose.yaml`.
COMPOSE_VARIABLES = {
    "BACKUP_TARGET",
    "CLICKHOUSE_PASSWORD",
    "CLICKHOUSE_READER_PASSWORD",
    "POSTGRES_PASSWORD",
}
# Variables of S3 clients and of OpenSSL, and a capability of Linux.
FOREIGN_VARIABLES = {
    "AWS_ACCESS_KEY_ID",
    "AWS_ENDPOINT_URL",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "SSL_CERT_FILE",
    "CAP_SYS_NICE",
}
# The variables of other programs, which send to Watchpost or read from it.
OF_SENDERS = re.compile(r"(?:OTEL|LANGFUSE|CLAUDE_CODE|FP)_[A-Z_]+|SPAN_ONLY")

# These patterns do not match their own source text.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|home|root|Users|opt)/\w")
# Only texts outside of the repository are cited by section. Documents here have headings.
SECTION_SIGN = re.compile(r"\u00a7")
PACKAGE_REGISTRY = re.compile(r"pypi\.(?:org|python)|pythonhosted\.|(?:index|registry)-url[ =]")


def names(document: Path) -> str:
    return document.name


def document(name: str) -> str:
    return (PROJECT / name).read_text()


def test_the_readme_stays_short() -> None:
    assert len(document("README.md").splitlines()) <= 250, "move details to docs/"


@pytest.mark.parametrize("folder", MOST_WORDS)
def test_the_pages_of_a_folder_stay_short(folder: str) -> None:
    pages = (PROJECT / "docs" / folder).glob("*.md")
    words = sum(len(page.read_text().split()) for page in pages)
    assert words <= MOST_WORDS[folder], "say less, or move it to the page that has it"


def test_each_folder_of_pages_has_a_limit() -> None:
    assert {path.parent.name for path in PROJECT.glob("docs/**/*.md")} == MOST_WORDS.keys()


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    versions = re.findall(r"^## \[([\d.]+)\]", document("CHANGELOG.md"), re.MULTILINE)
    assert versions[0] == VERSION


def git_tags() -> set[str]:
    listed = subprocess.run(
        ["git", "tag", "--list"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return set(listed.stdout.split())


@pytest.mark.flow  # it asks git
def test_only_tags_that_exist_are_named() -> None:
    named = {
        tag
        for path in DOCUMENTS
        for tag in re.findall(r"(?<![\w/@])v\d+\.\d+\.\d+\b", path.read_text())
    }
    assert named <= git_tags()


@pytest.mark.flow  # it asks git
def test_each_version_before_the_newest_is_a_tag() -> None:
    """The newest one gets its tag after the commit that names it."""
    versions = re.findall(r"^## \[([\d.]+)\]", document("CHANGELOG.md"), re.MULTILINE)
    assert {f"v{version}" for version in versions[1:] if version != "0.1.0"} <= git_tags()


def test_every_variable_is_documented_with_its_default() -> None:
    documented = document("docs/run/configuration.md")
    assert variables_table() in documented, (
        "paste the output of `python -m shared.foundation.core.config`"
    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_no_variable_is_named_that_does_not_exist(path: Path) -> None:
    settings = {field.name.upper() for field in msgspec.structs.fields(Settings)}
    known = settings | SCRIPT_VARIABLES | CLIENT_VARIABLES | COMPOSE_VARIABLES | FOREIGN_VARIABLES
    named = set(re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", path.read_text()))
    assert {name for name in named - known if not OF_SENDERS.fullmatch(name)} == set()


def test_every_permission_stands_in_its_document_with_the_sets_that_hold_it() -> None:
    documented = document("docs/use/people.md")
    assert permissions_list() in documented, (
        "paste the output of `python -m shared.access.permissions`"
    )
    held = [one.permissions for one in BUILTIN_SETS.values()]
    assert all(less < more for less, more in pairwise(held)), "the list has the first set only"


@pytest.mark.parametrize("heading", DOCUMENTED)
def test_every_filter_is_documented(heading: str) -> None:
    section = markdown.section(document("docs/use/reading.md"), heading)
    assert filters_list(heading) in section, "paste the output of `python -m web.filters`"


@pytest.mark.parametrize("kind", SPECS)
def test_every_field_of_a_trigger_is_described(kind: str) -> None:
    described = markdown.section(document("docs/use/alerts.md"), kind)
    fields = {*SPECS[kind].__struct_fields__} - {*Spec.__struct_fields__}
    if kind == "metric_threshold":
        fields |= {*EventFilter.__struct_fields__}
    assert fields <= set(re.findall(r"`([^`]+)`", described))


def test_every_field_of_a_condition_is_described_with_its_operators() -> None:
    table = markdown.rows(markdown.section(document("docs/use/evaluators.md"), "Conditions"))[2:]
    described = {
        name: re.findall(r"`([^`]+)`", cells[1])
        for cells in table
        for name in re.findall(r"`([^`]+)`", cells[0])
    }
    assert described == {field.name: [*field.kind.ops] for field in FIELDS.values()}


def test_every_signal_is_described_with_its_thresholds() -> None:
    table = markdown.rows(markdown.section(document("docs/use/audits.md"), "Signals"))[2:]
    described = {cells[0].strip("`"): cells[1] for cells in table}
    assert tuple(described) == NAMES
    missing = {
        f"{signal}: {threshold}"
        for signal, said in described.items()
        for threshold in thresholds_of(signal)
        if threshold not in said
    }
    assert missing == set()


def thresholds_of(signal: str) -> list[str]:
    """Returns the values of each threshold at low, medium and high sensitivity, as in the table."""
    # The thresholds of this signal are in another module.
    module = "gaps" if signal == "evaluation_gap" else signal
    thresholds = importlib.import_module(f"shared.watch.audits.signals.{module}").THRESHOLDS
    levels = [
        [level] if isinstance(level, int | float) else list(vars(level).values())
        for level in (thresholds[sensitivity] for sensitivity in get_args(Sensitivity))
    ]
    return [" / ".join(map(shown, values)) for values in zip(*levels, strict=True)]


def shown(value: float | timedelta) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, timedelta):
        return f"{value / timedelta(minutes=1):g} min"
    return f"{value:.10g}"


def test_every_kind_of_mail_is_described() -> None:
    first_table = markdown.section(document("docs/run/operate.md"), "Mail").partition("```")[0]
    assert {row[0].strip("`") for row in markdown.rows(first_table)[2:]} == KINDS.keys()


def test_no_document_says_that_there_is_no_user_interface() -> None:
    for path in DOCUMENTS:
        text = path.read_text().replace("\n", " ")
        if path.name == "people.md":
            text = text.partition("## A user interface of your own")[0]
        assert "your user interface" not in text, path.name


def test_every_group_of_operators_commands_is_described() -> None:
    section = markdown.section(document("docs/run/operate.md"), "The operator's tool")
    described = {cells[0].replace("`", "").replace(",", "") for cells in markdown.rows(section)[2:]}
    assert {line.split()[0]: set(line.split()[1:]) for line in described} == {
        name: set(group.commands)
        for name, group in orgctl.commands.items()
        if isinstance(group, click.Group)
    }


def test_every_process_type_is_described() -> None:
    types = set(parse_procfile((PROJECT / "Procfile").read_text()).processes)
    assert {"web", "clock"} < types
    # Only the first table lists types. The others list symptoms and resources.
    section = markdown.section(document("docs/run/deploy.md"), "Process types")
    described = section.partition("| symptom |")[0]
    assert {row[0].strip("`") for row in markdown.rows(described)[2:]} == types


def test_the_floor_plan_shows_the_wings_on_their_floors() -> None:
    """The picture has one paragraph for each floor and a line for each wing."""
    section = markdown.section(document("docs/change/architecture.md"), "Floor plan")
    floors = section.split("```")[1].strip("\n").split("\n\n")
    drawn = [re.findall(r"^(\w+)/ ", floor, re.MULTILINE) for floor in floors]
    layers = tomllib.loads(document("pyproject.toml"))["tool"]["importlinter"]["contracts"][1]
    assert drawn == [layer.split(" | ") for layer in layers["layers"]]
    folders = {path.parent.name for path in (PROJECT / "shared").glob("*/__init__.py")}
    assert {name for floor in drawn for name in floor} == folders
    mirrored = {path.parent.name for path in (PROJECT / "tests" / "shared").glob("*/__init__.py")}
    assert mirrored == folders


def test_ci_runs_every_supported_python() -> None:
    [tried] = re.findall(r"for python in (.*); do", document("bin/setup"))
    supported = re.findall(r"3\.\d+", tried)
    [matrix] = re.findall(r"python: \[(.*)\]", document(".github/workflows/ci.yml"))
    assert re.findall(r"[\d.]+", matrix) == supported


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in markdown.links(path.read_text()):
        if "://" in link:
            continue
        linked, _, anchor = link.partition("#")
        target = path.parent / linked if linked else path
        assert target.exists(), link
        if anchor:
            assert anchor in markdown.anchors(target.read_text()), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_every_named_file_exists(path: Path) -> None:
    texts = repository.in_backticks(path.read_text())
    paths = {text for text in texts if repository.looks_like_a_path(text)} - FILES_OF_READERS
    assert {one for one in paths if not repository.exists(one)} == set()


@pytest.mark.parametrize("path", GUIDES, ids=names)
def test_every_named_class_and_constant_is_defined(path: Path) -> None:
    of_code = {name for name in identifiers(path) if OF_CODE.fullmatch(name)}
    alerts = set(re.findall(r"alert: (\w+)", document("deploy/alerts.yml")))
    assert of_code - FOREIGN_NAMES - alerts - repository.defined() == set()


@pytest.mark.parametrize("path", GUIDES, ids=names)
def test_every_named_function_of_a_module_is_defined(path: Path) -> None:
    dotted = {name for name in identifiers(path) if "." in name} - SETTINGS.keys()
    first = {name: name.split(".")[0] for name in dotted}
    ours = {name for name in dotted if first[name] in PACKAGES}
    # Elsewhere a name that begins like a module is a field of the API.
    if path.name == "CONTRIBUTING.md" or path.parent.name == "change":
        ours |= {name for name in dotted if repository.is_a_module(first[name])}
    assert {name for name in ours if not repository.is_defined(name)} == set()


@pytest.mark.parametrize("path", GUIDES, ids=names)
def test_a_name_is_in_the_file_that_the_page_says(path: Path) -> None:
    said = re.findall(
        r"`(\w+)(?:\([^`]*\))?`,? (?:is in|are in|of|in)\s+`([\w/.-]+\.(?:py|ts|tsx))`",
        markdown.prose(path.read_text()),
    )
    assert [(name, file) for name, file in said if not repository.names(file, name)] == []


def identifiers(path: Path) -> set[str]:
    """Returns the names in backticks that are no paths, without the arguments of calls."""
    texts = repository.in_backticks(path.read_text())
    calls = [re.fullmatch(r"([A-Za-z_][\w.]*)(?:\(.*\))?", text) for text in texts]
    return {call[1] for call in calls if call and not repository.looks_like_a_path(call[0])}


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_every_command_exists(path: Path) -> None:
    text = path.read_text()
    for script in re.findall(r"(?<![\w./])(\.ci/run|bin/[a-z-]+)", text):
        assert os.access(PROJECT / script, os.X_OK), script
    for module in re.findall(r"python3? -m ([\w.]+)", text):
        spec = importlib.util.find_spec(module.rstrip("."))
        assert spec is not None, module
        if spec.submodule_search_locations:
            assert importlib.util.find_spec(f"{module}.__main__") is not None, module
        else:
            assert '__name__ == "__main__"' in Path(spec.origin or "").read_text(), module
    for script in re.findall(r"(?<![\w./])(?:bench|examples)/\w+\.py", text):
        assert (PROJECT / script).exists(), script


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_every_command_of_the_operators_tool_exists(path: Path) -> None:
    for words in re.findall(r"(?:bin/|service-)orgctl ([a-z]+) ([a-z]+)", path.read_text()):
        group = orgctl.commands[words[0]]
        assert isinstance(group, click.Group)
        assert words[1] in group.commands


# The glossary has other meanings for these: a slot of work, and the counts of an hour. The key of a
# lease keeps its name for the previous release.
FOREIGN_TO_OTLP = re.compile(
    r"(?<![a-z])plac(?!er:\{)|(?:time|moment) of (?:its )?receipt\b|after its receipt\b",
    re.IGNORECASE,
)
# A participle names the grammar and not the thing. The errors of this folder are named for what
# they say.
PARTICIPLES = re.compile(r"class (?:Accepted|Bad|Found|Known|Placed|Settled|Taken|Waiting)\b")


@pytest.mark.parametrize("path", sorted((PROJECT / "shared/intake/otlp").rglob("*.py")), ids=names)
def test_opentelemetry_uses_the_words_of_the_glossary(path: Path) -> None:
    text = path.read_text()
    assert FOREIGN_TO_OTLP.findall(text) == []
    assert PARTICIPLES.findall(text) == []


def tracked_files() -> list[Path]:
    if not (PROJECT / ".git").exists():
        pytest.skip("not a git checkout, so the list of the project's files is unknown")
    # The checkout may belong to another user than the one that runs the tests.
    git = ["git", "-c", f"safe.directory={PROJECT}", "-C", str(PROJECT)]
    listed = subprocess.run([*git, "ls-files", "-z"], capture_output=True, check=True, text=True)
    return [PROJECT / name for name in listed.stdout.split("\0") if name]


@pytest.mark.flow
def test_no_file_names_a_machine_a_package_registry_or_a_text_elsewhere() -> None:
    files = tracked_files()
    assert PROJECT / "requirements.lock" in files
    found = [
        f"{path.relative_to(PROJECT)}: {match[0]}"
        for path in files
        # packed bytes are no text: a pattern can stand in them by chance
        if path.is_file() and path.suffix not in {".gz", ".png"}
        for pattern in (MACHINE_PATH, PACKAGE_REGISTRY, SECTION_SIGN)
        for match in pattern.finditer(path.read_text(errors="replace"))
    ]
    assert found == []


def test_the_lock_file_names_no_place_to_get_packages_from() -> None:
    assert "://" not in (PROJECT / "requirements.lock").read_text()


def test_the_tests_that_the_security_page_names_exist() -> None:
    section = markdown.section(document("docs/run/security.md"), "Threats, and what is promised")
    named = [
        one for row in markdown.rows(section) for one in re.findall(r"`(tests/[^`]+)`", row[3])
    ]
    assert len(named) >= 12
    for one in named:
        path, _, function = one.partition("::")
        assert (PROJECT / path).is_file(), one
        assert not function or f"def {function}(" in document(path), one


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
@pytest.mark.parametrize("package", PACKAGES_OF_WHEELS)
def test_the_wheels_have_the_versions_of_their_packages(package: str, path: Path) -> None:
    initial = (PROJECT / package / "__init__.py").read_text()
    [version] = re.findall(r'^__version__ = "(.*)"$', initial, re.MULTILINE)
    name = Path(package).name
    named = set(re.findall(rf"{name}-[\w.-]+?\.whl", path.read_text()))
    assert named <= {f"{name}-{version}-py3-none-any.whl"}
