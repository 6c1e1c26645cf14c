"""The messages of evaluation jobs, which only tell workers to look.

Calls to the evaluator have their own queue, and so their own threads: while every call hangs,
finished sessions are still found and results are still stored.
"""

from shared.queue import Task

RUN_EVALUATIONS = Task(actor="run_evaluations", queue="evaluator")
CHECK_WATCHED_SESSIONS = Task(actor="check_watched_sessions", queue="background")
SCAN_INACTIVE_SESSIONS = Task(actor="scan_inactive_sessions", queue="background")
STORE_EVALUATIONS = Task(actor="store_evaluations", queue="background")
REFRESH_EVALUATOR_CONFIG = Task(actor="refresh_evaluator_config", queue="background")
