"""The audit log: who changed what, from where, with the values before and after.

    audit_log.record(session, org_id, "key.disable", target=key.id, name=key.name)

`record` runs in the transaction of the change, so that neither is stored without the other. The
caller of the request or command is known already (`audit_log.caller`).
"""

from shared.access.audit_log.caller import SYSTEM, Caller, Way, acting_as, current_caller
from shared.access.audit_log.recording import fields_of, record

__all__ = [
    "SYSTEM",
    "Caller",
    "Way",
    "acting_as",
    "current_caller",
    "fields_of",
    "record",
]
