"""Routes of evaluation jobs: list those without a result, and start one."""
