"""What keeps reads short at many millions of events; docs/storage.md has the figures.

- `events` gets a skip index on the tool, which finds the granules of a rare one.
- `agent_sessions` is written again in granules of 64 rows, with its sessions by their time as well:
  reading 51 sessions of 80,000 took 30 MB out of granules of 8,192 and takes 1.1 MB now.

The table has the columns it had, so processes of the release before go on reading it.
"""

from shared.clickhouse.ddl import Ddl
from shared.clickhouse.migrations.m0001_events import AGENT_SESSIONS, AGENT_SESSIONS_FEED

# Granules and compressed blocks as small as what one session needs of them. The projection is made
# again from merged rows, and without the rows that a DELETE hides.
_SETTINGS = """
SETTINGS index_granularity = 64, min_compress_block_size = 4096, max_compress_block_size = 8192,
    deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild'
"""

# A session has a row that holds its newest event, so whoever looks for sessions by that time finds
# each of them here, and some that went on later.
_BY_TIME = """,
    PROJECTION by_time (
        SELECT org_id, last_event_at, session_id ORDER BY org_id, last_event_at)
)
ENGINE"""

_NEXT = "agent_sessions_next"
_PRIOR = "agent_sessions_prior"


def up(ddl: Ddl) -> None:
    """Adds the index, and puts the table of sessions in the place of the old one."""
    ddl.run(
        "ALTER TABLE {table:events} ADD INDEX IF NOT EXISTS tool_filter tool_name"
        " TYPE bloom_filter(0.01) GRANULARITY 1"
    )
    # Works on in the background and reads this one column.
    ddl.run("ALTER TABLE {table:events} MATERIALIZE INDEX tool_filter SETTINGS mutations_sync = 0")
    _replace(ddl, _NEXT, AGENT_SESSIONS.replace("\n)\nENGINE", _BY_TIME) + _SETTINGS)


def down(ddl: Ddl) -> None:
    """Puts the table of m0001 back, and drops the index."""
    _replace(ddl, _PRIOR, AGENT_SESSIONS)
    ddl.run(
        "ALTER TABLE {table:events} DROP INDEX IF EXISTS tool_filter SETTINGS mutations_sync = 0"
    )


def _replace(ddl: Ddl, name: str, template: str) -> None:
    """Makes `template` the table `agent_sessions`, by way of a table of this name.

    No event that is ingested meanwhile is missing in it. From before the copy on until the old
    table goes both of them are fed, each by a view of its own; inserts that began before there was
    the second view are waited for; and states are idempotent, so that what comes both by the view
    and by the copy counts once. A view names its target: `agent_sessions_feed` feeds what is called
    `agent_sessions`, before the exchange and after.

    Whatever is called `agent_sessions` is complete at every moment. So a run that was interrupted
    is begun anew, unless the exchange was done already.
    """
    if not ddl.is_table_like("agent_sessions", template):
        ddl.drop_table(f"{name}_feed")
        ddl.drop_table(name)
        ddl.run(template.replace("{table:agent_sessions}", f"{{table:{name}}}"))
        feed = AGENT_SESSIONS_FEED.replace("agent_sessions_feed}", f"{name}_feed}}")
        ddl.run(feed.replace("{table:agent_sessions}", f"{{table:{name}}}"))
        ddl.wait_for_inserts()
        ddl.run(f"INSERT INTO {{table:{name}}} SELECT * FROM {{table:agent_sessions}}")
        ddl.run(f"EXCHANGE TABLES {{table:agent_sessions}} AND {{table:{name}}}")
    ddl.drop_table(f"{name}_feed")
    ddl.drop_table(name)
