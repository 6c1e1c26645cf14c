"""The messages of audits; both only say "look".

Runs have a queue, and so threads, of their own: while all of them read for minutes, what is due is
still queued.
"""

from shared.queue import Task

SCHEDULE_AUDITS = Task(actor="schedule_audits", queue="background")
RUN_AUDITS = Task(actor="run_audits", queue="audits")
