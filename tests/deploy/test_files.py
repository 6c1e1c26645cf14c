"""The files for platforms, containers, Kubernetes and systemd: valid, and equal to the Procfile.

No engine runs in the tests. Each file is checked by a validator of its format, and its commands are
compared with those of the Procfile. `test_start.py` runs them.
"""

import configparser
import importlib
import re
import shutil
import subprocess
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from packaging.requirements import Requirement

from shared.foundation.core.config import Settings
from shared.foundation.core.version import VERSION
from tests.deploy import files
from tests.support.markdown import PROJECT
from tests.test_dependencies import EXTRAS, asked_for, plain

STOPPING_SECS = 35
VARIABLES = {field.name.upper() for field in msgspec.structs.fields(Settings)}
# A variable of Python, and those that only the containers of stores read.
OTHERS = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
TOOLS = Path(sys.executable).parent
PINNED = re.compile(r"^([\w.-]+)(\[[\w,-]+\])?==")


def pins(name: str) -> dict[str, str]:
    """Returns the lines of each package in a file of requirements, without comments."""
    found: dict[str, str] = {}
    package = ""
    for line in (PROJECT / name).read_text().splitlines():
        begins = PINNED.match(line)
        package = plain(begins[1]) if begins else package
        if package and not line.strip().startswith("#"):
            # A package of development can need one on more systems, so conditions differ.
            told = line.rstrip(" \\").partition(" ;")[0]
            found[package] = found.get(package, "") + told + "\n"
    return found


def needed_in_production() -> set[str]:
    """Returns every package that production imports, at any depth, on this machine."""
    todo = [*asked_for("options", "install_requires")]
    config = configparser.ConfigParser()
    config.read(PROJECT / "setup.cfg")
    extras = config[EXTRAS].keys() - {"dev", "devstack"}
    todo += [package for extra in extras for package in asked_for(EXTRAS, extra)]
    found: set[str] = set()
    while todo:
        wanted = Requirement(todo.pop())
        for extra in wanted.extras or {""}:
            if (mark := f"{plain(wanted.name)}[{extra}]") in found:
                continue
            found.add(mark)
            try:
                below = [Requirement(one) for one in requires(wanted.name) or []]
            except PackageNotFoundError:
                pytest.fail(f"{wanted.name} is not installed")
            todo += [
                str(one)
                for one in below
                if one.marker is None or one.marker.evaluate({"extra": extra})
            ]
    return {mark.partition("[")[0] for mark in found}


def test_production_has_the_versions_of_the_lock() -> None:
    production, everything = pins("requirements.txt"), pins("requirements.lock")
    assert production
    for package, lines in production.items():
        assert lines == everything[package], f"{package}: run bin/lock"
        assert "--hash=sha256:" in lines
    assert needed_in_production() <= production.keys(), "run bin/lock"
    extra = production.keys() - needed_in_production()
    text = (PROJECT / "requirements.txt").read_text()
    assert all(re.search(rf"^{package}==\S+ ;", text, re.M) for package in extra), "run bin/lock"


def test_the_platforms_python_is_one_that_ci_runs() -> None:
    version = (PROJECT / ".python-version").read_text().strip()
    assert f'"{version}"' in (PROJECT / ".github/workflows/ci.yml").read_text()
    assert f"FROM python:{version}-slim" in (files.DEPLOY / "Dockerfile").read_text()


def test_the_platforms_manifest_names_what_exists() -> None:
    told = msgspec.json.decode((PROJECT / "app.json").read_bytes())
    assert told["env"].keys() <= VARIABLES
    assert {addon["as"] + "_URL" for addon in told["addons"]} <= VARIABLES
    assert told["formation"].keys() <= files.procfile().keys()
    given = told["env"].keys() | {addon["as"] + "_URL" for addon in told["addons"]}
    required = {field.name.upper() for field in msgspec.structs.fields(Settings) if field.required}
    assert required <= given


