"""An organization's evaluators: their definitions, versions, secrets and pools of workers."""
