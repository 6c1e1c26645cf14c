"""What the OpenAPI document says about a view, kept on the view, where flask-smorest reads it.

flask-smorest's own decorators copy all of it, with every schema, and wrap the view once more. With
hundreds of them that took a tenth of the start of web.
"""

from collections.abc import Callable
from typing import Any


def docs_of(view: Callable[..., Any]) -> dict[str, Any]:
    """Returns a copy to be changed. Schemas are not copied."""
    copied: dict[str, Any] = _copied(getattr(view, "_apidoc", {}))
    return copied


def keep_docs(view: Callable[..., Any], docs: dict[str, Any]) -> None:
    """Replaces what is said about the view."""
    vars(view).update(_apidoc=docs)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(one) for name, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value
