"""The session, the agent and the environment that a record names."""

from shared.intake.otlp.mapping.memory import for_last_resource
from shared.intake.otlp.mapping.sources import first_text
from shared.intake.otlp.mapping.tables import (
    AGENT,
    CALLER,
    ENVIRONMENT,
    FIELDS,
    SERVICE,
    SESSION,
    UNKNOWN_SERVICE,
    Kind,
)
from shared.intake.otlp.mapping.values import clean, text
from shared.intake.otlp.mapping.vendors import vendor_of
from shared.intake.otlp.records import LogRecord, Resource, Span

MAX_NAME = 256
MAX_ENVIRONMENT = 64
MAIN_AGENT = "main"
DEFAULT_ENVIRONMENT = "default"

_INVOKE_AGENT = "invoke_agent "
_EXECUTE_TOOL = "execute_tool "

_find_session = first_text(SESSION)
_find_agent = first_text(AGENT)
_find_caller = first_text(CALLER)
_find_environment = first_text(ENVIRONMENT)
_find_tool = first_text(FIELDS["tool_name"])


def session_name(record: Span | LogRecord, resource: Resource) -> tuple[int, str] | None:
    """Returns the session that a record names, with its rank: the lower, the more it counts.

    Names of a resource rank behind all names of records. None if neither names one.
    """
    found = _find_session(record.attributes)
    if found is not None:
        return found[0], clean(found[1], MAX_NAME)
    return _session_of(resource)


@for_last_resource
def _session_of(resource: Resource) -> tuple[int, str] | None:
    found = _find_session(resource.attributes)
    return None if found is None else (len(SESSION) + found[0], clean(found[1], MAX_NAME))


def own_agent(record: Span | LogRecord, kind: Kind) -> str | None:
    """Returns the agent that a record itself names; an agent span always names one."""
    if isinstance(record, LogRecord):
        vendor = vendor_of(record)
        if vendor is not None:
            return vendor.agent
    found = _find_agent(record.attributes) if kind == "agent" else _find_caller(record.attributes)
    if found is not None:
        return clean(found[1], MAX_NAME)
    if kind != "agent" or isinstance(record, LogRecord):
        return None
    return _agent_of_name(record)


def service_agent(resource: Resource) -> str:
    """Returns the agent of records that name none: their service, else `main`."""
    return _known_service(resource) or MAIN_AGENT


def root_agent(root: Span, resource: Resource) -> str:
    """Returns the agent of a trace that names none: its service, else its root span."""
    return _known_service(resource) or _agent_of_name(root)


def _agent_of_name(span: Span) -> str:
    return clean(span.name.removeprefix(_INVOKE_AGENT), MAX_NAME).strip() or MAIN_AGENT


def _known_service(resource: Resource) -> str | None:
    service = service_of(resource)
    if service is None or service.startswith(UNKNOWN_SERVICE):
        return None
    return clean(service, MAX_NAME)


@for_last_resource
def service_of(resource: Resource) -> str | None:
    """Returns the name of the service that sent a record, if it has one."""
    return text(resource.attributes.get(SERVICE))


def environment_of(record: Span | LogRecord, resource: Resource) -> str:
    """Returns the environment that a record names, else its resource, else `default`."""
    return named_environment(record, resource) or DEFAULT_ENVIRONMENT


def named_environment(record: Span | LogRecord, resource: Resource) -> str | None:
    """Returns the environment that a record names, else its resource; None if neither does."""
    found = _find_environment(record.attributes)
    return _environment_of(resource) if found is None else _environment(found[1])


@for_last_resource
def _environment_of(resource: Resource) -> str | None:
    found = _find_environment(resource.attributes)
    return None if found is None else _environment(found[1])


def _environment(name: str) -> str:
    return clean(name, MAX_ENVIRONMENT).replace(",", "_")


def tool_name(span: Span) -> str:
    """Returns the tool that a span calls."""
    found = _find_tool(span.attributes)
    return span.name.removeprefix(_EXECUTE_TOOL) if found is None else found[1]
