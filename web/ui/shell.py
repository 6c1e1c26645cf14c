"""The HTML of the UI, with the names of the current bundle."""

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

_SHELL = Path(__file__).parent / "shell.html"
_MANIFEST = "manifest.json"
NOT_BUILT = (
    "The web UI is not built: run bin/ui in the checkout, or install a release."
    " The API below /v1 works."
)


def is_built(static: Path) -> bool:
    """Returns whether the folder has a bundle."""
    return (static / _MANIFEST).is_file()


def render(
    static: Path, nonce: str, *, mail_is_set_up: bool, provider: str | None, codes: bool = True
) -> str:
    """Returns the page.

    `nonce` is that of its content security policy, `provider` the name of the provider at which
    people can sign in, and `codes` says whether they can with mailed codes. Raises
    `FileNotFoundError` without a bundle.
    """
    manifest_file = static / _MANIFEST
    # The time of change is part of the key, because `bin/ui watch` renews the bundle.
    manifest = _read(manifest_file, manifest_file.stat().st_mtime_ns)
    return _template().format(
        nonce=nonce,
        mail="smtp" if mail_is_set_up else "log",
        provider=""
        if provider is None
        else f'<meta name="wp-oidc" content="{escape(provider)}">\n',
        codes="" if codes else '<meta name="wp-codes" content="off">\n',
        script=f"/ui/{manifest['main.js']}",
        style=f"/ui/{manifest['main.css']}",
        preloads="".join(
            f'<link rel="modulepreload" href="/ui/{name}">' for name in manifest["preload"]
        ),
    )


@cache
def _template() -> str:
    return _SHELL.read_text()


@cache
def _read(manifest: Path, _changed_ns: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(manifest.read_text())
    return found
