"""The dimensions of events as data, in the notation of `tables`.

Each comes from the record, else from its resource, and is in all events of the record. `otel`
repeats the attributes that only these rules read.
"""

from shared.intake.otlp.mapping.tables import FIELDS

DIMENSIONS: dict[str, tuple[str, ...]] = {
    "user_id": (
        *FIELDS["user_id"],
        "langsmith.metadata.user_id",
        "metadata{user_id}",
    ),
    "agent_version": (
        "gen_ai.agent.version",
        "langfuse.release",
        "langfuse.version",
        "app.version",
        "service.version",
    ),
    "tags": (
        "langfuse.trace.tags",
        "tag.tags",
        "langsmith.span.tags",
        "ai.telemetry.metadata.tags",
    ),
    # Those that another rule reads are left out. Of several with one key the first counts.
    "attributes": (
        "metadata{*}",
        "langfuse.trace.metadata.*",
        "langfuse.observation.metadata.*",
        "traceloop.association.properties.*",
        "ai.telemetry.metadata.*",
        "langsmith.metadata.*",
    ),
}
# Attributes that only a resource has, and their keys among the attributes of events.
OF_RESOURCES = {
    "service.namespace": "service.namespace",
    "vcs.repository.name": "repository",
    "vcs.ref.head.name": "branch",
}