@pytest.mark.flow
def test_the_dockerfile_has_no_fault_that_hadolint_knows() -> None:
    run(TOOLS / "hadolint", "--failure-threshold", "style", files.DEPLOY / "Dockerfile")


def test_the_image_runs_as_nobody_important_and_builds_nothing() -> None:
    steps = Counter(name for name, _ in files.dockerfile())
    assert steps["HEALTHCHECK"] == steps["USER"] == 1
    [user] = [value for name, value in files.dockerfile() if name == "USER"]
    assert user == "10001:10001"
    assert not re.search(r"pip|apt|gcc", str([v for n, v in files.dockerfile() if n == "RUN"]))
    every = re.findall(r"^FROM (\S+)", (files.DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert all(re.search(r":\d+\.\d+\S+$", image) for image in every)
    ignored = (files.DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in [*files.copied(), "requirements.txt"]} <= set(ignored)


@pytest.mark.flow
def test_the_compose_file_is_valid() -> None:
    schema = ["--builtin-schema", "vendor.compose-spec"]
    run(TOOLS / "check-jsonschema", *schema, files.DEPLOY / "compose.yaml")


def test_the_compose_file_waits_and_stops_in_time() -> None:
    for name, service in files.compose()["services"].items():
        assert re.search(r":\d", service["image"]), name
    for name, service in files.own_services().items():
        assert int(service["stop_grace_period"].removesuffix("s")) > STOPPING_SECS, name
        assert service["environment"].keys() <= VARIABLES, name
        assert service["env_file"] == [".env"], name
        # Only `web` answers the check of the image.
        assert service.get("healthcheck") == (None if name == "web" else {"disable": True})


def test_every_variable_of_the_table_reaches_the_containers() -> None:
    """The file itself decides about stores and ports alone."""
    required = {name: f"our {name}" for name in ("ADMIN_KEY", "ADMIN_EMAIL")}
    passwords = ("POSTGRES_PASSWORD", "CLICKHOUSE_PASSWORD", "CLICKHOUSE_READER_PASSWORD")
    ours = {name: f"our {name}" for name in VARIABLES} | dict.fromkeys(passwords, "p") | required
    arrived = ours | files.container_variables("web", ours)
    decided = {name for name in VARIABLES if arrived[name] != ours[name]}
    stores = {"DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL", "CLICKHOUSE_READONLY_URL"}
    assert decided == stores | {"PORT", "WEB_BIND", "OTLP_GRPC_PORT"}


def test_backups_have_a_schedule_and_a_volume() -> None:
    backup = files.compose()["services"]["backup"]
    called = re.search(r"python -m orgctl backup create .*; sleep 86400", backup["command"][-1])
    assert called is not None
    default = backup["environment"]["BACKUP_TARGET"].partition(":-")[2].removesuffix("}")
    assert backup["volumes"] == [f"backups:{default}"]
    # A volume takes the owner of the folder, and the image does not run as root.
    assert any(default in value for name, value in files.dockerfile() if name == "RUN")


@pytest.fixture(scope="module")
def kubernetes_validate() -> ModuleType:
    """Its grammars take two seconds to build, for which every other run would wait."""
    return importlib.import_module("kubernetes_validate")


@pytest.mark.parametrize("path", files.KUBERNETES, ids=lambda path: path.name)
def test_kubernetes_knows_every_field(path: Path, kubernetes_validate: ModuleType) -> None:
    for found, manifest in files.manifests():
        if found == path and manifest["kind"] != "Kustomization":
            kubernetes_validate.validate(manifest, "1.32", strict=True)


def test_every_pod_is_confined_and_stops_in_time() -> None:
    names = [name for name, _ in files.pods()]
    assert {"release", "web", "worker", "clock"} <= set(names)
    for name, pod in files.pods():
        [container] = pod["containers"]
        assert pod["terminationGracePeriodSeconds"] > STOPPING_SECS, name
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 10001
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert "memory" in container["resources"]["limits"], name


def test_the_pods_of_web_are_asked_for_their_own_health_only() -> None:
    [web] = [pod["containers"][0] for name, pod in files.pods() if name == "web"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert web[probe]["httpGet"]["path"] == "/v1/health"


def test_kubernetes_names_variables_that_exist() -> None:
    named: set[str] = set()
    for _, manifest in files.manifests():
        named |= manifest.get("data", {}).keys() | manifest.get("stringData", {}).keys()
    assert named <= VARIABLES
    assert {"DATABASE_URL", "REDIS_URL", "CLICKHOUSE_URL"} <= named


def test_every_image_has_the_number_of_this_version() -> None:
    texts = [path.read_text() for path in files.DEPLOY.rglob("*") if path.is_file()]
    told = [tag for text in texts for tag in re.findall(r"watchpost:(\d[\w.-]*|latest)", text)]
    assert set(told) == {VERSION}
    assert not any(":latest" in text for text in texts)


def commands() -> dict[str, dict[str, list[str]]]:
    """Returns the commands of each process type, by the file."""
    [container] = [value for name, value in files.dockerfile() if name == "CMD"]
    return {
        "Dockerfile": {"web": files.json_list(container)},
        "compose.yaml": {name: one["command"] for name, one in files.own_services().items()},
        "kubernetes": {name: pod["containers"][0]["args"] for name, pod in files.pods()},
        "systemd": {
            name: unit["ExecStart"].removeprefix(files.SCRIPTS).split()
            for name, unit in files.units().items()
        },
    }


@pytest.mark.parametrize("kind", commands())
def test_the_commands_are_those_of_the_procfile(kind: str) -> None:
    procfile = files.procfile()
    for name, command in commands()[kind].items():
        assert command == procfile[name], name


@pytest.mark.flow
def test_systemd_understands_every_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd-analyze")
    for path in (files.DEPLOY / "systemd").iterdir():
        # Here the scripts are elsewhere, and the check wants to find them.
        text = path.read_text().replace(files.SCRIPTS, f"{TOOLS}/")
        (tmp_path / path.name).write_text(text.replace("/srv/watchpost", str(PROJECT)))
    checked = subprocess.run(
        [program, "verify", "--man=no", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
    )
    ours = [line for line in checked.stderr.splitlines() if "watchpost" in line]
    assert ours == []


def test_units_restart_and_stop_in_time() -> None:
    for name, unit in files.units().items():
        if name == "release":
            assert unit["Type"] == "oneshot"
            continue
        assert unit["Restart"] == "always"
        assert int(unit["TimeoutStopSec"]) > STOPPING_SECS


def test_the_containers_clickhouse_has_the_users_of_the_development_server() -> None:
    ours = users_of(files.DEPLOY / "clickhouse/users.xml")
    theirs = users_of(PROJECT / "devstack/config/users.xml")
    assert flat(ours.find("profiles/reader")) == flat(theirs.find("profiles/reader"))
    for user in ("reader", "watchpost_views"):
        for part in ("profile", "grants", "databases"):
            at = f"users/{user}/{part}"
            assert flat(ours.find(at)) == flat(theirs.find(at)), at
    assert flat(ours.find("users/watchpost_views/networks")) == []


def users_of(path: Path) -> ElementTree.Element:
    """Returns a file of users, with the names that the documents use."""
    text = path.read_text().replace("$database", "watchpost").replace("$views", "analytics")
    return ElementTree.fromstring(text)  # noqa: S314 our own file


def flat(element: ElementTree.Element | None) -> list[tuple[str, str]]:
    """Returns the name and text of everything below an element."""
    below = [] if element is None else [one for one in element.iter() if one is not element]
    return [(one.tag, (one.text or "").strip()) for one in below]


def run(*command: Any) -> None:
    """Runs a validator, and fails with what it says."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
