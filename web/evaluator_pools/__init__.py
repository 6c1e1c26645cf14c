"""Routes of pools of workers."""
