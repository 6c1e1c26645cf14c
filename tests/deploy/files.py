"""The files of `deploy/`, read as the programs read them for which they are made."""

import configparser
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml
from honcho.environ import parse_procfile

from tests.support.markdown import PROJECT

DEPLOY = PROJECT / "deploy"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
# In units every program has its full path.
SCRIPTS = "/srv/watchpost/.venv/bin/"


def procfile() -> dict[str, list[str]]:
    """Returns the words of each process type's command."""
    lines: dict[str, str] = parse_procfile((PROJECT / "Procfile").read_text()).processes
    return {name: shlex.split(line) for name, line in lines.items()}


def compose() -> dict[str, Any]:
    """Returns the compose file, with its anchors filled in."""
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read


def own_services() -> dict[str, dict[str, Any]]:
    """Returns the services that run this code, by process type; `backup` is the operator's tool."""
    return {
        name: service
        for name, service in compose()["services"].items()
        if service["image"].startswith("watchpost:") and name != "backup"
    }


def container_variables(service: str, env: dict[str, str]) -> dict[str, str]:
    """Returns what the file sets in a container, if these are the lines of `deploy/.env`."""

    def value_of(match: re.Match[str]) -> str:
        name, rule, default = match.groups()
        assert rule == ":-" or env.get(name), f"the file requires {name}"
        return env.get(name) or default

    return {
        name: re.sub(r"\$\{(\w+)(:[?-])([^}]*)\}", value_of, str(value))
        for name, value in compose()["services"][service]["environment"].items()
    }


def manifests() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields each object of each manifest."""
    for path in KUBERNETES:
        for found in yaml.safe_load_all(path.read_text()):
            yield path, found


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields (process type, pod) of each workload."""
    for _, found in manifests():
        if "template" in found.get("spec", {}):
            labels = found["spec"]["template"]["metadata"]["labels"]
            yield labels["app.kubernetes.io/component"], found["spec"]["template"]["spec"]


def units() -> dict[str, configparser.SectionProxy]:
    """Returns the section `Service` of each unit, by process type."""
    found = {}
    for path in UNITS:
        parser = configparser.ConfigParser(interpolation=None)
        parser.optionxform = str  # type: ignore[assignment, method-assign] # keep capitals
        parser.read(path)
        found[path.stem.removeprefix("watchpost-")] = parser["Service"]
    return found


def dockerfile() -> list[tuple[str, str]]:
    """Returns (instruction, value) of the last stage."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
    steps = [(name, value) for name, value in re.findall(r"^([A-Z]+) (.*)$", text, re.MULTILINE)]
    last = max(place for place, (name, _) in enumerate(steps) if name == "FROM")
    return steps[last:]


def copied() -> list[str]:
    """Returns the files and folders of the project that the image contains."""
    text = (DEPLOY / "Dockerfile").read_text()
    return re.findall(r"^COPY (\w+) \./app/", text, re.MULTILINE)


def image_variables() -> dict[str, str]:
    """Returns the variables that the image sets."""
    [value] = [value for name, value in dockerfile() if name == "ENV"]
    return dict(one.split("=", 1) for one in value.split())


def json_list(text: str) -> list[str]:
    """Returns the words of a command in the form that no shell reads."""
    return msgspec.json.decode(text, type=list[str])
